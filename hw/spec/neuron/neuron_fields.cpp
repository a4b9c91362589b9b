#include "hw/spec/neuron/neuron_fields.hpp"

namespace foretell {

using namespace literals;

namespace {

// What belongs to the device itself; its cores and links have paths of their own.
struct DeviceOwnFields {
  NeuronDeviceSpec& spec;
};

const Range<Hertz> kEngineClock{Hertz(10e6), Hertz(10e9)};
const Range<Cycles> kCycles{Cycles(0), Cycles(10000)};
const Range<Seconds> kDelay{Seconds(0), Seconds(0.1)};

void fields(FieldList& list, DeviceOwnFields& own) {
  list.count("cores", own.spec.cores, {1, 1024}, "NeuronCores of a device.");
  list.optional_count("cores_per_logical_core", own.spec.cores_per_logical_core, {1, 1024},
                      "Cores that software joins to a logical one: what --tp and copies count.");
  list.count("cc_cores", own.spec.cc_cores, {0, 1024},
             "Cores that run the steps of collectives beside the NeuronCores.");
  list.group("hbm", own.spec.hbm);
  list.group("host", own.spec.host);
  list.group("collective", own.spec.collective);
}

}  // namespace

void fields(FieldList& list, TensorEngineSpec& spec) {
  list.value("clock", spec.clock, kEngineClock, "Clock of the systolic array.");
  list.count("rows", spec.rows, {1, 4096}, "Contraction dimension of the systolic array.");
  list.count("columns", spec.columns, {1, 4096}, "Output rows: columns of the stationary operand.");
  list.count("max_moving", spec.max_moving, {1, 65536},
             "Columns of the moving operand per MultiplyMoving.");
  list.value("min_interval", spec.min_interval, kCycles,
             "Initiation interval of the smallest MultiplyMoving.");
  list.value("sustained_efficiency", spec.sustained_efficiency, {0.01, 1},
             "Share of the peak issue rate that back-to-back matmuls of a tuned kernel keep up.");
  list.value("load_stationary_speedup", spec.load_stationary_speedup, {0.01, 100},
             "LoadStationary of N columns takes N / speedup cycles.");
  list.optional_count("mixes_fp8", spec.mixes_fp8, {0, 1},
                      "1: products of BF16 and FP8 need no conversion; 0: weights in 8 bits are "
                      "converted before.");
  list.table<double>("cycles_per_column", spec.cycles_per_column,
                     {"bf16", "fp16", "fp8", "tf32", "fp32", "int8"}, {0.01, 100}, 1,
                     "Cycles per moving column of this data type; without an entry the engine "
                     "cannot multiply it.");
}

void fields(FieldList& list, LaneEngineSpec& spec) {
  list.value("clock", spec.clock, kEngineClock, "Clock of the engine.");
  list.count("lanes", spec.lanes, {1, 4096}, "FP32 elements per cycle.");
  list.value("min_interval", spec.min_interval, kCycles, "Cycles of the smallest instruction.");
  list.value("access_overhead", spec.access_overhead, kCycles,
             "Static cycles of every instruction to reach its operands.");
  list.value("dependent_overhead", spec.dependent_overhead, kCycles,
             "Static cycles instead when it needs the result of the instruction before it.");
  const Range<int> times{1, 64};
  list.optional_count("copy_speedup", spec.copy_speedup, times,
                      "Elements of 16 bits per lane and cycle of copies and operations with a "
                      "scalar, contiguous, from SBUF to SBUF (1 when not stated).");
  list.optional_count("strided_copy_speedup", spec.strided_copy_speedup, times,
                      "The same with a stride, over the rate of one with a stride in FP32.");
  list.optional_count("pair_speedup", spec.pair_speedup, times,
                      "Times as fast as in FP32: operations on two tensors of 16 bits in SBUF.");
}

void fields(FieldList& list, EngineAccess& spec) {
  list.optional_count("sbuf_apart", spec.sbuf_apart, {0, 1},
                      "1: the Vector and GpSimd engines reach SBUF at once; 0: in turn.");
  list.optional_count("psum_apart", spec.psum_apart, {0, 1},
                      "1: the Vector and Scalar engines reach PSUM at once; 0: in turn.");
}

void fields(FieldList& list, SbufSpec& spec) {
  list.value("capacity", spec.capacity, {64_KiB, 64_GiB}, "On-chip memory of a core.");
  list.count("partitions", spec.partitions, {1, 4096}, "Rows that are accessed in parallel.");
}

void fields(FieldList& list, PsumSpec& spec) {
  list.value("capacity", spec.capacity, {4_KiB, 1_GiB}, "Accumulators of the tensor engine.");
  list.count("partitions", spec.partitions, {1, 4096}, "Rows that are accessed in parallel.");
  list.count("banks", spec.banks, {1, 1024}, "Accumulation groups per partition.");
}

void fields(FieldList& list, DmaSpec& spec) {
  list.count("engines", spec.engines, {1, 1024}, "DMA engines of a core.");
  list.value("engine_rate", spec.engine_rate, {BytesPerSecond(1e6), BytesPerSecond(10e12)},
             "Sustained rate of one engine.");
  list.value("descriptor_floor", spec.descriptor_floor, kDelay, "Time of the smallest descriptor.");
  list.value("descriptor_overhead", spec.descriptor_overhead, kDelay,
             "Fixed time of a descriptor beside bytes / rate.");
  list.value(
      "start_latency", spec.start_latency, kDelay,
      "From the semaphore to the first byte; delays a transfer, does not occupy the engine.");
  list.value("transpose_passes", spec.transpose_passes, {1, 1000},
             "Times that the bytes of a transposing transfer pass a DMA engine.");
}

void fields(FieldList& list, InstructionLimits& spec) {
  list.count("max_elements", spec.max_elements, {1, 1 << 24},
             "Elements per partition of one instruction of a lane engine on SBUF.");
  list.count("max_statistics", spec.max_statistics, {1, 1 << 24},
             "Elements per partition of one instruction that takes means and variances.");
}

void fields(FieldList& list, SchedulingSpec& spec) {
  list.value("activation_share", spec.activation_share, {0.01, 1},
             "Share of SBUF for activations; what exceeds it goes to HBM and comes back. Weights "
             "are prefetched into the rest.");
  list.value("softmax_share", spec.softmax_share, {0.01, 1},
             "Share of SBUF, within that of the activations, for the scores of one softmax.");
  list.value("resident_share", spec.resident_share, {0.01, 1},
             "Weights that several operators use stay in SBUF when they fit into this share.");
  list.count("flash_attention_queries", spec.flash_attention_queries, {1, 1 << 30},
             "Prompts, and images without a mask, of this many tokens and more take an attention "
             "kernel whose scores stay on the core.");
  list.count("flash_attention_keys", spec.flash_attention_keys, {128, 1 << 20},
             "Keys that this kernel takes at a time.");
  list.optional_count("heads_share_cache", spec.heads_share_cache, {0, 1},
                      "1: heads of a token that share keys and values read them from the cache "
                      "together; 0: each head reads them.");
  list.value("stream_row", spec.stream_row, {1_B, 16_MiB},
             "Row of a transfer of data that lies in one piece: weights, states, images.");
  list.count("pass_pixels", spec.pass_pixels, {1, 1 << 24},
             "Pixels of a channel that one instruction on an image takes.");
  list.count("eviction_blocks", spec.eviction_blocks, {1, 1 << 16},
             "Blocks of results with few columns that leave a bank of PSUM together.");
  list.optional_count("window_tile", spec.window_tile, {1, 65536},
                      "Rows of the tiles that the window of prefetched weights was fitted with; of "
                      "larger tiles it holds as many.");
  list.optional_text(
      "operator_loops_until", spec.operator_loops_until, {},
      "Up to and including this release of the compiler, operators of a prompt whose hidden values "
      "do not fit SBUF are loops of their own: results pass through HBM.");
}

void fields(FieldList& list, NeuronCoreSpec& spec) {
  list.group("tensor", spec.tensor);
  list.group("vector", spec.vector);
  list.group("scalar", spec.scalar);
  list.group("gpsimd", spec.gpsimd);
  list.group("sbuf", spec.sbuf);
  list.group("psum", spec.psum);
  list.group("access", spec.access);
  list.group("dma", spec.dma);
  list.group("instruction", spec.instruction);
  list.group("scheduling", spec.scheduling);
}

void fields(FieldList& list, HbmSpec& spec) {
  list.value("capacity", spec.capacity, {1_MiB, Bytes(64e12)}, "Device memory.");
  list.value("bandwidth", spec.bandwidth, {BytesPerSecond(1e6), BytesPerSecond(1e15)},
             "Peak rate of the device memory, shared by the cores.");
  list.value("latency", spec.latency, kDelay, "First byte of an access.");
  list.method("model", spec.model,
              "How it is simulated: rate (the peak, shared evenly), banks (channels, banks, "
              "refresh and turnaround of `standard`), or a registered memory.");
  list.optional_text("standard", spec.standard, {},
                     "Timings for the model of banks: hbm2, hbm2e, hbm3, hbm3e or a file.");
  list.optional_count("stacks", spec.stacks, {1, 256}, "Packages of that standard.");
}

void fields(FieldList& list, LinkSpec& spec) {
  list.count("count", spec.count, {0, 64}, "Links of a device to its neighbours.");
  list.value("bandwidth", spec.bandwidth, {BytesPerSecond(1e6), BytesPerSecond(1e15)},
             "Rate of one link.");
  list.value("hop_latency", spec.hop_latency, kDelay,
             "One step of a ring collective, without its transfer.");
  list.value("latency", spec.latency, kDelay,
             "What each further link on the way to another device adds to a step.");
}

void fields(FieldList& list, CollectiveSpec& spec) {
  list.value("rate", spec.rate, {BytesPerSecond(1e6), BytesPerSecond(1e15)},
             "What a rank moves out on one ring.");
  list.value("phase_overhead", spec.phase_overhead, kDelay,
             "Start of each phase; an all-reduce has two.");
  list.value("packet", spec.packet, {Bytes(64), 1_GiB},
             "Pieces in which a collective passes memory and links.");
  list.count("rings", spec.rings, {1, 2},
             "Rings that share a collective; a second one goes in the opposite direction.");
  list.text("algorithms", spec.algorithms, {"ring", "by-size"},
            "Ring for every size, or mesh, recursive halving and ring by size.");
  list.value("mesh_limit", spec.mesh_limit, {Bytes(0), Bytes(1e15)},
             "By size: below this every rank writes to every other rank.");
  list.value("halving_limit", spec.halving_limit, {Bytes(0), Bytes(1e15)},
             "By size: below this recursive halving and doubling, above it the ring.");
  list.text("group_sizes", spec.group_sizes, {},
            "Degrees of tensor parallelism beside 1, as far as the instance has the cores.");
}

void fields(FieldList& list, HostSpec& spec) {
  list.value("call_overhead", spec.call_overhead, {Seconds(0), Seconds(60)},
             "Runtime and framework, per call of a compiled graph.");
  list.value("copy_rate", spec.copy_rate, {BytesPerSecond(1e6), BytesPerSecond(1e13)},
             "Copies between host and device, per worker.");
  list.value("runtime_memory", spec.runtime_memory, {Bytes(0), 64_GiB},
             "Device memory that the runtime keeps for each core in use.");
  list.value("branch_time", spec.branch_time, {Seconds(0), Seconds(1)},
             "The host reads a condition and picks the call that follows, which pays for itself.");
  list.count("smallest_bucket", spec.smallest_bucket, {1, 1 << 20},
             "Shortest length that the vendor's compiler pads to; the others are twice, four times "
             "… as long.");
}

void fields(FieldList& list, NeuronDeviceSpec& spec) {
  DeviceOwnFields own{spec};
  fields(list, own);
  list.group("link", spec.link);
}

void fields(FieldList& list, NeuronSystemSpec& spec) {
  list.count("devices", spec.devices, {1, 65536}, "Devices of the instance.");
  list.optional_count("instances", spec.instances, {2, 65536},
                      "Instances that they divide into; not stated: one.");
  list.optional_count("vcpus", spec.vcpus, {1, 65536}, "Virtual processors of the host.");
  list.optional_value("host_memory", spec.host_memory, Range<Bytes>{1_MiB, Bytes(1e15)},
                      "Memory of the host.");
  list.optional_value("network", spec.network,
                      Range<BytesPerSecond>{BytesPerSecond(1e6), BytesPerSecond(1e14)},
                      "Network rate of the instance.");
  list.optional_value("network_hop", spec.network_hop, kDelay,
                      "A step of a collective over the network, without its transfer.");
  list.optional_value(
      "neighbour_bandwidth", spec.neighbour_bandwidth,
      Range<BytesPerSecond>{BytesPerSecond(1e6), BytesPerSecond(1e15)},
      "From a device to that of the same place in the next instance, one direction; "
      "not stated: instances meet in the network.");
  list.optional_value("ebs", spec.ebs,
                      Range<BytesPerSecond>{BytesPerSecond(1e6), BytesPerSecond(1e14)},
                      "Block storage rate of the instance.");
  list.text("topology", spec.topology, {"none", "chain", "ring", "torus-4x4"},
            "How the devices of an instance are linked.");
  list.table("price", spec.price_usd_per_hour, {"on_demand", "reserved_1y", "reserved_3y"},
             Range<UsdPerSecond>{Usd(0) / Seconds(3600), Usd(1e6) / Seconds(3600)},
             Usd(1) / Seconds(3600), "Price of the instance, US East.");
}

void all_fields(FieldList& list, NeuronSystemSpec& spec) {
  DeviceOwnFields own{spec.device};
  list.group("system", spec);
  list.group("device", own);
  list.group("core", spec.device.core);
  list.group("link", spec.device.link);
}

}  // namespace foretell
