#include "model/app/serving/steps/gpu_step_timer.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "model/app/request/intervals.hpp"
#include "model/app/serving/steps/layer_kinds.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/gpu_call.hpp"
#include "model/predict/gpu_memory.hpp"
#include "model/timing/shared/chain_interval.hpp"

namespace foretell {
namespace {

constexpr GridAxis kDecodeBatch{8, 8};
constexpr GridAxis kPositions{16, 8};
constexpr GridAxis kChunkTokens{16, 16};
constexpr GridAxis kChunkContext{16, 8};
constexpr GridAxis kDenseTokens{64, 32};
constexpr std::int64_t kFewPositions = 16;  // of the call that the layers are taken from

// What depends on the sequences of a step and on what they have read, not on its tokens alone.
bool mixes_tokens(const Op& op) {
  static const std::set<std::string_view> kKinds = {"Attention", "Indexer", "Compress", "Scan",
                                                    "ShortConv"};
  return kKinds.count(op.kind) > 0 || op.name.find(".attention.scores") != std::string::npos;
}

Request for_calls(Request request) {
  // Lengths bind no call of a server: what counts is the longest context, which is checked there.
  request.input_len = 1;
  request.output_len = 2;
  request.batch = 1;
  return request;
}

}  // namespace

GpuStepTimer::GpuStepTimer(const Request& request, bool exact)
    : resolved_(resolve_gpu(for_calls(request))),
      factors_(factors_of(resolved_)),
      exact_(exact),
      dense_axis_(kDenseTokens) {
  if (resolved_.model.family != Family::kDecoder) {
    throw UserError(resolved_.model.name +
                    ": only decoders are served token by token; name one with --workload");
  }
  keep_one_of_each_kind();
  const auto attention = [this](Phase phase, std::int64_t batch, std::int64_t tokens,
                                std::int64_t kv_len) {
    return Seconds(run(phase, batch, tokens, kv_len).attention);
  };
  decode_ = std::make_unique<LazyGrid>(kDecodeBatch, kPositions, exact,
                                       [attention](std::int64_t batch, std::int64_t kv_len) {
                                         return attention(Phase::kDecode, batch, 1, kv_len);
                                       });
  chunk_ = std::make_unique<LazyGrid>(
      kChunkTokens, kChunkContext, exact, [attention](std::int64_t tokens, std::int64_t context) {
        const Phase phase = context == 0 ? Phase::kPrefill : Phase::kDecode;
        return attention(phase, 1, tokens, context + tokens);
      });
}

void GpuStepTimer::keep_one_of_each_kind() {
  reduced_ = resolved_;
  const std::int64_t layers = resolved_.model.layers;
  std::vector<LayerPart>& parts = reduced_.model.parts_of_decoder.layers;
  const bool shares_caches = std::any_of(
      parts.begin(), parts.end(), [](const LayerPart& part) { return part.mixer.reads_earlier; });
  if (shares_caches) {
    counts_.assign(parts.size(), 1);
    return;
  }
  if (parts.empty()) {  // all layers are alike
    reduced_.model.layers = 1;
    counts_ = {static_cast<double>(layers)};
    return;
  }
  const Graph graph =
      build_gpu_generation_graph(resolved_, Phase::kDecode, 1, kFewPositions, resolved_.request.tp);
  std::vector<LayerPart> kept;
  for (const LayerKind& kind : layer_kinds(graph, layers)) {
    kept.push_back(parts.at(static_cast<std::size_t>(kind.first)));
    counts_.push_back(kind.count);
  }
  parts = std::move(kept);
  reduced_.model.layers = static_cast<std::int64_t>(counts_.size());
}

GpuStepTimer::Parts GpuStepTimer::run(Phase phase, std::int64_t batch, std::int64_t tokens,
                                      std::int64_t kv_len) {
  GpuRequest one = reduced_;
  one.request.batch = batch;
  one.model.max_seq_len = std::max(one.model.max_seq_len, kv_len);
  const Graph graph = build_gpu_generation_graph(one, phase, tokens, kv_len, one.request.tp);
  GpuCall call{graph, one.precision, one.system.spec, factors_};
  call.heads_share_keys = one.heads_share_keys;
  call.sustained_clock = one.sustained_clock;
  call.exact = exact_;
  const GpuCallResult result = run_gpu_call(call);
  std::unordered_map<std::string_view, const Op*> ops;
  for (const Op& op : graph.ops()) ops.emplace(op.name, &op);
  Parts parts;
  for (const KernelRun& kernel : result.kernels) {
    const Op& op = *ops.at(kernel.op);
    const bool of_layer = op.layer != kNoId;
    const double time =
        kernel.duration.value() * (of_layer ? counts_.at(static_cast<std::size_t>(op.layer)) : 1);
    if (!of_layer && !starts_with(kernel.op, "embeddings.")) {
      parts.head += time;
    } else if (kernel.link > Bytes(0)) {
      parts.exchange += time;
    } else if (mixes_tokens(op)) {
      parts.attention += time;
    } else {
      parts.layers += time;
    }
  }
  for (const std::string& note : result.notes) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }
  if (!has_interval_ && factors_.id() != "none") {
    interval80_ = chain_interval80(result.parts, kKernelCorrelation);
    has_interval_ = true;
  }
  return parts;
}

const GpuStepTimer::Parts& GpuStepTimer::dense(std::int64_t tokens) {
  const auto found = dense_.find(tokens);
  if (found != dense_.end()) return found->second;
  return dense_[tokens] = run(Phase::kDecode, tokens, 1, kFewPositions);
}

GpuStepTimer::Parts GpuStepTimer::dense_between(std::int64_t tokens) {
  const std::int64_t low = exact_ ? tokens : dense_axis_.below(tokens);
  const std::int64_t high = exact_ ? tokens : dense_axis_.above(tokens);
  const Parts first = dense(low);
  if (low == high) return first;
  const Parts second = dense(high);
  const double share = static_cast<double>(tokens - low) / static_cast<double>(high - low);
  const auto between = [share](double a, double b) { return a + share * (b - a); };
  return {between(first.layers, second.layers), between(first.exchange, second.exchange),
          between(first.head, second.head), 0};
}

StepTime GpuStepTimer::time(const StepShape& shape) {
  const std::int64_t tokens = std::max(shape.padded_tokens, shape.tokens());
  const Parts all = dense_between(tokens);
  const std::int64_t decode_rows = shape.decodes * shape.tokens_each;
  const std::int64_t sampled = decode_rows + shape.finished_prompts;
  const double head = sampled == 0 ? 0 : sampled == tokens ? all.head : dense_between(sampled).head;
  StepTime time;
  if (shape.decodes > 0) {
    const std::int64_t mean =
        std::max<std::int64_t>(1, (shape.decode_positions + shape.decodes / 2) / shape.decodes);
    time.attention = decode_->at(decode_rows, mean);
  }
  double chunks = 0;
  std::int64_t chunk_tokens = 0;
  for (const StepChunk& chunk : shape.chunks) {
    chunks += chunk_->at(chunk.tokens, chunk.context).value();
    chunk_tokens += chunk.tokens;
  }
  const double share = static_cast<double>(chunk_tokens) / static_cast<double>(tokens);
  time.prompts = Seconds(chunks + share * all.layers);
  time.exchange = Seconds(all.exchange);
  time.total = Seconds(all.layers + all.exchange + head + chunks) + time.attention;
  return time;
}

std::int64_t GpuStepTimer::executed() const {
  return static_cast<std::int64_t>(dense_.size()) + decode_->executed() + chunk_->executed();
}

WorkerMemory GpuStepTimer::memory(std::int64_t max_tokens) const {
  const auto use = [](const GpuRequest& of, std::int64_t batch, std::int64_t kv_len) {
    GpuRequest one = of;
    one.request.batch = batch;
    one.model.max_seq_len = std::max(one.model.max_seq_len, kv_len);
    return memory_of_gpu(
        build_gpu_generation_graph(one, Phase::kDecode, 1, kv_len, one.request.tp));
  };
  // Windows and states take a constant part, which many rows share.
  constexpr std::int64_t kRows = 4096;
  WorkerMemory memory;
  const MemoryUse all = use(resolved_, 1, kRows);
  memory.weights = all.weights;
  memory.kv_per_token = all.kv_cache / static_cast<double>(kRows);
  memory.workspace = use(reduced_, max_tokens, 1).activations;
  return memory;
}

}  // namespace foretell
