#include "model/config/node_number.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

std::string message_at(const std::string& text, double min, double max) {
  try {
    number_at(parse_document("share: " + text, "f.yaml").entries[0].value, "share", min, max);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(NodeNumber, SaysWhereAndWhatIsAllowed) {
  EXPECT_EQ(message_at("0.5", 0, 1), "");
  EXPECT_EQ(message_at("1.5", 0, 1), "f.yaml:1: share: '1.5' is outside 0 .. 1");
  EXPECT_EQ(message_at("much", 0, 1), "f.yaml:1: share: 'much' is not a number");
  EXPECT_EQ(message_at("[1]", 0, 1), "f.yaml:1: share: expected a single value, here is a list");
  EXPECT_EQ(message_at("nan", 0, 1), "f.yaml:1: share: 'nan' is not a finite number");
}

TEST(NodeNumber, QuantitiesAreInBaseUnits) {
  const Node root = parse_document("rate: 2 GB/s", "f.yaml");
  const Dimension rate = dimension_of<BytesPerSecond>::value;
  EXPECT_EQ(quantity_at(root.entries[0].value, "rate", rate), 2e9);
  EXPECT_THROW(quantity_at(root.entries[0].value, "rate", Dimension{}), UserError);
  EXPECT_THROW(required_number(root, "share"), UserError);
}

}  // namespace
}  // namespace foretell
