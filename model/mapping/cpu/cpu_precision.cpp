#include <array>

#include "model/base/errors.hpp"
#include "model/mapping/cpu/map_graph.hpp"

namespace foretell {
namespace {

bool multiplies(const CpuDeviceSpec& device, DType type) {
  return device.flops_per_cycle.count(std::string(to_string(type))) > 0;
}

PrecisionPolicy adapted(PrecisionPolicy policy, const CpuDeviceSpec& device) {
  if (policy.name == "int8") policy.matmul_compute = DType::kInt8;
  const bool weights_only = size_of(policy.weight_storage) < size_of(policy.matmul_compute);
  for (DType* type : {&policy.vector, &policy.io, &policy.kv_cache}) {
    if (size_of(*type) == Bytes(2) && !multiplies(device, *type)) *type = DType::kFp32;
  }
  if (weights_only && !multiplies(device, policy.matmul_compute)) {
    policy.matmul_compute = DType::kFp32;
  }
  return policy;
}

}  // namespace

PrecisionPolicy precision_on_cpu(const PrecisionPolicy& policy, const CpuDeviceSpec& device) {
  PrecisionPolicy result = adapted(policy, device);
  if (multiplies(device, result.matmul_compute)) return result;
  std::string advice;
  // Floating point of two bytes is nearer to that of four than to whole numbers.
  const bool is_narrow = size_of(result.matmul_compute) < Bytes(2);
  const auto near =
      is_narrow ? std::array{"int8", "bf16", "fp32"} : std::array{"bf16", "fp32", "int8"};
  for (const char* other : near) {
    if (!multiplies(device, adapted(find_precision(other), device).matmul_compute)) continue;
    advice = "; nearest that works there is '" + std::string(other) + "'";
    break;
  }
  throw UserError("dtype: " + device.name + " does not multiply in " +
                  std::string(to_string(result.matmul_compute)) + ", as '" + policy.name +
                  "' asks" + advice);
}

}  // namespace foretell
