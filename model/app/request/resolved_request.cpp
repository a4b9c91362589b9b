#include "model/app/request/resolved_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "model/app/request/refuse_option.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/timing/shared/topology.hpp"
#include "workloads/ir/general_form.hpp"

namespace foretell {
namespace {

constexpr const char* kDefaultDtype = "bf16";

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
                                "such devices is told "
                                "by --set device.… instead of device[…]";
    throw UserError(
        fmt::format("{}: {} copies and {} pipeline stages would not be alike; a device can differ "
                    "from the others with {}",
                    name, request.dp, request.pp, one_copy));
  }
  const std::vector<int> used = RankPlacement(spec, request.tp).devices();
  for (const auto& entry : spec.different) {
    if (std::find(used.begin(), used.end(), entry.first) != used.end()) continue;
    throw UserError(fmt::format(
        "device[{}]: {} core{} of {} are on device {}; name one of these, "
        "or raise --tp",
        entry.first, request.tp, request.tp == 1 ? "" : "s", spec.id, fmt::join(used, ", ")));
  }
}

void resolve_parallelism(ResolvedRequest& resolved) {
  Request& request = resolved.request;
  const NeuronSystemSpec& spec = resolved.system.spec;
  const int available = cores_of(spec);
  if (request.cores > available) {
    throw UserError(
        fmt::format("cores: {} has {} cores, not {}; lower --cores or name a larger "
                    "system",
                    spec.id, available, request.cores));
  }
  if (request.tp == 0) request.tp = 1;
  if (request.pp == 0) request.pp = 1;
  require_group_size(spec, request.tp);
  const std::int64_t per_copy = std::int64_t{request.tp} * request.pp;
  const int usable = request.cores > 0 ? request.cores : available;
  const int copies = request.dp > 0 ? request.dp : 1;
  if (per_copy * copies > usable) {
    throw UserError(fmt::format("{} {} of {} {} need {} cores, but {} has {}; lower --dp or --tp{}",
                                copies, copies == 1 ? "copy" : "copies", per_copy,
                                per_copy == 1 ? "core" : "cores", per_copy * copies, spec.id,
                                usable, request.pp > 1 ? " or --pp" : ""));
  }
  const int cores_per_copy = static_cast<int>(per_copy);  // no more than the cores there are
  if (request.dp == 0) request.dp = default_copies(usable, cores_per_copy);
  if (request.cores == 0) request.cores = request.dp * cores_per_copy;
  check_different_devices(spec, request);
  resolved.serving = Serving{request.batch, request.dp, request.in_flight};
  if (request.pp > 1 && requests_in_flight(resolved.serving) <= request.dp) {
    resolved.notes.emplace_back(
        "one request in flight per copy: its pipeline stages work one after the other; --in-flight "
        "keeps them busy");
  }
}

// UserError for what is no release.
void note_unknown_sdk(const Request& request, ResolvedRequest& resolved) {
  if (request.sdk.empty()) return;
  check_sdk_version(std::string(trim(request.sdk)));
  const NeuronFactors& factors = resolved.system.factors;
  const bool measured = sdk_is_covered(factors.sdk_engine_time, request.sdk) ||
                        sdk_is_covered(factors.sdk_convolution_time, request.sdk) ||
                        sdk_is_covered(factors.sdk_batched_prefill_time, request.sdk);
  if (measured) return;
  resolved.notes.push_back(fmt::format(
      "--sdk {}: newer than {}, the newest release that measurements tell from its successors: it "
      "changes no time",
      request.sdk, newest_release({factors.sdk_engine_time, factors.sdk_batched_prefill_time})));
}

}  // namespace

ResolvedRequest resolve(const Request& request) {
  check_request(request);
  refuse_fields(request, "neuron");
  ResolvedRequest resolved;
  resolve_workload(request, kDefaultDtype, resolved);
  LoadOptions options;
  options.set = machine_set(request);
  options.factors = request.factors;
  resolved.system = Catalog().load(request.system, options);
  note_unknown_sdk(request, resolved);
  resolved.request.system = resolved.system.spec.id;
  resolve_parallelism(resolved);
  return resolved;
}

Graph build_generation_graph(const ResolvedRequest& resolved, Phase phase, std::int64_t tokens,
                             std::int64_t kv_len, int tensor_parallel, const LayerRange& layers) {
  Binding binding;
  binding.batch = resolved.request.batch;
  binding.seq_len = tokens;
  binding.phase = phase;
  binding.kv_len = kv_len;
  binding.encoder_len = resolved.model.family == Family::kEncoderDecoder
                            ? compiled_length(resolved, resolved.request.input_len)
                            : 0;
  binding.tensor_parallel = tensor_parallel;
  binding.sequence_parallel = resolved.request.sequence_parallel && phase == Phase::kPrefill;
  binding.gather_logits = resolved.request.sampling != "host";
  binding.first_layer = layers.first;
  binding.last_layer = layers.last;
  Graph graph = build_graph(resolved.model, binding);
  if (!resolved.model.parts_of_decoder.empty()) graph = in_general_operators(graph);
  apply_precision(resolved.precision, &graph);
  return graph;
}

std::int64_t compiled_length(const ResolvedRequest& resolved, std::int64_t positions) {
  return bucketed_kv_len(positions, resolved.request.context,
                         resolved.system.spec.device.host.smallest_bucket);
}

}  // namespace foretell
