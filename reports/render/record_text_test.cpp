#include "reports/render/record_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/record/testing/example_record.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunText, SaysWhatAPersonAsksFirst) {
  const std::string text = run_text(example_record());
  EXPECT_THAT(text, HasSubstr("bert-large-uncased on inf2.xlarge, bf16-matmul\n"));
  EXPECT_THAT(text, HasSubstr("batch 8, sequence 128, 2 copies"));
  EXPECT_THAT(
      text,
      HasSubstr("latency         16.9 ms   (80 % of measurements within 15.2 ms to 18.7 ms)"));
  EXPECT_THAT(text, HasSubstr("945.1 inferences/s"));
  EXPECT_THAT(text, HasSubstr("0.230 USD per million inferences"));
  EXPECT_THAT(text, HasSubstr("1.30 GiB of 31.7 GiB per device, 4.1 %"));
  EXPECT_THAT(text, HasSubstr("assumed values: 3"));
  EXPECT_THAT(text, Not(HasSubstr("first token")));
}

TEST(RunText, ShowsTokensOverridesAndNotesWhenThereAreAny) {
  RunRecord record = example_record();
  record.summary.ttft_s = 0.077;
  record.summary.tpot_s = 0.033;
  record.context.set = {"device.hbm.bandwidth=1 TB/s"};
  record.context.notes = {"sequence length not stated: 128 taken"};
  const std::string text = run_text(record);
  EXPECT_THAT(text, HasSubstr("first token     77.0 ms"));
  EXPECT_THAT(text, HasSubstr("with device.hbm.bandwidth=1 TB/s"));
  EXPECT_THAT(text, HasSubstr("note: sequence length not stated: 128 taken"));
}

TEST(ComparisonText, SaysSharedThingsOnce) {
  RunRecord other = example_record();
  other.context.dtype = "fp32";
  other.summary.latency_s = 0.05;
  const std::string text = comparison_text({example_record(), other}, 0);
  EXPECT_EQ(text.find("bert-large-uncased"), text.rfind("bert-large-uncased"));
  EXPECT_THAT(text, HasSubstr("system: inf2.xlarge; workload: bert-large-uncased"));
  EXPECT_THAT(text, HasSubstr("bf16-matmul  16.9 ms"));
  EXPECT_THAT(text, HasSubstr("fp32         50.0 ms"));
  EXPECT_THAT(text, Not(HasSubstr("first token")));
}

TEST(ComparisonText, OneRecordKeepsItsNames) {
  EXPECT_THAT(comparison_text({example_record()}, 0), HasSubstr("inf2.xlarge"));
}

TEST(ComparisonMarkdown, IsATable) {
  EXPECT_THAT(comparison_markdown({example_record()}), HasSubstr("| system | workload |"));
}

TEST(ExplainText, GroupsEqualLayersAndNamesWhatBoundsThem) {
  RunRecord record = example_record();
  OperatorRecord second = record.operators[0];
  second.name = "encoder.1.attention.query";
  record.operators.push_back(second);
  const std::string text = explain_text(record, 10, 0);
  EXPECT_THAT(text, HasSubstr("encoder.*.attention.query  MatMul       2  22.0 us"));
  EXPECT_THAT(text, HasSubstr("chip0.core0.tensor  41.0 %   22.0 %  37.0 %"));
  EXPECT_THAT(text, HasSubstr("bounds them: dma 71.0 %, vector 29.0 %."));
  EXPECT_THAT(text, HasSubstr("What bounds the whole: tensor engine."));
}

TEST(ExplainText, TopLimitsTheOperators) {
  const std::string text = explain_text(example_record(), 1, 0);
  EXPECT_THAT(text, HasSubstr("(layers together, 1 of 2)"));
  EXPECT_THAT(text, Not(HasSubstr("encoder.*.softmax")));
}

}  // namespace
}  // namespace foretell
