// What a stage of a pipeline sends to the next one: messages on links, held to what the links
// allow.
#include <gtest/gtest.h>

#include "model/system/collective_run.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;

constexpr std::uint64_t kLarge = 256'000'000;

double seconds(const NeuronSystemSpec& system, const StageMessage& message) {
  return to_seconds(execute_message(system, {}, message).duration).value();
}

TEST(StageMessage, ALargeOneTakesItsBytesAtTheLesserRate) {
  NeuronSystemSpec system = exemplar_inf2_ring();
  for (const auto& [link, core] : {std::pair{96.0_GBps, 50.0_GBps}, {20.0_GBps, 50.0_GBps}}) {
    system.device.link.bandwidth = link;
    system.device.collective.rate = core;
    EXPECT_NEAR(seconds(system, {1, 2, kLarge}) / (Bytes(kLarge) / std::min(link, core)).value(), 1,
                0.02);
  }
}

TEST(StageMessage, ASmallOneTakesItsLatencies) {
  NeuronSystemSpec system = exemplar_inf2_ring();
  const double before = seconds(system, {1, 2, 64});
  EXPECT_GE(before, system.device.link.hop_latency.value());
  system.device.link.hop_latency = system.device.link.hop_latency + 3.0_us;
  EXPECT_NEAR(seconds(system, {1, 2, 64}) - before, 3e-6, 1e-9);
}

TEST(StageMessage, CoresOfADeviceShareItsLink) {
  NeuronSystemSpec system = exemplar_inf2_ring();
  system.device.link.bandwidth = 20.0_GBps;
  EXPECT_NEAR(seconds(system, {2, 2, kLarge}) / seconds(system, {1, 2, kLarge}), 2, 0.02);
}

// The cores of three devices send over the same links, and each three links far.
TEST(StageMessage, LinksBetweenStagesOfSeveralDevicesCarryAll) {
  NeuronSystemSpec system = exemplar_inf2_ring();
  system.device.link.bandwidth = 20.0_GBps;
  const CollectiveExecution run = execute_message(system, {}, {6, 6, kLarge});
  EXPECT_EQ(run.sent, 12 * kLarge);
  EXPECT_EQ(run.received, run.sent);
  std::uint64_t carried = 0;
  for (const LinkTraffic& link : run.links) carried += link.bytes;
  EXPECT_EQ(carried, 3 * run.sent);
  EXPECT_NEAR(seconds(system, {6, 6, kLarge}) / seconds(system, {1, 2, kLarge}), 6, 0.1);
}

TEST(StageMessage, MoreBytesFartherAndThinnerAreNeverFaster) {
  const NeuronSystemSpec system = exemplar_instances(exemplar_inf2_ring(), 2);
  double last = 0;
  for (const std::uint64_t bytes : {1U, 4096U, 1U << 20U, 1U << 24U}) {
    const double now = seconds(system, {2, 2, bytes});
    EXPECT_GE(now, last);
    EXPECT_GE(seconds(system, {4, 4, bytes}), now);
    EXPECT_GE(seconds(system, {2, 24, bytes}), system.network_hop.value());
    NeuronSystemSpec wider = system;
    wider.device.link.bandwidth = system.device.link.bandwidth * 2;
    wider.network = system.network * 2;
    EXPECT_LE(seconds(wider, {2, 2, bytes}), now);
    EXPECT_LE(seconds(wider, {2, 24, bytes}), seconds(system, {2, 24, bytes}));
    last = now;
  }
}

}  // namespace
}  // namespace foretell
