#include "calib/fitted/gpu/gemm_factors_choice.hpp"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "calib/fitted/gpu/gpu_transfer.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/follow_override.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

GemmFactorSet numbers_of(const FactorTable& set) {
  GemmFactorSet numbers{set, {}};
  FieldList list;
  fields(list, numbers.factors);
  read_factor_set(set, list);
  return numbers;
}

bool has_tensor_memory_accelerator(const std::string& architecture) {
  return gpu_architecture(architecture).tensor_memory_accelerator > 0;
}

// Types whose kernels are the same but for the name, or nearly. INT8 with that accelerator is the
// kernel of FP8 with another instruction; without it there is no FP8 kernel to learn from.
std::vector<std::string> like(const std::string& dtype, const std::string& architecture) {
  if (dtype == "fp16") return {"fp16", "bf16"};
  if (dtype == "tf32" || dtype == "fp32") return {dtype, "bf16"};
  if (dtype == "int8" && !has_tensor_memory_accelerator(architecture)) {
    return {dtype, "int8_sq", "fp8", "bf16"};
  }
  if (dtype == "int8" || dtype == "fp8_static") return {dtype, "fp8", "int8_sq", "bf16"};
  if (dtype == "fp8_block") return {dtype, "fp8"};
  if (dtype == "nvfp4") return {dtype, "fp8_block", "fp8"};
  if (dtype == "int4_wo") return {dtype, "int8_wo"};
  return {dtype};
}

bool has_no_quantising_pass(const std::string& dtype) {
  return dtype == "int8" || dtype == "fp8_static";
}

// Where the matrix pipe applies the scales of blocks, what comes nearest on chips whose pipe does
// not are persistent FP8 kernels after one quantising pass, not those that scale blocks on the
// vector pipe.
bool is_scaled_by_block(const std::string& dtype) {
  return dtype == "fp8_block" || dtype == "nvfp4";
}

bool scales_in_matrix_pipe(const std::string& architecture) {
  return gpu_architecture(architecture).scales_blocks > 0;
}

void follow_overrides(GemmFactors& factors, const GpuDeviceSpec& device) {
  const GpuDeviceSpec& published = published_device(device);
  for (Seconds* launch : {&factors.launch, &factors.quantise_launch, &factors.gemv_launch}) {
    if (*launch > Seconds(0))
      *launch = follow_time(*launch, published.launch_floor, device.launch_floor);
  }
  factors.mma_efficiency =
      follow_share(factors.mma_efficiency, published.reachable_rate, device.reachable_rate);
  factors.l2_share =
      follow_share(factors.l2_share, published.l2.resident_share, device.l2.resident_share);
}

}  // namespace

std::string framework_of(const std::string& table) { return table.substr(0, table.rfind(' ')); }
std::string dtype_of(const std::string& table) { return table.substr(table.rfind(' ') + 1); }

std::string GemmFactorSet::framework() const { return framework_of(table); }
std::string GemmFactorSet::dtype() const { return dtype_of(table); }

namespace {

const FactorTable* find_gemm(const KernelFactorsLibrary& library, const std::string& device,
                             const std::string& framework, const std::string& dtype) {
  const FactorTable* any = nullptr;
  for (const FactorFile& file : library.files()) {
    if (file.device != device) continue;
    for (const FactorTable& set : file.tables) {
      if (dtype_of(set.table) != dtype) continue;
      const std::string own = framework_of(set.table);
      if (own == framework) return &set;
      if (any == nullptr || own == kernel_libraries().choice().networks) any = &set;
    }
  }
  return any;
}

}  // namespace

ChosenGemmFactors choose_gemm(const KernelFactorsLibrary& library, const GpuDeviceSpec& device,
                              const std::string& framework, const std::string& dtype) {
  std::vector<std::string> fitted;
  for (const FactorFile& file : library.files()) fitted.push_back(file.device);
  std::vector<std::string> devices = {device.id};
  for (std::string& teacher : nearest_devices(device, fitted))
    devices.push_back(std::move(teacher));
  const bool scales = is_scaled_by_block(dtype) && scales_in_matrix_pipe(device.architecture);
  for (const std::string& similar : like(dtype, device.architecture)) {
    for (const std::string& from : devices) {
      const GpuDeviceSpec* teacher = find_published_device(from);
      const bool scaled_otherwise =
          scales && from != device.id && !scales_in_matrix_pipe(teacher->architecture);
      if (scaled_otherwise && similar != "fp8") continue;
      const FactorTable* found = find_gemm(
          library, from, scaled_otherwise ? kernel_libraries().choice().scaled_in_pipe : framework,
          similar);
      if (found == nullptr) continue;
      if (found->fitted_devices.empty()) {
        throw missing_sets(from, found->table, found->stated);
      }
      ChosenGemmFactors chosen{numbers_of(*found), "", from};
      if (has_no_quantising_pass(dtype)) {
        chosen.set.factors.quantise_launch = Seconds(0);
        chosen.set.factors.quantise_passes = 0;
        chosen.set.factors.quantise_row = Cycles(0);
      }
      const bool other_kernels = !framework.empty() && chosen.set.framework() != framework;
      if (from != device.id) {
        carry_over(chosen.set.factors, chosen.set.dtype(), *teacher, device);
      } else {
        follow_overrides(chosen.set.factors, device);
      }
      std::tie(chosen.set.interval_low, chosen.set.interval_high) =
          library.interval80(*found, from, device);
      if (from != device.id || similar != dtype || other_kernels) {
        chosen.note = fmt::format("factors of {} on {}", found->table, from);
      }
      return chosen;
    }
  }
  throw UserError(
      fmt::format("no factors of matrix products in {} are known for {} or a chip "
                  "like it; `foretell calibrate fit` makes them",
                  dtype, device.name));
}

}  // namespace foretell
