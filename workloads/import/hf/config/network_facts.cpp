#include "workloads/import/hf/config/network_facts.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

Graph decode_graph(const ModelConfig& model, const PrecisionPolicy& precision,
                   std::int64_t kv_len) {
  Binding binding;
  binding.seq_len = 1;
  binding.kv_len = kv_len;
  binding.phase = Phase::kDecode;
  Graph graph = build_graph(model, binding);
  apply_precision(precision, &graph);
  return graph;
}

double elements(const Tensor& tensor) { return static_cast<double>(element_count(tensor.shape)); }

// Share of a weight that one token is multiplied with; a row of a table is nothing.
double active_share(const Graph& graph, const Tensor& weight, TensorId id) {
  double share = 0;
  for (const OpId reader : weight.consumers) {
    const Op& op = graph.op(reader);
    if (op.kind == "Gather") continue;
    const bool is_matrix = op.kind == "Experts" && weight.shape.size() == 3 &&
                           (op.inputs[3] == id || op.inputs[4] == id);
    if (op.kind == "Experts") {
      const auto chosen = static_cast<double>(graph.tensor(op.inputs[2]).shape.back());
      const auto all = static_cast<double>(integer_of(op, "experts"));
      share = std::max(share, is_matrix || weight.shape.size() == 2 ? chosen / all : 1.0);
    } else if (op.kind == "ExpertMatMul" && op.inputs[1] == id) {
      const auto chosen = static_cast<double>(graph.tensor(op.inputs[2]).shape.back());
      share = std::max(share, chosen / static_cast<double>(weight.shape[0]));
    } else {
      share = 1;
    }
  }
  return share;
}

struct States {
  double growing = 0;
  double own = 0;  // of recurrences
};

States states_of(const Graph& graph) {
  States states;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kState || tensor.producer != kNoId) continue;
    (tensor.is_kept ? states.own : states.growing) += tensor.bytes().value();
  }
  return states;
}

// A head of further tokens: a layer like the last one, and a matrix that joins two hidden states.
double draft_parameters(const ModelConfig& model, const Graph& graph) {
  const DecoderParts& parts = model.parts_of_decoder;
  if (parts.draft_layers == 0) return 0;
  double layer = 0;
  const std::string scope = "decoder." + std::to_string(model.layers - 1) + ".";
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight && tensor.name.rfind(scope, 0) == 0)
      layer += elements(tensor);
  }
  const auto hidden = static_cast<double>(model.hidden);
  return static_cast<double>(parts.draft_layers) * (layer + 2 * hidden * hidden);
}

}  // namespace

NetworkFacts facts_of(const ModelConfig& model, const PrecisionPolicy& precision) {
  if (model.family != Family::kDecoder) throw UserError(model.name + ": is no decoder");
  constexpr std::int64_t kStep = 1024;  // tokens; every ratio of compression divides it
  const std::int64_t long_context = std::max<std::int64_t>(2, model.max_seq_len);
  const std::int64_t before = std::max<std::int64_t>(1, long_context - kStep);
  const Graph graph = decode_graph(model, precision, long_context);
  NetworkFacts facts;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.kind != TensorKind::kWeight) continue;
    facts.parameters += elements(tensor);
    if (tensor.consumers.empty() && tensor.name == model.parts_of_decoder.tower.name)
      facts.tower += elements(tensor);
    const double share = active_share(graph, tensor, id);
    facts.active += elements(tensor) * share;
    facts.active_bytes += tensor.bytes() * share;
  }
  facts.draft = draft_parameters(model, graph);
  const States last = states_of(graph);
  const States first = states_of(decode_graph(model, precision, before));
  facts.kv_bytes_per_token =
      (last.growing - first.growing) / static_cast<double>(long_context - before);
  facts.window_bytes =
      std::max(0.0, last.growing - facts.kv_bytes_per_token * static_cast<double>(long_context));
  constexpr std::int64_t kFirst = 128;  // tokens, the smallest window that is published
  facts.kv_bytes_per_first_token = facts.kv_bytes_per_token;
  if (facts.window_bytes > 0) {
    facts.kv_bytes_per_first_token =
        states_of(decode_graph(model, precision, kFirst)).growing / static_cast<double>(kFirst);
  }
  facts.state_bytes = last.own;
  facts.flops_per_token = decode_graph(model, precision, 1).total_flops().value();
  return facts;
}

EncodedParts encoded_parts(const ModelConfig& model, Binding binding, std::int64_t positions) {
  binding.phase = Phase::kPrefill;
  binding.seq_len = encoded_positions(model, positions);
  Graph encoder = build_graph(model, binding);
  binding.phase = Phase::kDecode;
  binding.encoder_len = binding.seq_len;
  binding.seq_len = 1;
  binding.kv_len = std::min(binding.encoder_len, model.max_seq_len);
  return {std::move(encoder), build_graph(model, binding)};
}

double parameters_of(const EncodedParts& parts) {
  std::set<std::string> seen;
  double sum = 0;
  for (const Graph* graph : {&parts.encoder, &parts.decoder}) {
    for (const Tensor& tensor : graph->tensors()) {
      if (tensor.kind == TensorKind::kWeight && seen.insert(tensor.name).second)
        sum += elements(tensor);
    }
  }
  return sum;
}

}  // namespace foretell
