// What kernels of single operators reach of a GPU's facts: fitted per device and class of operators
// (calib/factors/gpu/operator/<device>.yaml).
#pragma once

#include <filesystem>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// An operator that the host calls one at a time, timed by events around it: the host is a server
// beside the GPU, and the slower of the two counts.
struct HostFactors {
  double call = 0;    // of the host, in stream floors of the device; 0: calls are in a graph
  double before = 0;  // share of it until the kernel starts
};

void fields(FieldList& list, HostFactors& factors);

// The time of a call whose kernels take `kernels`.
Seconds with_host(const HostFactors& factors, Seconds stream_floor, Seconds kernels);

// Products of one operator.
struct ProductFactors {
  GemmFactors gemm;
  HostFactors host;
  // Convolutions by Winograd's method alone; 0: they are none.
  double winograd = 0;   // rate of the fused kernel, of that of a product
  double transform = 0;  // times that transforming kernels move their bytes
};

void fields(FieldList& list, ProductFactors& factors);

// A kernel that goes once over its operands: element-wise, norms, softmax, quantising.
struct PassFactors {
  HostFactors host;
  Seconds launch;              // from the kernel before to the first thread block
  double dram_efficiency = 1;  // of the DRAM peak
  double l2_share = 1;         // of the L2 capacity that data stay in until their next use
  BytesPerCycle l2_feed;       // L2 to all SMs together, per SM
  Cycles block;                // latency of a thread block
  Cycles step;                 // … and of each further round of its threads over a row
  double stages_ahead = 1.4;   // loads in flight, ahead of the stage that is computed
  double passes = 1;           // times that the operands are moved
  CommonFactors common = common_factors();  // what all of them share
};

void fields(FieldList& list, PassFactors& factors);

}  // namespace foretell
