#include "model/predict/calls/kernel_dependencies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// a -> b -> c, where c also reads what a wrote: c is "down", with the residual in its epilogue.
TEST(KernelDependencies, AKernelReadsTheLastOfThoseThatWroteItsInputs) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const TensorId normed = w.norm("norm", x);
  const TensorId wide = w.gelu("gelu", w.matmul("up", normed, 512));
  const TensorId sum = w.op("add", "Add", {w.matmul("down", wide, 256), normed});
  const Graph graph = w.finish(sum, "bf16");
  std::vector<KernelRun> one_each(3);
  fill_dependencies(graph, {1, 1, 1}, one_each);
  EXPECT_THAT(one_each[0].reads, IsEmpty());
  EXPECT_THAT(one_each[1].reads, ElementsAre(0));
  EXPECT_THAT(one_each[2].reads, ElementsAre(0, 1));
  std::vector<KernelRun> several(5);
  fill_dependencies(graph, {1, 3, 1}, several);
  EXPECT_THAT(several[1].reads, ElementsAre(0));
  EXPECT_THAT(several[2].reads, ElementsAre(1));
  EXPECT_THAT(several[3].reads, ElementsAre(2));
  EXPECT_THAT(several[4].reads, ElementsAre(0, 3));
}

}  // namespace
}  // namespace foretell
