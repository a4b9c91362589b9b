#include "calib/measure/cuda/shape_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string kernel_of(const MeasureTask& task) { return task.op + " " + task.dtype; }

std::set<std::string> kernels_of(const std::vector<MeasureTask>& tasks) {
  std::set<std::string> kernels;
  for (const MeasureTask& task : tasks) kernels.insert(kernel_of(task));
  return kernels;
}

TEST(ShapePlan, NoPointTwiceAndTheSameOrderEveryTime) {
  const std::vector<MeasureTask> plan = make_plan({});
  const std::vector<MeasureTask> again = make_plan({});
  std::set<std::string> texts;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_TRUE(texts.insert(task_text(plan[i])).second) << task_text(plan[i]);
    EXPECT_EQ(task_text(plan[i]), task_text(again[i]));
  }
}

TEST(ShapePlan, AllSixTypesOfProductsInAllConditions) {
  std::set<std::string> seen;
  for (const MeasureTask& task : make_plan({})) {
    if (task.op != "gemm") continue;
    seen.insert(task.dtype + " " + task.state("weights"));
    seen.insert(task.dtype + " " + task.state("launch"));
    seen.insert(task.dtype + " " + task.state("load"));
  }
  for (const std::string dtype : {"int8", "fp8", "fp16", "bf16", "tf32", "fp32"}) {
    for (const std::string state : {"rotating", "warm", "graph", "stream", "burst", "sustained"}) {
      EXPECT_EQ(seen.count(dtype + " " + state), 1U) << dtype << " " << state;
    }
  }
}

TEST(ShapePlan, TheQuickPlanHasEveryKernelAndIsAPartOfTheWhole) {
  const std::vector<MeasureTask> whole = make_plan({});
  PlanOptions options;
  options.quick = true;
  const std::vector<MeasureTask> quick = make_plan(options);
  EXPECT_LT(quick.size(), whole.size() / 5);
  EXPECT_EQ(kernels_of(quick), kernels_of(whole));
  std::set<std::string> texts;
  for (const MeasureTask& task : whole) texts.insert(task_text(task));
  for (const MeasureTask& task : quick) EXPECT_EQ(texts.count(task_text(task)), 1U);
}

TEST(ShapePlan, EveryKernelIsCheckedAtLeastTwice) {
  std::map<std::string, int> checks;
  for (const MeasureTask& check : make_checks()) ++checks[kernel_of(check)];
  for (const std::string& kernel : kernels_of(make_plan({})))
    EXPECT_GE(checks[kernel], 2) << kernel;
}

TEST(ShapePlan, OperatorsAndTypesCanBeChosen) {
  PlanOptions options;
  options.ops = {"gemm", "softmax"};
  options.dtypes = {"fp16"};
  EXPECT_EQ(kernels_of(make_plan(options)), (std::set<std::string>{"gemm fp16", "softmax fp16"}));
  options.ops = {"softmix"};
  EXPECT_THAT(
      [&] { make_plan(options); },
      ThrowsMessage<UserError>(HasSubstr("unknown operator 'softmix'; nearest is 'softmax'")));
  options = {};
  options.dtypes = {"fp64"};
  EXPECT_THAT([&] { make_plan(options); },
              ThrowsMessage<UserError>(HasSubstr("unknown data type 'fp64'")));
}

TEST(ShapePlan, WorkOfOperators) {
  const MeasureTask gemm{"gemm", "fp8", {{"m", 2}, {"n", 3}, {"k", 4}}, {}};
  EXPECT_EQ(task_flops(gemm), 48);
  EXPECT_EQ(task_bytes(gemm), 2 * 4 + 3 * 4 + 2 * 3);
  const MeasureTask add{"add", "fp16", {{"rows", 2}, {"cols", 8}}, {}};
  EXPECT_EQ(task_flops(add), 0);
  EXPECT_EQ(task_bytes(add), 3 * 16 * 2);
  const MeasureTask stream{"stream_copy", "fp32", {{"bytes", 100}}, {}};
  EXPECT_EQ(task_bytes(stream), 100);
}

}  // namespace
}  // namespace foretell
