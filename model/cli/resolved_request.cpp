#include "model/cli/resolved_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kDefaultSequence = 128;

int cores_of(const NeuronSystemSpec& spec) { return spec.devices * spec.device.cores; }

void resolve_lengths(ResolvedRequest& resolved) {
  Request& request = resolved.request;
  if (request.seq_len == 0 && request.input_len == 0) {
    request.seq_len = default_sequence(resolved.model);
    resolved.notes.push_back(
        fmt::format("sequence length not stated: {} tokens taken", request.seq_len));
  }
}

// One forward pass on one core per copy is what this version maps.
void check_supported(const Request& request, const ModelConfig& model) {
  if (request.input_len > 0) {
    throw UserError(fmt::format(
        "{}: prefill and decode are not modelled for this network; --seq with the number of tokens "
        "predicts one forward pass",
        model.name));
  }
  if (request.image_size > 0) {
    throw UserError(model.name + ": takes tokens, not images; leave --image-size out");
  }
  if (request.tp > 1 || request.pp > 1) {
    throw UserError(fmt::format(
        "{}: one copy runs on one core in this version; leave --tp and --pp out and state the "
        "number of copies with --dp",
        model.name));
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
  const int per_copy = request.tp * request.pp;
  const int usable = request.cores > 0 ? request.cores : available;
  const int copies = request.dp > 0 ? request.dp : 1;
  if (std::int64_t{per_copy} * copies > usable) {
    throw UserError(fmt::format("{} {} of {} {} need {} cores, but {} has {}; lower --dp or --tp",
                                copies, copies == 1 ? "copy" : "copies", per_copy,
                                per_copy == 1 ? "core" : "cores", per_copy * copies, spec.id,
                                usable));
  }
  if (request.dp == 0) request.dp = default_copies(usable, per_copy);
  if (request.cores == 0) request.cores = request.dp * per_copy;
  resolved.serving = Serving{request.batch, request.dp, request.in_flight};
}

}  // namespace

ResolvedRequest resolve(const Request& request) {
  check_request(request);
  ResolvedRequest resolved;
  resolved.request = request;
  LoadOptions options;
  options.set = request.set;
  options.factors = request.factors;
  resolved.system = Catalog().load(request.system, options);
  resolved.request.system = resolved.system.spec.id;
  resolved.model = WorkloadLibrary().load(request.workload);
  resolved.precision = find_precision(request.dtype);
  resolved.request.dtype = resolved.precision.name;
  check_supported(request, resolved.model);
  resolve_lengths(resolved);
  resolve_parallelism(resolved);
  return resolved;
}

std::int64_t default_sequence(const ModelConfig& model) {
  return std::min(kDefaultSequence, model.max_seq_len);
}

void check_names(const Request& request) {
  Catalog().find_system(request.system);
  WorkloadLibrary().load(request.workload);
  find_precision(request.dtype);
}

Graph build_resolved_graph(const ResolvedRequest& resolved) {
  Graph graph =
      build_graph(resolved.model, Binding{resolved.request.batch, resolved.request.seq_len});
  apply_precision(resolved.precision, &graph);
  return graph;
}

}  // namespace foretell
