// Softmax attention of decoders made of parts: grouped heads, latents, compressed caches.
#include <algorithm>
#include <optional>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/context_parallel.hpp"
#include "workloads/import/hf/decoder/mixture_of_heads.hpp"
#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {
namespace {

struct Read {
  TensorId q = kNoId;
  TensorId k = kNoId;
  TensorId v = kNoId;
  TensorId choice = kNoId;    // of an indexer
  std::int64_t selected = 0;  // keys it leaves
  std::int64_t window = 0;
  std::int64_t ratio = 0;
  bool causal = true;
  bool latent = false;
};

TensorId attend_with(PartsContext& context, const Read& read, const MixerPart& part) {
  std::vector<TensorId> inputs = {read.q, read.k, read.v};
  std::map<std::string, Attribute> attributes{{"causal", std::int64_t{read.causal ? 1 : 0}}};
  if (read.window > 0) attributes["window"] = read.window;
  if (part.chunk > 0) attributes["chunk"] = part.chunk;
  if (part.stride > 0) attributes["stride"] = part.stride;
  if (read.ratio > 0) attributes["ratio"] = read.ratio;
  if (read.selected > 0) attributes["selected"] = read.selected;
  if (read.latent) attributes["latent"] = std::int64_t{1};
  if (read.choice != kNoId) inputs.push_back(read.choice);
  if (part.sinks) {
    attributes["sinks"] = std::int64_t{1};
    inputs.push_back(context.block->weight("attention.sinks", {part.heads}));
  }
  if (context.binding->context_parallel > 1) {
    return attend_over_ranks(*context.block, *context.binding,
                             {read.q,
                              read.k,
                              read.v,
                              std::max(read.window, part.chunk),
                              std::move(attributes),
                              {inputs.begin() + 3, inputs.end()}});
  }
  return context.block->op("attention", "Attention", std::move(inputs), std::move(attributes));
}

// What a prompt from the start has in a cache [B, heads, rows, dim]: the rows of its tokens.
TensorId seen_rows(PartsContext& context, const std::string& name, TensorId cache) {
  const std::int64_t tokens = context.binding->seq_len;
  if (context.reads_cache() || context.block->shape(cache)[2] == tokens) return cache;
  return context.block->op(
      name, "Slice", {cache},
      {{"axis", std::int64_t{2}}, {"begin", std::int64_t{0}}, {"end", tokens}});
}

bool chooses_among(const IndexerPart& indexer, std::int64_t keys) {
  return keys > indexer.top_k * indexer.block || indexer.always;
}

// Keys that stand for blocks stay in 16 bits where the cache is narrower.
void keep_wide(Graph& graph, TensorId cache) {
  for (const TensorId id : {graph.op(graph.tensor(cache).producer).inputs[0], cache}) {
    graph.set_dtype(id, DType::kBf16);
    graph.keep(id);
  }
}

// Which keys are read, when there are more than are read.
TensorId choose_keys(PartsContext& context, TensorId source, TensorId x, const IndexerPart& indexer,
                     std::int64_t rows) {
  BlockBuilder& block = *context.block;
  const Shape in = block.shape(x);
  const TensorId q = context.reshaped(
      "indexer.heads",
      context.linear("indexer.query", source, indexer.heads * indexer.head_dim, false),
      {in[0], in[1], indexer.heads, indexer.head_dim});
  TensorId k =
      context.norm("indexer.key.norm", context.linear("indexer.key", x, indexer.head_dim, false));
  if (context.has_cache()) {
    k = context.reshaped("indexer.key.row", k, {in[0], 1, in[1], indexer.head_dim});
    const TensorId cache = context.cached("indexer.key_cache", k, rows);
    if (indexer.block > 1) keep_wide(block.graph(), cache);
    k = seen_rows(context, "indexer.key_cache.seen", cache);
    k = context.reshaped("indexer.keys", k, {in[0], block.shape(k)[2], indexer.head_dim});
  }
  const std::int64_t keys = block.shape(k)[1];
  std::vector<TensorId> scored{q, k};
  // Scores of heads are summed up by weights; heads that choose blocks choose each for its own.
  if (indexer.block == 1)
    scored.push_back(context.linear("indexer.weights", x, indexer.heads, false, true));
  if (!chooses_among(indexer, keys)) return kNoId;
  return block.op("indexer.choice", "Indexer", scored,
                  {{"top_k", indexer.top_k},
                   {"block", indexer.block},
                   {"narrow", std::int64_t{indexer.narrow ? 1 : 0}}});
}

std::int64_t cache_rows(const PartsContext& context, const MixerPart& part) {
  const std::int64_t window = cached_window(part);
  const std::int64_t rows = context.binding->kv_len;
  if (window == 0) return rows;
  const std::int64_t more = context.reads_cache() ? context.binding->seq_len - 1 : 0;
  const std::int64_t ranks = context.binding->context_parallel;  // that each hold some of the rows
  return std::min(rows, (window + ranks - 1) / ranks + more);
}

// A norm over the heads of all ranks, each of which has some: they add up the means of the squares
// of theirs, of queries and keys in one exchange.
bool norms_over_ranks(const PartsContext& context, const MixerPart& part) {
  return part.head_norm == HeadNorm::kWhole && context.binding->tensor_parallel > 1 &&
         context.config->norm == Norm::kRmsNorm && !part.reads_earlier;
}

TensorId mean_square(PartsContext& context, const std::string& name, TensorId x) {
  const TensorId squares = context.block->op(name + ".squares", "Mul", {x, x});
  return context.block->op(name + ".mean", "ReduceMean", {squares},
                           {{"axis", std::int64_t{-1}}, {"keep_dims", std::int64_t{1}}});
}

TensorId divided_by_root(PartsContext& context, const std::string& name, TensorId x,
                         TensorId mean) {
  BlockBuilder& block = *context.block;
  const TensorId root = block.op(name + ".root", "Sqrt", {mean});
  const TensorId even = block.op(name + ".divide", "Div", {x, root});
  return block.op(name, "Mul", {even, block.weight(name + ".gamma", {block.shape(x).back()})});
}

void normalise_over_ranks(PartsContext& context, TensorId& q, TensorId& k) {
  const std::int64_t ranks = context.binding->tensor_parallel;
  const TensorId of_queries = mean_square(context, "attention.query.norm", q);
  const TensorId of_keys = mean_square(context, "attention.key.norm", k);
  const TensorId sums = context.block->op("attention.norm.all_reduce", "AllReduce",
                                          {of_queries, of_keys}, {{"ranks", ranks}});
  q = divided_by_root(context, "attention.query.norm", q, sums);
  k = divided_by_root(context, "attention.key.norm", k, sums + 1);
}

// Keys and values of this layer, or of the earlier one that it reads; `normed` are keys that are
// made already.
PartsContext::Cache keys_and_values(PartsContext& context, TensorId x, const MixerPart& part,
                                    TensorId normed = kNoId) {
  BlockBuilder& block = *context.block;
  const bool is_local = cached_window(part) > 0;
  if (part.reads_earlier) {
    const auto known = context.earlier.find(is_local);
    if (known != context.earlier.end()) {
      if (part.holds_keys) {
        const std::int64_t columns = part.kv_heads * (part.head_dim + part.value_dim);
        block.weight("attention.unread_keys", {block.shape(x).back(), columns});
      }
      return known->second;
    }
  }
  const auto project = [&](const std::string& name, std::int64_t columns) {
    const TensorId y = context.linear(name, x, part.kv_heads * columns, part.qkv_bias);
    return context.adapted(name, x, y, part.adapter_rank);
  };
  TensorId k = normed != kNoId ? normed : project("attention.key", part.head_dim);
  const bool whole = part.head_norm == HeadNorm::kWhole && normed == kNoId;
  const TensorId raw = k;
  if (whole) k = context.norm("attention.key.norm", k);
  k = block.split_heads("attention.key", k, part.kv_heads);
  if (part.head_norm == HeadNorm::kPerHead) k = context.norm("attention.key.norm", k);
  k = context.rotated("attention.key.rotate", k, part.rotary_dim);
  TensorId v = part.keys_are_values ? raw : project("attention.value", part.value_dim);
  v = block.split_heads("attention.value", v, part.kv_heads);
  PartsContext::Cache now{k, v};
  if (context.has_cache()) {
    const std::int64_t rows = cache_rows(context, part);
    const PartsContext::Cache cache{context.cached("attention.key_cache", k, rows),
                                    context.cached("attention.value_cache", v, rows)};
    if (context.reads_cache()) now = cache;
  }
  context.earlier[is_local] = now;
  return now;
}

TensorId mix_grouped(PartsContext& context, TensorId x, const MixerPart& part) {
  BlockBuilder& block = *context.block;
  std::optional<MixtureOfHeads> mixture;
  if (part.head_experts > 0) mixture.emplace(context, x, part);
  TensorId source = x;
  if (part.query_rank > 0) {
    source = context.norm("attention.query_a.norm",
                          context.linear("attention.query_a", x, part.query_rank, false));
  }
  TensorId q = mixture ? mixture->queries(x)
                       : context.linear("attention.query", source, part.heads * part.head_dim,
                                        part.qkv_bias);
  q = context.adapted("attention.query", x, q, part.adapter_rank);
  TensorId k = kNoId;
  if (norms_over_ranks(context, part)) {
    k = context.linear("attention.key", x, part.kv_heads * part.head_dim, part.qkv_bias);
    normalise_over_ranks(context, q, k);
  } else if (part.head_norm == HeadNorm::kWhole) {
    q = context.norm("attention.query.norm", q);
  }
  q = block.split_heads("attention.query", q, part.heads);
  if (part.head_norm == HeadNorm::kPerHead) q = context.norm("attention.query.norm", q);
  Read read;
  read.q = context.rotated("attention.query.rotate", q, part.rotary_dim);
  const PartsContext::Cache now = keys_and_values(context, x, part, k);
  read.k = now.keys;
  read.v = now.values;
  read.window = part.window;
  if (part.indexer.heads > 0) {
    read.choice = choose_keys(context, x, x, part.indexer, context.binding->kv_len);
    if (read.choice != kNoId) read.selected = part.indexer.top_k * part.indexer.block;
  }
  const TensorId result = context.gated("attention", attend_with(context, read, part), x, part);
  if (mixture) return mixture->output(result);
  return context.row_linear("attention.output", result, context.config->hidden, part.output_bias);
}

// A matrix per head: x [B, h, S, in] -> [B, h, S, out]. Such weights are not quantised.
TensorId per_head(PartsContext& context, const std::string& name, TensorId x, std::int64_t out) {
  const Shape in = context.block->shape(x);
  const TensorId weight = context.block->weight(name + ".weight", {in[1], in[3], out});
  context.block->graph().keep(weight);
  return context.block->op(name, "MatMul", {x, weight});
}

struct LatentQuery {
  TensorId low = kNoId;     // [B, S, rank], or x where there is no rank
  TensorId plain = kNoId;   // [B, h, S, nope]
  TensorId rotary = kNoId;  // [B, h, S, rope]
};

LatentQuery latent_query(PartsContext& context, TensorId x, const MixerPart& part) {
  LatentQuery query;
  query.low = x;
  if (part.query_rank > 0) {
    query.low = context.norm("attention.query_a.norm",
                             context.linear("attention.query_a", x, part.query_rank, false));
  }
  const TensorId all = context.block->split_heads(
      "attention.query_b",
      context.linear("attention.query_b", query.low, part.heads * part.head_dim, false),
      part.heads);
  query.plain =
      context.split("attention.query.parts", all, {part.head_dim - part.rope_dim, part.rope_dim});
  query.rotary = context.rotated("attention.query.rotate", query.plain + 1, part.rotary_dim);
  return query;
}

// Every head reads the latents themselves: what makes keys and values of them is multiplied with
// the queries and the result instead.
TensorId absorbed(PartsContext& context, const LatentQuery& query, TensorId cache, Read read,
                  const MixerPart& part) {
  BlockBuilder& block = *context.block;
  const TensorId plain = per_head(context, "attention.absorb_key", query.plain, part.kv_rank);
  read.q = context.joined("attention.query.joined", plain, query.rotary, 3);
  read.k = cache;
  read.v = block.op("attention.latent_values", "Slice", {cache},
                    {{"axis", std::int64_t{3}}, {"begin", std::int64_t{0}}, {"end", part.kv_rank}});
  read.latent = true;
  const TensorId latents =
      block.split_heads("attention.latent", attend_with(context, read, part), part.heads);
  return block.merge_heads("attention.context",
                           per_head(context, "attention.absorb_value", latents, part.value_dim));
}

// Keys and values of every head are made from the latents first, as suits prompts.
TensorId expanded(PartsContext& context, const LatentQuery& query, TensorId latents, TensorId rope,
                  Read read, const MixerPart& part) {
  BlockBuilder& block = *context.block;
  const std::int64_t plain = part.head_dim - part.rope_dim;
  const TensorId both = block.split_heads(
      "attention.key_value",
      context.linear("attention.key_value", latents, part.heads * (plain + part.value_dim), false),
      part.heads);
  const TensorId pieces = context.split("attention.key_value.parts", both, {plain, part.value_dim});
  const Shape in = block.shape(pieces);
  read.q = context.joined("attention.query.joined", query.plain, query.rotary, 3);
  read.k = block.op(
      "attention.key.joined", "Move", {pieces, rope},
      {{"function", std::string("Concat")}, {"shape", Shape{in[0], in[1], in[2], part.head_dim}}});
  read.v = pieces + 1;
  return attend_with(context, read, part);
}

// The same of all rows of the cache, earlier calls' and this one's.
TensorId expanded_cache(PartsContext& context, const LatentQuery& query, TensorId cache, Read read,
                        const MixerPart& part) {
  BlockBuilder& block = *context.block;
  const Shape rows = block.shape(cache);
  const auto columns = [&](const std::string& name, std::int64_t begin, std::int64_t end) {
    return block.op(name, "Slice", {cache},
                    {{"axis", std::int64_t{3}}, {"begin", begin}, {"end", end}});
  };
  const TensorId latents = context.reshaped("attention.cached_latents.rows",
                                            columns("attention.cached_latents", 0, part.kv_rank),
                                            {rows[0], rows[2], part.kv_rank});
  const TensorId rope =
      columns("attention.cached_rope", part.kv_rank, part.kv_rank + part.rope_dim);
  return expanded(context, query, latents, rope, read, part);
}

TensorId mix_latent(PartsContext& context, TensorId x, const MixerPart& part) {
  BlockBuilder& block = *context.block;
  const LatentQuery query = latent_query(context, x, part);
  const TensorId low =
      context.linear("attention.key_value_a", x, part.kv_rank + part.rope_dim, false);
  const TensorId pieces =
      context.split("attention.key_value_a.parts", low, {part.kv_rank, part.rope_dim});
  const TensorId latents = context.norm("attention.latent.norm", pieces);
  const Shape in = block.shape(x);
  const auto row = [&](const std::string& name, TensorId id, std::int64_t columns) {
    return context.reshaped(name, id, {in[0], 1, in[1], columns});
  };
  const TensorId rope = context.rotated(
      "attention.key.rotate", row("attention.key.row", pieces + 1, part.rope_dim), part.rotary_dim);
  TensorId cache = kNoId;
  if (context.has_cache() || context.reads_cache() || part.indexer.heads > 0) {
    cache = context.joined("attention.latent.joined",
                           row("attention.latent.row", latents, part.kv_rank), rope, 3);
  }
  if (context.has_cache()) {
    cache = seen_rows(context, "attention.latent_cache.seen",
                      context.cached("attention.latent_cache", cache, context.binding->kv_len));
  }
  Read read;
  if (part.indexer.shared) {
    if (chooses_among(part.indexer, block.shape(cache)[2])) read.selected = part.indexer.top_k;
  } else if (part.indexer.heads > 0) {
    read.choice = choose_keys(context, query.low, x, part.indexer, context.binding->kv_len);
    if (read.choice != kNoId) read.selected = part.indexer.top_k;
  }
  const bool multiplies = part.multiplies_cache && context.binding->phase == Phase::kPrefill;
  TensorId result = kNoId;
  if (read.selected > 0 || (context.reads_cache() && !multiplies)) {
    result = absorbed(context, query, cache, read, part);
  } else if (context.reads_cache()) {
    result = expanded_cache(context, query, cache, read, part);
  } else {
    result = expanded(context, query, latents, rope, read, part);
  }
  return context.row_linear("attention.output", context.gated("attention", result, x, part),
                            context.config->hidden, part.output_bias);
}

// Tokens of which `ratio` become one entry; with overlap, each is part of two.
TensorId compressed_keys(PartsContext& context, const std::string& name, TensorId x,
                         std::int64_t columns, const MixerPart& part) {
  constexpr std::int64_t kOverlapping = 4;  // ratios up to this overlap
  const std::int64_t copies = part.ratio <= kOverlapping ? 2 : 1;
  const Shape in = context.block->shape(x);
  const TensorId values = context.linear(name + ".values", x, copies * columns, false);
  const TensorId scores = context.linear(name + ".scores", x, copies * columns, false);
  const TensorId state = context.own_state(
      name + ".pending", {in[0], copies * part.ratio, 2 * copies * columns}, DType::kFp32);
  const TensorId entries =
      context.norm(name + ".norm", context.block->op(name, "Compress", {values, scores, state},
                                                     {{"ratio", part.ratio}, {"dim", columns}}));
  const std::int64_t made = context.block->shape(entries)[1];
  const TensorId row = context.reshaped(name + ".row", entries, {in[0], 1, made, columns});
  if (!context.has_cache()) return row;
  const std::int64_t rows = std::max<std::int64_t>(made, context.binding->kv_len / part.ratio);
  const TensorId cache = context.cached(name + ".cache", row, rows);
  return context.reads_cache() ? cache : row;
}

TensorId mix_compressed(PartsContext& context, TensorId x, const MixerPart& part) {
  BlockBuilder& block = *context.block;
  const Shape in = block.shape(x);
  const TensorId low = context.norm("attention.query_a.norm",
                                    context.linear("attention.query_a", x, part.query_rank, false));
  Read read;
  read.q = context.rotated(
      "attention.query.rotate",
      block.split_heads("attention.query_b",
                        context.linear("attention.query_b", low, part.heads * part.head_dim, false),
                        part.heads),
      part.rotary_dim);
  const TensorId fresh = context.rotated(
      "attention.key.rotate",
      context.reshaped("attention.key.row",
                       context.norm("attention.key.norm",
                                    context.linear("attention.key", x, part.head_dim, false)),
                       {in[0], 1, in[1], part.head_dim}),
      part.rotary_dim);
  read.k = fresh;
  if (context.has_cache()) {
    const TensorId cache = context.cached("attention.key_cache", fresh, cache_rows(context, part));
    if (context.reads_cache()) read.k = cache;
  }
  const std::int64_t near = block.shape(read.k)[2];
  read.window = part.window;
  if (part.ratio > 0) {
    const TensorId far = compressed_keys(context, "attention.compressed", x, part.head_dim, part);
    const std::int64_t entries = block.shape(far)[2];
    read.k = context.joined("attention.keys.joined", read.k, far, 2);
    const bool chooses = part.indexer.heads > 0 && entries > part.indexer.top_k;
    if (chooses) {
      const TensorId keys =
          compressed_keys(context, "indexer.compressed", x, part.indexer.head_dim, part);
      const TensorId q = context.reshaped(
          "indexer.heads",
          context.linear("indexer.query", low, part.indexer.heads * part.indexer.head_dim, false),
          {in[0], in[1], part.indexer.heads, part.indexer.head_dim});
      const TensorId weights =
          context.linear("indexer.weights", x, part.indexer.heads, false, true);
      const TensorId rows = context.reshaped("indexer.keys", keys,
                                             {in[0], block.shape(keys)[2], part.indexer.head_dim});
      read.choice = block.op("indexer.choice", "Indexer", {q, rows, weights},
                             {{"top_k", part.indexer.top_k}, {"block", std::int64_t{1}}});
    }
    read.causal = !context.reads_cache();
    read.ratio = read.causal ? part.ratio : 0;
    if (chooses) read.selected = read.causal ? part.indexer.top_k : near + part.indexer.top_k;
    if (!read.causal) read.window = 0;
  }
  read.v = read.k;
  read.latent = true;
  const TensorId result = attend_with(context, read, part);
  // Groups of heads are narrowed by a matrix each, and then mixed by one for all.
  const TensorId groups = block.split_heads("attention.groups", result, part.output_groups);
  const TensorId narrow = block.merge_heads(
      "attention.output_a", per_head(context, "attention.output_a", groups, part.output_rank));
  return context.row_linear("attention.output_b", narrow, context.config->hidden, false);
}

}  // namespace

TensorId mix_tokens(PartsContext& context, TensorId x, const MixerPart& part) {
  switch (part.kind) {
    case MixerKind::kGrouped:
      return mix_grouped(context, x, part);
    case MixerKind::kLatent:
      return mix_latent(context, x, part);
    case MixerKind::kCompressed:
      return mix_compressed(context, x, part);
    case MixerKind::kLinear:
      return mix_linear(context, x, part);
    case MixerKind::kNone:
      break;
  }
  throw InternalError(__FILE__, __LINE__, "layer that mixes no tokens");
}

}  // namespace foretell
