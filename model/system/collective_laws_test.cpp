// Collectives on whole topologies against their closed forms, and what must hold for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/system/collective_run.hpp"
#include "model/system/testing/collective_time.hpp"
#include "model/testing/neuron_exemplar.hpp"
#include "model/timing/shared/topology.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::HasSubstr;

NeuronSystemSpec chain_of_six() {
  NeuronSystemSpec system = exemplar_inf2();
  system.devices = 6;
  system.topology = "chain";
  return system;
}

NeuronSystemSpec ring_of_four() {
  NeuronSystemSpec system = exemplar_instances(exemplar_trn1_torus(), 4);
  system.neighbour_bandwidth = 40.0_GBps;
  return system;
}

NeuronSystemSpec by_size(NeuronSystemSpec system) {
  system.device.collective.algorithms = "by-size";
  return system;
}

// Steps of a ring with hop latency and rate, and the overhead of its phases.
double closed_form(const NeuronSystemSpec& system, int ranks, double bytes, int phases) {
  const CollectiveSpec& spec = system.device.collective;
  const double step = system.device.link.hop_latency.value() + bytes / ranks / spec.rate.value();
  return phases * ((ranks - 1) * step + spec.phase_overhead.value());
}

TEST(CollectiveLaws, ARingAllReduceTakesItsClosedForm) {
  const NeuronSystemSpec ring = exemplar_inf2_ring();
  for (const double bytes : {8e6, 64e6, 512e6}) {
    for (const auto& [system, ranks] :
         {std::pair(ring, 24), {ring, 12}, {chain_of_six(), 12}, {exemplar_trn1_torus(), 32}}) {
      const double expected = closed_form(system, ranks, bytes, 2);
      EXPECT_NEAR(collective_seconds(system, CollectiveKind::kAllReduce, ranks, bytes), expected,
                  0.02 * expected)
          << ranks << " ranks, " << bytes;
    }
  }
}

TEST(CollectiveLaws, ASmallAllReduceIsItsHopsAndOverheads) {
  const NeuronSystemSpec ring = exemplar_inf2_ring();
  const double hops = 2 * 23 * ring.device.link.hop_latency.value() +
                      2 * ring.device.collective.phase_overhead.value();
  EXPECT_NEAR(collective_seconds(ring, CollectiveKind::kAllReduce, 24, 24), hops, 1e-3 * hops);
  EXPECT_NEAR(collective_seconds(exemplar_inf2(), CollectiveKind::kAllReduce, 2, 24),
              2 * 1.5e-6 + 4e-6, 1e-8);
}

TEST(CollectiveLaws, GatherAndScatterAreTheHalvesOfAnAllReduce) {
  const NeuronSystemSpec ring = exemplar_inf2_ring();
  for (const double bytes : {2.4e3, 24e6}) {
    const double gather = collective_seconds(ring, CollectiveKind::kAllGather, 24, bytes);
    const double scatter = collective_seconds(ring, CollectiveKind::kReduceScatter, 24, bytes);
    const double reduce = collective_seconds(ring, CollectiveKind::kAllReduce, 24, bytes);
    EXPECT_NEAR(gather, closed_form(ring, 24, bytes, 1), 0.02 * gather);
    EXPECT_NEAR(reduce, gather + scatter, 1e-3 * reduce);
  }
}

TEST(CollectiveLaws, APermuteIsOneStep) {
  const NeuronSystemSpec ring = exemplar_inf2_ring();
  const double expected = 2e-6 + 1.5e-6 + 32e6 / 50e9;
  EXPECT_NEAR(collective_seconds(ring, CollectiveKind::kPermute, 24, 32e6), expected,
              0.01 * expected);
}

// Pairs that are far apart share links: the busiest one bounds the whole from below.
TEST(CollectiveLaws, AnAllToAllIsNotFasterThanItsBusiestLink) {
  const NeuronSystemSpec ring = exemplar_inf2_ring();
  const auto run = execute_collective(ring, {}, {CollectiveKind::kAllToAll, 240'000'000}, 24);
  std::uint64_t busiest = 0;
  for (const LinkTraffic& link : run.links) busiest = std::max(busiest, link.bytes);
  const double bound = static_cast<double>(busiest) / ring.device.link.bandwidth.value();
  EXPECT_GT(to_seconds(run.duration).value(), bound);
  EXPECT_LT(to_seconds(run.duration).value(), 2 * bound);
}

using Case = std::tuple<std::string, CollectiveKind, bool>;
class CollectiveConservation : public ::testing::TestWithParam<Case> {};

// Every byte that a rank sends arrives, and passes exactly the links on its way.
TEST_P(CollectiveConservation, BytesOnEveryLinkAreThoseOfTheSteps) {
  const auto& [name, kind, sized] = GetParam();
  NeuronSystemSpec system = name == "torus"   ? exemplar_trn1_torus()
                            : name == "chain" ? chain_of_six()
                            : name == "two"   ? exemplar_instances(exemplar_inf2_ring(), 2)
                            : name == "four"  ? ring_of_four()
                                              : exemplar_inf2_ring();
  if (sized) system = by_size(system);
  const int ranks = name == "torus" ? 32 : name == "two" ? 48 : name == "four" ? 128 : 12;
  const std::uint64_t bytes = 777'777;
  const auto run = execute_collective(system, {}, {kind, bytes}, ranks);

  const RankPlacement placement(system, ranks);
  const Topology topology(system, placement.instances());
  std::vector<std::uint64_t> expected(topology.links().size(), 0);
  std::uint64_t sent = 0;
  CollectiveStep step;
  for (const auto& plan : plan_collective(system.device.collective, {kind, bytes, ranks},
                                          placement.ranks_of_instance())) {
    for (int r = 0; r < ranks; ++r) {
      for (int s = 0; s < plan.steps; ++s) {
        collective_step(plan, r, s, step);
        for (const CollectiveSend& send : step.sends) {
          sent += send.bytes;
          const int to = placement.device(send.to);
          for (int device = placement.device(r); device != to;) {
            const auto link = static_cast<std::size_t>(topology.next_link(device, to));
            expected[link] += send.bytes;
            device = topology.links()[link].to;
          }
        }
      }
    }
  }
  EXPECT_EQ(run.sent, sent);
  EXPECT_EQ(run.received, sent);
  ASSERT_EQ(run.links.size(), expected.size());
  for (std::size_t l = 0; l < expected.size(); ++l) EXPECT_EQ(run.links[l].bytes, expected[l]);
}

INSTANTIATE_TEST_SUITE_P(
    All, CollectiveConservation,
    ::testing::Combine(::testing::Values("ring", "chain", "torus", "two", "four"),
                       ::testing::ValuesIn(kCollectiveKinds), ::testing::Bool()),
    [](const ::testing::TestParamInfo<Case>& test) {
      return std::get<0>(test.param) + "_" + std::string(to_string(std::get<1>(test.param))) +
             (std::get<2>(test.param) ? "_by_size" : "_ring");
    });

TEST(CollectiveLaws, ARingAllReduceLoadsEveryLinkOfTheRingEqually) {
  const std::uint64_t bytes = 24 * 100'000;
  const auto run =
      execute_collective(exemplar_inf2_ring(), {}, {CollectiveKind::kAllReduce, bytes}, 24);
  std::size_t used = 0;
  for (const LinkTraffic& link : run.links) {
    if (link.bytes == 0) continue;
    ++used;
    EXPECT_EQ(link.to, (link.from + 1) % 12);
    EXPECT_EQ(link.bytes, 2 * 23 * bytes / 24);
  }
  EXPECT_EQ(used, 12U);
}

TEST(CollectiveLaws, MemoryIsTouchedAsOftenAsPublished) {
  const std::uint64_t bytes = 24 * 100'000;
  const std::uint64_t segment = bytes / 24;
  const auto gather =
      execute_collective(exemplar_inf2_ring(), {}, {CollectiveKind::kAllGather, bytes}, 24);
  EXPECT_EQ(gather.hbm_read, 2 * 23 * segment);  // two ranks, one read and one write per step
  EXPECT_EQ(gather.hbm_written, 2 * 23 * segment);
  const auto scatter =
      execute_collective(exemplar_inf2_ring(), {}, {CollectiveKind::kReduceScatter, bytes}, 24);
  EXPECT_EQ(scatter.hbm_read, 2 * (1 + 22 * 2) * segment);  // the first step has nothing to add
  EXPECT_EQ(scatter.hbm_written, 2 * 23 * segment);
}

TEST(CollectiveLaws, MoreBytesAreNeverFaster) {
  for (const NeuronSystemSpec& system :
       {exemplar_inf2_ring(), exemplar_trn1_torus(), chain_of_six()}) {
    for (const CollectiveKind kind : kCollectiveKinds) {
      double last = 0;
      for (double bytes = 64; bytes < 1e8; bytes *= 7) {
        const double now = collective_seconds(system, kind, 8, bytes);
        EXPECT_GE(now, last) << to_string(kind) << " " << bytes;
        last = now;
      }
    }
  }
}

TEST(CollectiveLaws, FasterLinksRatesAndHopsAreNeverSlower) {
  const double bytes = 5e6;
  for (const CollectiveKind kind : kCollectiveKinds) {
    NeuronSystemSpec system = exemplar_inf2_ring();
    const double before = collective_seconds(system, kind, 24, bytes);
    system.device.link.bandwidth = system.device.link.bandwidth * 2;
    const double links = collective_seconds(system, kind, 24, bytes);
    EXPECT_LE(links, before) << to_string(kind);
    system.device.link.hop_latency = 1.0_us;
    const double hops = collective_seconds(system, kind, 24, bytes);
    EXPECT_LT(hops, links) << to_string(kind);
    system.device.collective.rate = 60.0_GBps;
    EXPECT_LT(collective_seconds(system, kind, 24, bytes), hops) << to_string(kind);
  }
}

TEST(CollectiveLaws, TheFittedHopReplacesThePublishedOne) {
  NeuronFactors factors;
  factors.hop_latency = 1.0_us;
  const double published =
      collective_seconds(exemplar_inf2_ring(), CollectiveKind::kAllReduce, 24, 24);
  const double fitted =
      collective_time(exemplar_inf2_ring(), factors, CollectiveKind::kAllReduce, 24, 24).value();
  EXPECT_NEAR(published - fitted, 46 * 0.5e-6, 1e-9);
}

TEST(CollectiveLaws, ASecondRingHalvesTheTransferAndNotTheHops) {
  NeuronSystemSpec system = exemplar_inf2_ring();
  const double small = collective_seconds(system, CollectiveKind::kAllReduce, 24, 24);
  const double large = collective_seconds(system, CollectiveKind::kAllReduce, 24, 240e6);
  system.device.collective.rings = 2;
  EXPECT_NEAR(collective_seconds(system, CollectiveKind::kAllReduce, 24, 24), small, 1e-2 * small);
  EXPECT_NEAR(collective_seconds(system, CollectiveKind::kAllReduce, 24, 240e6) - small,
              (large - small) / 2, 0.02 * large);
}

TEST(CollectiveLaws, FewerStepsAreFasterForSmallBuffers) {
  const NeuronSystemSpec ring = exemplar_trn1_torus();
  const NeuronSystemSpec sized = by_size(ring);
  EXPECT_LT(collective_seconds(sized, CollectiveKind::kAllReduce, 32, 16e3),
            0.2 * collective_seconds(ring, CollectiveKind::kAllReduce, 32, 16e3));
  EXPECT_EQ(collective_seconds(sized, CollectiveKind::kAllReduce, 32, 100e6),
            collective_seconds(ring, CollectiveKind::kAllReduce, 32, 100e6));
}

TEST(CollectiveLaws, AGroupThatTheVendorDoesNotAllowIsRefused) {
  try {
    collective_time(exemplar_inf2_ring(), {}, CollectiveKind::kAllReduce, 5, 24);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("5 is not possible on"));
    EXPECT_THAT(error.what(), HasSubstr("possible are 1, 2, 4, 8, 12, 24"));
  }
  EXPECT_THROW(collective_seconds(exemplar_inf2_ring(), CollectiveKind::kAllReduce, 1, 24),
               UserError);
  EXPECT_THROW(collective_seconds(exemplar_inf2_ring(), CollectiveKind::kAllReduce, 24, 0),
               UserError);
}

}  // namespace
}  // namespace foretell
