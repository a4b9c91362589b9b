#include "model/app/request/resolve/library_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/mapping/gpu/gpu_precision.hpp"

namespace foretell {
namespace {

bool fuses_attention(const KernelLibrary& library, const PrecisionPolicy& precision,
                     const std::string& architecture) {
  using Fused = KernelLibrary::FusedAttention;
  const std::vector<std::string>& apart = library.attention_apart;
  if (std::find(apart.begin(), apart.end(), architecture) != apart.end()) return false;
  if (library.fused_attention != Fused::kNarrow) return library.fused_attention == Fused::kYes;
  return size_of(precision.matmul_compute) < Bytes(4);
}

}  // namespace

FusionRules fusion_of(const KernelLibrary& library, const PrecisionPolicy& precision,
                      const std::string& architecture) {
  FusionRules rules;
  rules.groups = !library.one_by_one;
  rules.passes = library.passes;
  rules.epilogues = library.epilogues;
  rules.activations = {library.epilogue_activations.begin(), library.epilogue_activations.end()};
  rules.strides = library.strided_products;
  rules.attention = fuses_attention(library, precision, architecture);
  rules.attention_keys = library.fused_keys;
  return rules;
}

void take_fastest_type(GpuRequest& resolved) {
  const PrecisionPolicy fastest = fastest_on_gpu(resolved.precision, resolved.system.spec.device);
  if (fastest.name == resolved.precision.name) return;
  resolved.notes.push_back(fmt::format("{}: products run in {}, which {} multiplies faster",
                                       resolved.precision.name, fastest.name,
                                       resolved.system.spec.device.name));
  resolved.precision = fastest;
}

}  // namespace foretell
