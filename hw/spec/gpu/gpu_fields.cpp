#include "hw/spec/gpu/gpu_fields.hpp"

#include <algorithm>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

using namespace literals;

namespace {

const Range<Hertz> kClock{Hertz(10e6), Hertz(10e9)};
const Range<FlopsPerSecond> kRate{FlopsPerSecond(1e9), FlopsPerSecond(1e18)};
const Range<BytesPerSecond> kLink{BytesPerSecond(0), BytesPerSecond(1e15)};

}  // namespace

void fields(FieldList& list, GpuClocks& spec) {
  list.optional_value("base", spec.base, kClock, "Clock that is guaranteed.");
  list.value("boost", spec.boost, kClock, "Clock at which the rates are stated.");
}

void fields(FieldList& list, GpuSmSpec& spec) {
  list.count("registers", spec.registers, {1024, 1 << 24}, "32-bit registers of an SM.");
  list.count("max_threads", spec.max_threads, {32, 65536}, "Resident threads of an SM.");
  list.count("max_ctas", spec.max_ctas, {1, 1024}, "Resident thread blocks of an SM.");
  list.value("shared_memory", spec.shared_memory, {1_KiB, 1_GiB},
             "Shared memory of an SM, for all its thread blocks.");
  list.value("shared_memory_per_cta", spec.shared_memory_per_cta, {1_KiB, 1_GiB},
             "Largest shared memory of one thread block.");
}

void fields(FieldList& list, GpuL2Spec& spec) {
  list.value("capacity", spec.capacity, {64_KiB, 64_GiB}, "Second-level cache of the chip.");
  list.value("resident_share", spec.resident_share, {0.01, 1},
             "Share of L2 in which data are found again.");
}

void fields(FieldList& list, NvlinkSpec& spec) {
  list.value("bandwidth", spec.bandwidth, kLink, "All NVLinks of a GPU, one direction; 0: none.");
}

void fields(FieldList& list, PcieSpec& spec) {
  list.value("bandwidth", spec.bandwidth, kLink, "PCI Express, one direction.");
}

void fields(FieldList& list, GpuDeviceSpec& spec) {
  list.count("sms", spec.sms, {1, 65536}, "Streaming multiprocessors of the chip.");
  list.group("clock", spec.clock);
  list.group("sm", spec.sm);
  list.table("matrix_rate", spec.matrix_rate, matrix_types(), kRate, FlopsPerSecond(1),
             "Dense rate of the matrix pipes of the chip.");
  list.table("vector_rate", spec.vector_rate, {"fp32", "fp16", "bf16", "int8"}, kRate,
             FlopsPerSecond(1), "Rate of the vector pipes of the chip.");
  list.group("l2", spec.l2);
  list.group("hbm", spec.hbm);
  list.group("nvlink", spec.nvlink);
  list.group("pcie", spec.pcie);
  list.value("launch_floor", spec.launch_floor, {Seconds(0), Seconds(1e-3)},
             "Time of the smallest kernel inside a graph.");
  list.value("stream_floor", spec.stream_floor, {Seconds(0), Seconds(1e-3)},
             "Time of the smallest kernel that the host launches by itself.");
  list.value("branch_kernels", spec.branch_kernels, {0, 100},
             "A decision at run time takes as long as this many of the smallest kernels.");
  list.value("sustained_rate", spec.sustained_rate, {0.01, 1},
             "Rate of matrix products under the power limit, against a short burst.");
  list.value("reachable_rate", spec.reachable_rate, {0.01, 1},
             "Largest share of the dense rate that a matrix product has reached.");
  list.value("vector_limit", spec.vector_limit, {0.01, 1},
             "Share of the FP32 rate that long products on the vector pipe keep under the power "
             "limit.");
  list.value("power_watts", spec.power, {Watts(1), kMaxBoardPower},
             "Power limit of the board, in watts.");
}

void fields(FieldList& list, NetworkSpec& spec) {
  list.optional_value("bandwidth", spec.bandwidth, {BytesPerSecond(1e6), BytesPerSecond(1e13)},
                      "From one GPU to those of other nodes, one direction.");
}

void fields(FieldList& list, GpuSystemSpec& spec) {
  list.count("devices", spec.devices, {1, 65536}, "GPUs of the node.");
  list.group("network", spec.network);
  list.optional_count("slots", spec.slots, {1, 65536},
                      "GPUs that one server has held at most; not stated: those of the node.");
  list.text("interconnect", spec.interconnect, {"none", "nvlink", "pcie"},
            "What links the GPUs of the node.");
  list.optional_text("peers", spec.peers, {"direct", "host"},
                     "How GPUs reach one another over PCIe: directly, or through the memory of the "
                     "host; not stated: directly.");
  list.table("price", spec.price_usd_per_hour, {"on_demand", "reserved_1y", "reserved_3y"},
             Range<UsdPerSecond>{Usd(0) / Seconds(3600), Usd(1e6) / Seconds(3600)},
             Usd(1) / Seconds(3600), "Price of the node.");
}

void all_fields(FieldList& list, GpuSystemSpec& spec) {
  list.group("system", spec);
  list.group("device", spec.device);
}

const std::vector<std::string>& matrix_types() {
  static const std::vector<std::string> kTypes = {"fp32", "tf32", "bf16", "fp16",
                                                  "fp8",  "fp4",  "int8", "int4"};
  return kTypes;
}

FlopsPerSecond dense_rate(const GpuDeviceSpec& device, const std::string& dtype) {
  for (const auto* rates : {&device.matrix_rate, &device.vector_rate}) {
    if (const auto found = rates->find(dtype); found != rates->end()) {
      return FlopsPerSecond(found->second);
    }
  }
  std::vector<std::string> known;
  for (const auto* rates : {&device.matrix_rate, &device.vector_rate}) {
    for (const auto& entry : *rates) {
      if (std::find(known.begin(), known.end(), entry.first) == known.end()) {
        known.push_back(entry.first);
      }
    }
  }
  throw UserError(device.name + " has no pipe for " + dtype + "; it has: " + join(known, ", "));
}

}  // namespace foretell
