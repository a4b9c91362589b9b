#include "model/app/request/memory_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/base/memory_error.hpp"
#include "model/predict/calls/memory_use.hpp"
#include "reports/record/ranks.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxNamed = 12;  // systems that a message names

// The pipeline stage that needs most.
MemoryUse use_of_part(const ResolvedDevice& device, int tensor_parallel) {
  const ResolvedWorkload& resolved = device.workload();
  const Request& request = resolved.request;
  const MemoryRules rules = device.memory_rules();
  if (trains(request)) return memory_of_training(build_training_step(resolved), rules.runtime);
  if (request.input_len == 0) return device.memory_of(*kept_graph(resolved));
  MemoryUse most;
  for (int stage = 0; stage < request.pp; ++stage) {
    const LayerRange layers = stage_layers(resolved.model.layers, request.pp, stage);
    const auto use = [&](Pass pass) {
      pass.whole = true;  // halves share the memory of the batch
      return device.memory_of(*kept_pass_graph(resolved, pass, tensor_parallel, layers));
    };
    const MemoryUse prefill = use(rules.prefill);
    const MemoryUse decode = use(rules.decode);
    MemoryUse both = largest(prefill, decode);
    if (rules.program_each && resolved.model.family == Family::kEncoderDecoder)
      both.weights = prefill.weights + decode.weights;
    both.kv_cache = both.kv_cache * rules.batches;
    if (both.total() > most.total()) most = both;
  }
  return most;
}

// A system that holds one copy, on groups of these sizes.
struct Fit {
  MemoryPlace place;
  std::vector<int> degrees;  // ascending
};

// Sizes of groups on which a system holds one copy. `uses`: of a part, by the size of its group.
std::vector<int> fitting_degrees(const ResolvedDevice& device, const MemoryPlace& place,
                                 std::map<int, MemoryUse>& uses) {
  const ResolvedWorkload& resolved = device.workload();
  const int stages = resolved.request.pp;
  const int groups = groups_of_copy(resolved.request);
  std::vector<int> degrees;
  for (const int ranks : place.degrees) {
    if (ranks > std::max<std::int64_t>(1, resolved.model.heads) ||
        ranks * groups * stages > place.devices * place.parts)
      break;
    if (ranks > 1 && resolved.request.input_len == 0) break;
    if (resolved.request.ep > 0 && ranks * groups % resolved.request.ep != 0) continue;
    if (uses.count(ranks) == 0) uses[ranks] = use_of_part(device, ranks);
    const MemoryUse needed = uses.at(ranks) * used_parts(place, ranks * groups, stages);
    if (needed.total() <= place.capacity) degrees.push_back(ranks);
  }
  return degrees;
}

// The smallest first.
std::vector<Fit> systems_that_fit(const ResolvedDevice& device, std::map<int, MemoryUse>& uses) {
  std::vector<Fit> fits;
  for (MemoryPlace& place : device.other_places()) {
    if (place.is_several && !fits.empty()) break;
    Fit fit;
    fit.degrees = fitting_degrees(device, place, uses);
    if (fit.degrees.empty()) continue;
    fit.place = std::move(place);
    fits.push_back(std::move(fit));
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const Fit& a, const Fit& b) { return a.place.size < b.place.size; });
  return fits;
}

// "--tp 2, 4 or 8 holds it here": on the system that was asked for.
std::string advice_here(const ResolvedDevice& device, const MemoryPlace& place,
                        std::map<int, MemoryUse>& uses) {
  const Request& request = device.workload().request;
  if (request.input_len == 0 && !runs_forward(device.workload().model.family) && place.devices > 1)
    return "its devices share the generation of tokens: --input-len, --output-len and --tp; ";
  const std::vector<int> degrees = fitting_degrees(device, place, uses);
  if (degrees.empty()) return "";
  return fmt::format("--tp {} holds it here{}; ", fmt::join(degrees, " or "),
                     request.pp > 1 ? fmt::format(" with --pp {}", request.pp) : "");
}

std::string advice(const std::vector<Fit>& fits, const Request& request) {
  const Fit& smallest = fits.front();
  const int ranks = smallest.degrees.front();
  std::string text = "the smallest system that holds it: --on " + smallest.place.system +
                     (ranks > 1 ? fmt::format(" --tp {}", ranks) : " --dp 1") +
                     (request.pp > 1 ? fmt::format(" --pp {}", request.pp) : "");
  if (request.input_len == 0) return text;
  text +=
      fits.size() > kMaxNamed ? "; the smallest that do, with --tp:" : "; all that do, with --tp:";
  for (std::size_t i = 0; i < std::min(fits.size(), kMaxNamed); ++i) {
    text += fmt::format("{} {} {}", i == 0 ? "" : ";", fits[i].place.system,
                        fmt::join(fits[i].degrees, ", "));
  }
  return text;
}

// What to do where no system of the family holds it.
std::string last_advice(const ResolvedWorkload& resolved) {
  const Family family = resolved.model.family;
  if (family == Family::kOnnx) {
    return "no system here holds it: lower the sizes of its inputs, with --dim where the file "
           "leaves them open";
  }
  if (resolved.request.input_len == 0 && !runs_forward(family)) {
    return "no system here holds it alone: generation of tokens is shared with --tp, give "
           "--input-len, --output-len and --tp" +
           smaller_weights(resolved.precision);
  }
  return "no system here holds it: lower --batch or the lengths" +
         smaller_weights(resolved.precision);
}

// The most copies, fewer than the request has, with which the parts of the fullest device fit.
int fitting_copies(const Request& request, const MemoryPlace& place, const MemoryUse& part) {
  int copies = request.dp - 1;
  const auto fits = [&] {
    return (part * used_parts(place, ranks_of_stage(request), copies * request.pp)).total() <=
           place.capacity;
  };
  while (copies > 0 && !fits()) --copies;
  return std::max(0, copies);
}

}  // namespace

std::string smaller_weights(const PrecisionPolicy& precision) {
  const Bytes now = size_of(precision.weight_storage);
  if (now <= size_of(DType::kInt4)) return "";
  return fmt::format(", or take a smaller weight type, for example --dtype {}",
                     now > Bytes(1) ? "int8-weights" : "int4-weights");
}

int used_parts(const MemoryPlace& place, int ranks, int copies) {
  if (ranks >= place.parts) return place.parts;
  const int copies_per_device = (copies + place.devices - 1) / place.devices;
  return std::min(place.parts, ranks * copies_per_device);
}

MemoryUse check_memory(const ResolvedDevice& device) {
  const ResolvedWorkload& resolved = device.workload();
  const Request& request = resolved.request;
  const MemoryPlace place = device.place();
  const MemoryUse part = use_of_part(device, request.tp);
  const MemoryUse use = part * used_parts(place, ranks_of_stage(request), request.dp * request.pp);
  const Bytes needed = use.total();
  if (needed <= place.capacity) return use;
  const MemoryRules rules = device.memory_rules();
  std::string lacks = fmt::format(
      "{} in {}: {} {} {:.1f} GiB (weights {:.1f}, KV cache {:.1f}, activations {:.1f}, inputs and "
      "outputs {:.1f}), {:.1f} GiB more than its {:.1f} GiB; ",
      resolved.model.name, resolved.precision.name, rules.part,
      rules.needs_plural ? "need" : "needs", needed.value() / kGiB, use.weights.value() / kGiB,
      use.kv_cache.value() / kGiB, use.activations.value() / kGiB,
      use.inputs_outputs.value() / kGiB, (needed - place.capacity).value() / kGiB,
      place.capacity.value() / kGiB);
  if (trains(request)) throw MemoryError(lacks + training_memory_text(use));
  const bool wide_cache = size_of(resolved.precision.kv_cache) >= Bytes(2);
  if (rules.narrow_caches && wide_cache && needed - use.kv_cache * 0.5 <= place.capacity)
    lacks += "--kv-dtype fp8 makes it fit; ";
  if (const int copies = fitting_copies(request, place, part); copies > 0) {
    throw TooManyCopies(
        fmt::format("{}{} of {} copies fit: --dp {}", lacks, copies, request.dp, copies),
        request.dp, copies);
  }
  if (!rules.advice.empty()) throw MemoryError(lacks + rules.advice);
  std::map<int, MemoryUse> uses;
  lacks += advice_here(device, place, uses);
  const std::vector<Fit> fits = systems_that_fit(device, uses);
  throw MemoryError(lacks + (fits.empty() ? last_advice(resolved) : advice(fits, request)));
}

}  // namespace foretell
