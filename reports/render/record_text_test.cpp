#include "reports/render/record_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/record/hardware_change.hpp"
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
  record.context.notes = {kChangedHardware, "sequence length not stated: 128 taken"};
  const std::string text = run_text(record);
  EXPECT_THAT(text, HasSubstr("(widened interval "));
  EXPECT_THAT(text, HasSubstr("first token     77.0 ms"));
  EXPECT_THAT(text, HasSubstr("with device.hbm.bandwidth=1 TB/s"));
  EXPECT_THAT(text, HasSubstr("note: sequence length not stated: 128 taken"));
}

TEST(RunText, GenerationHasAStepPerLengthMemoryByUseAndEveryPrice) {
  const std::string text = run_text(example_generation());
  EXPECT_THAT(text, HasSubstr("per token       33.0 ms   (80 % of measurements within 30.0 ms"));
  EXPECT_THAT(text, HasSubstr("\n     128      27    31.0 ms\n     256      72    33.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("weights 954 MiB, KV cache 191 MiB, activations 95.4 MiB, inputs "
                              "and outputs 3.81 MiB, runtime 91.6 MiB\n"));
  EXPECT_THAT(text, HasSubstr("0.230 USD per million tokens on demand, 0.138 reserved 1 year"));
  EXPECT_THAT(run_text(example_record()), Not(HasSubstr("KV cache")));
}

TEST(RunText, OfManyLengthsSomeAreShownTheFirstAndTheLastAmongThem) {
  RunRecord record = example_generation();
  record.generation.clear();
  for (std::int64_t i = 1; i <= 1000; ++i) record.generation.push_back({i, 1, 1e-3});
  const std::string text = run_text(record);
  EXPECT_THAT(text, HasSubstr("(12 of 1000 lengths)"));
  EXPECT_THAT(text, HasSubstr("\n       1       1"));
  EXPECT_THAT(text, HasSubstr("\n    1000       1"));
  const std::string few = run_text(example_generation());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            std::count(few.begin(), few.end(), '\n') + 10);
}

TEST(ComparisonText, SaysSharedThingsOnce) {
  RunRecord other = example_record();
  other.context.dtype = "fp32";
  other.summary.latency_s = 0.05;
  const std::string text = comparison_text(compared({example_record(), other}), kOnDemand, 0);
  EXPECT_EQ(text.find("bert-large-uncased"), text.rfind("bert-large-uncased"));
  EXPECT_THAT(text, HasSubstr("system: inf2.xlarge; workload: bert-large-uncased"));
  EXPECT_THAT(text, HasSubstr("bf16-matmul  16.9 ms"));
  EXPECT_THAT(text, HasSubstr("fp32         50.0 ms"));
  EXPECT_THAT(text, Not(HasSubstr("first token")));
}

TEST(ComparisonText, ANarrowTerminalKeepsNamesAndNumbersAndSparesTheRest) {
  RunRecord other = example_record();
  other.context.system = "inf2.24xlarge";
  other.context.scenario.dp = 12;
  other.context.dtype = "fp32";
  const std::vector<ComparedRun> runs = compared({example_record(), other});
  for (const int width : {140, 100, 80}) {
    const std::string text = comparison_text(runs, kOnDemand, width);
    EXPECT_THAT(text, HasSubstr("inf2.24xlarge"));
    EXPECT_THAT(text, HasSubstr("bf16-matmul"));
    EXPECT_EQ(text.find("too narrow for: 80 % interval") != std::string::npos, width < 140) << text;
    EXPECT_EQ(text.find("####") != std::string::npos, width >= 100) << text;
  }
  EXPECT_THAT(comparison_text(runs, kOnDemand, 40), HasSubstr("\nthroughput       945.1\n"));
}

TEST(ComparisonText, OneRecordKeepsItsNames) {
  EXPECT_THAT(comparison_text(compared({example_record()}), kOnDemand, 0),
              HasSubstr("inf2.xlarge"));
}

TEST(ComparisonText, CostsAreThoseOfThePriceAskedFor) {
  const std::vector<ComparedRun> runs = compared({example_generation()});
  EXPECT_THAT(comparison_text(runs, kOnDemand, 0), HasSubstr("0.230"));
  const std::string reserved = comparison_text(runs, "reserved_1y", 0);
  EXPECT_THAT(reserved, HasSubstr("USD per million, reserved 1 year"));
  EXPECT_THAT(reserved, HasSubstr("0.138"));
  EXPECT_THAT(reserved, Not(HasSubstr("0.230")));
  EXPECT_THAT(comparison_text(runs, "reserved_3y", 0), Not(HasSubstr("USD per million")));
}

TEST(ComparisonText, ARunWithoutAPredictionKeepsItsRowAndSaysWhy) {
  ComparedRun failed{example_record(), "needs 130 GiB"};
  failed.record.context.system = "small";
  const std::string text = comparison_text({{example_record(), ""}, failed}, kOnDemand, 0);
  EXPECT_THAT(text, HasSubstr("why there is no prediction"));
  EXPECT_THAT(text, testing::ContainsRegex("small +-.* needs 130 GiB\n"));
  EXPECT_EQ(text.find("16.9 ms"), text.rfind("16.9 ms"));
  EXPECT_THAT(comparison_text(compared({example_record()}), kOnDemand, 0),
              Not(HasSubstr("why there is no prediction")));
}

TEST(ComparisonMarkdown, IsATable) {
  EXPECT_THAT(comparison_markdown(compared({example_record()}), kOnDemand),
              HasSubstr("| system | workload |"));
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

TEST(ComparisonText, ATerminalGetsBarsAndAPipeDoesNot) {
  RunRecord half = example_record();
  half.context.dtype = "fp32";
  half.summary.throughput /= 2;
  const auto runs = compared({example_record(), half});
  const std::string text = comparison_text(runs, kOnDemand, 200);
  EXPECT_THAT(text, HasSubstr("  ################\n"));
  EXPECT_THAT(text, HasSubstr("  ########\n"));
  EXPECT_THAT(comparison_text(runs, kOnDemand, 0), Not(HasSubstr("#")));
}

}  // namespace
}  // namespace foretell
