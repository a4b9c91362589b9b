#include "model/app/request/resolve/resolved_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "model/app/request/resolve/expert_ranks.hpp"
#include "model/app/request/resolve/refuse_option.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/timing/shared/topology.hpp"
#include "reports/record/ranks.hpp"

namespace foretell {
namespace {

constexpr const char* kDefaultDtype = "bf16";

struct KeptCatalog : KeptValues<std::shared_ptr<const Catalog>, 1> {};

int cores_of(const NeuronSystemSpec& spec) { return spec.devices * spec.device.cores; }

// One copy is simulated for all: where a device is not as the others, there must be only one copy,
// and the device must be one that it runs on.
void check_different_devices(const NeuronSystemSpec& spec, const Request& request) {
  if (spec.different.empty()) return;
  const std::string name = fmt::format("device[{}]", spec.different.begin()->first);
  if (request.dp > 1 || request.pp > 1) {
    const std::string one_copy =
        request.input_len > 0 ? fmt::format("--dp 1 --pp 1, for example --tp {}", cores_of(spec))
                              : "--dp 1, which is one copy, on device 0; what all copies do with "
                                "such devices is set by device.… instead of device[…]";
    throw UserError(
        fmt::format("{}: {} copies and {} pipeline stages would not be alike; a device can differ "
                    "from the others with {}",
                    name, request.dp, request.pp, one_copy));
  }
  const int ranks = ranks_of_stage(request);
  const std::vector<int> used = RankPlacement(spec, ranks).devices();
  for (const auto& entry : spec.different) {
    if (std::find(used.begin(), used.end(), entry.first) != used.end()) continue;
    throw UserError(
        fmt::format("device[{}]: {} core{} of {} are on device {}; name one of these, "
                    "or raise --tp",
                    entry.first, ranks, ranks == 1 ? "" : "s", spec.id, fmt::join(used, ", ")));
  }
}

void resolve_parallelism(ResolvedRequest& resolved) {
  Request& request = resolved.request;
  const NeuronSystemSpec& spec = resolved.system.spec;
  if (request.tp > 1) require_group_size(spec, request.tp);
  if (request.tp == 0) request.tp = 1;
  resolve_expert_ranks(resolved.model, "cores", request);
  if (request.attention_dp > 1)
    require_group_size(spec, ranks_of_stage(request), "--tp times --attention-dp");
  const int per_copy = share_parts({"core", cores_of(spec)}, groups_of_copy(request), resolved);
  if (request.cores == 0) request.cores = request.dp * per_copy;
  check_different_devices(spec, request);
  if (trains(request)) require_group_size(spec, request.dp, "a sum of gradients over --dp");
  const int of_instance = spec.devices_of_instance() * spec.device.cores;
  const int together = trains(request) ? request.dp : ranks_of_stage(request) * request.pp;
  if (together > of_instance) {
    resolved.notes.push_back(fmt::format(
        "{} on several instances of {} cores: no exchange between instances was measured, so it "
        "takes published rates and steps (docs/collectives.md)",
        trains(request) ? "copies that sum their gradients lie" : "a copy lies", of_instance));
  }
}

// UserError for what is no release.
void note_unknown_sdk(const Request& request, ResolvedRequest& resolved) {
  if (request.sdk.empty()) return;
  check_sdk_version(std::string(trim(request.sdk)));
  const NeuronFactors& factors = resolved.system.factors;
  const bool measured = sdk_is_covered(factors.sdk_engine_time, request.sdk) ||
                        sdk_is_covered(factors.sdk_image_call_time, request.sdk) ||
                        sdk_is_covered(factors.sdk_batched_prefill_time, request.sdk);
  if (measured) return;
  resolved.notes.push_back(fmt::format(
      "--sdk {}: newer than {}, the newest release that measurements tell from its successors: it "
      "changes no time",
      request.sdk, newest_release({factors.sdk_engine_time, factors.sdk_batched_prefill_time})));
}

// Operands of products have to be of a type that the tensor engine has.
void check_products(const ResolvedRequest& resolved) {
  const NeuronDeviceSpec& device = resolved.system.spec.device;
  const std::string type(to_string(resolved.precision.matmul_compute));
  const auto& known = device.core.tensor.cycles_per_column;
  if (known.count(type) > 0) return;
  std::vector<std::string> types;
  for (const auto& [name, cycles] : known) types.push_back(name);
  throw UserError(fmt::format("dtype: {} does not multiply in {}, as '{}' asks; it has {}",
                              device.name, type, resolved.precision.name, join(types, ", ")));
}

}  // namespace

std::shared_ptr<const Catalog> kept_catalog() {
  return kept_input<KeptCatalog>(hw_folder().string(),
                                 [] { return std::make_shared<const Catalog>(); });
}

ResolvedRequest resolve(const Request& request) {
  check_request(request);
  refuse_fields(request, "neuron");
  ResolvedRequest resolved;
  resolved.graphs.general_operators = true;
  resolved.graphs.gather_logits = request.sampling != "host";
  resolve_workload(request, kDefaultDtype, resolved);
  LoadOptions options;
  options.set = machine_set(request);
  options.factors = request.factors;
  resolved.system = load_calibrated(request.system, options, *kept_catalog());
  if (!resolved.system.note.empty()) resolved.notes.push_back(resolved.system.note);
  note_unknown_sdk(request, resolved);
  resolved.request.system = resolved.system.spec.id;
  check_products(resolved);
  resolve_parallelism(resolved);
  return resolved;
}

}  // namespace foretell
