#include "model/app/serving/steps/gpu_step_timer.hpp"

#include <algorithm>
#include <string_view>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/record/added_notes.hpp"
#include "model/app/request/resolve/prompt_images.hpp"
#include "model/app/serving/steps/attention_part.hpp"
#include "model/app/serving/steps/layer_kinds.hpp"
#include "model/app/serving/steps/served_network.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/predict/calls/gpu_memory.hpp"
#include "model/predict/calls/limited_call.hpp"
#include "model/timing/shared/chain_interval.hpp"
#include "model/timing/shared/energy_timing.hpp"
#include "reports/record/ranks.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

constexpr GridAxis kDecodeBatch{8, 8};
constexpr GridAxis kPositions{16, 8};
constexpr GridAxis kChunkTokens{16, 16};
constexpr GridAxis kChunkContext{16, 8};
constexpr GridAxis kDenseTokens{64, 32};
constexpr std::int64_t kFewPositions = 16;  // of the call that the layers are taken from
constexpr double kManyInFlight = 1e6;       // of a service: its stages always have work

// The product of latents to keys and values of every head.
bool is_expansion(std::string_view op) {
  constexpr std::string_view kName = ".attention.key_value";
  return op.size() > kName.size() && op.substr(op.size() - kName.size()) == kName;
}

bool is_embedding(std::string_view op) {
  if (starts_with(op, kSecondHalf)) op.remove_prefix(kSecondHalf.size());
  return starts_with(op, "embeddings.");
}

// The first layer of a kind is apart from those after it, whose first norm rides in a pass of the
// layer before; halves that take turns do so across layers, so that the last one is apart, too.
std::vector<AlikeLayers> with_ends(const std::vector<AlikeLayers>& kinds, bool with_last) {
  std::vector<AlikeLayers> parts;
  for (const AlikeLayers& kind : kinds) {
    const std::vector<std::int64_t>& all = kind.layers;
    const std::size_t last = with_last ? std::max<std::size_t>(1, all.size() - 1) : all.size();
    const auto add = [&](std::size_t begin, std::size_t end) {
      if (begin >= end) return;
      AlikeLayers part{kind.first, static_cast<double>(end - begin), {}};
      for (std::size_t i = begin; i < end; ++i) part.layers.push_back(all[i]);
      parts.push_back(std::move(part));
    };
    add(0, 1);
    add(1, last);
    add(last, all.size());
  }
  return parts;
}

// Some read keys and values of earlier ones, so that none can be left out.
bool share_caches(const std::vector<LayerPart>& layers) {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerPart& layer) { return layer.mixer.reads_earlier; });
}

std::int64_t mean_positions(const StepShape& shape) {
  return std::max<std::int64_t>(1, (shape.decode_positions + shape.decodes / 2) / shape.decodes);
}

Request for_calls(Request request) {
  // Lengths bind no call of a server: what counts is the longest context, which is checked there.
  request.input_len = 1;
  request.output_len = 2;
  request.batch = std::max(1, request.attention_dp);  // one for each rank
  if (request.pp > 1) request.in_flight = kManyInFlight;
  request.images = request.image_size = request.image_width = 0;  // their tower is a call apart
  return request;
}

}  // namespace

GpuStepTimer::GpuStepTimer(const Request& request, bool exact)
    : resolved_(resolve_gpu(for_calls(request))),
      factors_(factors_of(resolved_)),
      energy_(energy_of_board(resolved_)),
      exact_(exact),
      dense_axis_(kDenseTokens) {
  check_served(resolved_.model);
  check_served_images(request, resolved_.model);
  if (request.images > 0)
    images_ = std::make_unique<ImageTimer>(request, resolved_, factors_, energy_, exact);
  keep_one_of_each_kind();
  keep_attention_of_each_kind();
  for (int stage = 0; stage < stages(); ++stage) {
    decode_.emplace_back(kDecodeBatch, kPositions, exact, attention_of(stage, true));
    chunk_.emplace_back(kChunkTokens, kChunkContext, exact, attention_of(stage, false));
    exposed_in_decode_.emplace_back(kDecodeBatch, kPositions, exact, exposed_of(stage, true));
    exposed_in_chunk_.emplace_back(kChunkTokens, kChunkContext, exact, exposed_of(stage, false));
  }
}

// All stages are executed together.
const GpuStepTimer::StageParts& GpuStepTimer::executed_attention(bool decodes, std::int64_t x,
                                                                 std::int64_t y) {
  const auto [known, is_new] = attention_.try_emplace({decodes, x, y});
  if (is_new) {
    const Phase phase = decodes || y > 0 ? Phase::kDecode : Phase::kPrefill;
    known->second =
        decodes ? run(attention_alone_, phase, x, 1, y) : run(attention_alone_, phase, 1, x, x + y);
  }
  return known->second;
}

LazyGrid::Function GpuStepTimer::attention_of(int stage, bool decodes) {
  return [this, place = static_cast<std::size_t>(stage), decodes](std::int64_t x, std::int64_t y) {
    const Parts asked = executed_attention(decodes, x, y).at(place);
    const CallCost cost{Seconds(asked.attention), Joules(asked.attention_j)};
    if (decodes || y == 0) return cost;
    const Parts before = executed_attention(false, y, 0).at(place);
    if (context_ranks() > 1) {  // around the ring with all, but for what earlier pieces have done
      const Parts all = executed_attention(false, x + y, 0).at(place);
      return CallCost{Seconds(all.attention - before.attention),
                      Joules(all.attention_j - before.attention_j)};
    }
    if (before.expansion == 0) return cost;
    const Parts all = executed_attention(false, x + y, 0).at(place);
    const double expanded = all.attention - before.attention + before.expansion;
    if (asks_latents(x, y).value_or(expanded >= asked.attention)) return cost;
    return CallCost{Seconds(expanded),
                    Joules(all.attention_j - before.attention_j + before.expansion_j)};
  };
}

LazyGrid::Function GpuStepTimer::exposed_of(int stage, bool decodes) {
  return [this, place = static_cast<std::size_t>(stage), decodes](std::int64_t x, std::int64_t y) {
    return CallCost{Seconds(executed_attention(decodes, x, y).at(place).exchange), Joules(0)};
  };
}

// Where halves take turns, attention hides a part: a step of decodes or of one chunk alone was
// executed with it, a mixed one takes what layers without attention leave.
Seconds GpuStepTimer::exposed_exchange(const StepShape& shape, std::int64_t tokens, int stage,
                                       Seconds without_attention) {
  const auto place = static_cast<std::size_t>(stage);
  if (!resolved_.request.two_batch) return without_attention;
  if (shape.chunks.empty()) {
    return std::min(without_attention,
                    exposed_in_decode_[place].at(tokens, mean_positions(shape)).time);
  }
  if (shape.decodes > 0 || shape.chunks.size() > 1) return without_attention;
  const StepChunk& chunk = shape.chunks.front();
  return std::min(without_attention, exposed_in_chunk_[place].at(chunk.tokens, chunk.context).time);
}

// What the library does; networks with an indexer have ways of their own, which no file states.
std::optional<bool> GpuStepTimer::asks_latents(std::int64_t tokens, std::int64_t cached) const {
  const std::vector<LayerPart>& layers = resolved_.model.parts_of_decoder.layers;
  const bool chooses = std::any_of(layers.begin(), layers.end(), [](const LayerPart& layer) {
    return layer.mixer.indexer.heads > 0;
  });
  if (chooses) return std::nullopt;
  const KernelLibrary& library =
      kernel_libraries().of_networks(std::string(trim(resolved_.request.library)));
  return library.asks_latents_of(resolved_.system.spec.device.architecture,
                                 static_cast<double>(tokens), static_cast<double>(cached));
}

void GpuStepTimer::keep_one_of_each_kind() {
  reduced_.request = resolved_;
  const std::int64_t layers = resolved_.model.layers;
  std::vector<LayerPart>& parts = reduced_.request.model.parts_of_decoder.layers;
  if (share_caches(parts)) {
    std::vector<AlikeLayers> each;
    for (std::int64_t layer = 0; layer < layers; ++layer) each.push_back({layer, 1, {layer}});
    return count_layers(each);
  }
  if (parts.empty()) {  // all layers are alike
    AlikeLayers all{0, static_cast<double>(layers), {}};
    for (std::int64_t layer = 0; layer < layers; ++layer) all.layers.push_back(layer);
    const std::vector<AlikeLayers> alike = with_ends({all}, resolved_.request.two_batch);
    reduced_.request.model.layers = static_cast<std::int64_t>(alike.size());
    return count_layers(alike);
  }
  Pass pass{Phase::kDecode, 1, kFewPositions};
  pass.whole = true;
  const Graph graph = build_pass_graph(resolved_, pass, resolved_.request.tp);
  std::vector<LayerPart> kept;
  const std::vector<AlikeLayers> kinds =
      with_ends(layer_kinds(graph, layers), resolved_.request.two_batch);
  for (const AlikeLayers& kind : kinds)
    kept.push_back(parts.at(static_cast<std::size_t>(kind.first)));
  parts = std::move(kept);
  reduced_.request.model.layers = static_cast<std::int64_t>(kinds.size());
  count_layers(kinds);
}

void GpuStepTimer::count_layers(const std::vector<AlikeLayers>& kinds) {
  const int stages = std::max(1, resolved_.request.pp);
  for (int stage = 0; stage < stages; ++stage) {
    LayerRange range = stage_layers(resolved_.model.layers, stages, stage);
    if (range.last < 0) range.last = resolved_.model.layers - 1;  // of a network that is not cut
    std::vector<double>& counts = reduced_.counts.emplace_back();
    for (const AlikeLayers& kind : kinds) {
      counts.push_back(static_cast<double>(std::count_if(
          kind.layers.begin(), kind.layers.end(),
          [&range](std::int64_t layer) { return layer >= range.first && layer <= range.last; })));
    }
  }
}

// The time of an attention does not depend on what follows it, nor on the layers around it: one
// layer of each kind of attention stands for all, up to there. Where halves take turns, where
// a ring divides prompts, and where everything is executed, it stays in its network.
void GpuStepTimer::keep_attention_of_each_kind() {
  attention_alone_ = reduced_;
  if (exact_ || resolved_.request.two_batch || context_ranks() > 1) return;
  attention_alone_.attention_alone = true;
  Pass pass{Phase::kDecode, 1, kFewPositions};
  pass.whole = true;
  GpuRequest& request = attention_alone_.request;
  const std::int64_t layers = request.model.layers;
  const Graph graph = build_pass_graph(request, pass, request.request.tp);
  const std::vector<AlikeLayers> kinds = attention_kinds(graph, layers);
  std::vector<LayerPart>& parts = request.model.parts_of_decoder.layers;
  if (share_caches(parts) || kinds.empty()) return;
  std::vector<LayerPart> kept;
  for (const AlikeLayers& kind : kinds) {
    if (!parts.empty()) kept.push_back(parts.at(static_cast<std::size_t>(kind.first)));
  }
  parts = std::move(kept);
  request.model.layers = static_cast<std::int64_t>(kinds.size());
  for (std::vector<double>& counts : attention_alone_.counts) {
    std::vector<double> sums;
    for (const AlikeLayers& kind : kinds) {
      double sum = 0;
      for (const std::int64_t layer : kind.layers) sum += counts[static_cast<std::size_t>(layer)];
      sums.push_back(sum);
    }
    counts = std::move(sums);
  }
}

GpuStepTimer::StageParts GpuStepTimer::run(const Executed& network, Phase phase, std::int64_t batch,
                                           std::int64_t tokens, std::int64_t kv_len) {
  GpuRequest one = network.request;
  one.request.batch = batch * ranks();
  one.model.max_seq_len = std::max(one.model.max_seq_len, kv_len);
  Graph graph = build_gpu_generation_graph(one, phase, tokens, kv_len, one.request.tp);
  if (network.attention_alone) graph = up_to_attention(graph);
  GpuCall call = call_of(one, graph, factors_);
  call.exact = exact_;
  const GpuCallResult result = run_within(call, energy_, clock_limits_of(one));
  std::unordered_map<std::string_view, const Op*> ops;
  for (const Op& op : graph.ops()) ops.emplace(op.name, &op);
  StageParts all(network.counts.size());
  for (std::size_t stage = 0; stage < all.size(); ++stage) {
    Parts& parts = all[stage];
    // How often an operator runs in this stage.
    const auto alike = [&](const Op* op, const std::string& name) -> double {
      if (op != nullptr && op->layer != kNoId)
        return network.counts[stage].at(static_cast<std::size_t>(op->layer));
      return stage == (is_embedding(name) ? 0 : all.size() - 1) ? 1 : 0;
    };
    for (const KernelRun& kernel : result.kernels) {
      const Op& op = *ops.at(kernel.op);
      const double runs = alike(&op, kernel.op);
      const double time = kernel.exposed.value() * runs;
      parts.launches += runs;
      if (op.layer == kNoId && !is_embedding(kernel.op)) {
        parts.head += time;
      } else if (kernel.engine == "link" && !is_of_ranks(op.name)) {
        parts.exchange += time;
      } else if (mixes_tokens(op)) {
        parts.attention += time;
      } else if (op.kind == "Experts") {
        parts.experts += time;
      } else {
        parts.layers += time;
        if (is_expansion(kernel.op)) parts.expansion += time;
      }
    }
    for (const OperatorMetrics& done : result.metrics.operators) {
      const auto found = ops.find(done.name);
      const Op* op = found == ops.end() ? nullptr : found->second;
      const bool of_layer = op != nullptr && op->layer != kNoId;
      const double energy =
          added_energy(done.work, done.duration, done.clock, energy_.asked).value() *
          alike(op, done.name);
      if (!of_layer && !is_embedding(done.name)) {
        parts.head_j += energy;
      } else {
        (op != nullptr && mixes_tokens(*op) ? parts.attention_j : parts.layers_j) += energy;
        if (is_expansion(done.name)) parts.expansion_j += energy;
      }
    }
  }
  add_new(result.notes, notes_);
  if (!limit_is_missed_ && !result.power_note.empty() && limit() > Watts(0)) {
    limit_is_missed_ = true;
    notes_.push_back(result.power_note);
  }
  if (!has_interval_ && !network.attention_alone && factors_.id() != "none") {
    interval80_ = chain_interval80(result.parts, factors_.common().kernel_correlation);
    has_interval_ = true;
  }
  return all;
}

const GpuStepTimer::StageParts& GpuStepTimer::dense(std::int64_t tokens) {
  const auto found = dense_.find(tokens);
  if (found != dense_.end()) return found->second;
  return dense_[tokens] = run(reduced_, Phase::kDecode, tokens, 1, kFewPositions);
}

GpuStepTimer::Parts GpuStepTimer::dense_between(std::int64_t tokens, int stage) {
  const auto place = static_cast<std::size_t>(stage);
  const std::int64_t low = exact_ ? tokens : dense_axis_.below(tokens);
  const std::int64_t high = exact_ ? tokens : dense_axis_.above(tokens);
  const Parts first = dense(low).at(place);
  if (low == high) return first;
  const Parts second = dense(high).at(place);
  const double share = static_cast<double>(tokens - low) / static_cast<double>(high - low);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {between(first.layers, second.layers),
          between(first.experts, second.experts),
          between(first.exchange, second.exchange),
          between(first.head, second.head),
          0,
          first.launches,
          0,
          between(first.layers_j, second.layers_j),
          between(first.head_j, second.head_j),
          0,
          0};
}

Seconds GpuStepTimer::handover(std::int64_t tokens) {
  const GpuSystemSpec& spec = resolved_.system.spec;
  const Bytes row =
      size_of(resolved_.precision.vector) * static_cast<double>(resolved_.model.hidden);
  const StageLayout layout{stages(),
                           std::max(1, resolved_.request.tp) * groups_of_copy(resolved_.request)};
  const auto at = [&](std::int64_t rows) {
    const auto [known, is_new] = handovers_.try_emplace(rows);
    if (is_new)
      known->second = handover_time(spec, factors_, layout, row * static_cast<double>(rows));
    return known->second;
  };
  const std::int64_t low = exact_ ? tokens : dense_axis_.below(tokens);
  const std::int64_t high = exact_ ? tokens : dense_axis_.above(tokens);
  if (low == high) return at(low);
  const double share = static_cast<double>(tokens - low) / static_cast<double>(high - low);
  return at(low) + (at(high) - at(low)) * share;
}

StepTime GpuStepTimer::time(const StepShape& shape, int stage) {
  // A rank computes its share of the tokens of every prompt.
  std::int64_t prompt_tokens = 0;
  for (const StepChunk& chunk : shape.chunks) prompt_tokens += chunk.tokens;
  const std::int64_t own_tokens = (prompt_tokens + context_ranks() - 1) / context_ranks();
  const std::int64_t tokens =
      std::max(shape.padded_tokens, shape.tokens()) - (prompt_tokens - own_tokens);
  const Parts all = dense_between(tokens, stage);
  // Ranks that share experts wait for one another: each computes its share of the tokens of all.
  const bool shares = shape.shared_tokens > 0 && shape.shared_tokens != tokens;
  const Parts shared = shares ? dense_between(shape.shared_tokens, stage) : all;
  const double layers = all.layers + shared.experts;
  const std::int64_t decode_rows = shape.decodes * shape.tokens_each;
  const std::int64_t sampled = decode_rows + shape.finished_prompts;
  const Parts some = sampled == 0        ? Parts{}
                     : sampled == tokens ? all
                                         : dense_between(sampled, stage);
  StepTime time;
  if (shape.decodes > 0) {
    const CallCost attention =
        decode_[static_cast<std::size_t>(stage)].at(decode_rows, mean_positions(shape));
    time.attention = attention.time;
    time.energy += attention.energy;
  }
  double chunks = 0;
  for (const StepChunk& chunk : shape.chunks) {
    const CallCost attention =
        chunk_[static_cast<std::size_t>(stage)].at(chunk.tokens, chunk.context);
    chunks += attention.time.value();
    time.energy += attention.energy;
  }
  const double share = static_cast<double>(own_tokens) / static_cast<double>(tokens);
  time.prompts = Seconds(chunks + share * layers);
  time.exchange = exposed_exchange(shape, shares ? shape.shared_tokens : tokens, stage,
                                   Seconds(shared.exchange));
  time.launches = all.launches;
  time.total = Seconds(layers + some.head + chunks) + time.exchange + time.attention;
  time.energy += Joules(all.layers_j + some.head_j);
  const std::int64_t devices = std::max(1, resolved_.request.tp) * context_ranks();
  keep_limit(time);
  if (shape.images > 0 && stage == 0) {
    const CallCost encoded = images_->encode(shape.images);
    time.images = encoded.time;
    time.image_launches = images_->launches();
    time.energy += encoded.energy;
  }
  time.energy = time.energy * static_cast<double>(devices);
  if (stage + 1 < stages()) time.handover = handover(tokens);
  return time;
}

void GpuStepTimer::keep_limit(StepTime& time) const {
  if (!(time.total > Seconds(0))) return;
  const PowerFacts& facts = energy_.asked.facts;
  const Watts idle = idle_power(1, facts);
  const Watts free = time.energy / time.total + idle;
  if (!(limit() > Watts(0))) {
    time.power = free;
    return;
  }
  const SlowedJob slowed = slow_down_within(free, limit() * facts.limit_share, facts);
  if (slowed.factor == 1 || limit_is_missed_) return;
  for (Seconds* part : {&time.total, &time.attention, &time.prompts, &time.exchange})
    *part *= slowed.factor;
  time.energy = (slowed.watts - idle) * time.total;
}

std::string GpuStepTimer::power_note(Watts most) const {
  if (!energy_.made_from) return "";
  return free_power_note(most, resolved_.system.spec.device.power, energy_.asked,
                         *energy_.made_from);
}

std::int64_t GpuStepTimer::executed() const {
  return static_cast<std::int64_t>(dense_.size()) + decode_.front().executed() +
         chunk_.front().executed();
}

int GpuStepTimer::ranks() const { return std::max(1, resolved_.request.attention_dp); }

bool GpuStepTimer::reads_latents() const {
  const std::vector<LayerPart>& layers = resolved_.model.parts_of_decoder.layers;
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerPart& layer) { return layer.mixer.kind == MixerKind::kLatent; });
}

std::int64_t GpuStepTimer::context_ranks() const { return std::max(1, resolved_.request.cp); }

WorkerMemory GpuStepTimer::memory(std::int64_t max_tokens, int stage) const {
  const auto use = [this](const GpuRequest& of, std::int64_t batch, std::int64_t kv_len,
                          const LayerRange& layers) {
    GpuRequest one = of;
    one.request.batch = batch * ranks();
    one.model.max_seq_len = std::max(one.model.max_seq_len, kv_len);
    Pass pass{Phase::kDecode, 1, kv_len};
    pass.whole = true;
    return memory_of_gpu(build_pass_graph(one, pass, one.request.tp, layers), one.fusion);
  };
  // Windows and states take a constant part, which many rows share.
  constexpr std::int64_t kRows = 4096;
  WorkerMemory memory;
  const LayerRange own = stage_layers(resolved_.model.layers, stages(), stage);
  const MemoryUse all = use(resolved_, 1, kRows, own);
  memory.weights = all.weights;
  memory.kv_per_token = all.kv_cache / static_cast<double>(kRows);
  memory.workspace = use(reduced_.request, max_tokens, 1, {}).activations;
  return memory;
}

}  // namespace foretell
