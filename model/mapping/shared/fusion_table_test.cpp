// Tables of rules: the first that fits counts, classes stand for their kinds, and what is wrong in
// a file is said with its place.
#include "model/mapping/shared/fusion_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kKernels = {"pass", "product"};

FusionTable table_of(const std::string& rules, const std::string& steps = "[[norm, repeats]]") {
  const TemporaryFolder folder;
  return FusionTable(folder.write("fusion.yaml",
                                  "unmapped: has no kernel\n"
                                  "classes: {rows: [Softmax, TopK]}\n"
                                  "epilogues: {products: {steps: " +
                                      steps + "}}\nrules:\n" + rules),
                     kKernels);
}

std::vector<int> kernels_of(const FusionTable& table, const char* kind) {
  std::vector<int> kernels;
  for (const FusionRule& rule : table.rules(kind)) kernels.push_back(rule.kernel);
  return kernels;
}

TEST(FusionTable, RulesOfAKindKeepTheirOrder) {
  const FusionTable table = table_of(
      "  - {operators: [MatMul], when: [weighted], kernel: product, takes: epilogue, weights: "
      "[1]}\n"
      "  - {when: [elementwise], kernel: pass, takes: readers}\n"
      "  - {operators: [MatMul, rows], kernel: product}\n");
  EXPECT_THAT(kernels_of(table, "MatMul"), ElementsAre(1, 0, 1));
  EXPECT_THAT(kernels_of(table, "TopK"), ElementsAre(0, 1));
  EXPECT_THAT(kernels_of(table, "Gelu"), ElementsAre(0));
  const FusionRule& first = table.rules("MatMul").front();
  EXPECT_THAT(first.when, ElementsAre(FusionCondition::kWeighted));
  EXPECT_EQ(first.takes, FusionTakes::kEpilogue);
  EXPECT_THAT(first.weights, ElementsAre(1U));
  EXPECT_TRUE(table.is("rows", "Softmax"));
  EXPECT_FALSE(table.is("rows", "MatMul"));
  EXPECT_TRUE(table.epilogue("products").steps.front().repeats);
  EXPECT_THROW(table.is("columns", "MatMul"), InternalError);
}

TEST(FusionTable, WhatIsWrongIsSaidWithItsPlace) {
  const auto problem = [](const std::string& rule, const std::string& steps = "[[bias]]") {
    return message_of<UserError>([&] { table_of("  - " + rule + "\n", steps); });
  };
  EXPECT_THAT(problem("{operators: [MatMul], kernel: prodct}"),
              AllOf(HasSubstr("fusion.yaml:5"), HasSubstr("nearest is 'product'")));
  EXPECT_THAT(problem("{operators: [MatMul], when: [weihgted], kernel: pass}"),
              HasSubstr("nearest is 'weighted'"));
  EXPECT_THAT(problem("{operators: [MatMul], kernel: pass, takes: all}"), HasSubstr("'all'"));
  EXPECT_THAT(problem("{operator: [MatMul], kernel: pass}"), HasSubstr("operator"));
  EXPECT_THAT(problem("{operators: [MatMul]}"), HasSubstr("kernel"));
  EXPECT_THAT(problem("{operators: [MatMul], kernel: pass, weights: [-1]}"), HasSubstr("weights"));
  EXPECT_THAT(problem("{operators: [MatMul], kernel: pass}", "[[bais]]"),
              HasSubstr("nearest is 'bias'"));
}

}  // namespace
}  // namespace foretell
