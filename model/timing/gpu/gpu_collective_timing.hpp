// What a collective between the GPUs of a node takes over NVLink, or PCIe where there is none.
//
// A ring passes the operand in steps; all_reduce takes 2 (n-1) of them and moves 2 (n-1) / n of the
// bytes, all_gather and reduce_scatter half of it, all_to_all sends to each peer directly. NCCL has
// three protocols, which trade latency for bandwidth:
//
//   time = launch + steps hop + start + cost (moved / link + bytes / local)
//
// and takes the fastest. Messages between two GPUs (all_to_all, send) take LL up to 16 KiB and
// Simple beyond, with a start of their own, on chips where that factor is set. Custom all-reduces
// read the operands of all peers in one shot, which moves (n-1) times the bytes after one barrier,
// or in two shots as a ring would, after two; beyond `own_kernels_below` (kernel_shapes.hpp)
// frameworks call NCCL. A send is one step of a ring.
//
// nccl_exchange() and custom_exchange() are the same as rounds of messages for the simulator: alone
// on its links a kernel takes the launch and these formulas, with others it takes longer.
#pragma once

#include <cstdint>
#include <string>

#include "calib/fitted/gpu/link_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/program/link_exchange.hpp"

namespace foretell {

enum class GpuCollective { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSend };
// "all_reduce", "all_gather", "reduce_scatter", "alltoall", "send"; UserError with the nearest.
GpuCollective gpu_collective(const std::string& name);

struct GpuCollectiveShape {
  GpuCollective op = GpuCollective::kAllReduce;
  int ranks = 2;   // at least 2
  Bytes bytes;     // of the operand; of all_gather the result, of reduce_scatter the operand
  int stride = 1;  // from a rank to its next one, in GPUs
};

// How often a ring passes data on, and which share of the operand a rank sends in all.
struct RingSteps {
  double steps = 0;
  double moved = 0;
};
RingSteps ring_steps(const GpuCollectiveShape& shape);

enum class GpuProtocol { kLl, kLl128, kSimple, kOneShot, kTwoShot };
std::string to_string(GpuProtocol protocol);

// When a custom all-reduce of more than two GPUs takes two shots.
enum class ShotRule {
  kFastest,
  kBySize,  // vLLM's custom_all_reduce.cuh: from 512 KiB on up to four GPUs, 256 KiB on up to eight
};

struct GpuCollectiveTime {
  GpuProtocol protocol = GpuProtocol::kLl;
  Seconds time;
};

// The fastest protocol. GPUs without NVLink talk over PCIe.
GpuCollectiveTime nccl_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                            const GpuCollectiveShape& shape);
// The time of an all-reduce of less than `own_kernels_below`.
GpuCollectiveTime custom_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                              const GpuCollectiveShape& shape, ShotRule rule = ShotRule::kFastest);

// Without its launch, in the protocol that was chosen.
LinkExchange nccl_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                           const GpuCollectiveShape& shape, GpuProtocol protocol);
LinkExchange custom_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                             const GpuCollectiveShape& shape, GpuProtocol protocol);
// A ring whose steps take `hop` and the bytes at the peak of the links; all_to_all goes to all
// peers at once.
LinkExchange plain_exchange(BytesPerSecond peak, Seconds hop, const GpuCollectiveShape& shape);

// Alone on the links: what its rounds wait for, and what they move.
struct ExchangeTime {
  Seconds latency;
  Seconds moving;
  Seconds whole() const { return latency + moving; }
};
ExchangeTime exchange_time(const LinkExchange& exchange);

}  // namespace foretell
