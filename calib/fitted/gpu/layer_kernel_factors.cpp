#include "calib/fitted/gpu/layer_kernel_factors.hpp"

#include <algorithm>
#include <cmath>

#include "calib/fitted/gpu/gpu_transfer.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"

namespace foretell {
namespace {

const Range<Seconds> kCallTime{Seconds(0), Seconds(2e-3)};
const Range<Cycles> kInSmLatency{Cycles(0), Cycles(1e7)};
const Range<BytesPerCycle> kInSmFeed{BytesPerCycle(0), BytesPerCycle(1e5)};

}  // namespace

void fields(FieldList& list, LayerKernelFactors& factors) {
  list.value("launch", factors.launch, kCallTime, "Launches of all kernels of one call.");
  list.value("dram_efficiency", factors.dram_efficiency, {0, 1.2},
             "Achieved share of the DRAM peak.");
  list.value("mma_efficiency", factors.mma_efficiency, {0, 2},
             "Achieved share of the dense rate of the matrix pipe.");
  list.value("stages_ahead", factors.stages_ahead, {0, 150},
             "Stages of loads in flight ahead of the one that is computed; 0: none.");
  list.value("l2_share", factors.l2_share, {0, 2},
             "Share of L2 in which data stay until the next call.");
  list.value("prologue", factors.prologue, kInSmLatency, "Start and end of a thread block.");
  list.value("step", factors.step, kInSmLatency, "Least time of a stage of the pipeline.");
  list.value("unfilled", factors.unfilled, kInSmLatency,
             "Of a stage of a tile without rows, more than of a full one.");
  list.value("sm_feed", factors.sm_feed, kInSmFeed, "Operands into one SM.");
  list.value("pass_feed", factors.pass_feed, kInSmFeed,
             "Of one SM, in passes that permute, convert and sum up.");
  list.value("score", factors.score, kInSmLatency,
             "Softmax of 64 scores; of states, 64 updates on the vector pipe.");
  list.value("split", factors.split, kInSmLatency, "Combination of the parts of a sequence.");
  list.value("row", factors.row, kInSmLatency,
             "Of a token on an SM, in passes with a thread block for each.");
  list.value("host", factors.host, kCallTime,
             "Of the host per call, where a table was measured without graphs.");
  list.value("group", factors.group, kCallTime,
             "Of each expert, sequence or peer that takes part.");
  list.value("link_efficiency", factors.link_efficiency, {0, 1.2},
             "Achieved share of the links between GPUs of a node.");
  list.value("network_efficiency", factors.network_efficiency, {0, 1.2},
             "Achieved share of the network between nodes.");
}

void carry_over(LayerKernelFactors& factors, const GpuDeviceSpec& from, const GpuDeviceSpec& to,
                const CarriedKernel& kernel) {
  const double floors = to.launch_floor / from.launch_floor;
  factors.launch = factors.launch * std::pow(floors, factors.common.launches_follow_floor);
  factors.mma_efficiency *= std::min(1.0, to.reachable_rate / from.reachable_rate);
  if (from.architecture == to.architecture) return;
  // A pipe that was never the limit has no number of its own.
  factors.mma_efficiency = std::min(factors.mma_efficiency, 1.0);
  if (kernel.attention && !kernel.counts_reads) {
    factors.mma_efficiency = share_with_reads(factors.mma_efficiency, from, to, factors.common);
  }
  if (kernel.attention && gpu_architecture(from.architecture).asynchronous_products >
                              gpu_architecture(to.architecture).asynchronous_products) {
    factors.prologue /= factors.common.shared_blocks;
  }
  if (factors.pass_feed > BytesPerCycle(0)) {
    factors.pass_feed = std::max(factors.pass_feed, factors.common.carried_pass_least);
  }
  if (factors.dram_efficiency > 0) {
    factors.dram_efficiency = std::clamp(factors.dram_efficiency, factors.common.carried_dram_least,
                                         factors.common.carried_dram_most);
  }
}

void stand_in(LayerKernelFactors& factors, const OtherKernel& other, const GpuDeviceSpec& device) {
  factors.launch *= other.launches;
  if (!other.streams_passes) return;
  factors.pass_feed =
      BytesPerCycle(device.hbm.bandwidth.value() / device.sms / device.clock.boost.value());
}

}  // namespace foretell
