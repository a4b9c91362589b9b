// What the simulated GPU has to obey, whatever the numbers are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/system/gpu_run.hpp"
#include "model/testing/gpu_exemplar.hpp"

namespace foretell {
namespace {

constexpr double kPico = 1e-12;

Grid uniform_kernel(std::int64_t thread_blocks) {
  Grid kernel;
  add_ctas(kernel, thread_blocks, Seconds(7e-6));
  kernel.launch = Seconds(2e-6);
  kernel.memory_latency = Seconds(0.5e-6);
  kernel.dram_bytes = Bytes(5e6);
  kernel.dram_rate = BytesPerSecond(0.8e12);
  kernel.l2_bytes = Bytes(30e6);
  kernel.l2_rate = BytesPerSecond(5e12);
  kernel.stages_ahead = 2.1;
  kernel.tail = Seconds(1e-6);
  kernel.stretch = 1.03;
  return kernel;
}

double closed_form(const Grid& kernel, int sms) {
  const double waves = std::ceil(static_cast<double>(kernel.ctas[0].count) / sms);
  const double compute = waves * kernel.ctas[0].duration.value();
  const double memory =
      kernel.memory_latency.value() + std::max((kernel.dram_bytes / kernel.dram_rate).value(),
                                               (kernel.l2_bytes / kernel.l2_rate).value());
  const double ratio = std::min(compute, memory) / std::max(compute, memory);
  const double stages = 1 + kernel.stages_ahead;
  const double both =
      std::max(compute, memory) * (1 - std::pow(ratio, stages + 1)) / (1 - std::pow(ratio, stages));
  return kernel.stretch * (kernel.launch.value() + both + kernel.tail.value());
}

TEST(GpuRunLaws, UniformThreadBlocksTakeWhatTheClosedFormSays) {
  std::vector<GridSequence> programs;
  for (const std::int64_t count : {1, 99, 100, 101, 1000, 12345, 1000000}) {
    programs.push_back({{uniform_kernel(count)}});
  }
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), programs);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    EXPECT_NEAR(times[i].value(), closed_form(programs[i].kernels[0], 100), kPico) << i;
  }
}

TEST(GpuRunLaws, AKernelTakesAsLongWhateverRanBefore) {
  const GridSequence one{{uniform_kernel(300)}};
  GridSequence other{{uniform_kernel(77)}};
  other.kernels[0].dram_bytes = Bytes(3e9);
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), {one, other, one, other});
  EXPECT_EQ(times[0], times[2]);
  EXPECT_EQ(times[1], times[3]);
}

TEST(GpuRunLaws, KernelsOfAProgramFollowOneAnother) {
  const GridSequence one{{uniform_kernel(300)}};
  const GridSequence two{{uniform_kernel(77)}};
  const GridSequence both{{uniform_kernel(300), uniform_kernel(77)}};
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), {one, two, both});
  EXPECT_NEAR(times[2].value(), (times[0] + times[1]).value(), kPico);
}

TEST(GpuRunLaws, APassOfBytesAloneTakesLaunchAndBytes) {
  Grid kernel;
  kernel.launch = Seconds(4e-6);
  kernel.dram_bytes = Bytes(5e9);  // more than one payload holds
  kernel.dram_rate = BytesPerSecond(0.5e12);
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), {{{kernel}}});
  EXPECT_NEAR(times[0].value(), 4e-6 + 10e-3, kPico);
}

TEST(GpuRunLaws, MoreBytesAndMoreThreadBlocksAreNeverFaster) {
  std::vector<GridSequence> programs;
  for (int i = 1; i <= 40; ++i) {
    Grid kernel = uniform_kernel(37 * i);
    kernel.dram_bytes = Bytes(1e6 * i);
    programs.push_back({{kernel}});
  }
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), programs);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST(GpuRunLaws, TheTailOfUnevenThreadBlocksIsScheduledNotAveraged) {
  Grid kernel;
  for (int block = 1; block <= 8; ++block) add_ctas(kernel, 50, Seconds(1e-6 * block));
  Grid longest_first;
  for (int block = 8; block >= 1; --block) add_ctas(longest_first, 50, Seconds(1e-6 * block));
  const std::vector<Seconds> times = simulate_gpu(exemplar_gpu(), {{{kernel}}, {{longest_first}}});
  EXPECT_NEAR(times[1].value(), 18e-6, kPico);  // the work of 100 SMs, evenly
  EXPECT_GT(times[0], times[1]);
}

}  // namespace
}  // namespace foretell
