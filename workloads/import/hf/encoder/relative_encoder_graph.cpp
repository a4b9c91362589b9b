// XLNet (Yang et al. 2019) as an encoder of one stream: scores are products with the keys, with
// what positions are before and after a query, and with whether two tokens share a segment.
#include <cmath>

#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/encoder/encoder_graph.hpp"

namespace foretell {
namespace {

class RelativeEncoder {
 public:
  RelativeEncoder(const ModelConfig& config, const Binding& binding)
      : config_(config), binding_(binding), b_(config.name) {}

  Graph build() {
    const std::int64_t tokens = binding_.seq_len;
    Graph& graph = b_.graph();
    const TensorId ids = graph.add_input("input_ids", {binding_.batch, tokens}, DType::kInt64);
    places_ = graph.add_input("relative_positions", {binding_.batch, 2 * tokens, config_.hidden},
                              DType::kFp32);
    same_ = graph.add_input("same_segment", {binding_.batch, 1, tokens, tokens}, DType::kFp32);
    mask_ = graph.add_input("attention_mask", {binding_.batch, 1, 1, tokens}, DType::kFp32);
    b_.enter("embeddings");
    TensorId x = b_.embedding("word", ids, config_.vocab, config_.hidden);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string scope = "encoder." + std::to_string(i);
      b_.enter(scope, scope, static_cast<std::int32_t>(i));
      x = feed_forward(attention(x));
    }
    graph.mark_output(x);
    return std::move(graph);
  }

 private:
  TensorId heads(const std::string& name, TensorId x) {
    return b_.split_heads(name, b_.linear(name, x, config_.hidden, false), config_.heads);
  }

  TensorId shifted(const std::string& name, TensorId q) {
    const Shape bias{config_.heads, std::int64_t{1}, b_.shape(q).back()};
    return b_.op(name, "Add", {q, b_.weight(name + ".weight", bias)});
  }

  TensorId columns(const std::string& name, TensorId x, std::int64_t begin, std::int64_t end) {
    return b_.op(name, "Slice", {x}, {{"axis", std::int64_t{3}}, {"begin", begin}, {"end", end}});
  }

  // One score for tokens of the query's segment and one for others.
  TensorId segment_scores(TensorId q) {
    const Shape pair{config_.heads, b_.shape(q).back(), 2};
    const TensorId two = b_.op("attention.segment", "MatMul",
                               {shifted("attention.segment_bias", q), b_.weight("segment", pair)});
    return b_.op("attention.segment.choose", "Elementwise",
                 {same_, columns("attention.segment.same", two, 0, 1),
                  columns("attention.segment.other", two, 1, 2)},
                 {{"function", std::string("Where")}});
  }

  TensorId attention(TensorId x) {
    const std::int64_t tokens = binding_.seq_len;
    const TensorId q = heads("attention.query", x);
    const TensorId k = heads("attention.key", x);
    const TensorId v = heads("attention.value", x);
    const TensorId r = heads("attention.position", places_);
    const auto times = [&](const std::string& name, TensorId queries, TensorId keys) {
      return b_.op(name, "MatMul", {queries, keys}, {{"transpose_b", std::int64_t{1}}});
    };
    const TensorId words = times("attention.scores", shifted("attention.word_bias", q), k);
    const TensorId far = times("attention.distance", shifted("attention.distance_bias", q), r);
    TensorId scores = b_.op("attention.sum", "Add",
                            {words, columns("attention.distance.shift", far, 1, tokens + 1)});
    scores = b_.op("attention.sum_segment", "Add", {scores, segment_scores(q)});
    const double scale = 1.0 / std::sqrt(static_cast<double>(b_.shape(q).back()));
    scores = b_.op("attention.scale", "Mul", {scores}, {{"scalar", scale}});
    scores = b_.op("attention.mask", "Add", {scores, mask_});
    scores = b_.op("attention.softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const TensorId context =
        b_.merge_heads("attention.context", b_.op("attention.context", "MatMul", {scores, v}));
    const TensorId out = b_.linear("attention.output", context, config_.hidden, false);
    return b_.layer_norm("attention.norm", b_.op("attention.residual", "Add", {out, x}));
  }

  TensorId feed_forward(TensorId x) {
    const TensorId wide =
        b_.activation("ffn.activation", b_.linear("ffn.intermediate", x, config_.intermediate),
                      config_.activation);
    const TensorId fed = b_.linear("ffn.output", wide, config_.hidden);
    return b_.layer_norm("ffn.norm", b_.op("ffn.residual", "Add", {fed, x}));
  }

  const ModelConfig& config_;
  const Binding& binding_;
  BlockBuilder b_;
  TensorId places_ = kNoId;
  TensorId same_ = kNoId;
  TensorId mask_ = kNoId;
};

}  // namespace

Graph build_relative_encoder(const ModelConfig& config, const Binding& binding) {
  return RelativeEncoder(config, binding).build();
}

}  // namespace foretell
