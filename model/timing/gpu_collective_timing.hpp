// What a collective between the GPUs of a node takes over NVLink.
//
// A ring passes the operand in steps; all_reduce takes 2 (n-1) of them and moves 2 (n-1) / n of the
// bytes, all_gather and reduce_scatter half of it, all_to_all sends to each peer directly. NCCL has
// three protocols, which trade latency for bandwidth:
//
//   time = launch + steps hop + start + cost (moved / link + bytes / local)
//
// and takes the fastest. Custom all-reduces read the operands of all peers in one shot, which moves
// (n-1) times the bytes behind one barrier, or in two shots as a ring would, behind two; beyond
// kCustomLimit frameworks call NCCL.
#pragma once

#include <cstdint>
#include <string>

#include "hw/spec/gpu_spec.hpp"
#include "hw/spec/link_factors.hpp"
#include "model/base/units.hpp"

namespace foretell {

enum class GpuCollective { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
// "all_reduce", "all_gather", "reduce_scatter", "alltoall"; UserError with the nearest.
GpuCollective gpu_collective(const std::string& name);

inline constexpr Bytes kCustomLimit{8.0 * 1024 * 1024};

struct GpuCollectiveShape {
  GpuCollective op = GpuCollective::kAllReduce;
  int ranks = 2;  // at least 2
  Bytes bytes;    // of the operand; of all_gather the result, of reduce_scatter the operand
};

enum class GpuProtocol { kLl, kLl128, kSimple, kOneShot, kTwoShot };
std::string to_string(GpuProtocol protocol);

struct GpuCollectiveTime {
  GpuProtocol protocol = GpuProtocol::kLl;
  Seconds time;
};

// The fastest protocol. UserError when the GPU has no NVLink.
GpuCollectiveTime nccl_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                            const GpuCollectiveShape& shape);
// Of an all-reduce of less than kCustomLimit.
GpuCollectiveTime custom_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                              const GpuCollectiveShape& shape);

}  // namespace foretell
