#include "model/cli/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/base/errors.hpp"
#include "model/predict/neuron_call.hpp"

namespace foretell {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
// Sizes of a tensor-parallel group that the vendor's runtime offers on one chip or another
// [LLM:237-238].
constexpr std::array<int, 7> kGroupSizes = {1, 2, 4, 8, 12, 24, 32};

int used_cores_per_device(const NeuronSystemSpec& spec, int cores) {
  return std::min(spec.device.cores, (cores + spec.devices - 1) / spec.devices);
}

Bytes memory_of_core(const ResolvedRequest& resolved, int tensor_parallel) {
  const Request& request = resolved.request;
  if (request.input_len == 0) return memory_of_copy(build_resolved_graph(resolved));
  const std::int64_t kv_len = compiled_length(resolved, request.input_len + request.output_len);
  return memory_of_copy(
      build_generation_graph(resolved, Phase::kDecode, 1, kv_len, tensor_parallel));
}

struct Fit {
  std::string system;
  int tensor_parallel;
  double price;
};

// The cheapest system that holds one copy, with the smallest group on it.
std::optional<Fit> cheapest_fit(const ResolvedRequest& resolved) {
  const bool shares = resolved.request.input_len > 0;
  std::optional<Fit> best;
  const Catalog catalog;
  for (const std::string& id : catalog.systems()) {
    const NeuronSystemSpec spec = catalog.load(id).spec;
    for (const int ranks : kGroupSizes) {
      if (ranks > spec.devices * spec.device.cores || ranks > resolved.model.heads) break;
      if (ranks > 1 && !shares) break;
      const Bytes needed = memory_of_core(resolved, ranks) * used_cores_per_device(spec, ranks);
      if (needed > spec.device.hbm.capacity) continue;
      const auto price = spec.price_usd_per_hour.find("on_demand");
      const double cost = price == spec.price_usd_per_hour.end() ? 0 : price->second;
      if (!best || cost < best->price) best = Fit{spec.id, ranks, cost};
      break;
    }
  }
  return best;
}

}  // namespace

int cores_per_device(const ResolvedRequest& resolved) {
  return used_cores_per_device(resolved.system.spec, resolved.request.dp * resolved.request.tp);
}

Bytes memory_needed(const ResolvedRequest& resolved) {
  return memory_of_core(resolved, resolved.request.tp) * cores_per_device(resolved);
}

void check_memory(const ResolvedRequest& resolved) {
  const NeuronSystemSpec& spec = resolved.system.spec;
  const Bytes needed = memory_needed(resolved);
  const Bytes capacity = spec.device.hbm.capacity;
  if (needed <= capacity) return;
  const std::string lacks = fmt::format(
      "{}: {} cores of one device of {} need {:.1f} GiB, {:.1f} GiB more than its {:.1f} GiB",
      resolved.model.name, cores_per_device(resolved), spec.id, needed.value() / kGiB,
      (needed - capacity).value() / kGiB, capacity.value() / kGiB);
  const std::optional<Fit> fit = cheapest_fit(resolved);
  if (fit) {
    const std::string group =
        fit->tensor_parallel > 1 ? fmt::format(" --tp {}", fit->tensor_parallel) : " --dp 1";
    throw UserError(
        fmt::format("{}; the smallest system that holds it: --on {}{}", lacks, fit->system, group));
  }
  throw UserError(
      lacks +
      "; no system here holds it: lower --batch or the lengths, or take a smaller weight "
      "type, for example --dtype int8-weights");
}

}  // namespace foretell
