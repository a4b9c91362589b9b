#include "model/app/tables/kinds/assumed_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AssumedValues, AreSaidOnceWithTheNumberOfTheirRows) {
  AssumedValues values;
  values.add({});
  EXPECT_THAT(values.texts(1), IsEmpty());
  values.add({"a"});
  values.add({"b", "a"});
  EXPECT_THAT(values.texts(3), ElementsAre("2 of 3 rows: a", "1 of 3 rows: b"));
}

TEST(AssumedValues, ManyAreCounted) {
  AssumedValues values;
  for (int i = 0; i < 20; ++i) values.add({std::to_string(i)});
  EXPECT_EQ(values.texts(20).size(), 9U);
  EXPECT_EQ(values.texts(20).back(), "and 12 assumptions more, in the column 'message' of predict");
}

}  // namespace
}  // namespace foretell
