// Linear recurrences of decoders made of parts: Mamba-2, Mamba, gated delta rule, Kimi delta
// attention, RWKV-7, lightning attention, RG-LRU; and the gated convolution of LFM2.
#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {
namespace {

class LinearMixer {
 public:
  LinearMixer(PartsContext& context, const MixerPart& part, TensorId x)
      : context_(context), block_(*context.block), part_(part), x_(x), in_(block_.shape(x)) {}

  TensorId run() {
    if (part_.function == "rwkv7") return rwkv();
    if (part_.function == "kimi_delta") return kimi();
    if (part_.function == "mamba1") return selective();
    if (part_.function == "lightning") return lightning();
    if (part_.function == "gated_convolution") return gated_convolution();
    if (part_.function == "rg_lru") return gated_channels();
    return part_.function == "mamba2" ? mamba() : gated_delta();
  }

 private:
  std::int64_t key_columns() const { return part_.kv_heads * part_.head_dim; }
  std::int64_t value_columns() const { return part_.heads * part_.value_dim; }

  TensorId linear(const std::string& name, TensorId x, std::int64_t out) {
    return context_.linear("mixer." + name, x, out, false);
  }

  // Two narrow matrices, or a wide one.
  TensorId low_rank(const std::string& name, std::int64_t rank, std::int64_t out) {
    if (rank == 0) return linear(name, x_, out);
    return context_.linear("mixer." + name + "_b",
                           context_.linear("mixer." + name + "_a", x_, rank, false, true), out,
                           false, true);
  }

  TensorId convolved(TensorId x, const std::string& activation = "silu") {
    const std::int64_t channels = block_.shape(x)[2];
    std::vector<TensorId> inputs = {
        x, block_.weight("mixer.conv.weight", {channels, part_.conv_kernel}),
        context_.own_state("mixer.conv_state", {in_[0], channels, part_.conv_kernel - 1},
                           DType::kBf16)};
    if (part_.conv_bias) inputs.push_back(block_.weight("mixer.conv.bias", {channels}));
    return block_.op("mixer.conv", "ShortConv", std::move(inputs), {{"activation", activation}});
  }

  TensorId heads_of(const std::string& name, TensorId x, std::int64_t heads) {
    const Shape shape = block_.shape(x);
    return context_.reshaped("mixer." + name + ".heads", x,
                             {shape[0], shape[1], heads, shape[2] / heads});
  }

  // What a step forgets: learned per head, moved by the token.
  TensorId decay(TensorId moved, std::int64_t columns) {
    std::vector<TensorId> inputs = {moved, block_.weight("mixer.decay.offset", {columns}),
                                    block_.weight("mixer.decay.log", {columns})};
    if (part_.function == "mamba2" || part_.function == "mamba1")
      inputs.push_back(block_.weight("mixer.decay.skip", {columns}));
    return block_.op("mixer.decay", "Elementwise", std::move(inputs),
                     {{"function", std::string("Softplus")}});
  }

  TensorId scan(TensorId query, TensorId key, TensorId value, std::vector<TensorId> gates) {
    std::vector<TensorId> inputs = {query, key, value};
    inputs.insert(inputs.end(), gates.begin(), gates.end());
    inputs.push_back(context_.own_state(
        "mixer.state", {in_[0], part_.heads, part_.head_dim, part_.value_dim}, part_.state_type));
    return block_.op("mixer.scan", "Scan", std::move(inputs),
                     {{"function", part_.function}, {"chunk", part_.chunk}});
  }

  // Norm of the result, times a gate, and the way out.
  TensorId finish(TensorId result, TensorId gate, bool norm_of_head) {
    if (norm_of_head) {
      const Shape shape = block_.shape(result);
      result = context_.reshaped(
          "mixer.columns", context_.norm("mixer.norm", heads_of("result", result, part_.heads)),
          shape);
    } else {
      result = context_.norm("mixer.norm", result);
    }
    const TensorId open = block_.op("mixer.gate.silu", "Silu", {gate});
    return context_.row_linear("mixer.output", block_.op("mixer.gated", "Mul", {result, open}),
                               context_.config->hidden, part_.output_bias);
  }

  TensorId gated_delta() {
    const std::int64_t keys = key_columns();
    const std::int64_t values = value_columns();
    const TensorId qkv = linear("qkv", x_, 2 * keys + values);
    const TensorId gate = linear("gate", x_, values);
    const TensorId beta =
        context_.linear("mixer.rates", x_, 2 * part_.heads, false, true);  // and decays
    const TensorId rates = context_.split("mixer.rates.parts", beta, {part_.heads, part_.heads});
    const TensorId parts = context_.split("mixer.parts", convolved(qkv), {keys, keys, values});
    const TensorId result =
        scan(heads_of("query", parts, part_.kv_heads), heads_of("key", parts + 1, part_.kv_heads),
             heads_of("value", parts + 2, part_.heads), {decay(rates, part_.heads), rates + 1});
    return finish(result, gate, true);
  }

  TensorId mamba() {
    const std::int64_t keys = key_columns();
    const std::int64_t values = value_columns();
    const std::int64_t conv = values + 2 * keys;
    const TensorId all =
        context_.linear("mixer.input", x_, values + conv + part_.heads, part_.output_bias);
    const TensorId pieces = context_.split("mixer.pieces", all, {values, conv, part_.heads});
    const TensorId parts =
        context_.split("mixer.parts", convolved(pieces + 1), {values, keys, keys});
    const TensorId result = scan(
        heads_of("query", parts + 2, part_.kv_heads), heads_of("key", parts + 1, part_.kv_heads),
        heads_of("value", parts, part_.heads), {decay(pieces + 2, part_.heads)});
    return finish(result, pieces, false);
  }

  // Keys and queries are the same for all channels; the step of each is made from a narrow vector.
  TensorId selective() {
    const std::int64_t channels = value_columns();
    const std::int64_t state = part_.head_dim;
    const TensorId both = context_.linear("mixer.input", x_, 2 * channels, part_.output_bias);
    const TensorId pieces = context_.split("mixer.pieces", both, {channels, channels});
    const TensorId active = convolved(pieces);
    // Its rows are spread over the ranks, as the channels are.
    const TensorId made =
        context_.row_linear("mixer.selection", active, part_.decay_rank + 2 * state, false);
    const TensorId parts = context_.split("mixer.parts", made, {part_.decay_rank, state, state});
    const TensorId step = context_.linear("mixer.step", parts, channels, true);
    const TensorId rates = block_.weight("mixer.decay.rates", {channels, state});
    block_.graph().keep(rates);
    const TensorId query = heads_of("query", parts + 2, 1);
    const TensorId key = heads_of("key", parts + 1, 1);
    const TensorId result =
        scan(query, key, heads_of("value", active, part_.heads), {decay(step, channels), rates});
    const TensorId open = block_.op("mixer.gate.silu", "Silu", {pieces + 1});
    return context_.row_linear("mixer.output", block_.op("mixer.gated", "Mul", {result, open}),
                               context_.config->hidden, part_.output_bias);
  }

  // The decay is a constant of the head.
  TensorId lightning() {
    const std::int64_t columns = value_columns();
    const TensorId qkv = block_.op("mixer.qkv.silu", "Silu", {linear("qkv", x_, 3 * columns)});
    const TensorId parts = context_.split("mixer.parts", qkv, {columns, columns, columns});
    const TensorId result =
        scan(heads_of("query", parts, part_.heads), heads_of("key", parts + 1, part_.heads),
             heads_of("value", parts + 2, part_.heads),
             {block_.weight("mixer.decay.constant", {part_.heads})});
    const TensorId open = block_.op("mixer.gate.sigmoid", "Sigmoid", {linear("gate", x_, columns)});
    const TensorId gated =
        block_.op("mixer.gated", "Mul", {context_.norm("mixer.norm", result), open});
    return context_.row_linear("mixer.output", gated, context_.config->hidden, false);
  }

  TensorId gated_convolution() {
    const std::int64_t columns = value_columns();
    const TensorId parts = context_.split("mixer.parts", linear("input", x_, 3 * columns),
                                          {columns, columns, columns});
    const TensorId in = block_.op("mixer.gate_in", "Mul", {parts, parts + 2});
    const TensorId out = block_.op("mixer.gate_out", "Mul", {convolved(in, "none"), parts + 1});
    return context_.row_linear("mixer.output", out, context_.config->hidden, false);
  }

  // RG-LRU (arXiv 2402.19427): the state of a channel is one number; what it forgets and takes in
  // is said by gates of blocks of channels, and another branch multiplies what is read of it.
  TensorId gated_channels() {
    const std::int64_t channels = value_columns();
    const auto wide = [&](const std::string& name) {
      return context_.linear("mixer." + name, x_, channels, true);
    };
    const TensorId side = block_.op("mixer.side.gelu", "Gelu", {wide("side")},
                                    {{"approximate", std::string("tanh")}});
    const TensorId in = convolved(wide("input"), "none");
    const std::int64_t blocks = std::max<std::int64_t>(1, channels / part_.gate_block);
    const std::int64_t width = channels / blocks;
    const auto gate = [&](const std::string& name) {
      const TensorId weight = block_.weight("mixer." + name + ".weight", {blocks, width, width});
      block_.graph().keep(weight);
      const TensorId made = block_.merge_heads(
          "mixer." + name, block_.op("mixer." + name, "MatMul",
                                     {block_.split_heads("mixer." + name, in, blocks), weight}));
      return block_.op("mixer." + name + ".sigmoid", "Sigmoid",
                       {block_.op("mixer." + name + ".add_bias", "Add",
                                  {made, block_.weight("mixer." + name + ".bias", {channels})})});
    };
    const TensorId forget =
        block_.op("mixer.decay", "Elementwise",
                  {gate("forget"), block_.weight("mixer.decay.log", {channels})},
                  {{"function", std::string("Softplus")}});
    const TensorId result =
        scan(heads_of("query", side, part_.heads), heads_of("key", gate("take"), part_.heads),
             heads_of("value", in, part_.heads), {forget});
    return context_.row_linear("mixer.output", result, context_.config->hidden, true);
  }

  TensorId kimi() {
    const std::int64_t columns = key_columns();
    const TensorId qkv = linear("qkv", x_, 3 * columns);
    const TensorId parts =
        context_.split("mixer.parts", convolved(qkv), {columns, columns, columns});
    const TensorId forget = decay(low_rank("decay", part_.decay_rank, columns), columns);
    const TensorId beta = context_.linear("mixer.rate", x_, part_.heads, false, true);
    const TensorId result = scan(
        heads_of("query", parts, part_.kv_heads), heads_of("key", parts + 1, part_.kv_heads),
        heads_of("value", parts + 2, part_.heads), {heads_of("decay", forget, part_.heads), beta});
    return finish(result, low_rank("gate", part_.gate_rank, value_columns()), true);
  }

  TensorId rwkv() {
    constexpr std::int64_t kMixed = 6;  // inputs, each a mean of this token and the one before
    const std::int64_t columns = key_columns();
    x_ = block_.op("mixer.shift", "Elementwise",
                   {x_, block_.weight("mixer.shift.weight", {kMixed, 1, 1, in_[2]})},
                   {{"function", std::string("Mean")}});
    x_ = block_.op("mixer.shift.one", "ReduceMean", {x_},
                   {{"axis", std::int64_t{0}}, {"keep_dims", std::int64_t{0}}});
    const TensorId r = linear("receptance", x_, columns);
    const TensorId k = linear("key", x_, columns);
    const TensorId v = linear("value", x_, columns);
    const TensorId forget = decay(low_rank("decay", part_.decay_rank, columns), columns);
    const TensorId rate = low_rank("rate", part_.rate_rank, columns);
    low_rank("residual", part_.value_rank, columns);
    const TensorId result =
        scan(heads_of("query", r, part_.heads), heads_of("key", k, part_.heads),
             heads_of("value", v, part_.heads),
             {heads_of("decay", forget, part_.heads), heads_of("rate", rate, part_.heads)});
    return finish(result, low_rank("gate", part_.gate_rank, columns), true);
  }

  PartsContext& context_;
  BlockBuilder& block_;
  const MixerPart& part_;
  TensorId x_;
  Shape in_;
};

}  // namespace

TensorId mix_linear(PartsContext& context, TensorId x, const MixerPart& part) {
  return LinearMixer(context, part, x).run();
}

}  // namespace foretell
