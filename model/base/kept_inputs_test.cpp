// What is kept, when, and for how long.
#include "model/base/kept_inputs.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

struct Numbers : KeptValues<int, 2> {};
struct OtherNumbers : KeptValues<int, 2> {};

TEST(KeptInputs, AreMadeOnceOnlyWhereInputsAreKept) {
  const Kept run;
  int made = 0;
  const auto number = [&made](const std::string& key) {
    return kept_input<Numbers>(key, [&made] { return ++made; });
  };
  EXPECT_EQ(number("a"), 1);
  EXPECT_EQ(number("a"), 2);
  keep_inputs();
  EXPECT_EQ(number("a"), 3);
  EXPECT_EQ(number("a"), 3);
  EXPECT_EQ(number("b"), 4);
  EXPECT_EQ(number("c"), 5);  // full: it is emptied first
  EXPECT_EQ(number("c"), 5);
  EXPECT_EQ(number("a"), 6);
  keep_inputs(false);
  EXPECT_EQ(number("a"), 7);
}

TEST(KeptInputs, BelongToTheInnermostRunAndEndWithIt) {
  const Kept run;
  keep_inputs();
  kept<Numbers>().get("a", [] { return 1; });
  {
    const Kept inner;
    EXPECT_EQ(Kept::innermost(), &inner);
    EXPECT_FALSE(inputs_are_kept());
    EXPECT_EQ(kept<Numbers>().get("a", [] { return 2; }), 2);
  }
  EXPECT_TRUE(inputs_are_kept());
  EXPECT_EQ(kept<Numbers>().get("a", [] { return 3; }), 1);
  EXPECT_EQ(kept<OtherNumbers>().get("a", [] { return 4; }), 4);
}

struct Outer {
  Outer() {
    kept<Numbers>().get("made by another", [] { return 5; });
  }
};

TEST(KeptInputs, MayAskForOthersWhileTheyAreMade) {
  const Kept run;
  kept<Outer>();
  EXPECT_EQ(kept<Numbers>().get("made by another", [] { return 6; }), 5);
}

}  // namespace
}  // namespace foretell
