// Feed-forward networks of decoders made of parts: dense, experts with shared ones beside them, and
// how the ranks of a copy share them.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {
namespace {

TensorId activated(BlockBuilder& block, const std::string& name, TensorId x,
                   const std::string& function) {
  if (function == "relu" || function == "relu2" || function == "sqrelu")
    return block.op(name, "Relu", {x});  // the square rides with it
  if (function.find("gelu") != std::string::npos && function != "quick_gelu")
    return block.op(name, "Gelu", {x}, {{"approximate", std::string("tanh")}});
  if (function == "tanh") return block.op(name, "Tanh", {x});
  if (function == "sigmoid") return block.op(name, "Sigmoid", {x});
  return block.op(name, "Silu", {x});
}

// Gates below mean and a multiple of the deviation of their token become 0 (Gemma 3n).
TensorId without_small(BlockBuilder& block, const std::string& name, TensorId x) {
  const auto mean_of = [&](const std::string& what, TensorId of) {
    return block.op(name + what, "ReduceMean", {of},
                    {{"axis", std::int64_t{-1}}, {"keep_dims", std::int64_t{1}}});
  };
  const TensorId mean = mean_of(".mean", x);
  const TensorId apart = block.op(name + ".apart", "Sub", {x, mean});
  const TensorId square = block.op(name + ".square", "Mul", {apart, apart});
  const TensorId deviation = block.op(name + ".deviation", "Sqrt", {mean_of(".variance", square)});
  return block.op(name + ".cut", "Relu", {block.op(name + ".above", "Sub", {apart, deviation})});
}

// Without the sum over ranks.
TensorId dense(PartsContext& context, const std::string& name, TensorId x, std::int64_t width,
               const FeedForwardPart& part) {
  BlockBuilder& block = *context.block;
  const bool bias = part.bias && part.kind == FeedForwardKind::kDense;
  TensorId wide = kNoId;
  if (part.gated) {
    const TensorId low = part.adapter_rank == 0  // one narrow vector for both
                             ? kNoId
                             : context.linear(name + ".adapter_a" + context.adapter, x,
                                              part.adapter_rank, false, true);
    const auto product = [&](const std::string& which) {
      const TensorId y = context.linear(name + which, x, width, bias);
      if (low == kNoId) return y;
      const TensorId more =
          context.linear(name + which + ".adapter_b" + context.adapter, low, width, false, true);
      return block.op(name + which + ".adapted", "Add", {y, more});
    };
    TensorId gate = product(".gate");
    if (part.cuts_gates) gate = without_small(block, name + ".gate", gate);
    gate = activated(block, name + ".activation", gate, part.activation);
    wide = block.op(name + ".gated", "Mul", {gate, product(".up")});
  } else {
    wide = activated(block, name + ".activation", context.linear(name + ".up", x, width, bias),
                     part.activation);
  }
  return context.linear(name + ".output", wide, context.config->hidden, false);
}

struct Routed {
  TensorId weights = kNoId;
  TensorId choice = kNoId;
};

Routed route(PartsContext& context, TensorId x, const FeedForwardPart& part) {
  BlockBuilder& block = *context.block;
  const std::int64_t known = part.experts + part.idle_experts;
  const TensorId logits = context.linear("ffn.router", x, known, part.bias, true);
  std::vector<TensorId> inputs = {logits};
  if (part.router.bias) inputs.push_back(block.weight("ffn.router.correction", {known}));
  const TensorId weights = block.op("ffn.route", "Route", std::move(inputs),
                                    {{"k", part.top_k},
                                     {"function", part.router.function},
                                     {"groups", part.router.groups},
                                     {"top_groups", part.router.top_groups}});
  return {weights, weights + 1};
}

TensorId expert_layer(PartsContext& context, TensorId x, const Routed& routed,
                      const FeedForwardPart& part) {
  BlockBuilder& block = *context.block;
  const std::int64_t width = part.expert_intermediate * (part.gated ? 2 : 1);
  std::vector<TensorId> inputs = {
      x, routed.weights, routed.choice,
      block.weight("ffn.experts.first.weight", {part.held, part.expert_hidden, width}),
      block.weight("ffn.experts.second.weight",
                   {part.held, part.expert_intermediate, part.expert_hidden})};
  if (part.bias) {
    inputs.push_back(block.weight("ffn.experts.first.bias", {part.held, width}));
    inputs.push_back(block.weight("ffn.experts.second.bias", {part.held, part.expert_hidden}));
  }
  std::map<std::string, Attribute> attributes{{"experts", part.experts},
                                              {"gated", std::int64_t{part.gated ? 1 : 0}},
                                              {"activation", part.activation},
                                              {"routing", context.binding->routing}};
  if (context.binding->redundant_experts > 0)
    attributes["redundant"] = context.binding->redundant_experts;
  return block.op("ffn.experts", "Experts", std::move(inputs), std::move(attributes));
}

// Every rank has the sequences of its group; experts get the tokens of all.
TensorId exchanged_experts(PartsContext& context, TensorId x, Routed routed,
                           const FeedForwardPart& part) {
  BlockBuilder& block = *context.block;
  const Binding& binding = *context.binding;
  const std::int64_t groups = binding.attention_data_parallel;
  const std::int64_t batch = block.shape(x)[0];
  std::map<std::string, Attribute> among{{"ranks", groups}};
  if (binding.tensor_parallel > 1) among["stride"] = std::int64_t{binding.tensor_parallel};
  const auto exchange = [&](const std::string& name, const char* direction, TensorId id) {
    std::map<std::string, Attribute> attributes = among;
    attributes["direction"] = std::string(direction);
    attributes["top_k"] = part.top_k;
    attributes["experts"] = part.experts;
    return block.op(name, "ExpertExchange", {id}, std::move(attributes));
  };
  const auto sent = [&](const std::string& name, TensorId id) {
    if (binding.expert_parallel > 1) return exchange(name + ".dispatch", "dispatch", id);
    std::map<std::string, Attribute> attributes = among;
    attributes["axis"] = std::int64_t{0};
    attributes["size"] = batch * groups;
    return block.op(name + ".all_gather", "AllGather", {id}, std::move(attributes));
  };
  x = sent("ffn.tokens", x);
  routed.weights = sent("ffn.weights", routed.weights);
  routed.choice = sent("ffn.choice", routed.choice);
  const TensorId result = expert_layer(context, x, routed, part);
  if (binding.expert_parallel > 1) return exchange("ffn.results.combine", "combine", result);
  among["axis"] = std::int64_t{0};
  return block.op("ffn.results.reduce_scatter", "ReduceScatter", {result}, std::move(among));
}

TensorId shared_experts(PartsContext& context, TensorId x, const FeedForwardPart& part) {
  BlockBuilder& block = *context.block;
  TensorId result = dense(context, "ffn.shared", x, part.shared_intermediate, part);
  if (!part.shared_gate) return result;
  const TensorId share = block.op("ffn.shared.share", "Sigmoid",
                                  {context.linear("ffn.shared.gate_row", x, 1, false, true)});
  return block.op("ffn.shared.weighted", "Mul", {result, share});
}

// Of the experts that a token chose, those that compute: as many as a router that prefers none
// leaves, on average.
Routed working(BlockBuilder& block, const Routed& routed, FeedForwardPart* part) {
  const std::int64_t all = part->experts + part->idle_experts;
  const std::int64_t most =
      std::max<std::int64_t>(1, (part->top_k * part->experts + all / 2) / all);
  part->top_k = most;
  const auto first = [&](const std::string& name, TensorId id) {
    const auto axis = static_cast<std::int64_t>(block.shape(id).size()) - 1;
    return block.op(name, "Slice", {id},
                    {{"axis", axis}, {"begin", std::int64_t{0}}, {"end", most}});
  };
  return {first("ffn.route.weights", routed.weights), first("ffn.route.choice", routed.choice)};
}

// What idle experts give back: the token, times the sum of their weights.
TensorId idle(BlockBuilder& block, TensorId x, const Routed& routed) {
  const TensorId share = block.op("ffn.idle.weight", "ReduceMean", {routed.weights},
                                  {{"axis", std::int64_t{-1}}, {"keep_dims", std::int64_t{1}}});
  return block.op("ffn.idle", "Mul", {x, share});
}

TensorId experts(PartsContext& context, TensorId x, FeedForwardPart part, TensorId of_dense) {
  BlockBuilder& block = *context.block;
  const Routed chosen = route(context, x, part);
  const Routed routed = part.idle_experts > 0 ? working(block, chosen, &part) : chosen;
  const bool narrow = part.expert_hidden != context.config->hidden;
  TensorId in = x;
  if (narrow) in = context.linear("ffn.narrow", x, part.expert_hidden, false);
  const bool exchanges = context.binding->attention_data_parallel > 1;
  TensorId sum = exchanges ? exchanged_experts(context, in, routed, part)
                           : expert_layer(context, in, routed, part);
  if (narrow) sum = context.linear("ffn.widen", sum, context.config->hidden, false);
  if (part.shared_intermediate > 0)
    sum = block.op("ffn.sum", "Add", {sum, shared_experts(context, x, part)});
  if (part.dense_beside) {
    const TensorId beside = dense(context, "ffn.dense", of_dense, part.intermediate, part);
    sum = block.op("ffn.both", "Add", {sum, beside});
  }
  sum = block.sum_over_ranks("ffn", sum);
  if (part.idle_experts == 0) return sum;
  return block.op("ffn.with_idle", "Add", {sum, idle(block, x, chosen)});
}

}  // namespace

TensorId feed_forward(PartsContext& context, TensorId x, const FeedForwardPart& part,
                      TensorId of_experts) {
  if (part.kind == FeedForwardKind::kExperts)
    return experts(context, of_experts == kNoId ? x : of_experts, part, x);
  BlockBuilder& block = *context.block;
  const TensorId sum =
      block.sum_over_ranks("ffn.output", dense(context, "ffn", x, part.intermediate, part));
  if (!part.bias) return sum;
  return block.op("ffn.output.add_bias", "Add",
                  {sum, block.weight("ffn.output.bias", {context.config->hidden})});
}

}  // namespace foretell
