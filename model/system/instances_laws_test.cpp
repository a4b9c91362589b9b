// Collectives over several instances against what must hold for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/system/collective_run.hpp"
#include "model/system/testing/collective_time.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::HasSubstr;

// 24 cores of a ring of 12 devices in each instance.
NeuronSystemSpec two_rings() { return exemplar_instances(exemplar_inf2_ring(), 2); }

double network_share(const NeuronSystemSpec& system) {
  return system.network.value() / system.devices_of_instance();
}

// The two cores of a device share its link to the network.
double between_two(const NeuronSystemSpec& system, double bytes) {
  const double step = system.network_hop.value() + 2 * (bytes / 24 / 2) / network_share(system);
  return 2 * (step + system.device.collective.phase_overhead.value());
}

TEST(InstancesLaws, ASumIsThatWithinAnInstanceAndThatBetweenThem) {
  const NeuronSystemSpec two = two_rings();
  for (const double bytes : {4.8e3, 48e6, 480e6}) {
    const double expected =
        collective_seconds(exemplar_inf2_ring(), CollectiveKind::kAllReduce, 24, bytes) +
        between_two(two, bytes);
    EXPECT_NEAR(collective_seconds(two, CollectiveKind::kAllReduce, 48, bytes), expected,
                0.02 * expected)
        << bytes;
  }
}

TEST(InstancesLaws, NeverFasterThanWithinOneInstance) {
  const NeuronSystemSpec one = exemplar_inf2_ring();
  for (const CollectiveKind kind : kCollectiveKinds) {
    for (const double bytes : {480.0, 4.8e5, 48e6}) {
      EXPECT_GE(collective_seconds(two_rings(), kind, 48, bytes),
                collective_seconds(one, kind, 24, bytes))
          << to_string(kind) << " " << bytes;
    }
  }
}

// As many cores, joined by links or by the network: what is large is bound by bytes.
TEST(InstancesLaws, LargeOnesAreSlowerThanOnLinksThatJoinAllCores) {
  NeuronSystemSpec halves = exemplar_inf2_ring();
  halves.devices = 6;
  halves = exemplar_instances(halves, 2);
  halves.device.collective.group_sizes = "2, 12";
  for (const CollectiveKind kind : kCollectiveKinds) {
    EXPECT_GT(collective_seconds(halves, kind, 24, 240e6),
              collective_seconds(exemplar_inf2_ring(), kind, 24, 240e6))
        << to_string(kind);
  }
}

TEST(InstancesLaws, TimeFallsWithTheRateAndTheHopOfTheNetwork) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    NeuronSystemSpec system = two_rings();
    const double before = collective_seconds(system, kind, 48, 48e6);
    system.network = system.network * 2;
    const double rate = collective_seconds(system, kind, 48, 48e6);
    EXPECT_LT(rate, before) << to_string(kind);
    system.network_hop = 10.0_us;
    EXPECT_LT(collective_seconds(system, kind, 48, 48e6), rate) << to_string(kind);
  }
}

TEST(InstancesLaws, NeverFasterThanTheBytesOnTheNetwork) {
  const NeuronSystemSpec system = two_rings();
  for (const CollectiveKind kind : kCollectiveKinds) {
    const auto run = execute_collective(system, {}, {kind, 48'000'000}, 48);
    std::uint64_t busiest = 0;
    std::uint64_t there = 0;
    std::uint64_t back = 0;
    for (const LinkTraffic& link : run.links) {
      if (link.to == -1) there += link.bytes;
      if (link.from == -1) back += link.bytes;
      if (link.to == -1 || link.from == -1) busiest = std::max(busiest, link.bytes);
    }
    EXPECT_EQ(there, back) << to_string(kind);
    EXPECT_GT(there, 0U) << to_string(kind);
    EXPECT_GE(to_seconds(run.duration).value(),
              static_cast<double>(busiest) / network_share(system))
        << to_string(kind);
  }
}

TEST(InstancesLaws, AGroupWithinAnInstanceDoesNotSeeTheOthers) {
  for (const CollectiveKind kind : kCollectiveKinds) {
    const auto alone = execute_collective(exemplar_inf2_ring(), {}, {kind, 2'400'000}, 24);
    const auto beside = execute_collective(two_rings(), {}, {kind, 2'400'000}, 24);
    EXPECT_EQ(beside.duration, alone.duration) << to_string(kind);
    EXPECT_EQ(beside.links.size(), alone.links.size()) << to_string(kind);
    // Nor do groups of a copy that lies on both; what meets on a link at the same time may pass it
    // in another order.
    const auto groups = execute_collective(two_rings(), {}, {kind, 2'400'000, 24}, 48);
    EXPECT_NEAR(to_seconds(groups.duration) / to_seconds(alone.duration), 1, 0.01)
        << to_string(kind);
  }
}

// Chips of a ring of instances have links of their own to the next.
TEST(InstancesLaws, LinksToTheNeighbourTakeTheBytesOfTheirPlace) {
  NeuronSystemSpec system = exemplar_trn1_torus();
  system = exemplar_instances(system, 4);
  const double over_network = collective_seconds(system, CollectiveKind::kAllReduce, 128, 64e6);
  system.neighbour_bandwidth = 40.0_GBps;
  EXPECT_LT(collective_seconds(system, CollectiveKind::kAllReduce, 128, 64e6), over_network);
  const auto run = execute_collective(system, {}, {CollectiveKind::kAllReduce, 64'000'000}, 128);
  std::uint64_t between = 0;
  for (const LinkTraffic& link : run.links) {
    if (link.from / 16 != link.to / 16) between += link.bytes;
  }
  // Of the part of each of 128 ranks, 2 * 3 / 4, once over a link.
  EXPECT_EQ(between, 128U * 6 * (64'000'000 / 32 / 4));
}

TEST(InstancesLaws, AGroupThatDividesInstancesUnevenlyIsRefused) {
  EXPECT_THAT(
      [] {
        execute_collective(two_rings(), {}, {CollectiveKind::kAllReduce, 4800, 16}, 48);
      },
      ::testing::ThrowsMessage<UserError>(
          HasSubstr("16 ranks, 1 apart, divides instances of 24 cores unevenly")));
  EXPECT_THAT(
      [] {
        execute_collective(two_rings(), {}, {CollectiveKind::kAllReduce, 4800}, 36);
      },
      ::testing::ThrowsMessage<UserError>(HasSubstr("possible are 1, 2, 4, 8, 12, 24, 48")));
}

}  // namespace
}  // namespace foretell
