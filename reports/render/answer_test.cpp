#include "reports/render/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/record/testing/example_record.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

RunRecord record(const std::string& system, const std::string& part, double throughput,
                 double usd) {
  RunRecord made = example_record();
  made.context.system = system;
  made.context.dtype = "bf16";
  made.machine->part = part;
  made.summary.throughput = throughput;
  made.summary.latency_s = 1 / throughput;
  made.summary.cost_usd_per_million = usd;
  return made;
}

std::vector<std::string> answer(std::vector<RunRecord> records) {
  ReportContent content;
  content.records = std::move(records);
  return answer_of(content);
}

TEST(Answer, OnePredictionIsOneSentence) {
  EXPECT_THAT(
      answer({record("inf2.xlarge", "NeuronCore", 945.1, 0.23)}),
      ElementsAre(AllOf(
          StartsWith("inf2.xlarge runs bert-large-uncased (batch 8, sequence length 128) in bf16 "
                     "at 945.1 inferences/s, 1.06 ms per request, for $0.230 per million"),
          HasSubstr("the limit is the tensor engine"))));
}

TEST(Answer, WithoutAPriceThereIsNone) {
  RunRecord free = record("lab", "GPU", 10, 1);
  free.summary.cost_usd_per_million.reset();
  EXPECT_THAT(answer({free}), ElementsAre(Not(HasSubstr("$"))));
  EXPECT_THAT(answer({}), ElementsAre());
}

TEST(Answer, EveryKindOfMachineHasItsCheapestAndItsQuickest) {
  const auto said =
      answer({record("inf2.xlarge", "NeuronCore", 1000, 0.2),
              record("inf2.48xlarge", "NeuronCore", 12000, 0.3),
              record("g6.xlarge", "GPU", 800, 0.3), record("c7i.8xlarge", "8 cores", 80, 5)});
  ASSERT_EQ(said.size(), 5U);
  EXPECT_EQ(said[0],
            "By cost: AWS Inferentia2, inf2.xlarge in bf16 with batch 8 at $0.200 per million "
            "inferences; GPUs 1.50 times as much; CPUs 25.0 times as much.");
  EXPECT_THAT(said[1], AllOf(StartsWith("AWS Inferentia2: the shortest latency is"),
                             HasSubstr("on inf2.48xlarge")));
  EXPECT_THAT(said[2], StartsWith("GPUs:"));
  EXPECT_THAT(said[3], StartsWith("CPUs:"));
  EXPECT_THAT(said[4], HasSubstr("Of 4 predictions the fastest is"));
}

// Eight bits are held against eight, and a difference within the intervals is no difference.
TEST(Answer, KindsAreComparedWithinAWidthOfArithmetic) {
  RunRecord narrow = record("g6.xlarge", "GPU", 900, 0.18);
  narrow.context.dtype = "int8";
  RunRecord own = record("inf2.xlarge", "NeuronCore", 1000, 0.2);
  narrow.summary.interval80["throughput"] = {800, 1000};
  const auto said = answer({own, narrow, record("g6.xlarge", "GPU", 800, 0.3)});
  EXPECT_THAT(said[0], HasSubstr("AWS Inferentia2 1.11 times as much, too close to call."));
  EXPECT_EQ(said[1],
            "In 16 bits: AWS Inferentia2 $0.200 (inf2.xlarge in bf16 with batch 8), GPUs $0.300 "
            "(g6.xlarge in bf16 with batch 8).");
  narrow.summary.interval80["throughput"] = {890, 910};
  EXPECT_THAT(answer({own, narrow})[0], HasSubstr("AWS Inferentia2 1.11 times as much."));
}

TEST(Answer, ANameStandsForItsOverrides) {
  ReportContent content;
  content.records = {record("inf2.xlarge", "NeuronCore", 1000, 0.2),
                     record("inf2.xlarge", "NeuronCore", 2100, 0.2)};
  content.records[1].context.set = {"a.b=1", "c.d=2"};
  content.names["a.b=1, c.d=2"] = "everything twice";
  const auto said = answer_of(content);
  EXPECT_THAT(said[0], HasSubstr("by everything twice."));
  EXPECT_THAT(said[1], HasSubstr("everything twice gives ×2.10"));
}

TEST(Answer, WhatIsBestInEverythingIsSaidOnce) {
  const auto said = answer({record("inf2.xlarge", "NeuronCore", 1000, 0.2),
                            record("inf2.8xlarge", "NeuronCore", 900, 0.5)});
  EXPECT_EQ(said.size(), 1U);
}

TEST(Answer, NetworksAreNotRankedAgainstOneAnother) {
  RunRecord other = record("g6.xlarge", "GPU", 9000, 0.02);
  other.context.workload = "resnet50";
  RunRecord slower = other;
  slower.summary.throughput = 10;
  const auto said = answer({record("inf2.xlarge", "NeuronCore", 1000, 0.2), other, slower});
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0], "3 predictions, which are of 2 questions; the fastest of each:");
  EXPECT_THAT(said[1], HasSubstr("bert-large-uncased"));
  EXPECT_THAT(said[2], AllOf(HasSubstr("resnet50"), HasSubstr("9,000")));
}

TEST(Answer, AnUnpromisedRateComesFirst) {
  RunRecord promised = record("inf2.xlarge", "NeuronCore", 2000, 0.1);
  promised.context.dtype = "int8-datasheet";
  const auto said = answer({promised, record("inf2.8xlarge", "NeuronCore", 1000, 0.2)});
  EXPECT_THAT(said[0], HasSubstr("in bf16 on inf2.8xlarge"));
}

TEST(Answer, ChangesAreHeldAgainstTheMachineAsShipped) {
  const RunRecord base = record("inf2.xlarge", "NeuronCore", 1000, 0.2);
  RunRecord clock = record("inf2.xlarge", "NeuronCore", 1400, 0.2);
  clock.context.set = {"core.tensor.clock=5.6 GHz"};
  RunRecord both = record("inf2.xlarge", "NeuronCore", 1900, 0.2);
  both.context.set = {"core.tensor.clock=5.6 GHz", "core.vector.clock=2.24 GHz"};
  auto said = answer({base, clock, both});
  ASSERT_EQ(said.size(), 2U);
  EXPECT_THAT(said[0], AllOf(StartsWith("No change of the hardware that was tried"),
                             HasSubstr("the most is ×1.90")));
  EXPECT_THAT(said[1], HasSubstr("core.vector.clock=2.24 GHz gives ×1.90; core.tensor.clock=5.6 "
                                 "GHz gives ×1.40"));
  both.summary.throughput = 2100;
  EXPECT_THAT(answer({base, both})[0], StartsWith("A change of the hardware makes it twice"));
}

TEST(Answer, AStudyOfTheHardwareSaysWhatEachParameterGains) {
  std::vector<RunRecord> records;
  for (const bool fast : {false, true}) {
    for (const bool wide : {false, true}) {
      records.push_back(record("inf2.xlarge", "NeuronCore",
                               100 * (wide ? 1.25 : 1) * (fast ? 2 : 1) * (fast && wide ? 1.2 : 1),
                               0.2));
      records.back().context.set = {fast ? "clock=2 GHz" : "clock=1 GHz",
                                    wide ? "bandwidth=2 TB/s" : "bandwidth=1 TB/s"};
    }
  }
  const std::vector<std::string> said = answer(records);
  EXPECT_THAT(said, testing::Contains("clock=2 GHz instead of 1 GHz, all else equal: throughput "
                                      "×2.00 to ×2.40."));
  EXPECT_THAT(said, testing::Contains("bandwidth=2 TB/s instead of 1 TB/s, all else equal: "
                                      "throughput ×1.25 to ×1.50."));
}

TEST(Answer, ClaimsAreNamedByTheirVerdict) {
  ReportContent content;
  content.records = {example_record()};
  Claim claim;
  claim.says = "twice as fast";
  content.claims = {{claim, {kSupported, "2.1 times", "", true}},
                    {claim, {kCannotBeJudged, "", "not modelled"}}};
  const auto said = answer_of(content);
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0],
            "Of 2 claims, predictions support 1 (1 too close to call), contradict 0, and cannot "
            "judge 1.");
  EXPECT_EQ(said[1], "Supported: twice as fast: 2.1 times, the limit inside the 80 % interval.");
  EXPECT_EQ(said[2], "Cannot be judged: twice as fast (not modelled).");
}

}  // namespace
}  // namespace foretell
