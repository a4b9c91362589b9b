// Typed description of a NeuronCore-v2 device (Inferentia2, Trainium1) and of what stands around
// it.
//
// Every member is a published fact (hw/devices/*.yaml holds value, unit, source and kind) or one
// of the few fitted factors of NeuronFactors (calib/factors/*.yaml).
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hw/spec/shared/likeness.hpp"
#include "model/base/units.hpp"

namespace foretell {

// Systolic array: stationary operand [rows x columns], moving operand streamed through. The numbers
// beside members are those of a NeuronCore-v2.
struct TensorEngineSpec {
  Hertz clock;                         // 2.8 GHz
  int rows = 0;                        // 128, contraction (partition) dimension
  int columns = 0;                     // 128, output rows
  int max_moving = 0;                  // 512 columns of the moving operand per MultiplyMoving
  Cycles min_interval;                 // 64: initiation interval of the smallest MultiplyMoving
  double load_stationary_speedup = 0;  // 4: LoadStationary of N columns takes N/4 cycles
  // Share of the peak issue rate that back-to-back matmuls of a tuned kernel keep up.
  double sustained_efficiency = 1;
  // 1: a product of BF16 and FP8 needs no conversion; the scale of a weight's rows is a factor of
  // the copy that leaves PSUM. 0: weights in 8 bits are converted before.
  int mixes_fp8 = 0;
  // Cycles per moving column by data type: 1 for bf16/fp16/fp8/tf32, 4 for fp32, 0.5 for int8 at
  // the datasheet rate. A type without an entry cannot be multiplied on this engine.
  std::map<std::string, double> cycles_per_column;
};

// Vector, Scalar and GpSimd engines: one element per lane and cycle. Where an engine takes elements
// of 16 bits faster, how many times; 0 stands for 1.
struct LaneEngineSpec {
  Hertz clock;
  int lanes = 0;                 // 128
  Cycles min_interval;           // 64 (MIN_II); GpSimd adds its start of ~150
  Cycles access_overhead;        // ~60 static access cycles of an instruction
  Cycles dependent_overhead;     // ~100 instead, when it needs the result of the one before it
  int copy_speedup = 0;          // copies and operations with a scalar, contiguous, SBUF to SBUF
  int strided_copy_speedup = 0;  // the same with a stride
  int pair_speedup = 0;          // operations on two tensors that are in SBUF
};

struct SbufSpec {
  Bytes capacity;      // 24 MiB
  int partitions = 0;  // 128
};

struct PsumSpec {
  Bytes capacity;      // 2 MiB
  int partitions = 0;  // 128
  int banks = 0;       // 8, each 512 FP32 per partition
};

struct DmaSpec {
  int engines = 0;              // 16 per core
  BytesPerSecond engine_rate;   // 17 GB/s sustained per engine (272 GB/s per core)
  Seconds descriptor_floor;     // 146 ns: no descriptor is faster
  Seconds descriptor_overhead;  // 8 ns + bytes/rate above the floor
  Seconds start_latency;        // semaphore to first byte; delays, does not occupy
  double transpose_passes = 2;  // times that the bytes of a transposing transfer pass an engine
};

// The largest free size of one instruction.
struct InstructionLimits {
  int max_elements = 65536;  // per partition, of a lane instruction on SBUF
  int max_statistics = 512;  // per partition, of bn_stats
};

// What the vendor's compiler does with SBUF, as far as it has to be assumed. Shares of the
// capacity.
struct SchedulingSpec {
  double activation_share = 0.6;  // activations; what exceeds it goes to HBM and comes back
  double softmax_share = 0.25;    // scores that one softmax works on, out of the share above
  double resident_share = 0.8;    // weights used by several operators stay when they fit into this
  int flash_attention_queries = 4096;  // prompts, and images that no mask hides a part of, from
                                       // this length on take a kernel that keeps scores on the core
  int flash_attention_keys = 2048;     // keys that it takes at a time
  int heads_share_cache = 0;           // 1: tokens of heads that share keys read these once
  Bytes stream_row{4096};              // of a transfer of data that lies in one piece
  int pass_pixels = 4096;              // of a channel, that one instruction on an image takes
  int eviction_blocks = 8;             // of narrow results that leave a bank of PSUM together
  int window_tile = 0;                 // rows of the tiles that the windows of weights were fitted
                                       // with: larger ones have larger windows; 0: they do not
  std::string operator_loops_until;    // release up to which operators of long prompts are loops of
                                       // their own, through HBM; "": none
};

// Which engines must take turns at a memory. 1: they need not.
struct EngineAccess {
  int sbuf_apart = 0;  // Vector and GpSimd at SBUF
  int psum_apart = 0;  // Vector and Scalar at PSUM
};

struct NeuronCoreSpec {
  std::string id;  // "neuroncore-v2"
  TensorEngineSpec tensor;
  LaneEngineSpec vector;
  LaneEngineSpec scalar;
  LaneEngineSpec gpsimd;
  SbufSpec sbuf;
  PsumSpec psum;
  EngineAccess access;
  DmaSpec dma;
  InstructionLimits instruction;
  SchedulingSpec scheduling;
};

struct HbmSpec {
  Bytes capacity;            // 32 GiB per device
  BytesPerSecond bandwidth;  // 820 GB/s per device
  Seconds latency;
  std::string model = {};  // of the simulation: "rate", which "" stands for, "banks" or one's own
  std::string standard = {};  // whose timings the model of banks takes: "hbm2", hw/memories
  int stacks = 0;             // packages of that standard
};

// NeuronLink-v2 ports of one device. Collectives move data over them; the CC-cores drive the steps.
struct LinkSpec {
  int count = 0;             // 2 on Inferentia2 (ring), 4 on Trainium1 (torus)
  BytesPerSecond bandwidth;  // per link
  Seconds hop_latency;       // one step of a ring collective, without its transfer
  Seconds latency;           // what each further link on the way adds to a step
};

// How the CC-cores of a device run collectives.
struct CollectiveSpec {
  BytesPerSecond rate;      // what a rank moves out on one ring
  Seconds phase_overhead;   // start of each phase; an all-reduce has two
  Bytes packet;             // pieces in which it passes memory and links
  int rings = 0;            // directed rings that share a collective: 2 go in opposite directions
  std::string algorithms;   // "ring": always; "by-size": mesh, halving or ring, as the size says
  Bytes mesh_limit;         // by size: below, every rank writes to every other
  Bytes halving_limit;      // by size: below, recursive halving and doubling
  std::string group_sizes;  // degrees of tensor parallelism beside 1: "2, 4, 8"
};

struct HostSpec {
  Seconds call_overhead;     // runtime + framework, per call of a compiled graph
  BytesPerSecond copy_rate;  // host to device copy, per worker
  Bytes runtime_memory;      // device memory that the runtime keeps for each core
  Seconds branch_time;       // the host reads a condition and picks the call that follows
  int smallest_bucket = 0;   // shortest length that is compiled; longer ones: powers of two of it
};

struct NeuronDeviceSpec {
  std::string id;                  // "inferentia2"
  std::string name;                // "AWS Inferentia2"
  int cores = 0;                   // 2
  int cores_per_logical_core = 0;  // 2: see logical_core.hpp; 0: there are no logical cores
  NeuronCoreSpec core;
  HbmSpec hbm;
  LinkSpec link;
  int cc_cores = 0;  // 6: run the steps of collectives
  HostSpec host;     // call path of the runtime that drives this device
  CollectiveSpec collective;
  Likeness like;  // of one of the user's
};

// Purchase option -> USD per hour, US East: "on_demand", "reserved_1y", "reserved_3y".
using Prices = std::map<std::string, double>;

struct NeuronSystemSpec {
  std::string id;     // "inf2.xlarge", "trn1.32xlarge-x2"
  std::string node;   // of several instances by their name the id of one; else ""
  int devices = 0;    // of all instances
  int instances = 0;  // of as many devices each; 0: one
  NeuronDeviceSpec device;
  int vcpus = 0;
  Bytes host_memory;
  BytesPerSecond network;  // of the instance, "up to" where the vendor says so
  Seconds network_hop;     // a step over it, without its transfer; 0: instances have no other
  // Of a link to the device of the same place in the next instance of a ring, one direction; 0:
  // instances meet in the network.
  BytesPerSecond neighbour_bandwidth;
  BytesPerSecond ebs;    // block storage, likewise
  std::string topology;  // of an instance: "none", "ring", "torus-4x4", "chain"
  Prices price_usd_per_hour;
  std::map<int, NeuronDeviceSpec> different;  // devices that are not as `device`, by index

  int instance_count() const { return std::max(1, instances); }
  int devices_of_instance() const { return devices / instance_count(); }
  const std::string& instance_name() const { return node.empty() ? id : node; }
  const NeuronDeviceSpec& device_at(int index) const {
    const auto found = different.find(index);
    return found == different.end() ? device : found->second;
  }
  Bytes smallest_memory() const {  // of a device
    Bytes least = device.hbm.capacity;
    for (const auto& entry : different) least = std::min(least, entry.second.hbm.capacity);
    return least;
  }
};

// Instances that a name may say: "trn1.32xlarge-x2".
inline constexpr int kMaxInstances = 64;

}  // namespace foretell
