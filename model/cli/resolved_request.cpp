#include "model/cli/resolved_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hw/spec/group_sizes.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kDefaultSequence = 128;
constexpr const char* kDefaultDtype = "bf16";

int cores_of(const NeuronSystemSpec& spec) { return spec.devices * spec.device.cores; }

// A network with learned positions has no more of them than it was trained with; rotary ones can
// be compiled for longer contexts, which the user has to say.
void resolve_context(ResolvedRequest& resolved) {
  Request& request = resolved.request;
  ModelConfig& model = resolved.model;
  const bool encodes = model.family == Family::kEncoderDecoder;
  const std::int64_t cached = cached_positions(resolved);
  const std::int64_t needed = encodes ? std::max(request.input_len, cached) : cached;
  if (request.context > model.max_seq_len && model.position_kind == Positions::kRotary) {
    resolved.notes.push_back(
        fmt::format("compiled for {} positions, beyond the {} that {} is made for", request.context,
                    model.max_seq_len, model.name));
    model.max_seq_len = request.context;
  }
  const std::int64_t longest =
      request.context > 0 ? std::min(request.context, model.max_seq_len) : model.max_seq_len;
  if (needed > longest) {
    throw UserError(fmt::format(
        "{}: {} = {} positions, but the longest context is {}; lower one of them{}", model.name,
        encodes ? "the longer of input-len and output-len" : "input-len + output-len", needed,
        longest, model.position_kind == Positions::kRotary ? ", or raise --context" : ""));
  }
  request.context = longest;
}

void resolve_lengths(ResolvedRequest& resolved) {
  Request& request = resolved.request;
  if (request.input_len > 0) return resolve_context(resolved);
  if (request.seq_len == 0) {
    request.seq_len = default_sequence(resolved.model);
    resolved.notes.push_back(
        fmt::format("sequence length not stated: {} tokens taken", request.seq_len));
  }
}

void check_pipeline(const Request& request, const ModelConfig& model) {
  if (model.family != Family::kDecoder) {
    throw UserError(model.name + ": only decoders are cut into pipeline stages; leave --pp out");
  }
  if (request.input_len == 0) {
    throw UserError(model.name +
                    ": --pp shares the generation of tokens; give --input-len and --output-len, or "
                    "leave --pp out");
  }
  if (request.pp > model.layers) {
    throw UserError(fmt::format("{}: its {} layers make no {} pipeline stages; lower --pp",
                                model.name, model.layers, request.pp));
  }
}

void check_supported(const Request& request, const ModelConfig& model) {
  if (request.image_size > 0) {
    throw UserError(model.name + ": takes tokens, not images; leave --image-size out");
  }
  if (request.pp > 1) check_pipeline(request, model);
  if (model.family == Family::kEncoder && request.tp > 1) {
    throw UserError(
        model.name +
        ": encoders run on one core per copy; leave --tp out, --dp says how many copies "
        "run side by side");
  }
  if (model.family == Family::kEncoder && request.input_len > 0) {
    throw UserError(model.name +
                    ": is an encoder, which generates no tokens; give --seq instead of --input-len "
                    "and --output-len");
  }
  if (request.sequence_parallel && model.family != Family::kDecoder) {
    throw UserError(model.name +
                    ": tokens are spread over the cores of a copy in decoders only; leave "
                    "--sequence-parallel out");
  }
  if (request.tp > 1 && request.input_len == 0) {
    throw UserError(model.name +
                    ": --tp shares the generation of tokens; give --input-len and --output-len, or "
                    "leave --tp out");
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
  resolved.serving = Serving{request.batch, request.dp, request.in_flight};
  if (request.pp > 1 && requests_in_flight(resolved.serving) <= request.dp) {
    resolved.notes.emplace_back(
        "one request in flight per copy: its pipeline stages work one after the other; --in-flight "
        "keeps them busy");
  }
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
  if (request.dtype.empty()) {
    resolved.notes.push_back(
        fmt::format("data type not stated: {} taken; --dtype names another", kDefaultDtype));
  }
  resolved.precision = find_precision(request.dtype.empty() ? kDefaultDtype : request.dtype);
  resolved.request.dtype = resolved.precision.name;
  if (!request.kv_dtype.empty()) resolved.precision.kv_cache = parse_dtype(request.kv_dtype);
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
  if (!request.dtype.empty()) find_precision(request.dtype);
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
  apply_precision(resolved.precision, &graph);
  return graph;
}

// The decoder of an encoder-decoder reads the prompt from a cache of its own, which is compiled for
// the encoder's length.
std::int64_t cached_positions(const ResolvedRequest& resolved) {
  const Request& request = resolved.request;
  const bool encodes = resolved.model.family == Family::kEncoderDecoder;
  return (encodes ? 0 : request.input_len) + request.output_len;
}

std::int64_t compiled_length(const ResolvedRequest& resolved, std::int64_t positions) {
  return bucketed_kv_len(positions, resolved.request.context);
}

Graph build_resolved_graph(const ResolvedRequest& resolved) {
  Graph graph =
      build_graph(resolved.model, Binding{resolved.request.batch, resolved.request.seq_len});
  apply_precision(resolved.precision, &graph);
  return graph;
}

}  // namespace foretell
