#include "model/mapping/neuron/spill_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace foretell {
namespace {

// Tensors are numbers; every copy is token-major.
ActivationCopy copy(TensorId tensor) { return {tensor, Layout::kTokenMajor}; }

KernelUse kernel(KernelKind kind, const std::vector<TensorId>& used, TensorId made,
                 double scratch = 0) {
  KernelUse use;
  use.kind = kind;
  for (const TensorId tensor : used) use.used.push_back(copy(tensor));
  use.made.push_back(copy(made));
  use.scratch = scratch;
  return use;
}

using Sizes = std::map<ActivationCopy, double>;

// 0 is read by a linear layer and, after an attention, once more.
const std::vector<KernelUse> kResidual = {
    kernel(KernelKind::kLinear, {}, 0), kernel(KernelKind::kLinear, {0}, 1),
    kernel(KernelKind::kAttention, {1}, 2), kernel(KernelKind::kLinear, {2, 0}, 3)};
const Sizes kResidualSizes = {{copy(0), 10}, {copy(1), 30}, {copy(2), 5}, {copy(3), 10}};

TEST(SpillPlan, NothingLeavesWhatFits) {
  EXPECT_TRUE(SpillPlan(kResidual, kResidualSizes, 40).empty());
  EXPECT_FALSE(SpillPlan(kResidual, kResidualSizes, 39.9).empty());
}

// 0 waits for kernel 4 while 2 is read, 1 goes from hand to hand.
const std::vector<KernelUse> kWaiting = {
    kernel(KernelKind::kLinear, {}, 0), kernel(KernelKind::kLinear, {}, 1),
    kernel(KernelKind::kAttention, {1}, 2), kernel(KernelKind::kAttention, {2}, 3),
    kernel(KernelKind::kAttention, {3, 0}, 4)};
const Sizes kWaitingSizes = {
    {copy(0), 10}, {copy(1), 30}, {copy(2), 5}, {copy(3), 5}, {copy(4), 5}};

TEST(SpillPlan, WhatWaitsLeavesFirstAndOnlyAsFarAsItHasTo) {
  const SpillPlan plan(kWaiting, kWaitingSizes, 34);
  EXPECT_DOUBLE_EQ(plan.stored(copy(0)), 6);
  EXPECT_DOUBLE_EQ(plan.reloaded(4, copy(0)), 6);
  for (const TensorId other : {1, 2, 3}) EXPECT_DOUBLE_EQ(plan.stored(copy(other)), 0);
}

TEST(SpillPlan, WhatIsReadStaysBeforeWhatIsMade) {
  const SpillPlan plan(kResidual, kResidualSizes, 34);
  EXPECT_DOUBLE_EQ(plan.reloaded(1, copy(0)), 0);
  EXPECT_DOUBLE_EQ(plan.stored(copy(1)), 6);
  EXPECT_DOUBLE_EQ(plan.reloaded(2, copy(1)), 6);
  EXPECT_DOUBLE_EQ(plan.reloaded(3, copy(0)), 6);  // it makes room for 1 in the attention
}

TEST(SpillPlan, ACopyLargerThanTheBudgetPassesThroughHbm) {
  const SpillPlan plan(kResidual, kResidualSizes, 20);
  EXPECT_DOUBLE_EQ(plan.stored(copy(0)), 10);
  EXPECT_DOUBLE_EQ(plan.stored(copy(1)), 20);
  EXPECT_DOUBLE_EQ(plan.reloaded(2, copy(1)), 20);
}

TEST(SpillPlan, ScratchIsTakenFromTheBudget) {
  std::vector<KernelUse> kernels = kWaiting;
  kernels[2].scratch = 4;
  EXPECT_DOUBLE_EQ(SpillPlan(kernels, kWaitingSizes, 40).stored(copy(0)), 4);
}

TEST(SpillPlan, AResultTakesThePlaceOfAnOperandThatIsNotNeededAgain) {
  // 0 dies in the attention that makes 1.
  const std::vector<KernelUse> kernels = {kernel(KernelKind::kLinear, {}, 0),
                                          kernel(KernelKind::kAttention, {0}, 1),
                                          kernel(KernelKind::kAttention, {1}, 2)};
  const Sizes sizes = {{copy(0), 20}, {copy(1), 30}, {copy(2), 1}};
  EXPECT_TRUE(SpillPlan(kernels, sizes, 30).empty());
  EXPECT_DOUBLE_EQ(SpillPlan(kernels, sizes, 29).stored(copy(1)), 1);
}

TEST(SpillPlan, BlocksOfTokensPassFromANormToLinearLayers) {
  const std::vector<KernelUse> kernels = {kernel(KernelKind::kNorm, {}, 0),
                                          kernel(KernelKind::kLinear, {0}, 1),
                                          kernel(KernelKind::kLinear, {0}, 2)};
  const Sizes sizes = {{copy(0), 20}, {copy(1), 1}, {copy(2), 1}};
  EXPECT_TRUE(SpillPlan(kernels, sizes, 5).empty());
}

TEST(SpillPlan, ButNotFromOneLinearLayerToAnother) {
  const std::vector<KernelUse> kernels = {kernel(KernelKind::kLinear, {}, 0),
                                          kernel(KernelKind::kLinear, {0}, 1)};
  const Sizes sizes = {{copy(0), 20}, {copy(1), 1}};
  EXPECT_DOUBLE_EQ(SpillPlan(kernels, sizes, 5).stored(copy(0)), 15);
}

TEST(SpillPlan, BetweenLoopsNothingPassesBlockByBlock) {
  const std::vector<KernelUse> kernels = {kernel(KernelKind::kNorm, {}, 0),
                                          kernel(KernelKind::kLinear, {0}, 1),
                                          kernel(KernelKind::kLinear, {0}, 2)};
  const Sizes sizes = {{copy(0), 20}, {copy(1), 1}, {copy(2), 1}};
  const SpillPlan plan(kernels, sizes, 5, true);
  EXPECT_DOUBLE_EQ(plan.stored(copy(0)), 20);
  EXPECT_DOUBLE_EQ(plan.reloaded(1, copy(0)), 20);
  EXPECT_DOUBLE_EQ(plan.reloaded(2, copy(0)), 20);
  EXPECT_TRUE(SpillPlan(kernels, sizes, 40, true).empty());
}

TEST(SpillPlan, OfWhatDoesNotFitNothingStaysBetweenLoops) {
  const SpillPlan plan(kWaiting, kWaitingSizes, 34, true);
  EXPECT_DOUBLE_EQ(plan.stored(copy(0)), 10);
  EXPECT_DOUBLE_EQ(plan.stored(copy(1)), 0);  // it fits while the other is out
}

// Kernels that read some of the results before them.
std::vector<KernelUse> random_kernels(std::mt19937* random, Sizes* sizes) {
  const std::vector<KernelKind> kinds = {KernelKind::kLinear, KernelKind::kAttention,
                                         KernelKind::kNorm, KernelKind::kElementwise};
  std::vector<KernelUse> kernels;
  for (TensorId made = 0; made < 12; ++made) {
    std::vector<TensorId> used;
    for (TensorId earlier = 0; earlier < made; ++earlier) {
      if ((*random)() % 4 == 0) used.push_back(earlier);
    }
    kernels.push_back(kernel(kinds[(*random)() % kinds.size()], used, made,
                             static_cast<double>((*random)() % 5)));
    (*sizes)[copy(made)] = 1 + static_cast<double>((*random)() % 20);
  }
  return kernels;
}

TEST(SpillPlan, ASmallerBudgetNeverTakesFewerBytesOutOfAnyCopy) {
  std::mt19937 random(1);
  bool spilled = false;
  for (int round = 0; round < 50; ++round) {
    Sizes sizes;
    const std::vector<KernelUse> kernels = random_kernels(&random, &sizes);
    for (double budget = 60; budget >= 5; budget -= 5) {
      const bool loops = round % 2 == 1;
      const SpillPlan roomy(kernels, sizes, budget, loops);
      const SpillPlan tight(kernels, sizes, budget - 5, loops);
      for (const auto& [held, bytes] : sizes) {
        EXPECT_GE(tight.stored(held), roomy.stored(held));
        EXPECT_LE(tight.stored(held), bytes);
        double largest = 0;
        for (std::size_t k = 0; k < kernels.size(); ++k) {
          EXPECT_GE(tight.reloaded(k, held), roomy.reloaded(k, held));
          largest = std::max(largest, tight.reloaded(k, held));
        }
        EXPECT_DOUBLE_EQ(largest, tight.stored(held));  // nothing leaves in vain
        spilled = spilled || largest > 0;
      }
    }
  }
  EXPECT_TRUE(spilled);
}

}  // namespace
}  // namespace foretell
