#include "model/cli/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "hw/spec/group_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/predict/memory_use.hpp"

namespace foretell {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Copies and the stages of each go to devices of their own as long as there are some; a group of
// cores fills a device before the next.
int used_cores_per_device(const NeuronSystemSpec& spec, int ranks, int copies) {
  if (ranks >= spec.device.cores) return spec.device.cores;
  const int copies_per_device = (copies + spec.devices - 1) / spec.devices;
  return std::min(spec.device.cores, ranks * copies_per_device);
}

// Batches that a copy holds a cache of: with a pipeline up to one per stage.
double batches_at_work(const ResolvedRequest& resolved) {
  const double per_copy = std::ceil(requests_in_flight(resolved.serving) / resolved.serving.dp);
  return std::clamp(per_copy, 1.0, static_cast<double>(resolved.request.pp));
}

// Of the pipeline stage that needs most.
MemoryUse use_of_core(const ResolvedRequest& resolved, int tensor_parallel) {
  const Request& request = resolved.request;
  const HostSpec& host = resolved.system.spec.device.host;
  if (request.input_len == 0) return memory_of_core(build_resolved_graph(resolved), host);
  const std::int64_t tokens = compiled_length(resolved, request.input_len);
  const std::int64_t kv_len = compiled_length(resolved, request.input_len + request.output_len);
  MemoryUse most;
  for (int stage = 0; stage < request.pp; ++stage) {
    const LayerRange layers = stage_layers(resolved.model.layers, request.pp, stage);
    const auto use = [&](Phase phase, std::int64_t new_tokens) {
      return memory_of_core(
          build_generation_graph(resolved, phase, new_tokens, kv_len, tensor_parallel, layers),
          host);
    };
    MemoryUse both = largest(use(Phase::kPrefill, tokens), use(Phase::kDecode, 1));
    both.kv_cache = both.kv_cache * batches_at_work(resolved);
    if (both.total() > most.total()) most = both;
  }
  return most;
}

struct Fit {
  std::string system;
  int tensor_parallel;
  double price;
};

// The cheapest system that holds one copy, with the smallest group on it.
std::optional<Fit> cheapest_fit(const ResolvedRequest& resolved) {
  const bool shares = resolved.request.input_len > 0;
  const int stages = resolved.request.pp;
  std::optional<Fit> best;
  const Catalog catalog;
  for (const std::string& id : catalog.systems()) {
    const NeuronSystemSpec spec = catalog.load(id).spec;
    for (const int ranks : allowed_group_sizes(spec)) {
      if (ranks > resolved.model.heads || ranks * stages > spec.devices * spec.device.cores) break;
      if (ranks > 1 && !shares) break;
      const Bytes needed =
          (use_of_core(resolved, ranks) * used_cores_per_device(spec, ranks, stages)).total();
      if (needed > spec.device.hbm.capacity) continue;
      const auto price = spec.price_usd_per_hour.find("on_demand");
      const double cost = price == spec.price_usd_per_hour.end()
                              ? std::numeric_limits<double>::infinity()  // dearer than any known
                              : price->second;
      if (!best || cost < best->price) best = Fit{spec.id, ranks, cost};
      break;
    }
  }
  return best;
}

}  // namespace

int cores_per_device(const ResolvedRequest& resolved) {
  const Request& request = resolved.request;
  return used_cores_per_device(resolved.system.spec, request.tp, request.dp * request.pp);
}

MemoryUse check_memory(const ResolvedRequest& resolved) {
  const NeuronSystemSpec& spec = resolved.system.spec;
  const MemoryUse use = use_of_core(resolved, resolved.request.tp) * cores_per_device(resolved);
  const Bytes needed = use.total();
  const Bytes capacity = spec.device.hbm.capacity;
  if (needed <= capacity) return use;
  const std::string lacks = fmt::format(
      "{}: {} cores of one device of {} need {:.1f} GiB, {:.1f} GiB more than its {:.1f} GiB",
      resolved.model.name, cores_per_device(resolved), spec.id, needed.value() / kGiB,
      (needed - capacity).value() / kGiB, capacity.value() / kGiB);
  const std::optional<Fit> fit = cheapest_fit(resolved);
  if (fit) {
    const std::string group =
        (fit->tensor_parallel > 1 ? fmt::format(" --tp {}", fit->tensor_parallel) : " --dp 1") +
        (resolved.request.pp > 1 ? fmt::format(" --pp {}", resolved.request.pp) : "");
    throw UserError(
        fmt::format("{}; the smallest system that holds it: --on {}{}", lacks, fit->system, group));
  }
  throw UserError(
      lacks +
      "; no system here holds it: lower --batch or the lengths, or take a smaller weight "
      "type, for example --dtype int8-weights");
}

}  // namespace foretell
