#include "model/timing/gpu/latent_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {
namespace {

constexpr double kLatent = 512;
constexpr double kRotated = 64;
constexpr double kQueryWidth = 192;
constexpr double kValueWidth = 128;
constexpr double kTileRows = 128;
constexpr double kTileKeys = 64;
constexpr double kMinHeads = 16;  // rows that the matrix pipe takes
constexpr double kElementBytes = 2;
constexpr double kMaxParts = 128;

Grid prompt_kernel(const LayerCall& call, const LatentShape& shape) {
  const auto queries = static_cast<double>(shape.queries);
  const auto keys = static_cast<double>(shape.keys);
  const auto heads = static_cast<double>(shape.heads);
  const auto batch = static_cast<double>(shape.batch);
  const bool absorbed = call.facts().absorbed_prompts;
  const double query_width = absorbed ? kLatent + kRotated : kQueryWidth;
  const double value_width = absorbed ? kLatent : kValueWidth;
  const double groups = absorbed ? batch : batch * heads;
  const double packed = absorbed ? heads : 1;  // rows of a query
  const double before = keys - queries;
  const double products = 2 * kTileRows * kTileKeys * (query_width + value_width) / call.sm_rate();
  const double softmax = kTileRows * call.seconds(call.factors().score);
  const double step = std::max(products + softmax, call.seconds(call.factors().step));
  const double start = call.seconds(call.factors().prologue);
  const auto tiles = static_cast<std::int64_t>(std::ceil(queries * packed / kTileRows));
  Grid kernel;
  kernel.name = "latent attention of prompts";
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto place = static_cast<double>(call.facts().longest_first ? tiles - 1 - i : i);
    const double last = std::min(keys, before + std::ceil((place + 1) * kTileRows / packed));
    add_ctas(kernel, static_cast<std::int64_t>(groups),
             Seconds(start + std::ceil(last / kTileKeys) * step));
  }
  const double asked = batch * queries * heads * (query_width + value_width);
  const double answering =
      batch * keys * (absorbed ? query_width : heads * (kQueryWidth + kValueWidth));
  call.set_memory(kernel, (asked + answering) * kElementBytes);
  return kernel;
}

Grid token_kernel(const LayerCall& call, const LatentShape& shape) {
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const auto keys = static_cast<double>(shape.keys);
  const double held =
      std::min(call.facts().head_tile, std::max(kMinHeads, std::exp2(std::ceil(std::log2(heads)))));
  const double blocks = batch * std::ceil(heads / held);
  const double stages = std::ceil(keys / kTileKeys);
  const double load =
      kTileKeys * (kLatent + kRotated) * shape.cache_bytes / call.feed(call.factors().sm_feed);
  const double products = 2 * held * kTileKeys * (2 * kLatent + kRotated) / call.sm_rate() +
                          held * call.seconds(call.factors().score);
  const double step = std::max({load, products, call.seconds(call.factors().step)});
  const double start = call.seconds(call.factors().prologue);
  double best = std::numeric_limits<double>::infinity();
  double parts = 1;
  for (double split = 1; split <= std::min(kMaxParts, stages); split *= 2) {
    const double each = start + std::ceil(stages / split) * step;
    const double time = std::ceil(blocks * split / call.sms()) * each +
                        (split > 1 ? call.seconds(call.factors().split) : 0);
    if (time < best) {
      best = time;
      parts = split;
    }
  }
  Grid kernel;
  kernel.name = "latent attention of tokens";
  add_ctas(kernel, static_cast<std::int64_t>(blocks * parts),
           Seconds(start + std::ceil(stages / parts) * step));
  const double cache = batch * keys * (kLatent + kRotated) * shape.cache_bytes;
  call.set_memory(kernel, call.missing_since_call(cache) * cache +
                              batch * heads * (2 * kLatent + kRotated) * kElementBytes);
  if (parts > 1) kernel.tail = Seconds(call.seconds(call.factors().split));
  return kernel;
}

}  // namespace

bool is_latent_head(std::int64_t key_width, std::int64_t value_width) {
  return static_cast<double>(key_width) == kLatent + kRotated &&
         static_cast<double>(value_width) == kLatent;
}

bool is_expanded_head(std::int64_t key_width, std::int64_t value_width) {
  return static_cast<double>(key_width) == kQueryWidth &&
         static_cast<double>(value_width) == kValueWidth;
}

bool is_absorbed_product(std::int64_t k, std::int64_t n) {
  return static_cast<double>(k) == kValueWidth && static_cast<double>(n) == kLatent;
}

GpuProgram latent_kernels(const LayerCall& call, const LatentShape& shape) {
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const double tokens = batch * static_cast<double>(shape.queries);
  // Queries are rotated and latents written; of prompts keys and values are put together.
  const double widths = shape.prompt && !call.facts().absorbed_prompts
                            ? 2 * (2 * kQueryWidth + kValueWidth)
                            : 2 * kRotated + kLatent;
  const double bytes = tokens * kElementBytes * (heads * widths + 2 * (kLatent + kRotated));
  GpuProgram program;
  program.kernels.push_back(call.pass("rotate and write the cache", bytes, tokens * heads));
  program.kernels.back().launch = call.factors().launch;
  program.kernels.push_back(shape.prompt ? prompt_kernel(call, shape) : token_kernel(call, shape));
  return program;
}

GpuProgram latent_product_kernels(const LayerCall& call, const LatentProductShape& shape) {
  const double n = shape.to_latent ? kLatent : kValueWidth;
  const double k = shape.to_latent ? kValueWidth : kLatent;
  const auto tokens = static_cast<double>(shape.tokens);
  const auto heads = static_cast<double>(shape.heads);
  GpuProgram program;
  if (call.type().activation_bytes < kElementBytes) {
    program.kernels.push_back(
        call.pass("quantise", tokens * heads * k * (kElementBytes + 1), tokens * heads));
  }
  program.kernels.push_back(call.grouped_product({{tokens, heads}}, n, k));
  program.kernels.back().name = shape.to_latent ? "queries to latents" : "latents to results";
  program.kernels.front().launch = call.factors().launch;
  return program;
}

}  // namespace foretell
