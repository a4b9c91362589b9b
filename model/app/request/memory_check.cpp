#include "model/app/request/memory_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "hw/spec/neuron/group_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/predict/memory_use.hpp"

namespace foretell {
namespace {

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
  if (trains(request))
    return memory_of_training(build_training_step(resolved), host.runtime_memory);
  if (request.input_len == 0) return memory_of_core(build_resolved_graph(resolved), host);
  const std::int64_t tokens = compiled_length(resolved, request.input_len);
  const std::int64_t kv_len = compiled_length(resolved, cached_positions(resolved));
  MemoryUse most;
  for (int stage = 0; stage < request.pp; ++stage) {
    const LayerRange layers = stage_layers(resolved.model.layers, request.pp, stage);
    const auto use = [&](Phase phase, std::int64_t new_tokens) {
      return memory_of_core(
          build_generation_graph(resolved, phase, new_tokens, kv_len, tensor_parallel, layers),
          host);
    };
    const MemoryUse prefill = use(Phase::kPrefill, tokens);
    const MemoryUse decode = use(Phase::kDecode, 1);
    MemoryUse both = largest(prefill, decode);
    if (resolved.model.family == Family::kEncoderDecoder)  // two programs, each with its weights
      both.weights = prefill.weights + decode.weights;
    both.kv_cache = both.kv_cache * batches_at_work(resolved);
    if (both.total() > most.total()) most = both;
  }
  return most;
}

// A system that holds one copy, on groups of these sizes.
struct Fit {
  std::string system;
  std::vector<int> degrees;  // ascending
  double price = 0;
};

std::vector<int> degrees_that_fit(const ResolvedRequest& resolved, const NeuronSystemSpec& spec,
                                  std::map<int, MemoryUse>* uses) {
  const int stages = resolved.request.pp;
  std::vector<int> degrees;
  for (const int ranks : allowed_group_sizes(spec)) {
    if (ranks > resolved.model.heads || ranks * stages > spec.devices * spec.device.cores) break;
    if (ranks > 1 && resolved.request.input_len == 0) break;
    if (uses->count(ranks) == 0) (*uses)[ranks] = use_of_core(resolved, ranks);
    const MemoryUse needed = uses->at(ranks) * used_cores_per_device(spec, ranks, stages);
    if (needed.total() <= spec.device.hbm.capacity) degrees.push_back(ranks);
  }
  return degrees;
}

// With the overrides of the request; without the systems that these do not fit.
std::vector<NeuronSystemSpec> systems_as_set(const ResolvedRequest& resolved) {
  std::vector<NeuronSystemSpec> systems;
  const Catalog catalog;
  LoadOptions options;
  options.set = machine_set(resolved.request);
  options.factors = "none";
  for (const std::string& id : catalog.systems()) {
    try {
      systems.push_back(catalog.load(id, options).spec);
    } catch (const UserError&) {
      continue;
    }
  }
  return systems;
}

// The cheapest first.
std::vector<Fit> systems_that_fit(const ResolvedRequest& resolved) {
  std::vector<Fit> fits;
  std::map<int, MemoryUse> uses;  // of a core, by the size of its group
  for (const NeuronSystemSpec& spec : systems_as_set(resolved)) {
    Fit fit{spec.id, degrees_that_fit(resolved, spec, &uses),
            std::numeric_limits<double>::infinity()};  // dearer than any known
    if (fit.degrees.empty()) continue;
    const auto price = spec.price_usd_per_hour.find("on_demand");
    if (price != spec.price_usd_per_hour.end()) fit.price = price->second;
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fit& a, const Fit& b) { return a.price < b.price; });
  return fits;
}

std::string advice(const std::vector<Fit>& fits, const Request& request) {
  const Fit& smallest = fits.front();
  const int ranks = smallest.degrees.front();
  std::string text = "the smallest system that holds it: --on " + smallest.system +
                     (ranks > 1 ? fmt::format(" --tp {}", ranks) : " --dp 1") +
                     (request.pp > 1 ? fmt::format(" --pp {}", request.pp) : "");
  if (request.input_len == 0) return text;
  text += "; all that do, with --tp:";
  for (const Fit& fit : fits) {
    text += fmt::format("{} {} {}", &fit == &smallest ? "" : ";", fit.system,
                        fmt::join(fit.degrees, ", "));
  }
  return text;
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
  const Bytes capacity = spec.smallest_memory();
  if (needed <= capacity) return use;
  const std::string lacks = fmt::format(
      "{}: {} cores of one device of {} need {:.1f} GiB, {:.1f} GiB more than its {:.1f} GiB",
      resolved.model.name, cores_per_device(resolved), spec.id, needed.value() / kGiB,
      (needed - capacity).value() / kGiB, capacity.value() / kGiB);
  if (trains(resolved.request)) throw UserError(lacks + "; " + training_memory_text(use));
  const std::vector<Fit> fits = systems_that_fit(resolved);
  if (!fits.empty()) throw UserError(lacks + "; " + advice(fits, resolved.request));
  const bool generates =
      resolved.model.family == Family::kDecoder || resolved.model.family == Family::kEncoderDecoder;
  if (resolved.request.input_len == 0 && generates) {
    throw UserError(lacks +
                    "; no NeuronCore here holds it alone: generation of tokens is shared with "
                    "--tp, give --input-len, --output-len and --tp, or take a smaller weight type, "
                    "for example --dtype int8-weights");
  }
  throw UserError(
      lacks +
      "; no system here holds it: lower --batch or the lengths, or take a smaller weight "
      "type, for example --dtype int8-weights");
}

}  // namespace foretell
