// What matrix-product kernels reach of a GPU's facts: fitted per device, kernel library and data
// type (calib/factors/gpu/gemm/<device>.yaml).
//
// Latencies are cycles of the boost clock and rates of an SM bytes per such cycle, so that they
// carry over to a chip that was not measured; only what scales with nothing is in seconds.
#pragma once

#include "calib/fitted/shared/common_factors.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct GemmFactors {
  double mma_efficiency = 1;   // of the dense rate, in the loop over k
  double dram_efficiency = 1;  // of the DRAM peak
  Seconds launch;              // from the kernel before to the first thread block
  Cycles prologue;             // of a thread block, and before the first byte from memory
  Cycles step;                 // least time of one stage of the pipeline over k
  BytesPerCycle sm_feed;       // operands into one SM
  BytesPerCycle l2_feed;       // L2 to all SMs together, per SM
  double l2_share = 1;         // of the L2 capacity that data stay in until their next use
  double stages_ahead = 1.4;   // loads in flight, ahead of the stage that is computed; at 20 us
  BytesPerCycle epilogue;      // results out of one SM
  double power_drop = 0;       // longer by this share per decade of time above 500 us
  Cycles split;                // reduction of split results, without its bytes
  Seconds quantise_launch;     // of the pass over the activations that goes ahead
  double quantise_passes = 0;  // times that this pass moves its three bytes per element
  Cycles quantise_row;         // of an SM on a row in this pass; 0: bytes alone count
  Cycles padded_row;           // longest delay of a stage of a tile that is not full
  Seconds short_k;             // more for a depth that the fast kernels do not take
  Seconds gemv_launch;         // of the kernel that takes over for few rows
  Cycles gemv_step;            // of that kernel, per element of k
  double gemv_efficiency = 0;  // of the FP32 vector peak, in that kernel; 0: not a limit
  Cycles gemv_column;          // of that kernel, per column of the weights, spread over the SMs
  Cycles fixup;                // stream-K: to take over a part of a tile; 0: no such kernels
  // For kernels on the vector pipe alone (operator_factors.hpp).
  double long_rows = 0;  // share of the DRAM rate that rows longer than a DRAM page lose
  double far_rows = 0;   // stages longer by this share, by doubling of rows beyond 32 KiB
  CommonFactors common = common_factors();  // what all of them share
};

void fields(FieldList& list, GemmFactors& factors);

}  // namespace foretell
