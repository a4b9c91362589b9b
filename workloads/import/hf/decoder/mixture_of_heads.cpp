#include "workloads/import/hf/decoder/mixture_of_heads.hpp"

namespace foretell {

MixtureOfHeads::MixtureOfHeads(PartsContext& context, TensorId x, const MixerPart& part)
    : context_(context), block_(*context.block), part_(part), in_(block_.shape(x)) {
  const TensorId logits = context.linear("attention.router", x, part.head_experts, false, true);
  weights_ = block_.op("attention.route", "Route", {logits},
                       {{"k", chosen()}, {"function", std::string("softmax")}});
}

TensorId MixtureOfHeads::product(const std::string& name, TensorId rows, std::int64_t out) {
  const TensorId weight =
      block_.weight(name + ".weight", {part_.head_experts, block_.shape(rows).back(), out});
  return block_.op(name, "ExpertMatMul", {rows, weight, weights_ + 1});
}

TensorId MixtureOfHeads::queries(TensorId x) {
  const TensorId rows = context_.reshaped("attention.query.rows", x, {in_[0], in_[1], 1, in_[2]});
  const TensorId all = product("attention.query", rows, part_.kv_heads * part_.head_dim);
  return context_.reshaped("attention.query.columns", all,
                           {in_[0], in_[1], part_.heads * part_.head_dim});
}

TensorId MixtureOfHeads::output(TensorId result) {
  const std::int64_t hidden = context_.config->hidden;
  const TensorId rows =
      context_.reshaped("attention.output.rows", result,
                        {in_[0], in_[1], chosen(), part_.kv_heads * part_.value_dim});
  const TensorId all = product("attention.output", rows, hidden);
  const TensorId column =
      context_.reshaped("attention.output.column", weights_, {in_[0], in_[1], chosen(), 1});
  const TensorId weighted = block_.op("attention.output.weighted", "Mul", {all, column});
  const TensorId sum = block_.sum_over_ranks(
      "attention.output",
      block_.op("attention.output.combined", "ReduceSum", {weighted}, {{"axis", std::int64_t{2}}}));
  if (!part_.output_bias) return sum;
  return block_.op("attention.output.add_bias", "Add",
                   {sum, block_.weight("attention.output.bias", {hidden})});
}

}  // namespace foretell
