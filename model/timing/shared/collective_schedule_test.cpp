#include "model/timing/shared/collective_schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

const CollectiveSpec kRingOnly = exemplar_inf2().device.collective;

CollectiveSpec by_size() {
  CollectiveSpec spec = kRingOnly;
  spec.algorithms = "by-size";
  return spec;
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                     CollectiveKind::kPermute};

TEST(CollectiveSchedule, WhatIsSentInAStepIsWhatItsReceiverWaitsFor) {
  for (const CollectiveKind kind : kKinds) {
    for (const CollectiveSpec& spec : {kRingOnly, by_size()}) {
      for (const double bytes : {24e3, 24e6, 240e6}) {
        for (const int ranks : {2, 8, 12, 32}) {
          for (const CollectivePlan& plan :
               plan_collective(spec, {kind, static_cast<std::uint64_t>(bytes), ranks})) {
            CollectiveStep step;
            for (int s = 0; s < plan.steps; ++s) {
              std::map<int, std::uint64_t> arriving;
              for (int r = 0; r < ranks; ++r) {
                collective_step(plan, r, s, step);
                for (const CollectiveSend& send : step.sends) {
                  EXPECT_NE(send.to, r);
                  arriving[send.to] += send.bytes;
                }
              }
              for (int r = 0; r < ranks; ++r) {
                collective_step(plan, r, s, step);
                ASSERT_EQ(arriving[r], step.received) << to_string(kind) << " " << ranks;
              }
            }
          }
        }
      }
    }
  }
}

TEST(CollectiveSchedule, AGroupDoesWhatACopyOfItsSizeDoesAndKeepsToItself) {
  constexpr int kCopy = 24;
  constexpr int kRanks = 4;
  for (const CollectiveKind kind : kKinds) {
    for (const int stride : {1, 2, 6}) {
      const CollectivePlan alone = plan_collective(by_size(), {kind, 2'400'000, kRanks}).front();
      const CollectivePlan plan =
          plan_collective(by_size(), {kind, 2'400'000, kRanks, stride}).front();
      ASSERT_EQ(plan.steps, alone.steps);
      for (int rank = 0; rank < kCopy; ++rank) {
        const int place = rank / stride % kRanks;
        const int first = rank - place * stride;
        for (int s = 0; s < plan.steps; ++s) {
          CollectiveStep step;
          CollectiveStep expected;
          collective_step(plan, rank, s, step);
          collective_step(alone, place, s, expected);
          ASSERT_EQ(step.received, expected.received);
          ASSERT_EQ(step.sends.size(), expected.sends.size());
          for (std::size_t i = 0; i < step.sends.size(); ++i) {
            EXPECT_EQ(step.sends[i].to, first + expected.sends[i].to * stride);
            EXPECT_LT(step.sends[i].to, kCopy);
          }
        }
      }
    }
  }
}

// Follows which rank holds the contribution of which rank for each segment: at the end of an
// all-reduce everyone has everything of everyone.
TEST(CollectiveSchedule, TheRingMovesEverySegmentToEveryRank) {
  const int ranks = 6;
  const auto plan = plan_collective(kRingOnly, {CollectiveKind::kAllReduce, 600, ranks}).front();
  EXPECT_EQ(plan.steps, 2 * (ranks - 1));
  // contributions[rank][segment] = set of ranks summed into it.
  std::vector<std::vector<std::set<int>>> contributions(ranks, std::vector<std::set<int>>(ranks));
  for (int r = 0; r < ranks; ++r) {
    for (auto& segment : contributions[static_cast<std::size_t>(r)]) segment.insert(r);
  }
  CollectiveStep step;
  for (int s = 0; s < plan.steps; ++s) {
    auto next = contributions;
    for (int r = 0; r < ranks; ++r) {
      collective_step(plan, r, s, step);
      ASSERT_EQ(step.sends.size(), 1U);
      EXPECT_EQ(step.sends[0].to, (r + 1) % ranks);
      // Rank r sends the segment that it received in the step before; in step 0 its own.
      const auto segment = static_cast<std::size_t>((r - s + 2 * ranks) % ranks);
      const auto& sent = contributions[static_cast<std::size_t>(r)][segment];
      next[static_cast<std::size_t>((r + 1) % ranks)][segment].insert(sent.begin(), sent.end());
    }
    contributions = next;
  }
  for (const auto& rank : contributions) {
    for (const auto& segment : rank) EXPECT_EQ(segment.size(), static_cast<std::size_t>(ranks));
  }
}

// By one rank in all its steps.
std::uint64_t bytes_sent(const CollectivePlan& plan) {
  std::uint64_t bytes = 0;
  CollectiveStep step;
  for (int s = 0; s < plan.steps; ++s) {
    collective_step(plan, 0, s, step);
    for (const CollectiveSend& send : step.sends) bytes += send.bytes;
  }
  return bytes;
}

TEST(CollectiveSchedule, ARankSendsWhatTheClosedFormSays) {
  const std::uint64_t n = 24 * 1000000;
  const auto sent = [&](CollectiveKind kind) {
    return bytes_sent(plan_collective(kRingOnly, {kind, n, 24}).front());
  };
  EXPECT_EQ(sent(CollectiveKind::kAllReduce), 2 * 23 * n / 24);
  EXPECT_EQ(sent(CollectiveKind::kAllGather), 23 * n / 24);
  EXPECT_EQ(sent(CollectiveKind::kReduceScatter), 23 * n / 24);
  EXPECT_EQ(sent(CollectiveKind::kAllToAll), 23 * n / 24);
  EXPECT_EQ(sent(CollectiveKind::kPermute), n);
}

TEST(CollectiveSchedule, HalvingMovesAsMuchAsTheRingInFewerSteps) {
  const std::uint64_t n = 32 * 1000000;
  const auto ring = plan_collective(kRingOnly, {CollectiveKind::kAllReduce, n, 32}).front();
  const auto halving = plan_collective(by_size(), {CollectiveKind::kAllReduce, n, 32}).front();
  EXPECT_EQ(halving.algorithm, CollectiveAlgorithm::kHalving);
  EXPECT_EQ(halving.steps, 2 * 5);
  EXPECT_EQ(bytes_sent(halving), bytes_sent(ring));
}

TEST(CollectiveSchedule, TheSizeChoosesTheAlgorithmOnBothSidesOfItsLimits) {
  const CollectiveSpec spec = by_size();
  const auto chosen = [&](int ranks, double bytes) {
    return choose_algorithm(spec, CollectiveKind::kAllReduce, ranks,
                            static_cast<std::uint64_t>(bytes));
  };
  EXPECT_EQ(chosen(32, 1e6 - 1), CollectiveAlgorithm::kMesh);
  EXPECT_EQ(chosen(32, 1e6), CollectiveAlgorithm::kHalving);
  EXPECT_EQ(chosen(32, 56e6 - 1), CollectiveAlgorithm::kHalving);
  EXPECT_EQ(chosen(32, 56e6), CollectiveAlgorithm::kRing);
  EXPECT_EQ(chosen(24, 1e6), CollectiveAlgorithm::kRing);  // no power of two
  EXPECT_EQ(choose_algorithm(kRingOnly, CollectiveKind::kAllReduce, 32, 8),
            CollectiveAlgorithm::kRing);
}

TEST(CollectiveSchedule, OddBuffersArePaddedToEqualSegments) {
  const auto plan = plan_collective(kRingOnly, {CollectiveKind::kAllReduce, 25, 24}).front();
  EXPECT_EQ(plan.segment, 2U);
}

TEST(CollectiveSchedule, TwoRingsShareTheBytesInOppositeDirections) {
  CollectiveSpec spec = kRingOnly;
  spec.rings = 2;
  const auto plans = plan_collective(spec, {CollectiveKind::kAllReduce, 48 * 1000, 24});
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].segment, 1000U);
  EXPECT_EQ(plans[1].segment, 1000U);
  EXPECT_EQ(plans[0].direction, -plans[1].direction);
  EXPECT_EQ(plan_collective(spec, {CollectiveKind::kPermute, 48, 24}).size(), 1U);
}

// Two ranks: six accesses per chunk in the reduce-scatter, four in the all-gather [CC:128,133].
TEST(CollectiveSchedule, HbmAccessesPerChunkAreThePublishedOnes) {
  const auto plan = plan_collective(kRingOnly, {CollectiveKind::kAllReduce, 24, 24}).front();
  CollectiveStep step;
  const auto per_two_ranks = [&](int s) {
    collective_step(plan, 0, s, step);
    return 2 * (step.reads + step.reads_back + 1);  // and one write at the receiver
  };
  EXPECT_EQ(per_two_ranks(1), 6);
  EXPECT_EQ(per_two_ranks(22), 6);
  EXPECT_EQ(per_two_ranks(23), 4);
  EXPECT_EQ(per_two_ranks(45), 4);
}

}  // namespace
}  // namespace foretell
