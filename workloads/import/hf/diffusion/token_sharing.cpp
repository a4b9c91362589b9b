#include "workloads/import/hf/diffusion/token_sharing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kHeadAxis = 1;
constexpr std::int64_t kRowAxis = 2;

class SharedAttention {
 public:
  SharedAttention(BlockBuilder& block, const TokenSharing& sharing, const std::string& name,
                  const SharedHeads& own)
      : block_(block),
        sharing_(sharing),
        name_(name),
        ring_((name == "attention" ? "" : name) + std::string(kSentBeside.substr(1))),
        own_(own) {}

  TensorId build() {
    const TensorId q = to_heads(".query", own_.q);
    Pair own{to_heads(".key", image_rows(".key", own_.k)),
             to_heads(".value", image_rows(".value", own_.v))};
    const TensorId result = sharing_.ring > 1
                                ? around(q, own)
                                : attend(&block_, name_, q, with_text(".key", own.k, own_.k),
                                         with_text(".value", own.v, own_.v), {});
    return to_tokens(result);
  }

 private:
  struct Pair {
    TensorId k = kNoId;
    TensorId v = kNoId;
  };

  TensorId slice(const std::string& name, TensorId x, std::int64_t axis, std::int64_t begin,
                 std::int64_t end) {
    return block_.op(name, "Slice", {x}, {{"axis", axis}, {"begin", begin}, {"end", end}});
  }

  TensorId reshape(const std::string& name, TensorId x, Shape shape) {
    return block_.op(name, "Reshape", {x}, {{"shape", std::move(shape)}});
  }

  TensorId turned(const std::string& name, TensorId x, Shape perm) {
    return block_.op(name, "Transpose", {x}, {{"perm", std::move(perm)}});
  }

  TensorId exchanged(const std::string& name, TensorId x) {
    return block_.op(name, "AllToAll", {x}, {{"ranks", sharing_.of_heads()}});
  }

  TensorId image_rows(const std::string& what, TensorId x) {
    if (own_.replicated == 0) return x;
    return slice(name_ + what + ".image", x, kRowAxis, own_.replicated, block_.shape(x)[kRowAxis]);
  }

  // Rows of the image and, after them, those that all ranks have, of the heads of this one.
  TensorId with_text(const std::string& what, TensorId rows, TensorId all) {
    if (own_.replicated == 0) return rows;
    TensorId text = slice(name_ + what + ".text", all, kRowAxis, 0, own_.replicated);
    if (sharing_.of_heads() > 1) {
      const std::int64_t heads = block_.shape(all)[kHeadAxis] / sharing_.of_heads();
      text = slice(name_ + what + ".text.heads", text, kHeadAxis, 0, heads);
    }
    return block_.op(name_ + what + ".with_text", "Concat", {rows, text}, {{"axis", kRowAxis}});
  }

  // [B, heads, S, dim] -> [B, heads / ranks, ranks * S, dim].
  TensorId to_heads(const std::string& what, TensorId x) {
    const std::int64_t ranks = sharing_.of_heads();
    if (ranks == 1) return x;
    const Shape in = block_.shape(x);
    const std::string name = name_ + what;
    const TensorId sent =
        exchanged(name + ".all_to_all", turned(name + ".by_head", x, Shape{1, 0, 2, 3}));
    const TensorId by_rank =
        reshape(name + ".by_rank", sent, Shape{ranks, in[1] / ranks, in[0], in[2], in[3]});
    const TensorId sorted = turned(name + ".sorted", by_rank, Shape{2, 1, 0, 3, 4});
    return reshape(name + ".all_rows", sorted, Shape{in[0], in[1] / ranks, ranks * in[2], in[3]});
  }

  // [B, ranks * S, columns] -> [B, S, ranks * columns].
  TensorId to_tokens(TensorId x) {
    const std::int64_t ranks = sharing_.of_heads();
    if (ranks == 1) return x;
    const Shape in = block_.shape(x);
    const std::string name = name_ + ".result";
    const Shape apart{in[0], ranks, in[1] / ranks, in[2]};
    const TensorId by_rank =
        turned(name + ".by_rank", reshape(name + ".apart", x, apart), Shape{1, 0, 2, 3});
    const TensorId sorted =
        turned(name + ".sorted", exchanged(name + ".all_to_all", by_rank), Shape{1, 2, 0, 3});
    return reshape(name + ".all_heads", sorted, Shape{in[0], in[1] / ranks, ranks * in[2]});
  }

  TensorId around(TensorId q, Pair own) {
    TensorId result = kNoId;
    for (std::int64_t part = 0; part < sharing_.ring; ++part) {
      const std::string number = "." + std::to_string(part);
      const bool is_last = part + 1 == sharing_.ring;
      const TensorId next = is_last ? kNoId
                                    : block_.op(ring_ + number, "SendReceive", {own.k, own.v},
                                                {{"ranks", sharing_.ring}});
      const std::string name = part == 0 ? name_ : name_ + ".part" + number;
      const TensorId k = is_last ? with_text(".key", own.k, own_.k) : own.k;
      const TensorId v = is_last ? with_text(".value", own.v, own_.v) : own.v;
      const TensorId some = attend(&block_, name, q, k, v, {});
      result = part == 0 ? some
                         : block_.op(name_ + ".merge" + number, "Move", {result, some},
                                     {{"function", std::string("WeightedSum")},
                                      {"shape", block_.shape(result)}});
      own = {next, next + 1};
    }
    return result;
  }

  BlockBuilder& block_;
  const TokenSharing& sharing_;
  const std::string& name_;
  std::string ring_;  // of the names of what is sent
  const SharedHeads& own_;
};

}  // namespace

bool has_tokens_to_share(const ModelConfig& config) {
  return config.family == Family::kVision && config.diffusion.text_width > 0 &&
         config.vision.widths.empty();
}

TokenSharing token_sharing(const ModelConfig& config, const Binding& binding) {
  const std::int64_t ranks = binding.context_parallel;
  if (ranks == 1) return {};
  if (!has_tokens_to_share(config)) {
    throw UserError(config.name +
                    ": --cp divides the tokens of transformers that remove noise, and of prompts; "
                    "leave it out");
  }
  if (config.denoiser.linear_attention || config.denoiser.convolving) {
    throw UserError(config.name +
                    ": its tokens meet in linear attention and in convolutions; --cp divides those "
                    "of attention with a softmax, leave it out");
  }
  const std::int64_t ring = binding.ring > 0 ? binding.ring : ranks / std::gcd(ranks, config.heads);
  if (ranks % ring == 0 && config.heads % (ranks / ring) == 0) return {ranks, ring};
  std::vector<std::int64_t> degrees;
  for (std::int64_t i = 1; i <= ranks; ++i) {
    if (ranks % i == 0 && config.heads % (ranks / i) == 0) degrees.push_back(i);
  }
  throw UserError(fmt::format(
      "{}: with --cp {} and --ring {} its {} heads are not divided evenly; --ring can be {}",
      config.name, ranks, ring, config.heads, fmt::join(degrees, ", ")));
}

TensorId attend_shared(BlockBuilder& block, const TokenSharing& sharing, const std::string& name,
                       const SharedHeads& own) {
  return SharedAttention(block, sharing, name, own).build();
}

}  // namespace foretell
