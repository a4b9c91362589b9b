#include "model/app/request/resolve/resolved_dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/text.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

bool has_kernels_for(const ResolvedWorkload& resolved, const std::string& dtype) {
  const std::vector<std::string>& narrow = resolved.narrow_pipes;
  return std::find(narrow.begin(), narrow.end(), dtype) != narrow.end();
}

// Products in FP8 take the scales that the file of the network has.
std::string as_stored(const ResolvedWorkload& resolved, const std::string& dtype) {
  const bool in_blocks = resolved.model.checkpoint.block_scales && to_lower(dtype) == "fp8";
  return in_blocks && has_kernels_for(resolved, kBlockScales) ? kBlockScales : dtype;
}

std::string typed_dtype(ResolvedWorkload& resolved) {
  const std::string& typed = resolved.request.dtype;
  std::string dtype = as_stored(resolved, typed);
  if (dtype != typed) {
    resolved.notes.push_back(fmt::format("{}: {} taken, as the weights of the file are {}", typed,
                                         dtype, resolved.model.checkpoint.name));
  }
  return dtype;
}

// A format where the machine has a pipe for it; else weights alone are stored so.
std::string runnable(const ResolvedWorkload& resolved, const std::string& dtype) {
  constexpr std::string_view kStorage = "-weights";
  const bool stores = has_kernels_for(resolved, dtype) || ends_with(dtype, kStorage);
  return stores ? dtype : dtype + std::string(kStorage);
}

// The type that the file of the network asks for.
std::string published_dtype(ResolvedWorkload& resolved, const std::string& default_dtype) {
  const CheckpointFormat& format = resolved.model.checkpoint;
  if (format.dtype.empty()) {
    resolved.note_unstated(
        fmt::format("data type not stated: {} taken; --dtype names another", default_dtype));
    return default_dtype;
  }
  const std::string dtype = as_stored(resolved, runnable(resolved, format.dtype));
  const std::string stored = stored_text(format);
  resolved.note_unstated(fmt::format(
      "data type not stated: {} taken, as the weights of the file are {}; --dtype names another",
      dtype, stored.empty() ? format.name : stored));
  return dtype;
}

// Of a type that was typed and is not that of the file.
void take_for_all(ResolvedWorkload& resolved) {
  CheckpointFormat& format = resolved.model.checkpoint;
  const std::string stored = stored_text(format);
  if (!takes_all_as(resolved.precision.weight_storage, &format)) return;
  resolved.notes.push_back(
      fmt::format("{} for all matrices of layers, though the weights of the file are {}",
                  resolved.precision.name, stored.empty() ? format.name : stored));
}

// Weights that the file stores in another narrow type than most.
void take_other_formats(ResolvedWorkload& resolved) {
  for (const WeightFormat& format : resolved.model.checkpoint.formats) {
    if (format.dtype.empty() || format == resolved.model.checkpoint) continue;
    const bool blocks = format.block_scales && format.dtype == "fp8";
    const PrecisionPolicy& policy = find_precision(blocks ? kBlockScales : format.dtype);
    if (!has_kernels_for(resolved, policy.name)) continue;
    resolved.precision.multiplied.push_back(policy.weight_storage);
  }
}

}  // namespace

void resolve_dtype(const std::string& default_dtype, ResolvedWorkload& resolved) {
  resolved.precision =
      find_precision(resolved.request.dtype.empty() ? published_dtype(resolved, default_dtype)
                                                    : typed_dtype(resolved));
  resolved.request.dtype = resolved.precision.name;
  take_for_all(resolved);
  take_other_formats(resolved);
}

}  // namespace foretell
