#include "hw/spec/shared/kernel_rules.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> widths_of(const std::string& text) {
  const Node rule = parse_document(text, "kernels.yaml");
  std::vector<double> widths = {1};
  RuleReader reader(rule, "attention");
  reader.numbers("head_widths", widths);
  reader.finish();
  return widths;
}

std::string refused(const std::string& text) {
  try {
    widths_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(KernelRules, AListOfNumbersAscends) {
  EXPECT_THAT(widths_of("head_widths: [64, 128, 256]"), ElementsAre(64, 128, 256));
  EXPECT_THAT(widths_of("when: {kernels: vllm}"), ElementsAre(1));
  EXPECT_THAT(refused("head_widths: [64, 32]"), HasSubstr("kernels.yaml:1: attention.head_widths"));
  EXPECT_THAT(refused("head_widths: [64, 64]"), HasSubstr("is not above the one before it"));
  EXPECT_THAT(refused("head_widths: [0]"), HasSubstr("is not above"));
  EXPECT_THAT(refused("head_widths: [wide]"), HasSubstr("head_widths"));
  EXPECT_THAT(refused("head_widths: 64"), HasSubstr("no list of numbers such as [64, 128, 256]"));
  EXPECT_THAT(refused("head_widths: []"), HasSubstr("no list of numbers"));
}

}  // namespace
}  // namespace foretell
