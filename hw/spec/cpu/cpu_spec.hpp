// Typed description of a server CPU and of the instance that lends some of its cores.
//
// Every member is a published fact (hw/devices/cpu/*.yaml and hw/systems/cpu/*.yaml hold value,
// unit, source and kind) or was read from the machine itself (hw/spec/cpu/cpu_host.hpp). What
// kernels reach of these facts is fitted and lives in calib/factors/cpu.
#pragma once

#include <map>
#include <string>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "model/base/units.hpp"

namespace foretell {

struct CpuClocks {
  Hertz base;
  Hertz all_core;  // with all cores at work on vector code; the model runs at this clock
};

struct CpuCacheSpec {
  Bytes l1;                    // data, of a core
  Bytes l2;                    // of a core
  Bytes l3;                    // of a group of cores
  int l3_cores = 1;            // cores that share one
  BytesPerCycle l2_bandwidth;  // of a core out of its own second cache
  BytesPerCycle l3_bandwidth;  // of a core out of the shared cache
};

struct CpuDramSpec {
  int channels = 0;  // of a socket
  BytesPerSecond channel_bandwidth;
  std::string model;  // of the simulation: "rate", which "" stands for, or one's own
};

struct CpuDeviceSpec {
  std::string id;    // "xeon-8488c"
  std::string name;  // "Intel Xeon Platinum 8488C"
  std::string architecture;
  int cores = 0;  // physical, of a socket
  CpuClocks clock;
  Bytes vector_register;  // width of the widest registers
  // FLOP per cycle and core by data type, 1 MAC = 2 FLOP, of the fastest unit that has the type
  // (fused multiply-add, dot product, matrix tile). A type without an entry is not multiplied.
  std::map<std::string, double> flops_per_cycle;
  // Values along the summed dimension that a tile of the matrix unit multiplies at once, by data
  // type; a type without an entry is multiplied by vector units. A tile of results is as wide as a
  // vector register of fp32 values.
  std::map<std::string, double> tile_depth;
  CpuCacheSpec cache;
  CpuDramSpec dram;
  Seconds fork_join;    // of an empty parallel loop over two threads
  Seconds branch_time;  // of a decision between two parts of a network
  Likeness like;        // of one of the user's
};

struct CpuSystemSpec {
  std::string id;   // "c7i.2xlarge"
  int sockets = 1;  // that the cores are on
  int cores = 0;    // physical cores of all sockets together
  int vcpus = 0;
  Bytes memory;
  double l3_share = 1;    // of the third-level cache of a socket, beside its other tenants
  double dram_share = 1;  // of the memory channels of a socket
  // How often its software lays the weights of a convolution out for the inner loop: 0 ahead, once
  // for all calls; 1 in every call, as frameworks do that keep plain weights. Products then pack
  // theirs panel by panel, in the cache.
  int weight_layouts = 0;
  // How often it puts the channels of windows of several pixels last before that: 0 or 1 in every
  // call. A window of one pixel has but one order.
  int window_layouts = 0;
  // Buffers of this size and larger are new to the process in every call: each of their pages is
  // cleared and entered into its table when it is written first. 0: all are kept.
  Bytes fresh_buffers;
  Bytes page;          // of such a buffer
  Seconds page_fault;  // of a page, by one thread
  CpuDeviceSpec device;
  Prices price_usd_per_hour;
};

// The memory bandwidth of all cores of the system together.
BytesPerSecond dram_bandwidth(const CpuSystemSpec& spec);
// The third-level cache that all cores of the system have together.
Bytes l3_capacity(const CpuSystemSpec& spec);
// Peak of one core in FLOP/s. UserError that names the CPU and the types that it has.
FlopsPerSecond core_rate(const CpuDeviceSpec& device, const std::string& dtype);

}  // namespace foretell
