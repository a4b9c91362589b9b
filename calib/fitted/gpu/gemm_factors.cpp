#include "calib/fitted/gpu/gemm_factors.hpp"

namespace foretell {
namespace {

const Range<Seconds> kLaunch{Seconds(0), Seconds(1e-3)};
const Range<Cycles> kLatency{Cycles(0), Cycles(1e6)};
const Range<BytesPerCycle> kFeed{BytesPerCycle(0.01), BytesPerCycle(1e5)};
const Range<double> kShare{0.01, 2};

}  // namespace

void fields(FieldList& list, GemmFactors& factors) {
  list.value("mma_efficiency", factors.mma_efficiency, kShare,
             "Achieved share of the dense rate in the loop over k.");
  list.value("dram_efficiency", factors.dram_efficiency, kShare,
             "Achieved share of the DRAM peak.");
  list.value("launch", factors.launch, kLaunch,
             "From the end of the kernel before to the first thread block.");
  list.value("prologue", factors.prologue, kLatency,
             "Start of a thread block, and until the first bytes arrive.");
  list.value("step", factors.step, kLatency, "Least time of one stage of the pipeline over k.");
  list.value("sm_feed", factors.sm_feed, kFeed, "Operands into one SM.");
  list.value("l2_feed", factors.l2_feed, kFeed, "L2 to all SMs together, per SM.");
  list.value("l2_share", factors.l2_share, {0.001, 2},
             "Share of L2 in which data stay until they are used again.");
  list.value(
      "stages_ahead", factors.stages_ahead, {0, 150},
      "Stages of loads in flight ahead of the one that is computed in a kernel of 20 us; 0: none.");
  list.value("epilogue", factors.epilogue, kFeed, "Results out of one SM.");
  list.value("power_drop", factors.power_drop, {0, 2},
             "Long kernels: longer by this share per decade of time above 500 us.");
  list.value("split", factors.split, kLatency,
             "Reduction of the results of a split over k, without its bytes.");
  list.value("quantise_launch", factors.quantise_launch, kLaunch,
             "Launches of the pass that quantises the activations.");
  list.value("quantise_passes", factors.quantise_passes, {0, 100},
             "Times that the quantising pass moves three bytes per element.");
  list.value("quantise_row", factors.quantise_row, kLatency,
             "Time of an SM on a row in the quantising pass; 0: bytes alone count.");
  list.value("padded_row", factors.padded_row, kLatency,
             "Longest delay of one stage in a tile that is not full.");
  list.value("short_k", factors.short_k, kLaunch,
             "More time for a depth that the fast kernels do not take.");
  list.value("gemv_launch", factors.gemv_launch, kLaunch,
             "Launch of the kernel without tiles that takes over for few rows.");
  list.value("gemv_step", factors.gemv_step, kLatency,
             "Time per element of k of the kernel without tiles.");
  list.value("gemv_efficiency", factors.gemv_efficiency, {0, 2},
             "Achieved share of the FP32 vector rate in the kernel without tiles; 0: no limit.");
  list.value("gemv_column", factors.gemv_column, kLatency,
             "Time per column of the weights in the kernel without tiles, spread over the SMs.");
  list.value(
      "fixup", factors.fixup, kLatency,
      "Stream-K: time to take over one part of a tile, without its bytes; 0: no such kernels.");
}

}  // namespace foretell
