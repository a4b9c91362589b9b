#include "calib/fitted/gpu/operator_factors.hpp"

#include <algorithm>

namespace foretell {
namespace {

const Range<Cycles> kPassLatency{Cycles(0), Cycles(1e6)};

}  // namespace

void fields(FieldList& list, HostFactors& factors) {
  list.value("call", factors.call, {0, 100},
             "Host time of a call, in stream floors of the device; 0 inside a graph.");
  list.value("before", factors.before, {0, 1}, "Share of it until the kernel starts.");
}

Seconds with_host(const HostFactors& factors, Seconds stream_floor, Seconds kernels) {
  const Seconds call = stream_floor * factors.call;
  return std::max(call, call * factors.before + kernels);
}

void fields(FieldList& list, ProductFactors& factors) {
  fields(list, factors.gemm);
  list.value("long_rows", factors.gemm.long_rows, {0, 1},
             "Share of the DRAM rate that is lost on operands whose rows are longer than a page.");
  list.value("far_rows", factors.gemm.far_rows, {0, 10},
             "Stages are longer by this share for each doubling of such rows beyond 32 KiB.");
  list.value("winograd", factors.winograd, {0, 10},
             "Rate of the fused Winograd kernel, of that of a product.");
  list.value("transform", factors.transform, {0, 100},
             "Times that transforms before and after Winograd's products move their bytes.");
  fields(list, factors.host);
}

void fields(FieldList& list, PassFactors& factors) {
  list.value("launch", factors.launch, {Seconds(0), Seconds(1e-3)},
             "From the end of the kernel before to the first thread block.");
  list.value("dram_efficiency", factors.dram_efficiency, {0.01, 2},
             "Achieved share of the DRAM peak.");
  list.value("l2_share", factors.l2_share, {0.001, 2},
             "Share of L2 in which data stay until they are used again.");
  list.value("l2_feed", factors.l2_feed, {BytesPerCycle(0.01), BytesPerCycle(1e5)},
             "L2 to all SMs together, per SM.");
  list.value("block", factors.block, kPassLatency, "Latency of a thread block.");
  list.value("step", factors.step, kPassLatency,
             "Latency of each further round of its threads over a row.");
  list.value("stages_ahead", factors.stages_ahead, {0, 150},
             "Stages of loads in flight ahead of the one that is computed; 0: none.");
  list.value("passes", factors.passes, {0.01, 100}, "Times that the operands are moved.");
  fields(list, factors.host);
}

}  // namespace foretell
