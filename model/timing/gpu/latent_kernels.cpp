#include "model/timing/gpu/latent_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {
namespace {

constexpr double kElementBytes = 2;

bool is_absorbed(const LayerKernelFacts& facts, const LatentShape& shape) {
  return facts.absorbed_prompts || static_cast<double>(shape.queries) <= facts.absorbed_up_to;
}

Grid prompt_kernel(const LayerCall& call, const LatentShape& shape) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const auto queries = static_cast<double>(shape.queries);
  const auto keys = static_cast<double>(shape.keys);
  const auto heads = static_cast<double>(shape.heads);
  const auto batch = static_cast<double>(shape.batch);
  const bool absorbed = is_absorbed(call.facts(), shape);
  const double query_width = absorbed ? shapes.latent + shapes.rotated : shapes.query;
  const double value_width = absorbed ? shapes.latent : shapes.value;
  const double groups = absorbed ? batch : batch * heads;
  const double packed = absorbed ? heads : 1;  // rows of a query
  const double before = keys - queries;
  const double products =
      2 * shapes.tile_rows * shapes.tile_keys * (query_width + value_width) / call.sm_rate();
  const double softmax = shapes.tile_rows * call.seconds(call.factors().score);
  const double step = std::max(products + softmax, call.seconds(call.factors().step));
  const double start = call.seconds(call.factors().prologue);
  const auto tiles = static_cast<std::int64_t>(std::ceil(queries * packed / shapes.tile_rows));
  Grid kernel;
  kernel.name = "latent attention of prompts";
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto place = static_cast<double>(call.facts().longest_first ? tiles - 1 - i : i);
    const double last = std::min(keys, before + std::ceil((place + 1) * shapes.tile_rows / packed));
    add_ctas(kernel, static_cast<std::int64_t>(groups),
             Seconds(start + std::ceil(last / shapes.tile_keys) * step));
  }
  const double asked = batch * queries * heads * (query_width + value_width);
  const double answering =
      batch * keys * (absorbed ? query_width : heads * (shapes.query + shapes.value));
  call.set_memory(kernel, (asked + answering) * kElementBytes);
  return kernel;
}

Grid token_kernel(const LayerCall& call, const LatentShape& shape, double cache_bytes) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const auto keys = static_cast<double>(shape.keys);
  const double held = std::min(
      call.facts().head_tile, std::max(shapes.least_heads, std::exp2(std::ceil(std::log2(heads)))));
  const double blocks = batch * std::ceil(heads / held);
  const double stages = std::ceil(keys / shapes.tile_keys);
  const double load = shapes.tile_keys * (shapes.latent + shapes.rotated) * cache_bytes /
                      call.feed(call.factors().sm_feed);
  const double products =
      2 * held * shapes.tile_keys * (2 * shapes.latent + shapes.rotated) / call.sm_rate() +
      held * call.seconds(call.factors().score);
  const double step = std::max({load, products, call.seconds(call.factors().step)});
  const double start = call.seconds(call.factors().prologue);
  double best = std::numeric_limits<double>::infinity();
  double parts = 1;
  const double most = call.facts().most_parts > 0 ? call.facts().most_parts : shapes.most_parts;
  for (double split = 1; split <= std::min(most, stages); split *= 2) {
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
  const double cache = batch * keys * (shapes.latent + shapes.rotated) * cache_bytes;
  call.set_memory(kernel, call.missing_since_call(cache) * cache +
                              batch * heads * (2 * shapes.latent + shapes.rotated) * kElementBytes);
  if (parts > 1) kernel.tail = Seconds(call.seconds(call.factors().split));
  return kernel;
}

}  // namespace

bool is_latent_head(std::int64_t key_width, std::int64_t value_width) {
  const LatentShapes& shapes = kernel_shapes().latent;
  return static_cast<double>(key_width) == shapes.latent + shapes.rotated &&
         static_cast<double>(value_width) == shapes.latent;
}

bool is_expanded_head(std::int64_t key_width, std::int64_t value_width) {
  const LatentShapes& shapes = kernel_shapes().latent;
  return static_cast<double>(key_width) == shapes.query &&
         static_cast<double>(value_width) == shapes.value;
}

bool is_absorbed_product(std::int64_t k, std::int64_t n) {
  const LatentShapes& shapes = kernel_shapes().latent;
  return static_cast<double>(k) == shapes.value && static_cast<double>(n) == shapes.latent;
}

GridSequence latent_kernels(const LayerCall& call, const LatentShape& shape) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const double tokens = batch * static_cast<double>(shape.queries);
  // Queries are rotated and latents written; of prompts keys and values are put together.
  const double widths = shape.prompt && !is_absorbed(call.facts(), shape)
                            ? 2 * (2 * shapes.query + shapes.value)
                            : 2 * shapes.rotated + shapes.latent;
  const double bytes =
      tokens * kElementBytes * (heads * widths + 2 * (shapes.latent + shapes.rotated));
  GridSequence program;
  program.kernels.push_back(call.pass("rotate and write the cache", bytes, tokens * heads));
  program.kernels.back().launch = call.factors().launch;
  if (shape.prompt) {
    program.kernels.push_back(prompt_kernel(call, shape));
    return program;
  }
  const bool widens = call.facts().widens_cache && shape.cache_bytes < kElementBytes;
  const double cached = batch * static_cast<double>(shape.keys) * (shapes.latent + shapes.rotated);
  if (widens) {
    program.kernels.push_back(
        call.pass("widen the cache", cached * (shape.cache_bytes + kElementBytes), 0));
  }
  program.kernels.push_back(token_kernel(call, shape, widens ? kElementBytes : shape.cache_bytes));
  return program;
}

GridSequence latent_product_kernels(const LayerCall& call, const LatentProductShape& shape) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const double n = shape.to_latent ? shapes.latent : shapes.value;
  const double k = shape.to_latent ? shapes.value : shapes.latent;
  const auto tokens = static_cast<double>(shape.tokens);
  const auto heads = static_cast<double>(shape.heads);
  GridSequence program;
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
