// What exchanges between GPUs of several nodes have to obey: alone they take the closed form of
// their rounds, they are never faster than on one node or than the bytes on the slower of links and
// network, and a group that fits a node does not see the network.
#include <gtest/gtest.h>

#include <cmath>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/mapping/gpu/collective_kernels.hpp"
#include "model/mapping/gpu/layer_kernels.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/system/gpu_run.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/network_exchange.hpp"

namespace foretell {
namespace {

constexpr GpuCollective kAll[] = {GpuCollective::kAllReduce, GpuCollective::kAllGather,
                                  GpuCollective::kReduceScatter, GpuCollective::kAllToAll,
                                  GpuCollective::kSend};

GpuSystemSpec nodes_of(const char* name) { return GpuCatalog().load(name).spec; }

Grid kernel_on(const GpuSystemSpec& system, const GpuCollectiveShape& shape) {
  const GpuFactors none(system.device, "none");
  return CollectiveKernels(system, none, Seconds(3e-6)).kernel("collective", shape);
}

double seconds_of(const GpuSystemSpec& system, const Grid& kernel) {
  return simulate_gpu(system.device, {{{kernel}}}).front().value();
}

TEST(NetworkExchangeLaws, AGroupFallsToNodesByItsStride) {
  const GpuSystemSpec system = nodes_of("h100-sxm-x32");
  const struct {
    int ranks;
    int stride;
    int nodes;
    int in_node;
  } groups[] = {{8, 1, 1, 8}, {16, 1, 2, 8}, {32, 1, 4, 8},
                {4, 8, 4, 1}, {4, 4, 2, 2},  {2, 8, 2, 1}};
  for (const auto& group : groups) {
    const GroupNodes at = nodes_of_group(system, group.ranks, group.stride);
    EXPECT_EQ(at.nodes, group.nodes) << group.ranks << " by " << group.stride;
    EXPECT_EQ(at.ranks, group.in_node) << group.ranks << " by " << group.stride;
  }
}

TEST(NetworkExchangeLaws, AloneItTakesTheClosedFormOfItsRounds) {
  const GpuSystemSpec system = nodes_of("h100-sxm-x16");
  for (const GpuCollective op : kAll) {
    for (const double bytes : {4096.0, 3e6, 1e9}) {
      const int ranks = op == GpuCollective::kSend ? 2 : 16;
      const int stride = op == GpuCollective::kSend ? 8 : 1;
      const Grid kernel = kernel_on(system, {op, ranks, Bytes(bytes), stride});
      const ExchangeTime parts = exchange_time(kernel.exchange);
      const double closed = (kernel.launch + parts.latency + parts.moving).value();
      EXPECT_NEAR(seconds_of(system, kernel) / closed, 1, 1e-5) << static_cast<int>(op) << bytes;
    }
  }
}

TEST(NetworkExchangeLaws, NeverFasterThanTheBytesOnTheNetwork) {
  const GpuSystemSpec system = nodes_of("h100-sxm-x16");
  const double bytes = 1e9;
  // Of a sum each GPU of a node sends its eighth to the other node and back again.
  const double sum =
      seconds_of(system, kernel_on(system, {GpuCollective::kAllReduce, 16, Bytes(bytes)}));
  EXPECT_GT(sum, bytes / 8 / system.network.bandwidth.value());
  GpuSystemSpec one = system;
  one.nodes = 1;
  EXPECT_GT(sum, seconds_of(one, kernel_on(one, {GpuCollective::kAllReduce, 16, Bytes(bytes)})));
}

TEST(NetworkExchangeLaws, AFasterNetworkIsNeverSlower) {
  GpuSystemSpec system = nodes_of("h100-sxm-x16");
  for (const GpuCollective op : kAll) {
    for (const double bytes : {1024.0, 1e6, 1e9}) {
      const GpuCollectiveShape shape{op, op == GpuCollective::kSend ? 2 : 16, Bytes(bytes),
                                     op == GpuCollective::kSend ? 8 : 1};
      system.network.bandwidth = BytesPerSecond(50e9);
      const double slow = seconds_of(system, kernel_on(system, shape));
      system.network.bandwidth = BytesPerSecond(100e9);
      EXPECT_LE(seconds_of(system, kernel_on(system, shape)), slow * (1 + 1e-9));
    }
  }
}

TEST(NetworkExchangeLaws, AGroupInOneNodeDoesNotSeeTheNetwork) {
  const GpuSystemSpec alone = nodes_of("h100-sxm-x8");
  const GpuSystemSpec two = nodes_of("h100-sxm-x16");
  for (const GpuCollective op : kAll) {
    const GpuCollectiveShape shape{op, op == GpuCollective::kSend ? 2 : 8, Bytes(1e7)};
    EXPECT_EQ(seconds_of(alone, kernel_on(alone, shape)), seconds_of(two, kernel_on(two, shape)));
  }
}

// What the GPUs of a system send each other to share 256 experts, 8 for each token.
GridSequence experts_exchange(const GpuSystemSpec& system, std::int64_t gpus, std::int64_t tokens) {
  const GpuFactors factors(system.device, "");
  LayerKernels layers(system, factors, Bytes(0));
  MappedOp op;
  EXPECT_TRUE(layers.add_exchange({"combine", gpus, 1, tokens, 7168, 8, 256}, op));
  return op.program;
}

TEST(NetworkExchangeLaws, ExpertsExchangeMessagesAndAloneTakeTheirClosedForm) {
  for (const char* name : {"h200-sxm-x8", "h200-sxm-x16"}) {
    const GpuSystemSpec system = nodes_of(name);
    const int gpus = gpus_of_node(system) * system.nodes;
    std::vector<GridSequence> programs;
    for (const std::int64_t tokens : {1, 128, 4096, 65536})
      programs.push_back(experts_exchange(system, gpus, tokens));
    const GpuNodeExecution lock_step = simulate_gpus(system.device, programs, true);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      EXPECT_EQ(programs[i].kernels.front().exchange.ranks, gpus);
      const Seconds closed = program_time(programs[i], system.device);
      EXPECT_NEAR(lock_step.times[i] / closed, 1, 1e-5) << name << ' ' << i;
    }
    for (const GpuLinkTraffic& gpu : lock_step.links) EXPECT_EQ(gpu.sent, gpu.received);
  }
}

// A token goes to each GPU, and once to each other node, that has one of its experts.
TEST(NetworkExchangeLaws, ExpertsSendATokenOnceToANode) {
  const GpuSystemSpec system = nodes_of("h200-sxm-x16");
  const std::int64_t tokens = 4096;
  const LinkRound round =
      experts_exchange(system, 16, tokens).kernels.front().exchange.rounds.front();
  EXPECT_EQ(round.links.peers, 7);
  EXPECT_EQ(round.network.peers, 1);
  const double token = 2.0 * 7168 * static_cast<double>(tokens);
  const double missed = 1 - 128.0 / 256;  // of the eight experts none lies on the other node
  EXPECT_NEAR(round.network.bytes().value() / token, 1 - std::pow(missed, 8), 3e-3);
  EXPECT_LT(round.links.bytes().value() / token, 8);
  EXPECT_GT(round.links.bytes().value() / token, 5);
}

// Of four stages of four GPUs on two nodes one boundary of three lies between the nodes.
TEST(NetworkExchangeLaws, StagesHandOverOverTheNetworkWhereTheyLeaveANode) {
  const GpuSystemSpec system = nodes_of("h100-sxm-x16");
  const GpuFactors none(system.device, "none");
  const auto time = [&](const StageLayout& layout) {
    return handover_time(system, none, layout, Bytes(1e6)).value();
  };
  const double near = time({2, 4});
  const double far = time({2, 8});
  EXPECT_GT(far, near);
  EXPECT_NEAR(time({4, 4}), (2 * near + far) / 3, 1e-12);
}

}  // namespace
}  // namespace foretell
