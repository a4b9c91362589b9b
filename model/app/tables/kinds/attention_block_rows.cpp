#include "model/app/tables/kinds/attention_block_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "calib/fitted/gpu/attention_block_additions.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/timing/shared/chain_interval.hpp"
#include "workloads/import/hf/decoder/parts_graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kLongestBlock = std::int64_t{1} << 24;
constexpr double kMostCachedTokens = double{1 << 30};  // in all caches of a row

// The layer of the network that has what the kind says; where some of them read what an earlier one
// chose, one of those of which there are more.
std::size_t layer_of(const ModelConfig& model, const AttentionBlockRow& row) {
  const std::vector<LayerPart>& layers = model.parts_of_decoder.layers;
  const auto fits = [&](const LayerPart& part) {
    const bool chooses = part.mixer.indexer.heads > 0;
    if (row.kind == "msa") return chooses && part.mixer.kind == MixerKind::kGrouped;
    return part.mixer.kind == MixerKind::kLatent && chooses == (row.kind == "dsa");
  };
  const auto reads_choice = [&](const LayerPart& part) {
    return fits(part) && part.mixer.indexer.shared;
  };
  const auto sharing = std::count_if(layers.begin(), layers.end(), reads_choice);
  const bool most_share = 2 * sharing > std::count_if(layers.begin(), layers.end(), fits);
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const LayerPart& part) {
    return fits(part) && part.mixer.indexer.shared == most_share;
  });
  if (found == layers.end()) {
    throw UserError(fmt::format(
        "model: {} has no attention of kind '{}'; mla reads latents, dsa those that an indexer "
        "chose, msa grouped heads that an indexer chose",
        model.name, row.kind));
  }
  return static_cast<std::size_t>(found - layers.begin());
}

// That an indexer of the layer may choose.
std::int64_t chosen_keys(const ModelConfig& model, const AttentionBlockRow& row) {
  const IndexerPart& indexer = model.parts_of_decoder.layers[layer_of(model, row)].mixer.indexer;
  return indexer.top_k * indexer.block;
}

std::int64_t share_of(std::int64_t count, std::int64_t heads, std::int64_t of) {
  return std::max<std::int64_t>(1, count * heads / of);
}

// The layer with as many heads as a GPU has; keys of groups and what chooses them are divided with
// them, an indexer of latents is not.
void set_heads(std::int64_t heads, ModelConfig& model, MixerPart& mixer) {
  const std::int64_t whole = mixer.heads;
  mixer.heads = model.heads = heads;
  if (mixer.kind == MixerKind::kLatent) {
    mixer.kv_heads = heads;
    return;
  }
  mixer.kv_heads = share_of(mixer.kv_heads, heads, whole);
  if (heads % mixer.kv_heads != 0) mixer.kv_heads = heads;
  mixer.indexer.heads = share_of(mixer.indexer.heads, heads, whole);
}

bool reads_chosen_keys(const Graph& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
    return op.kind == "Attention" && op.attributes.count("selected") > 0;
  });
}

std::pair<double, double> widened(std::pair<double, double> interval, double exponent) {
  return {std::pow(interval.first, exponent), std::pow(interval.second, exponent)};
}

// From 16 bits to the type.
int halvings_of(DType type) {
  if (type == DType::kNvfp4) return 2;
  return size_of(type) < Bytes(2) ? 1 : 0;
}

// For a layer whose indexer chooses in every call, or only where there are more keys than it may.
AttentionBlockFacts::Call call_of(const AttentionBlockRow& row, const std::string& architecture) {
  return {row.framework, row.kind, row.phase, architecture};
}

std::string word(const NamedCells& cells, const CsvRow& row, const std::string& column,
                 const std::vector<std::string>& known) {
  std::string text = cells.text(row, column);
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    throw unknown_name(column, text, known);
  }
  return text;
}

std::string required(const NamedCells& cells, const CsvRow& row, const std::string& column) {
  std::string text = cells.text(row, column);
  if (text.empty()) throw UserError(column + ": is empty");
  return text;
}

}  // namespace

AttentionBlockRow read_attention_block_row(const NamedCells& cells, const CsvRow& row) {
  AttentionBlockRow block;
  const auto count_or = [&](const std::string& column, std::int64_t otherwise) {
    return cells.text(row, column).empty() ? otherwise : cells.count(row, column, 1, kLongestBlock);
  };
  block.gpu = required(cells, row, "gpu");
  block.framework = cells.text(row, "framework");
  block.kind = word(cells, row, "kind", {"mla", "dsa", "msa"});
  block.phase = word(cells, row, "phase", {"context", "generation"});
  block.model = required(cells, row, "model");
  block.product_dtype = required(cells, row, "product_dtype");
  const std::string cache = cells.text(row, "kv_dtype");
  if (!cache.empty()) block.narrow_cache = word(cells, row, "kv_dtype", {"bf16", "fp8"}) == "fp8";
  block.batch = count_or("batch", 1);
  block.heads = cells.count(row, "heads", 1, kMaxHeads);
  const bool prompt = block.phase == "context";
  block.queries =
      prompt ? cells.count(row, "query_len", 1, kLongestBlock) : count_or("query_len", 1);
  block.keys =
      prompt ? count_or("kv_len", block.queries) : cells.count(row, "kv_len", 1, kLongestBlock);
  if (block.keys < block.queries) {
    throw UserError(fmt::format("kv_len: {} is less than the {} of query_len, which it includes",
                                block.keys, block.queries));
  }
  if (static_cast<double>(block.batch) * static_cast<double>(block.keys) > kMostCachedTokens) {
    throw UserError(fmt::format("batch: {} sequences of {} tokens are more than a GPU holds",
                                block.batch, block.keys));
  }
  return block;
}

std::string attention_block_family(const NamedCells& cells, const CsvRow& row) {
  return cells.text(row, "heads");
}

Graph attention_block_graph(const ModelConfig& model, const AttentionBlockRow& row,
                            const PrecisionPolicy& precision, const AttentionBlockFacts& facts,
                            const std::string& architecture) {
  ModelConfig config = model;
  const std::size_t layer = layer_of(config, row);
  MixerPart& mixer = config.parts_of_decoder.layers[layer].mixer;
  set_heads(row.heads, config, mixer);
  const AttentionBlockFacts::Call call = call_of(row, architecture);
  const std::int64_t most = facts.multiplied_out(call);
  const bool prompt = row.phase == "context";
  mixer.multiplies_cache = prompt && most > 0 && row.batch * row.keys <= most;
  mixer.indexer.always =
      facts.always_chooses(call) || (prompt && most > 0 && !mixer.multiplies_cache);
  config.checkpoint = {};  // the table says which types there are
  Binding binding;
  binding.batch = row.batch;
  binding.seq_len = row.queries;
  binding.kv_len = row.keys;
  binding.phase = prompt ? Phase::kPrefill : Phase::kDecode;
  if (prompt) binding.context = row.keys - row.queries;
  Graph graph = build_attention_block(config, binding, layer);
  apply_precision(precision, &graph);
  return graph;
}

AttentionBlockPredictor::AttentionBlockPredictor(std::vector<std::string> set, RowFactors factors)
    : set_(std::move(set)), factors_(std::move(factors)) {
  std::string& held_out = factors_.held_out_device;
  if (!held_out.empty()) held_out = catalog_.find_device(held_out);
}

const AttentionBlockPredictor::Gpu& AttentionBlockPredictor::gpu_of(const AttentionBlockRow& row) {
  const std::string key = row.gpu + '\n' + row.framework;
  if (const auto known = gpus_.find(key); known != gpus_.end()) return known->second;
  const bool is_system = catalog_.has_system(row.gpu);
  const std::string name = is_system ? row.gpu : catalog_.find_device(row.gpu);
  LoadedGpuSystem loaded = catalog_.load(name, set_);
  const std::string likeness = take_for_measured(factors_.folder, loaded);
  const GpuSystemSpec& system = loaded.spec;
  GpuFactors factors(system.device, factors_.folder, {}, row.framework, factors_.held_out_device);
  return gpus_.emplace(key, Gpu{system, std::move(factors), likeness}).first->second;
}

const ModelConfig& AttentionBlockPredictor::network_of(const AttentionBlockRow& row) {
  const auto known = networks_.find(row.model);
  if (known != networks_.end()) return known->second;
  return networks_.emplace(row.model, workloads_.load(row.model)).first->second;
}

std::string AttentionBlockPredictor::kernels_phase(const AttentionBlockRow& row) {
  const std::string& architecture = gpu_of(row).system.device.architecture;
  const bool few = row.queries <= facts_.served_as_tokens(call_of(row, architecture));
  return few ? "generation" : row.phase;
}

std::string AttentionBlockPredictor::table(const AttentionBlockRow& row) {
  return row.framework + ' ' + row.kind + ' ' + kernels_phase(row);
}

AttentionBlockPredictor::Parts AttentionBlockPredictor::parts(const AttentionBlockRow& row) {
  const AttentionBlockFacts::Type& type = facts_.type(row.product_dtype);
  PrecisionPolicy precision = find_precision(type.policy);
  if (row.narrow_cache) precision.kv_cache = DType::kFp8;
  const ModelConfig& model = network_of(row);
  const Gpu& gpu = gpu_of(row);
  const std::string& architecture = gpu.system.device.architecture;
  const Graph graph = attention_block_graph(model, row, precision, facts_, architecture);
  GpuFactors alone = gpu.factors;
  alone.take_kernels_alone();
  const GpuCallResult result = run_gpu_call({{}, graph, precision, gpu.system, alone});
  Parts parts;
  parts.interval80 = chain_interval80(result.parts, gpu.factors.common().kernel_correlation);
  parts.note = join(result.notes, "; ");
  AttentionBlockWork& work = parts.work;
  for (const OperatorMetrics& op : result.metrics.operators) {
    if (op.op == "MatMul") work.products += op.duration;
    if (op.op == "Attention") work.attention += op.duration;
    if (op.op == "Indexer") work.indexer += op.duration;
  }
  work.chosen = reads_chosen_keys(graph);
  work.others = result.metrics.call - work.products - work.attention - work.indexer;
  work.halvings = halvings_of(precision.matmul_compute);
  work.narrow_cache = row.narrow_cache;
  work.chooses = row.keys > chosen_keys(model, row);
  work.tokens = static_cast<double>(row.batch) * static_cast<double>(row.queries);
  work.heads = static_cast<double>(row.heads);
  refer(model, row, architecture, work);
  return parts;
}

// By operators of a framework instead of its kernels, or copies before them.
void AttentionBlockPredictor::refer(const ModelConfig& model, const AttentionBlockRow& row,
                                    const std::string& architecture,
                                    AttentionBlockWork& work) const {
  const AttentionBlockFacts::Call call = call_of(row, architecture);
  const Bytes slab = facts_.slab(call);
  const double pool = facts_.copied_pool(call);
  if (!(slab > Bytes(0)) && !(pool > 0)) return;
  const MixerPart& whole = model.parts_of_decoder.layers[layer_of(model, row)].mixer;
  ReferenceShape shape;
  shape.batch = row.batch;
  shape.queries = row.queries;
  shape.keys = row.keys;
  shape.heads = row.heads;
  shape.key_heads = share_of(whole.kv_heads, row.heads, whole.heads);
  shape.key_width = shape.key_heads * whole.head_dim;
  shape.index_width = whole.indexer.head_dim;
  shape.index_heads = share_of(whole.indexer.heads, row.heads, whole.heads);
  if (slab > Bytes(0)) {
    work.reference = reference_work(shape, slab);
    work.attention = work.indexer = Seconds(0);
  } else {
    work.reference = pool_copy(shape, pool);
  }
}

std::optional<ChosenOperatorFactors<AttentionBlockFactors>> AttentionBlockPredictor::added(
    const AttentionBlockRow& row) {
  const Gpu& gpu = gpu_of(row);
  const AttentionBlockFacts::Call call = call_of(row, gpu.system.device.architecture);
  const std::string served_as = kernels_phase(row);
  auto found = attention_block_additions(gpu.factors, facts_, call, served_as);
  const std::string network = facts_.only_network(call);
  if (found && !network.empty() && network_of(row).name != network) {
    found->interval80 = widened(found->interval80, gpu.factors.common().unmeasured_interval);
  }
  return found;
}

RowTime AttentionBlockPredictor::predict(const AttentionBlockRow& row) {
  const Parts of_row = parts(row);
  const Gpu& gpu = gpu_of(row);
  const auto more = added(row);
  const auto [low, high] = more ? more->interval80 : of_row.interval80;
  RowTime time;
  time.time = attention_block_time(of_row.work, more ? more->factors : AttentionBlockFactors{},
                                   gpu.system.device);
  time.low = time.time * low;
  time.high = time.time * high;
  time.note = gpu.likeness;
  if (!of_row.note.empty()) time.note += (time.note.empty() ? "" : "; ") + of_row.note;
  if (more && (more->device != gpu.system.device.id || more->table != table(row))) {
    time.note += (time.note.empty() ? "" : "; ") +
                 ("layer of attention: factors of " + more->table) + " on " + more->device;
  }
  return time;
}

}  // namespace foretell
