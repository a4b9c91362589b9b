#include "model/mapping/gpu/gpu_precision.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

bool has_pipe(const GpuDeviceSpec& device, DType type) {
  const std::string name(type == DType::kNvfp4 ? "fp4" : to_string(type));
  return device.matrix_rate.count(name) + device.vector_rate.count(name) > 0;
}

// Of the faster pipe that multiplies in the type.
double rate_of(DType type, const GpuDeviceSpec& device) {
  const std::string name(to_string(type));
  double fastest = 0;
  for (const auto* rates : {&device.matrix_rate, &device.vector_rate}) {
    const auto found = rates->find(name);
    if (found != rates->end()) fastest = std::max(fastest, found->second);
  }
  return fastest;
}

bool is_weights_only(const PrecisionPolicy& policy) {
  return size_of(policy.weight_storage) < size_of(policy.matmul_compute);
}

PrecisionPolicy adapted(PrecisionPolicy policy, const GpuDeviceSpec& device) {
  if (policy.name == "int8") policy.matmul_compute = DType::kInt8;
  if (has_pipe(device, DType::kBf16)) return policy;
  const bool narrow = size_of(policy.matmul_compute) < Bytes(2);
  if (!narrow && !is_weights_only(policy)) return policy;
  for (DType* type : {&policy.matmul_compute, &policy.vector, &policy.io, &policy.kv_cache}) {
    if (*type == DType::kBf16) *type = DType::kFp16;
  }
  return policy;
}

// What comes nearest, first: the same bytes, then more.
const std::vector<std::string>& near(const std::string& policy) {
  static const std::map<std::string, std::vector<std::string>> kNear = {
      {"bf16", {"fp16", "fp32"}},
      {"bf16-matmul", {"fp16", "fp32"}},
      {"fp16", {"bf16", "fp32"}},
      {kBlockScales, {"int8", "fp8-weights", "bf16", "fp16", "fp32"}},
      {"fp8", {"int8", "fp8-weights", "bf16", "fp16", "fp32"}},
      {"nvfp4", {"fp8", "int8", "bf16", "fp16", "fp32"}},
      {"int8", {"fp8", "int8-weights", "bf16", "fp16", "fp32"}},
      {"int8-datasheet", {"fp8", "int8-weights", "bf16", "fp16", "fp32"}},
      {"tf32", {"fp32"}},
  };
  static const std::vector<std::string> kOthers = {"bf16", "fp16", "fp32"};
  const auto found = kNear.find(policy);
  return found == kNear.end() ? kOthers : found->second;
}

bool works(const std::string& policy, const GpuDeviceSpec& device) {
  return has_pipe(device, adapted(find_precision(policy), device).matmul_compute);
}

}  // namespace

PrecisionPolicy precision_on_gpu(const PrecisionPolicy& policy, const GpuDeviceSpec& device) {
  PrecisionPolicy result = adapted(policy, device);
  if (has_pipe(device, result.matmul_compute)) return result;
  std::string advice;
  for (const std::string& other : near(policy.name)) {
    if (!works(other, device)) continue;
    advice = "; nearest that works there is '" + other + "'";
    break;
  }
  throw UserError("dtype: " + device.name + " has no pipe for " +
                  std::string(to_string(result.matmul_compute)) + ", which '" + policy.name +
                  "' multiplies in" + advice);
}

PrecisionPolicy fastest_on_gpu(const PrecisionPolicy& policy, const GpuDeviceSpec& device) {
  if (!(size_of(policy.matmul_compute) < Bytes(2))) return policy;
  const PrecisionPolicy wide = find_precision(default_dtype_on_gpu(device));
  return rate_of(wide.matmul_compute, device) > rate_of(policy.matmul_compute, device) ? wide
                                                                                       : policy;
}

std::string default_dtype_on_gpu(const GpuDeviceSpec& device) {
  for (const DType type : {DType::kBf16, DType::kFp16}) {
    if (has_pipe(device, type)) return std::string(to_string(type));
  }
  return "fp32";
}

}  // namespace foretell
