#include "hw/spec/cpu/cpu_fields.hpp"

#include <algorithm>
#include <cmath>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

using namespace literals;

namespace {

const Range<Hertz> kCoreClock{Hertz(100e6), Hertz(10e9)};
const Range<BytesPerCycle> kPort{BytesPerCycle(0.1), BytesPerCycle(1024)};

}  // namespace

void fields(FieldList& list, CpuClocks& spec) {
  list.optional_value("base", spec.base, kCoreClock, "Clock that is guaranteed.");
  list.value("all_core", spec.all_core, kCoreClock, "Clock with all cores at work on vector code.");
}

void fields(FieldList& list, CpuCacheSpec& spec) {
  list.value("l1", spec.l1, {4_KiB, 16_MiB}, "First-level data cache of a core.");
  list.value("l2", spec.l2, {16_KiB, 1_GiB}, "Second-level cache of a core.");
  list.value("l3", spec.l3, {64_KiB, 64_GiB}, "Third-level cache of a group of cores.");
  list.count("l3_cores", spec.l3_cores, {1, 65536}, "Cores that share one third-level cache.");
  list.value("l2_bandwidth", spec.l2_bandwidth, kPort, "From the second cache to its core.");
  list.value("l3_bandwidth", spec.l3_bandwidth, kPort, "From the third cache to one core.");
}

void fields(FieldList& list, CpuDramSpec& spec) {
  list.count("channels", spec.channels, {1, 1024}, "Memory channels of a socket.");
  list.value("channel_bandwidth", spec.channel_bandwidth,
             {BytesPerSecond(1e8), BytesPerSecond(1e13)}, "Peak of one memory channel.");
  list.method("model", spec.model,
              "How it is simulated: rate (the peak, shared evenly) or a registered memory.");
}

void fields(FieldList& list, CpuDeviceSpec& spec) {
  list.count("cores", spec.cores, {1, 65536}, "Physical cores of a socket.");
  list.group("clock", spec.clock);
  list.value("vector_register", spec.vector_register, {8_B, 1_KiB}, "Width of a vector register.");
  list.table("flops_per_cycle", spec.flops_per_cycle, {"fp32", "bf16", "fp16", "int8"},
             Range<double>{0.5, 1e6}, 1.0,
             "Of a core by data type, a multiply-accumulate counts as two.");
  list.table("tile_depth", spec.tile_depth, {"bf16", "fp16", "int8"}, Range<double>{1, 4096}, 1.0,
             "Values along the summed dimension of a tile of the matrix unit, by data type.");
  list.group("cache", spec.cache);
  list.group("dram", spec.dram);
  list.value("fork_join", spec.fork_join, {Seconds(0), Seconds(1e-3)},
             "An empty parallel loop over two threads.");
  list.value("branch_time", spec.branch_time, {Seconds(0), Seconds(1)},
             "A decision between two parts of a network.");
}

void fields(FieldList& list, CpuSystemSpec& spec) {
  list.count("sockets", spec.sockets, {1, 64}, "Sockets that the cores are on.");
  list.count("cores", spec.cores, {1, 65536}, "Physical cores of the instance.");
  list.optional_count("vcpus", spec.vcpus, {1, 65536}, "Virtual CPUs of the instance.");
  list.value("memory", spec.memory, {64_MiB, Bytes(1e15)}, "Main memory of the instance.");
  list.value("l3_share", spec.l3_share, {0.001, 1},
             "Share of the third-level caches of its sockets, beside other tenants.");
  list.value("dram_share", spec.dram_share, {0.001, 1},
             "Share of the memory channels of its sockets, beside other tenants.");
  list.optional_count("weight_layouts", spec.weight_layouts, {0, 1},
                      "Times per call that its software lays the weights of a convolution out "
                      "for the inner loops; products then pack theirs as they go, by one thread "
                      "where they have one row; 0: ahead, once for all.");
  list.optional_count("window_layouts", spec.window_layouts, {0, 1},
                      "Times per call that its software puts the channels of windows of several "
                      "pixels last before that.");
  list.optional_value(
      "fresh_buffers", spec.fresh_buffers, {Bytes(0), Bytes(1e15)},
      "Buffers of this size and larger are new to the process in every call; 0: all are kept.");
  list.optional_value("page", spec.page, {Bytes(0), Bytes(1e10)}, "Page of such a buffer.");
  list.optional_value("page_fault", spec.page_fault, {Seconds(0), Seconds(1)},
                      "First touch of a page of such a buffer, by one thread.");
  list.table("price", spec.price_usd_per_hour, {"on_demand", "reserved_1y", "reserved_3y"},
             Range<UsdPerSecond>{Usd(0) / Seconds(3600), Usd(1e6) / Seconds(3600)},
             Usd(1) / Seconds(3600), "Price of the instance.");
}

void all_fields(FieldList& list, CpuSystemSpec& spec) {
  list.group("system", spec);
  list.group("device", spec.device);
}

BytesPerSecond dram_bandwidth(const CpuSystemSpec& spec) {
  return spec.device.dram.channel_bandwidth * spec.device.dram.channels * spec.sockets *
         spec.dram_share;
}

Bytes l3_capacity(const CpuSystemSpec& spec) {
  const double caches = std::ceil(static_cast<double>(spec.device.cores) /
                                  static_cast<double>(spec.device.cache.l3_cores));
  return spec.device.cache.l3 * caches * spec.sockets * spec.l3_share;
}

FlopsPerSecond core_rate(const CpuDeviceSpec& device, const std::string& dtype) {
  const auto found = device.flops_per_cycle.find(dtype);
  if (found != device.flops_per_cycle.end()) {
    return FlopsPerSecond(found->second * device.clock.all_core.value());
  }
  std::vector<std::string> known;
  for (const auto& entry : device.flops_per_cycle) known.push_back(entry.first);
  throw UserError(device.name + " does not multiply in " + dtype +
                  "; it has: " + join(known, ", "));
}

}  // namespace foretell
