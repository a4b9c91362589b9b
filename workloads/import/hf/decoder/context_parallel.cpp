#include "workloads/import/hf/decoder/context_parallel.hpp"

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

using Attributes = std::map<std::string, Attribute>;

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class RankBuilder {
 public:
  RankBuilder(BlockBuilder& block, const Binding& binding, const RankAttention& own)
      : block_(block), binding_(binding), own_(own), ranks_(binding.context_parallel) {}

  TensorId build() {
    if (binding_.phase == Phase::kDecode) return gathered();
    const std::int64_t keys = block_.shape(own_.k)[2];
    if (own_.reach == 0 || own_.reach >= keys * ranks_) return around();
    return own_.reach <= keys / kChunks ? with_neighbour() : with_all();
  }

 private:
  static constexpr std::int64_t kChunks = 2;  // of a rank

  TensorId attend(const std::string& name, TensorId k, TensorId v, bool causal) {
    std::vector<TensorId> inputs = {own_.q, k, v};
    inputs.insert(inputs.end(), own_.more.begin(), own_.more.end());
    Attributes attributes = own_.attributes;
    attributes["causal"] = std::int64_t{causal ? 1 : 0};
    return block_.op(name, "Attention", std::move(inputs), std::move(attributes));
  }

  TensorId rows(const std::string& name, TensorId x, std::int64_t begin, std::int64_t end) {
    return block_.op(name, "Slice", {x},
                     {{"axis", std::int64_t{2}}, {"begin", begin}, {"end", end}});
  }

  // Keys and, after them, values of the rank before this one.
  TensorId received(const std::string& number, TensorId k, TensorId v) {
    return block_.op(std::string(kSentBeside.substr(1)) + number, "SendReceive", {k, v},
                     {{"ranks", ranks_}});
  }

  TensorId merged(const std::string& name, std::vector<TensorId> results, Shape shape) {
    return block_.op(name, "Move", std::move(results),
                     {{"function", std::string("WeightedSum")}, {"shape", std::move(shape)}});
  }

  TensorId around() {
    TensorId k = own_.k;
    TensorId v = own_.v;
    const std::int64_t half = rounded_up(block_.shape(k)[2], kChunks);
    TensorId result = kNoId;
    for (std::int64_t part = 0; part < ranks_; ++part) {
      const std::string ring = "attention.ring.";
      const std::string number = std::to_string(part);
      const bool is_last = part + 1 == ranks_;
      const TensorId next = is_last ? kNoId : received("." + number, k, v);
      if (part == 0) {
        result = attend("attention", k, v, true);
      } else {
        const TensorId some =
            attend(ring + "part." + number, rows(ring + "keys." + number, k, 0, half),
                   rows(ring + "values." + number, v, 0, half), false);
        result = merged(ring + "merge." + number, {result, some}, block_.shape(result));
      }
      k = next;
      v = next + 1;
    }
    return result;
  }

  // The last keys of both chunks go to the ranks that have what follows.
  TensorId with_neighbour() {
    const std::int64_t keys = block_.shape(own_.k)[2];
    const std::int64_t sent = kChunks * own_.reach;
    const auto last = [&](const std::string& name, TensorId x) {
      return sent == keys ? x : rows(name, x, keys - sent, keys);
    };
    const TensorId before =
        received("", last("attention.last_keys", own_.k), last("attention.last_values", own_.v));
    const auto joined = [&](const std::string& name, TensorId x, TensorId y) {
      return block_.op(name, "Concat", {x, y}, {{"axis", std::int64_t{2}}});
    };
    return attend("attention", joined("attention.near_keys", before, own_.k),
                  joined("attention.near_values", before + 1, own_.v), true);
  }

  TensorId with_all() {
    const auto all = [&](const std::string& name, TensorId x) {
      return block_.op(
          name, "AllGather", {x},
          {{"axis", std::int64_t{2}}, {"ranks", ranks_}, {"size", block_.shape(x)[2] * ranks_}});
    };
    return attend("attention", all("attention.all_keys", own_.k),
                  all("attention.all_values", own_.v), true);
  }

  TensorId gathered() {
    RankAttention own = own_;
    if (own.reach > 0) own.attributes["window"] = rounded_up(own.reach, ranks_);
    const TensorId part =
        RankBuilder(block_, binding_, own).attend("attention", own.k, own.v, true);
    const Shape shape = block_.shape(part);
    const TensorId all =
        block_.op("attention.parts.all_gather", "AllGather", {part},
                  {{"axis", std::int64_t{0}}, {"ranks", ranks_}, {"size", shape[0] * ranks_}});
    return merged("attention.parts.merge", {all}, shape);
  }

  BlockBuilder& block_;
  const Binding& binding_;
  const RankAttention& own_;
  std::int64_t ranks_;
};

std::string unsupported_mixer(const MixerPart& mixer) {
  if (mixer.kind == MixerKind::kLinear) return "a recurrence (" + mixer.function + ")";
  if (mixer.kind == MixerKind::kCompressed) return "attention to a compressed cache";
  if (mixer.indexer.heads > 0) return "attention to keys that an indexer chooses";
  if (mixer.stride > 0) return "attention to blocks of keys that a pattern chooses";
  return "";
}

}  // namespace

void check_context_parallel(const ModelConfig& config) {
  for (const LayerPart& layer : config.parts_of_decoder.layers) {
    for (const MixerPart* mixer : {&layer.mixer, &layer.beside}) {
      const std::string found = unsupported_mixer(*mixer);
      if (found.empty()) continue;
      throw UserError(config.name + ": has layers with " + found +
                      "; --cp divides the tokens of attention to all keys, to windows and of "
                      "latents; leave it out");
    }
  }
}

Binding share_of_rank(const Binding& binding) {
  const std::int64_t ranks = binding.context_parallel;
  Binding own = binding;
  if (ranks == 1) return own;
  FORETELL_CHECK(binding.context == 0, "a later piece of a prompt has no context parallelism");
  const bool decodes = binding.phase == Phase::kDecode;
  if (!decodes) own.seq_len = 2 * rounded_up(binding.seq_len, 2 * ranks);
  own.kv_len = std::max(own.seq_len, rounded_up(binding.kv_len, ranks));
  return own;
}

TensorId attend_over_ranks(BlockBuilder& block, const Binding& binding, const RankAttention& own) {
  return RankBuilder(block, binding, own).build();
}

}  // namespace foretell
