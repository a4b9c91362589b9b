#include "model/app/request/resolve/resolved_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/app/request/resolve/distribution_text.hpp"
#include "model/app/request/resolve/prompt_images.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/request/resolve/resolved_dtype.hpp"
#include "model/app/request/resolve/resolved_lengths.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/mapping/gpu/narrow_activations.hpp"
#include "model/mapping/gpu/packed_tokens.hpp"
#include "workloads/import/hf/diffusion/token_sharing.hpp"
#include "workloads/import/workload_set.hpp"
#include "workloads/ir/general_form.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kDefaultSequence = 128;
constexpr const char* kDefaultOptimizer = "adam";

constexpr const char* kTrainsWhole =
    "a training step runs whole on a core or GPU; --dp says how many share the batch, leave ";

void check_pipeline(const Request& request, const ModelConfig& model) {
  if (trains(request)) throw UserError(model.name + ": " + kTrainsWhole + "--pp out");
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

// Sizes that only some networks with images take.
void check_images(const Request& request, const ModelConfig& model) {
  const bool pipeline = model.family == Family::kPipeline;
  check_prompt_images(request, model);
  if (reads_images(model)) return;
  if (request.image_width > 0 && model.diffusion.scale == 1 && !pipeline)
    throw UserError(model.name + ": takes square images; leave --image-width out");
  if (request.frames > 0 && model.diffusion.frame_scale == 1 && !pipeline)
    throw UserError(model.name + ": makes no videos; leave --frames out");
  if (request.steps > 0 && !pipeline)
    throw UserError(model.name + ": is one network; --steps is about pipelines, leave it out");
}

// Of networks that remove noise.
void check_token_ranks(const Request& request, const ModelConfig& model) {
  const bool divides_sample = model.family == Family::kPipeline || has_tokens_to_share(model);
  if (request.ring > 0 && (request.cp <= 1 || !divides_sample)) {
    throw UserError(model.name +
                    ": --ring says how the --cp GPUs of a network that removes noise attend; " +
                    (divides_sample ? "give --cp, too" : "leave it out"));
  }
  if (request.cp <= 1 || !has_tokens_to_share(model)) return;
  if (trains(request))
    throw UserError(model.name + ": --cp is not modelled in training; leave it out");
  Binding binding;
  binding.context_parallel = request.cp;
  binding.ring = request.ring;
  token_sharing(model, binding);
}

void check_supported(const Request& request, const ModelConfig& model) {
  if (request.image_size > 0 && model.vision.image_size == 0 && !reads_images(model)) {
    throw UserError(model.name + (model.family == Family::kOnnx
                                      ? ": give the sizes that its file leaves open by name: --dim"
                                      : ": takes tokens, not images; leave --image-size out"));
  }
  check_images(request, model);
  if (request.seq_len > 0 && model.vision.image_size > 0) {
    throw UserError(model.name +
                    ": takes images, not tokens; leave --seq out, --image-size is "
                    "the side of the images");
  }
  if (!request.dimensions.empty() && model.family != Family::kOnnx)
    throw UserError(model.name + ": --dim is about ONNX files; leave it out");
  if (request.pp > 1) check_pipeline(request, model);
  if (runs_forward(model.family) && request.tp > 1) {
    throw UserError(
        model.name + ": " + (model.family == Family::kEncoder ? "encoders run" : "runs") +
        " on one core per copy; leave --tp out, --dp says how many copies run side by side");
  }
  if (model.family == Family::kEncoder && request.input_len > 0) {
    throw UserError(model.name +
                    ": is an encoder, which generates no tokens; give --seq instead of --input-len "
                    "and --output-len, to `foretell run`: services are of networks that generate");
  }
  if (runs_forward(model.family) && request.input_len > 0) {
    throw UserError(
        model.name +
        ": generates no tokens; leave --input-len and --output-len out, and take `foretell "
        "run`: services are of networks that generate");
  }
  if (scores_texts(model) && request.output_len > 1) {
    throw UserError(model.name +
                    ": scores texts and generates no tokens; give --output-len 1, or --seq "
                    "instead of --input-len and --output-len");
  }
  check_token_ranks(request, model);
  const bool divides_sample = model.family == Family::kPipeline || has_tokens_to_share(model);
  if (request.cp > 1 && !divides_sample &&
      (model.family != Family::kDecoder || request.input_len == 0)) {
    throw UserError(
        model.name +
        ": --cp divides the prompts of decoders that generate tokens, and the tokens of "
        "transformers that remove noise; " +
        (model.family == Family::kDecoder ? "give --input-len and --output-len, or " : "") +
        "leave --cp out");
  }
  if (request.sequence_parallel && model.family != Family::kDecoder) {
    throw UserError(model.name +
                    ": tokens are spread over the cores of a copy in decoders only; leave "
                    "--sequence-parallel out");
  }
  if (request.tp > 1 && trains(request))
    throw UserError(model.name + ": " + kTrainsWhole + "--tp out");
  if (request.tp > 1 && request.input_len == 0) {
    throw UserError(model.name +
                    ": --tp shares the generation of tokens; give --input-len and --output-len, or "
                    "leave --tp out");
  }
}

void resolve_training(ResolvedWorkload& resolved) {
  Request& request = resolved.request;
  if (!trains(request)) return;
  if (resolved.model.family == Family::kEncoderDecoder) {
    throw UserError(resolved.model.name +
                    ": has no forward pass to train, only prefill and decode; take an encoder or a "
                    "decoder");
  }
  resolved.notes.emplace_back(
      "training: nothing was fitted to measured steps; attention keeps its probabilities");
  if (!request.optimizer.empty()) return;
  request.optimizer = kDefaultOptimizer;
  resolved.note_unstated("optimiser not stated: " + request.optimizer + " taken");
}

}  // namespace

void resolve_workload(const Request& request, const std::string& default_dtype,
                      ResolvedWorkload& resolved) {
  resolved.request = request;
  resolved.model = WorkloadLibrary().load(request.workload);
  override_workload(request.set, resolved.model);
  for (const std::string& note : resolved.model.notes) resolved.notes.push_back(note);
  resolve_dtype(default_dtype, resolved);
  if (!request.kv_dtype.empty()) resolved.precision.kv_cache = parse_dtype(request.kv_dtype);
  resolve_sound(resolved);
  check_supported(resolved.request, resolved.model);
  resolve_lengths(resolved);
  resolve_training(resolved);
}

std::vector<std::string> machine_set(const Request& request) {
  std::vector<std::string> set;
  for (const std::string& assignment : request.set) {
    if (!is_workload_setting(assignment)) set.push_back(assignment);
  }
  return set;
}

MachineSet split_machine_set(const Request& request) {
  MachineSet split;
  for (std::string& assignment : machine_set(request)) {
    const bool is_factor = starts_with(trim(assignment), "factors.");
    (is_factor ? split.factors : split.system).push_back(std::move(assignment));
  }
  return split;
}

std::string what_to_lower(const Request& request) {
  std::string options = "lower --dp or --tp";
  if (request.pp > 1) options += " or --pp";
  if (request.cp > 1) options += " or --cp";
  if (request.attention_dp > 1) options += " or --attention-dp";
  return options;
}

int share_parts(const MachineParts& parts, int ways, ResolvedWorkload& resolved) {
  Request& request = resolved.request;
  if (request.cores > parts.available) {
    throw UserError(
        fmt::format("cores: {} has {} {}s, not {}; lower --cores or name a larger system",
                    request.system, parts.available, parts.name, request.cores));
  }
  if (request.tp == 0) request.tp = 1;
  if (request.pp == 0) request.pp = 1;
  const std::int64_t per_copy = std::int64_t{request.tp} * ways * request.pp;
  const int usable = request.cores > 0 ? request.cores : parts.available;
  const int copies = request.dp > 0 ? request.dp : 1;
  if (per_copy * copies > usable) {
    const std::string larger = parts.system_of ? parts.system_of(per_copy * copies) : "";
    throw UserError(fmt::format(
        "{} {} of {} {}{} {} {} {}s, but {} has {}; {}, or name a larger system{}{}", copies,
        copies == 1 ? "copy" : "copies", per_copy, parts.name, per_copy == 1 ? "" : "s",
        copies == 1 ? "needs" : "need", per_copy * copies, parts.name, request.system, usable,
        what_to_lower(request), larger.empty() ? "" : ", as --on ", larger));
  }
  if (request.dp == 0) request.dp = default_copies(usable, static_cast<int>(per_copy));
  resolved.serving = Serving{request.batch, request.dp, request.in_flight};
  if (request.pp > 1 && requests_in_flight(resolved.serving) <= request.dp) {
    resolved.notes.emplace_back(
        "one request in flight per copy: its pipeline stages work one after the other; --in-flight "
        "keeps them busy");
  }
  return static_cast<int>(per_copy);
}

std::int64_t default_sequence(const ModelConfig& model) {
  if (model.family == Family::kVision || model.family == Family::kPipeline ||
      model.family == Family::kOnnx)
    return 0;
  return encoded_positions(model, std::min(kDefaultSequence, model.max_seq_len));
}

// The decoder of an encoder-decoder reads the prompt from a cache of its own, which is compiled for
// the encoder's length.
std::int64_t cached_positions(const ResolvedWorkload& resolved) {
  const Request& request = resolved.request;
  const bool encodes = resolved.model.family == Family::kEncoderDecoder;
  return (encodes ? 0 : request.input_len) + request.output_len;
}

namespace {

PowerLaw drawn_loads() {
  return {kernel_shapes().routing.draws, kernel_shapes().routing.largest_share};
}

// The machine has none of its own for what this network is made of.
bool needs_general_operators(const ResolvedWorkload& resolved) {
  const ModelConfig& model = resolved.model;
  return resolved.graphs.general_operators &&
         (!model.parts_of_decoder.empty() || model.all_tokens_every > 0 || model.experts_every > 0);
}

Graph build_forward_graph(const ResolvedWorkload& resolved) {
  Graph graph = build_graph(resolved.model, binding_of(resolved));
  if (needs_general_operators(resolved)) graph = in_general_operators(graph, drawn_loads());
  apply_precision(resolved.precision, &graph);
  return graph;
}

void narrow(const ResolvedWorkload& resolved, Graph* graph) {
  const GraphRules& rules = resolved.graphs;
  if (rules.narrow_activations)
    narrow_activations(resolved.precision, graph, rules.narrow_residuals);
  if (resolved.model.padding <= 0) return;
  if (!rules.narrow_activations) {
    throw UserError(
        "workload.padding: padding is left out on GPUs alone, other devices compile for a length; "
        "take it out");
  }
  pack_tokens(resolved.model.padding, graph);
}

}  // namespace

Graph build_resolved_graph(const ResolvedWorkload& resolved) {
  Graph graph = trains(resolved.request) ? build_training_step(resolved).graph
                                         : build_forward_graph(resolved);
  narrow(resolved, &graph);
  return graph;
}

namespace {

Graph whole_pass_graph(const ResolvedWorkload& resolved, const Pass& pass, int tensor_parallel,
                       const LayerRange& layers) {
  const Request& request = resolved.request;
  Binding binding;
  binding.batch = pass.batch > 0 ? pass.batch : request.batch;
  binding.seq_len = pass.tokens;
  binding.phase = pass.phase;
  binding.kv_len = pass.kv_len;
  binding.context = pass.context;
  binding.encoder_len = pass.encoder_len;
  binding.tensor_parallel = tensor_parallel;
  binding.sequence_parallel = request.sequence_parallel && pass.phase == Phase::kPrefill;
  binding.gather_logits = resolved.graphs.gather_logits;
  binding.expert_parallel = std::max(1, request.ep);
  binding.attention_data_parallel = std::max(1, request.attention_dp);
  binding.context_parallel = std::max(1, request.cp);
  binding.redundant_experts = request.redundant_experts;
  if (!request.experts.empty()) binding.routing = request.experts;
  binding.first_layer = layers.first;
  binding.last_layer = layers.last;
  if (pass.phase == Phase::kPrefill && pass.context == 0 && request.images > 0) {
    binding.images = request.images;
    binding.image_size = request.image_size;
    binding.image_width = request.image_width > 0 ? request.image_width : request.image_size;
  }
  Graph graph = build_graph(resolved.model, binding);
  if (needs_general_operators(resolved)) graph = in_general_operators(graph, drawn_loads());
  apply_precision(resolved.precision, &graph);
  narrow(resolved, &graph);
  return graph;
}

// Half of the sequences of each group of ranks, or of one sequence half of the tokens, of which the
// second reads what the first left in the cache; nothing where a token is all there is.
std::optional<std::pair<Pass, Pass>> halves_of(const Request& request, const Pass& pass) {
  const std::int64_t batch = pass.batch > 0 ? pass.batch : request.batch;
  const std::int64_t groups = std::max(1, request.attention_dp);
  std::pair<Pass, Pass> halves{pass, pass};
  if (batch >= 2 * groups) {
    halves.first.batch = (batch / groups + 1) / 2 * groups;
    halves.second.batch = batch - halves.first.batch;
    return halves;
  }
  if (pass.tokens < 2) return std::nullopt;
  halves.first.tokens = (pass.tokens + 1) / 2;
  halves.second.tokens = pass.tokens - halves.first.tokens;
  halves.first.kv_len = pass.kv_len - halves.second.tokens;
  if (pass.phase == Phase::kPrefill) halves.second.context = pass.context + halves.first.tokens;
  return halves;
}

}  // namespace

Graph build_pass_graph(const ResolvedWorkload& resolved, const Pass& pass, int tensor_parallel,
                       const LayerRange& layers) {
  const auto graph_of = [&](const Pass& one) {
    return whole_pass_graph(resolved, one, tensor_parallel, layers);
  };
  if (!resolved.request.two_batch || pass.whole) return graph_of(pass);
  const std::optional<std::pair<Pass, Pass>> halves = halves_of(resolved.request, pass);
  return halves ? in_turns(graph_of(halves->first), graph_of(halves->second)) : graph_of(pass);
}

namespace {

constexpr std::size_t kMaxGraphs = 64;  // kept

struct KeptGraphs : KeptValues<std::shared_ptr<const Graph>, kMaxGraphs> {};

// A device may change the types of a policy of one name.
std::string policy_key(const PrecisionPolicy& policy) {
  std::string key = policy.name;
  for (const DType type :
       {policy.matmul_compute, policy.weight_storage, policy.vector, policy.io, policy.kv_cache})
    key += ' ' + std::to_string(static_cast<int>(type));
  return key;
}

// All that a graph follows from: what is asked for of the network, and how the machine takes it.
std::string graph_key(const ResolvedWorkload& resolved) {
  Request asked = resolved.request;
  asked.system.clear();
  asked.factors.clear();
  asked.label.clear();
  const std::vector<std::string> of_machine = machine_set(asked);
  const auto is_of_machine = [&of_machine](const std::string& one) {
    return std::find(of_machine.begin(), of_machine.end(), one) != of_machine.end();
  };
  asked.set.erase(std::remove_if(asked.set.begin(), asked.set.end(), is_of_machine),
                  asked.set.end());
  const GraphRules& rules = resolved.graphs;
  return fmt::format("{}\n{}\n{}\n{}\n{}{}{}{}\n{}", request_json(asked), asked.part,
                     policy_key(resolved.precision), join(resolved.narrow_pipes, ","),
                     rules.general_operators, rules.narrow_activations, rules.narrow_residuals,
                     rules.gather_logits, resolved.model.max_seq_len);
}

}  // namespace

std::shared_ptr<const Graph> kept_graph(const ResolvedWorkload& resolved) {
  const auto make = [&] { return std::make_shared<const Graph>(build_resolved_graph(resolved)); };
  return inputs_are_kept() ? kept<KeptGraphs>().get(graph_key(resolved), make) : make();
}

std::shared_ptr<const Graph> kept_pass_graph(const ResolvedWorkload& resolved, const Pass& pass,
                                             int tensor_parallel, const LayerRange& layers) {
  const auto make = [&] {
    return std::make_shared<const Graph>(build_pass_graph(resolved, pass, tensor_parallel, layers));
  };
  if (!inputs_are_kept()) return make();
  const std::string key =
      fmt::format("{}\n{} {} {} {} {} {} {} {} {} {}", graph_key(resolved),
                  static_cast<int>(pass.phase), pass.tokens, pass.kv_len, pass.encoder_len,
                  pass.batch, pass.context, pass.whole, tensor_parallel, layers.first, layers.last);
  return kept<KeptGraphs>().get(key, make);
}

Binding binding_of(const ResolvedWorkload& resolved) {
  const Request& request = resolved.request;
  Binding binding{request.batch, request.seq_len};
  binding.image_size = request.image_size;
  binding.image_width = request.image_width;
  binding.frames = request.frames;
  binding.context_parallel = std::max(1, request.cp);
  binding.ring = request.ring;
  binding.dimensions = request.dimensions;
  binding.part = request.part;
  for (const auto& [name, text] : request.trips) {
    const Distribution trips = parse_distribution("--trips " + name, text, 0, kMaxTrips);
    binding.trips[name] = static_cast<std::int64_t>(trips.highest());
  }
  return binding;
}

bool trains(const Request& request) { return request.phase == "train-step"; }

TrainingStep build_training_step(const ResolvedWorkload& resolved) {
  return derive_training_step(build_forward_graph(resolved),
                              parse_optimizer(resolved.request.optimizer), resolved.request.dp);
}

std::string training_memory_text(const MemoryUse& use) {
  return fmt::format(
      "a training step needs {:.1f} GiB: weights {:.1f}, gradients and optimiser state {:.1f}, "
      "activations {:.1f}; lower --batch or the lengths, take --optimizer sgd, or a larger system",
      use.total().value() / kGiB, use.weights.value() / kGiB, use.training.value() / kGiB,
      use.activations.value() / kGiB);
}

void note_training(const TrainingStep& step, const Request& request, Metrics& metrics) {
  TrainingMetrics training;
  training.optimizer = request.optimizer;
  training.parameters = static_cast<double>(step.parameters);
  training.forward = step.forward;
  training.backward = step.backward;
  training.update = step.update;
  training.all_reduce = step.all_reduce;
  training.saved_activations = step.saved_activations;
  training.gradients = step.gradients;
  training.optimizer_state = step.optimizer_state;
  std::set<std::string_view> forward;
  for (OpId id = 0; id < step.first_backward; ++id) forward.insert(step.graph.op(id).name);
  for (const OperatorMetrics& op : metrics.operators) {
    if (forward.count(op.name) > 0)
      training.forward_time = std::max(training.forward_time, op.start + op.duration);
  }
  metrics.training = std::move(training);
}

}  // namespace foretell
