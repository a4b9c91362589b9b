// What runs at the same time on the chips of the catalog, NVIDIA's and AMD's, and on a CPU: never
// slower than one after the other, never faster than the resource that both need most.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/program/device_streams.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/machine.hpp"

namespace foretell {
namespace {

constexpr int kPairs = 120;
constexpr double kShort = 1e-12;  // seconds
constexpr double kL2Rate = 3;     // of DRAM's

double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

class ChipOverlapLaws : public testing::TestWithParam<const char*> {
 protected:
  ChipOverlapLaws() : device_(GpuCatalog().load(GetParam()).spec.device) {}

  // A product, a pass or a copy: up to a few waves of thread blocks, up to 40 us of DRAM.
  Grid kernel(std::mt19937& random) const {
    Grid grid;
    grid.ctas_per_sm = 1 + static_cast<int>(random() % 4);
    const std::int64_t places = std::int64_t{device_.sms} * grid.ctas_per_sm;
    const bool copy = random() % 6 == 0;
    for (unsigned run = 0; !copy && run < 1 + random() % 2; ++run) {
      add_ctas(grid, 1 + static_cast<std::int64_t>(random()) % (3 * places),
               Seconds(uniform(random, 1e-7, 8e-6)));
    }
    grid.launch = device_.launch_floor * uniform(random, 0, 1);
    grid.memory_latency = Seconds(uniform(random, 0, 1e-6));
    grid.dram_rate = device_.hbm.bandwidth * uniform(random, 0.4, 1);
    grid.dram_bytes = device_.hbm.bandwidth * Seconds(uniform(random, 0, 40e-6));
    grid.l2_rate = device_.hbm.bandwidth * kL2Rate;
    grid.l2_bytes = grid.l2_rate * Seconds(uniform(random, 0, 20e-6));
    grid.stages_ahead = uniform(random, 0, 6);
    grid.busy[WorkUnit::kTensorPipe] = Seconds(uniform(random, 0, 5e-6));
    return grid;
  }

  // A ring or one shot over some of the GPUs of a node.
  Collective exchange(std::mt19937& random) const {
    LinkExchange exchange;
    exchange.ranks = 2 << (random() % 3);
    exchange.peak = BytesPerSecond(uniform(random, 50e9, 900e9));
    const int rounds = 1 + static_cast<int>(random() % 14);
    const auto peers = random() % 2 == 0 ? 1 : exchange.ranks - 1;
    exchange.rounds = {
        {rounds,
         Seconds(uniform(random, 2e-7, 3e-6)),
         Bytes(uniform(random, 0, 8e6)),
         device_.hbm.bandwidth * kL2Rate,
         {peers, Bytes(uniform(random, 1e3, 4e6)), exchange.peak * uniform(random, 0.2, 0.9)},
         {}}};
    Collective collective;
    collective.name = "all-reduce";
    collective.exchange = exchange;
    return collective;
  }

  double kernels_take(const std::vector<Grid>& streams) const {
    std::vector<Stream> empty;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      empty.push_back({"stream" + std::to_string(s), std::vector<Grid>{}});
    }
    ProgramBuilder builder("kernels", empty);
    for (std::size_t s = 0; s < streams.size(); ++s) builder.emit_to(s, streams[s], {});
    return seconds_of(std::move(builder).finish());
  }

  double takes(const Grid* grid, const Collective* collective) const {
    ProgramBuilder builder("beside", gpu_streams(false));
    if (grid != nullptr) builder.emit_to(kGridStream, *grid, {});
    if (collective != nullptr) builder.emit_to(kGpuCollectives, *collective, {});
    return seconds_of(std::move(builder).finish());
  }

  double seconds_of(const Program& program) const {
    return to_seconds(simulate(GpuMachine{device_}, program).end).value();
  }

  BytesPerSecond l2_peak() const {
    return BytesPerSecond(gpu_architecture(device_.architecture).l2_port * device_.sms *
                          device_.clock.boost.value());
  }
  static double dram_takes(const Grid& grid) { return (grid.dram_bytes / grid.dram_rate).value(); }
  static double l2_takes(const Grid& grid) { return (grid.l2_bytes / grid.l2_rate).value(); }
  double sms_take(const Grid& grid) const {
    double time = 0;
    for (const CtaRun& run : grid.ctas) {
      time += static_cast<double>(run.count) * run.duration.value();
    }
    return time / (static_cast<double>(device_.sms) * grid.ctas_per_sm);
  }

  GpuDeviceSpec device_;
};

TEST_P(ChipOverlapLaws, TwoKernelsTakeNoLongerThanInTurnAndNoLessThanTheBusierResource) {
  std::mt19937 random(18);
  int faster = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Grid a = kernel(random);
    const Grid b = kernel(random);
    const double alone_a = kernels_take({a});
    const double alone_b = kernels_take({b});
    const double both = kernels_take({a, b});
    EXPECT_LE(both, alone_a + alone_b + kShort) << pair;
    EXPECT_GE(both, std::max(alone_a, alone_b) - kShort) << pair;
    EXPECT_GE(both, dram_takes(a) + dram_takes(b) - kShort) << pair;
    EXPECT_GE(both, l2_takes(a) + l2_takes(b) - kShort) << pair;
    EXPECT_GE(both, sms_take(a) + sms_take(b) - kShort) << pair;
    if (both < 0.9 * (alone_a + alone_b)) ++faster;
  }
  EXPECT_GT(faster, kPairs / 6);  // overlap is there, or the laws say nothing
}

TEST_P(ChipOverlapLaws, AProductBesideAnAllReduceObeysTheSame) {
  std::mt19937 random(81);
  int faster = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    const Grid product = kernel(random);
    const Collective sum = exchange(random);
    const double alone_product = takes(&product, nullptr);
    const double alone_sum = takes(nullptr, &sum);
    const double both = takes(&product, &sum);
    const LinkRound& round = sum.exchange.rounds.front();
    const double l2_share = std::min(1.0, round.local_rate / l2_peak());
    const double local = round.times * (round.local / round.local_rate).value() * l2_share;
    EXPECT_LE(both, alone_product + alone_sum + kShort) << pair;
    EXPECT_GE(both, std::max(alone_product, alone_sum) - kShort) << pair;
    EXPECT_GE(both, l2_takes(product) + local - kShort) << pair;  // of L2
    if (both < 0.9 * (alone_product + alone_sum)) ++faster;
  }
  EXPECT_GT(faster, kPairs / 6);
}

INSTANTIATE_TEST_SUITE_P(Chips, ChipOverlapLaws,
                         testing::Values("t4", "a100-sxm", "h100-sxm", "b200-sxm", "mi300x"),
                         [](const auto& chip) {
                           std::string name = chip.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A CPU runs one stream of loops: what overlaps there is computing with what the caches are fed.
class CpuOverlapLaws : public testing::TestWithParam<const char*> {};

TEST_P(CpuOverlapLaws, ComputingAndFeedTakeNoLongerThanInTurnAndNoLessThanTheLonger) {
  const CpuSystemSpec system = CpuCatalog().load(GetParam()).spec;
  const auto takes = [&](const Loop& loop) {
    ProgramBuilder builder("loops", cpu_streams());
    builder.emit_to(kLoopStream, loop, {});
    return to_seconds(simulate(CpuMachine{system}, std::move(builder).finish()).end).value();
  };
  std::mt19937 random(21);
  for (int round = 0; round < kPairs; ++round) {
    Loop both;
    both.threads = 1 + static_cast<int>(random() % 4);
    both.dram = dram_bandwidth(system);
    both.core_dram = both.dram * uniform(random, 0.1, 1);
    both.stages_ahead = uniform(random, 0, 8);
    both.chunks = {{1 + static_cast<std::int64_t>(random() % 60), Seconds(uniform(random, 0, 3e-6)),
                    Seconds(uniform(random, 0, 3e-6)), Bytes(uniform(random, 0, 2e5))}};
    Loop computing = both;
    computing.chunks.front().feed = Seconds(0);
    computing.chunks.front().dram = Bytes(0);
    Loop feeding = both;
    feeding.chunks.front().compute = Seconds(0);
    const double bytes =
        static_cast<double>(both.chunks.front().count) * both.chunks.front().dram.value();
    EXPECT_LE(takes(both), takes(computing) + takes(feeding) + kShort) << round;
    EXPECT_GE(takes(both), std::max(takes(computing), takes(feeding)) - kShort) << round;
    EXPECT_GE(takes(both), bytes / both.dram.value() - kShort) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, CpuOverlapLaws,
                         testing::Values("c7i.2xlarge", "c7a.2xlarge", "c7g.2xlarge"),
                         [](const auto& system) {
                           std::string name = system.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace foretell
