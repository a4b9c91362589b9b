// What the kernels of today's language models reach of a GPU's facts: grouped experts, latent
// attention and its absorbed products, whole attention blocks, state-space layers, the exchange of
// tokens between experts. Fitted per device, library, kernel and data type
// (calib/factors/gpu/<kind>/<device>.yaml, read by KernelFactorsLibrary). A factor that is zero
// does not apply.
//
// Latencies inside an SM are cycles of the boost clock and rates of an SM bytes per such cycle, so
// that they carry over to other chips; what scales with nothing is in seconds.
#pragma once

#include "calib/fitted/shared/common_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct LayerKernelFactors {
  Seconds launch;              // of all kernels of one call together
  double dram_efficiency = 0;  // of the DRAM peak
  double mma_efficiency = 0;   // of the dense rate of the matrix pipe
  double stages_ahead = 0;     // loads in flight, ahead of the stage that is computed
  double l2_share = 0;         // of L2, in which data stay until the next call
  Cycles prologue;             // start and end of a thread block
  Cycles step;                 // least time of a stage of the pipeline
  Cycles unfilled;             // of a stage of a tile without rows, more than of a full one
  BytesPerCycle sm_feed;       // operands into one SM
  BytesPerCycle pass_feed;     // of an SM, in passes that permute, convert and sum up
  Cycles score;   // softmax of 64 scores; of states, 64 updates on the vector pipe; of scans, a row
  Cycles split;   // combination of the parts of a sequence
  Cycles row;     // of a token on an SM, in passes with a thread block for each
  Seconds host;   // of the host per call, where a table was measured without graphs
  Seconds group;  // of each expert, sequence or peer that takes part
  double link_efficiency = 0;               // of the links between GPUs of a node
  double network_efficiency = 0;            // of the network between nodes
  CommonFactors common = common_factors();  // what all of them share
};

void fields(FieldList& list, LayerKernelFactors& factors);

// Factors of one chip on another: launches follow the floors of the two chips, the matrix pipe its
// reachable rate; latencies stay cycles and rates into an SM bytes per cycle. On another
// architecture shares of DRAM and of the matrix pipe stay within what chips reach. Attention where
// threads load operands themselves: reading them counts, unless the form of the kernel does so
// (`counts_reads`, as that of grouped products does), and thread blocks share an SM and start under
// one another.
struct CarriedKernel {
  bool attention = false;
  bool counts_reads = false;
};
void carry_over(LayerKernelFactors& factors, const GpuDeviceSpec& from, const GpuDeviceSpec& to,
                const CarriedKernel& kernel = {});

// Factors of one kernel for another, where no table is of the other: how many times as many kernels
// a call of it launches, and whether its passes leave out what the first one's do (permuting rows,
// activating), so that they are other code, which goes at the rate of DRAM.
struct OtherKernel {
  double launches = 1;
  bool streams_passes = false;
};
void stand_in(LayerKernelFactors& factors, const OtherKernel& other, const GpuDeviceSpec& device);

}  // namespace foretell
