// Typed description of an NVIDIA GPU and of the node around it.
//
// Every member is a published fact (hw/devices/gpu/*.yaml holds value, unit, source and kind).
// What kernels reach of these facts is fitted and lives in calib/factors/gpu.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

struct GpuClocks {
  Hertz base;
  Hertz boost;  // the clock at which the rates below are stated
};

// One streaming multiprocessor.
struct GpuSmSpec {
  int registers = 0;            // 32-bit registers
  int max_threads = 0;          // resident threads
  int max_ctas = 0;             // resident thread blocks
  Bytes shared_memory;          // for all resident thread blocks
  Bytes shared_memory_per_cta;  // largest that one thread block may ask for
};

struct GpuL2Spec {
  Bytes capacity;
  double resident_share = 1;  // of it, in which data are found again; of chips not measured alone
};

struct NvlinkSpec {
  BytesPerSecond bandwidth;  // of all links of a GPU, one direction; 0: none
};

struct PcieSpec {
  BytesPerSecond bandwidth;  // one direction
};

inline constexpr Watts kMaxBoardPower(1e5);

struct GpuDeviceSpec {
  std::string id;    // "h100-sxm"
  std::string name;  // "NVIDIA H100 SXM5 80GB"
  std::string architecture;
  int sms = 0;
  GpuClocks clock;
  GpuSmSpec sm;
  // Dense rate of the whole chip at the boost clock by data type, 1 MAC = 2 FLOP, in FLOP/s: on
  // the matrix pipe ("bf16", "fp8", …) and on the vector pipe. A type without an entry has no
  // such pipe.
  std::map<std::string, double> matrix_rate;
  std::map<std::string, double> vector_rate;
  GpuL2Spec l2;
  HbmSpec hbm;  // or GDDR
  NvlinkSpec nvlink;
  PcieSpec pcie;
  Seconds stream_floor;       // of the smallest kernel that the host launches by itself
  double sustained_rate = 1;  // of matrix products under the power limit, against a short burst
  Seconds launch_floor;       // of the smallest kernel inside a graph
  double branch_kernels = 0;  // smallest kernels that a decision at run time takes as long as
  double reachable_rate = 1;  // largest share of the dense rate that a matrix product has reached
  double vector_limit = 1;  // share of the FP32 rate that long products keep under the power limit
  Watts power;              // limit of the board
  Likeness like;            // of one of the user's
  bool changed = false;     // not as it was measured: by overrides, or taken for another one
};

// Between nodes: InfiniBand, Ethernet, EFA.
struct NetworkSpec {
  BytesPerSecond bandwidth;  // of one GPU, one direction; 0: nodes of this kind have none
};

struct GpuSystemSpec {
  std::string id;    // "h100-sxm", "h100-sxm-x8"
  std::string node;  // of several nodes the id of one; else ""
  int devices = 1;   // GPUs of all nodes
  int nodes = 1;     // of as many GPUs each, whose links do not leave them
  NetworkSpec network;
  int slots = 0;  // GPUs that a server has held at most; 0: no more than the node's
  GpuDeviceSpec device;
  std::string interconnect;  // between its GPUs: "none", "nvlink", "pcie"
  // Over PCIe: "direct", or through the memory of the "host"; "" where it is not stated: direct.
  std::string peers;
  Prices price_usd_per_hour;
};

inline int gpus_of_node(const GpuSystemSpec& spec) { return spec.devices / spec.nodes; }
inline const std::string& node_name(const GpuSystemSpec& spec) {
  return spec.nodes > 1 ? spec.node : spec.id;
}

// Dense FLOP/s of the fastest pipe that has the type: the matrix pipe, else the vector pipe.
// UserError that names the chip and the types that it has.
FlopsPerSecond dense_rate(const GpuDeviceSpec& device, const std::string& dtype);

// The types that a matrix pipe may have, as matrix_rate names them.
const std::vector<std::string>& matrix_types();

}  // namespace foretell
