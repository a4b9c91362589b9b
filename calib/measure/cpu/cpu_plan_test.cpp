#include "calib/measure/cpu/cpu_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "calib/measurements/measurement.hpp"

namespace foretell {
namespace {

std::set<std::string> texts_of(const std::vector<MeasureTask>& tasks) {
  std::set<std::string> texts;
  for (const MeasureTask& task : tasks) texts.insert(task_text(task));
  return texts;
}

CpuPlanOptions two_threads() {
  CpuPlanOptions options;
  options.threads = 2;
  return options;
}

TEST(CpuPlan, HasEveryOperatorAndTypeAndNoPointTwice) {
  const std::vector<MeasureTask> tasks = cpu_plan(two_threads());
  EXPECT_EQ(texts_of(tasks).size(), tasks.size());
  std::set<std::string> ops;
  std::set<std::string> dtypes;
  for (const MeasureTask& task : tasks) {
    ops.insert(task.op);
    dtypes.insert(task.dtype);
  }
  EXPECT_THAT(ops, ::testing::UnorderedElementsAreArray(cpu_ops()));
  EXPECT_THAT(dtypes, ::testing::UnorderedElementsAreArray(cpu_dtypes()));
}

TEST(CpuPlan, TheQuickPlanIsAPartOfTheWhole) {
  CpuPlanOptions options = two_threads();
  const std::set<std::string> all = texts_of(cpu_plan(options));
  options.quick = true;
  const std::set<std::string> quick = texts_of(cpu_plan(options));
  EXPECT_LT(quick.size(), all.size() / 2);
  EXPECT_GT(quick.size(), 100U);
  for (const std::string& task : quick) EXPECT_EQ(all.count(task), 1U) << task;
}

TEST(CpuPlan, OneThreadNeedsNoForkAndNoPointTwice) {
  const std::vector<MeasureTask> tasks = cpu_plan({});
  EXPECT_EQ(texts_of(tasks).size(), tasks.size());
  for (const MeasureTask& task : tasks) {
    EXPECT_NE(task.op, "fork_join");
    EXPECT_EQ(task.state("threads"), "1");
  }
}

TEST(CpuPlan, ListsLeaveOutTheRest) {
  CpuPlanOptions options = two_threads();
  options.ops = {"softmax"};
  options.dtypes = {"bf16"};
  const std::vector<MeasureTask> tasks = cpu_plan(options);
  ASSERT_FALSE(tasks.empty());
  for (const MeasureTask& task : tasks) {
    EXPECT_EQ(task.op, "softmax");
    EXPECT_EQ(task.dtype, "bf16");
  }
}

TEST(CpuPlan, ShapesReachFromTheFirstCacheToMemory) {
  double least = 1e18;
  double most = 0;
  for (const MeasureTask& task : cpu_plan(two_threads())) {
    if (task.op != "gemm") continue;
    least = std::min(least, task_bytes(task));
    most = std::max(most, task_bytes(task));
  }
  EXPECT_LT(least, 32.0 * 1024);
  EXPECT_GT(most, 64e6);
}

TEST(CpuPlan, ColdAndWarmPointsHaveDifferentKeys) {
  std::set<std::string> keys;
  std::size_t cold = 0;
  const std::vector<MeasureTask> tasks = cpu_plan(two_threads());
  for (const MeasureTask& task : tasks) {
    Measurement record;
    record.device = "test";
    record.op = task.op;
    record.dtype = task.dtype;
    record.shape = task.shape;
    record.states = task.states;
    keys.insert(measurement_key(record));
    if (task.state("cache") == "cold") ++cold;
  }
  EXPECT_EQ(keys.size(), tasks.size());
  EXPECT_GT(cold, 10U);
}

TEST(CpuPlan, EveryOperatorAndTypeHasACheckThatIsSmall) {
  const std::vector<MeasureTask> tasks = cpu_plan(two_threads());
  const std::vector<MeasureTask> checks = cpu_checks(tasks);
  for (const MeasureTask& task : tasks) {
    EXPECT_EQ(std::count_if(checks.begin(), checks.end(),
                            [&](const MeasureTask& check) {
                              return check.op == task.op && check.dtype == task.dtype;
                            }),
              1)
        << task_text(task);
  }
  for (const MeasureTask& check : checks) EXPECT_LT(task_flops(check), 1e7) << task_text(check);
}

TEST(CpuPlan, CountsWorkAndBytes) {
  const MeasureTask gemm{"gemm", "bf16", {{"m", 2}, {"n", 3}, {"k", 5}}, {}};
  EXPECT_EQ(task_flops(gemm), 60);
  EXPECT_EQ(task_bytes(gemm), 2 * (10 + 15 + 6));
  const MeasureTask conv{"conv",
                         "fp32",
                         {{"b", 1},
                          {"channels", 2},
                          {"height", 4},
                          {"width", 4},
                          {"filters", 3},
                          {"kernel", 3},
                          {"stride", 1},
                          {"padding", 1},
                          {"groups", 1}},
                         {}};
  EXPECT_EQ(task_flops(conv), 2.0 * 4 * 4 * 3 * 2 * 9);
}

}  // namespace
}  // namespace foretell
