#include "calib/measure/harness/measure_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

MeasureTask task_of(const std::string& op, const std::string& dtype, std::int64_t rows) {
  return {op, dtype, {{"rows", rows}}, {{"load", "burst"}}};
}

constexpr std::int64_t kNoKernel = 3;

// Takes one microsecond per row. "fp8" is wrong, "tf32" is not there, "huge" does not fit.
class FakeMachine : public MeasuredMachine {
 public:
  MachineFacts facts() const override { return {"toy", "Toy 1, driver 2", "lib 3"}; }
  CheckOutcome check(const MeasureTask& task) override {
    ++checks;
    if (task.dtype == "tf32") throw Unavailable("the chip has no such type");
    if (task.size("rows") == kNoKernel) throw Unavailable("no kernel for it");
    return {task.dtype == "fp8" ? 7.0 : 0.1, "element 3 is 1, not 2"};
  }
  TimedTask time(const MeasureTask& task) override {
    ++timed;
    const auto rows = static_cast<double>(task.size("rows"));
    if (rows > 1000) throw Unavailable("needs more memory than there is");
    const double noise = noisy_calls-- > 0 ? 0.5 : 0.001;
    const double time = slow_calls.count(timed - 1) > 0 ? 1.4 * rows : rows;
    return {{time, time * (1 + noise), time}, {{"clock_mhz", 1000.0}}};
  }

  int checks = 0;
  int timed = 0;
  int noisy_calls = 0;
  std::set<int> slow_calls;  // which of the timings
};

class MeasureRun : public testing::Test {
 protected:
  MeasureRunResult run(const std::vector<MeasureTask>& tasks) {
    RecordLog log(path);
    return run_measurements(machine, checks, tasks, log,
                            {"a test", "2026-01-31", 0.05, 3, &messages, true});
  }
  std::vector<Measurement> records() const {
    std::istringstream lines(folder.read("m.jsonl"));
    std::vector<Measurement> all;
    for (std::string line; std::getline(lines, line);) all.push_back(parse_measurement(line, ""));
    return all;
  }

  TemporaryFolder folder;
  std::string path = folder.file("m.jsonl");
  FakeMachine machine;
  std::ostringstream messages;
  std::vector<MeasureTask> checks = {task_of("sum", "fp32", 2), task_of("sum", "fp32", 3),
                                     task_of("sum", "fp8", 2), task_of("sum", "tf32", 2)};
};

TEST_F(MeasureRun, WritesARecordPerPointWithWhereItIsFrom) {
  const MeasureRunResult result = run({task_of("sum", "fp32", 5), task_of("sum", "fp32", 9)});
  EXPECT_EQ(result.measured, 2U);
  EXPECT_EQ(machine.checks, 2);
  const std::vector<Measurement> written = records();
  ASSERT_EQ(written.size(), 2U);
  EXPECT_EQ(written[1].latency_us, 9);
  EXPECT_EQ(written[1].repeats, 3);
  EXPECT_EQ(written[1].device, "toy");
  EXPECT_EQ(written[1].states.at("load"), "burst");
  EXPECT_EQ(written[1].readings.at("clock_mhz"), 1000.0);
  EXPECT_EQ(written[1].provenance.machine, "Toy 1, driver 2");
  EXPECT_EQ(written[1].provenance.source, "a test");
  EXPECT_THAT(messages.str(), HasSubstr("measuring [##############################] 100 %"));
}

TEST_F(MeasureRun, ASecondRunGoesOnWhereTheFirstStopped) {
  run({task_of("sum", "fp32", 5)});
  const int timed = machine.timed;
  const MeasureRunResult result = run({task_of("sum", "fp32", 5), task_of("sum", "fp32", 6)});
  EXPECT_EQ(result.kept, 1U);
  EXPECT_EQ(result.measured, 1U);
  EXPECT_EQ(machine.timed, timed + 1);
}

TEST_F(MeasureRun, AWrongKernelIsNotTimed) {
  const MeasureRunResult result = run({task_of("sum", "fp8", 5), task_of("sum", "fp8", 6)});
  EXPECT_EQ(machine.timed, 0);
  EXPECT_EQ(result.measured, 0U);
  EXPECT_THAT(result_text(result), HasSubstr("not timed, its results are wrong: sum fp8: sum fp8 "
                                             "rows=2 (burst): element 3 is 1, not 2"));
}

// The second check of fp32 has a shape that there is no kernel for.
TEST_F(MeasureRun, AShapeWithoutAKernelIsNoReasonToLeaveOutTheOthers) {
  const MeasureRunResult result = run({task_of("sum", "fp32", 5)});
  EXPECT_EQ(machine.checks, 2);
  EXPECT_EQ(result.measured, 1U);
  EXPECT_TRUE(result.left_out.empty());
}

TEST_F(MeasureRun, ATypeWithoutACheckIsOurMistake) {
  EXPECT_THROW(run({task_of("sum", "bf16", 5)}), InternalError);
}

TEST_F(MeasureRun, WhatIsNotThereIsLeftOutWithItsReason) {
  const MeasureRunResult result = run({task_of("sum", "tf32", 5), task_of("sum", "tf32", 6),
                                       task_of("sum", "fp32", 2000), task_of("sum", "fp32", 7)});
  EXPECT_EQ(result.measured, 1U);
  EXPECT_EQ(machine.checks, 3);  // the missing type is asked for once
  EXPECT_THAT(result_text(result),
              HasSubstr("left out, 2 points: sum tf32: the chip has no such type"));
  EXPECT_THAT(result_text(result),
              HasSubstr("left out, 1 points: sum fp32: needs more memory than there is"));
}

TEST_F(MeasureRun, NoisyPointsAreMeasuredAgainAndTheQuietestCounts) {
  machine.noisy_calls = 1;
  EXPECT_EQ(run({task_of("sum", "fp32", 5)}).noisy, 0U);
  EXPECT_EQ(machine.timed, 2);
  EXPECT_LT(records().front().spread, 0.01);
}

TEST_F(MeasureRun, APointIsMeasuredInRoundsUntilTwoAgree) {
  RecordLog log(path);
  MeasureRunOptions options{"a test", "2026-01-31", 0.05, 1, nullptr, false};
  options.rounds = 2;
  options.most_rounds = 4;
  const std::vector<MeasureTask> tasks = {task_of("sum", "fp32", 5), task_of("sum", "fp32", 6)};
  machine.slow_calls = {0, 1, 2};
  const MeasureRunResult result = run_measurements(machine, checks, tasks, log, options);
  // Round 1: both slow. Round 2: the first is slow again and agrees, the second does not.
  EXPECT_EQ(machine.timed, 5);
  EXPECT_EQ(result.measured, 5U);
  EXPECT_EQ(result.disagreeing, 0U);
  EXPECT_EQ(records().front().states.at("round"), "1");
  EXPECT_EQ(records().back().states.at("round"), "3");
}

TEST_F(MeasureRun, PointsWhoseRoundsNeverAgreeAreNamed) {
  RecordLog log(path);
  MeasureRunOptions options{"a test", "2026-01-31", 0.05, 1, nullptr, false};
  options.rounds = options.most_rounds = 2;
  machine.slow_calls = {0};
  const MeasureRunResult result =
      run_measurements(machine, checks, {task_of("sum", "fp32", 5)}, log, options);
  EXPECT_EQ(result.disagreeing, 1U);
  EXPECT_THAT(result_text(result), HasSubstr("1 points took different times in every round"));
}

TEST_F(MeasureRun, WhatStaysNoisyIsKeptAndCounted) {
  machine.noisy_calls = 10;
  const MeasureRunResult result = run({task_of("sum", "fp32", 5)});
  EXPECT_EQ(machine.timed, 3);
  EXPECT_EQ(result.noisy, 1U);
  EXPECT_THAT(result_text(result), HasSubstr("1 points measured, 1 of them noisy"));
}

}  // namespace
}  // namespace foretell
