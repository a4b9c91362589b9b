// What is kept, and when.
#include "model/base/kept_inputs.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(KeptInputs, AreMadeOnceOnlyWhereInputsAreKept) {
  KeptValues<int> values(2);
  int made = 0;
  const auto make = [&made] { return ++made; };
  EXPECT_EQ(values.get("a", make), 1);
  EXPECT_EQ(values.get("a", make), 2);
  keep_inputs();
  EXPECT_EQ(values.get("a", make), 3);
  EXPECT_EQ(values.get("a", make), 3);
  EXPECT_EQ(values.get("b", make), 4);
  EXPECT_EQ(values.get("c", make), 5);  // full: it is emptied first
  EXPECT_EQ(values.get("c", make), 5);
  EXPECT_EQ(values.get("a", make), 6);
  keep_inputs(false);
  EXPECT_EQ(values.get("a", make), 7);
}

}  // namespace
}  // namespace foretell
