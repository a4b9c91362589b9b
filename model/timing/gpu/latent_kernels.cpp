#include "model/timing/gpu/latent_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {
namespace {

constexpr double kElementBytes = 2;
constexpr double kPartBytes = 4;  // per element of a part of a result

bool is_absorbed(const LayerKernelFacts& facts, const LatentShape& shape) {
  return facts.absorbed_prompts || static_cast<double>(shape.queries) <= facts.absorbed_up_to;
}

// A fact of a library, or what is usual.
double or_usual(double fact, double usual) { return fact > 0 ? fact : usual; }

double loaded(const LayerCall& call, double bytes) {
  const double feed = call.feed(call.factors().sm_feed);
  return feed > 0 ? bytes / feed : 0;
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
  const double rows =
      absorbed ? shapes.absorbed_rows : or_usual(call.facts().prompt_rows, shapes.tile_rows);
  const double products =
      2 * rows * shapes.tile_keys * (query_width + value_width) / call.sm_rate();
  const double softmax = rows * call.seconds(call.factors().score);
  const double load = absorbed ? loaded(call, shapes.tile_keys * query_width * kElementBytes) : 0;
  const double step = std::max({products + softmax, load, call.seconds(call.factors().step)});
  const double start = call.seconds(call.factors().prologue);
  const auto tiles = static_cast<std::int64_t>(std::ceil(queries * packed / rows));
  Grid kernel;
  kernel.name = "latent attention of prompts";
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto place = static_cast<double>(call.facts().longest_first ? tiles - 1 - i : i);
    const double last = std::min(keys, before + std::ceil((place + 1) * rows / packed));
    add_ctas(kernel, static_cast<std::int64_t>(groups),
             Seconds(start + std::ceil(last / shapes.tile_keys) * step));
  }
  const double asked = batch * queries * heads * (query_width + value_width);
  const double answering =
      batch * keys * (absorbed ? query_width : heads * (shapes.query + shapes.value));
  call.set_memory(kernel, (asked + answering) * kElementBytes);
  return kernel;
}

// What thread blocks for tokens do: this many of them for all sequences, were they not divided,
// each of this many stages.
struct TokenWork {
  double blocks = 0;
  double stages = 0;
  double step = 0;        // seconds of a stage on an SM that others share
  double step_alone = 0;  // … of its own
};

TokenWork token_work(const LayerCall& call, const LatentShape& shape, double cache_bytes) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const LayerKernelFacts& facts = call.facts();
  const auto heads = static_cast<double>(shape.heads);
  const double width = shapes.latent + shapes.rotated;
  const double least = or_usual(facts.least_heads, shapes.least_heads);
  const double held =
      std::min(facts.head_tile, std::max(least, std::exp2(std::ceil(std::log2(heads)))));
  const double keys = or_usual(facts.tile_keys, shapes.tile_keys);
  const double values = shapes.latent / facts.value_parts;
  const double load = loaded(call, keys * width * cache_bytes);
  double products = 2 * held * keys * (width + values) / call.sm_rate() +
                    held * call.seconds(call.factors().score);
  double waiting = 0;
  if (facts.operand_readers > 0) {
    const GpuArchitecture& chip = gpu_architecture(call.device().architecture);
    const double read = (facts.operand_readers * keys * (width + values) + held * width);
    products += call.seconds(Cycles(read * kElementBytes / chip.shared_port));
    waiting = call.seconds(Cycles(keys * width * kElementBytes / chip.l2_port));
  }
  const double least_step = call.seconds(call.factors().step);
  TokenWork work;
  work.blocks = static_cast<double>(shape.batch) * std::ceil(heads / held) * facts.value_parts;
  work.stages = std::ceil(static_cast<double>(shape.keys) / keys);
  work.step = std::max({load * facts.resident, products * facts.resident, least_step});
  work.step_alone = std::max({load, products + waiting, least_step});
  return work;
}

// Keys that an indexer chose: rows of the cache here and there, at a pace of their own.
void take_chosen(const LatentShape& shape, TokenWork& work) {
  for (double* step : {&work.step, &work.step_alone}) *step *= shape.choice_time;
}

// Thread blocks of a kernel for tokens, and what combines them.
struct TokenPlan {
  double blocks = 0;
  double stages = 0;  // of a block
  double parts = 1;   // of a sequence
};

// What puts the parts of a row together: a thread block for each, which reads them one by one.
double combination_block(const LayerCall& call, double parts) {
  const double feed = call.feed(call.factors().pass_feed);
  return feed > 0 ? parts * kernel_shapes().latent.latent * kPartBytes / feed : 0;
}

// The number of parts of a sequence that takes the least time.
TokenPlan best_plan(const LayerCall& call, const TokenWork& work, double rows) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const LayerKernelFacts& facts = call.facts();
  const double most = std::min(or_usual(facts.most_parts, shapes.most_parts), work.stages);
  const double start = call.seconds(call.factors().prologue);
  const double combine = call.seconds(call.factors().split);
  double best = std::numeric_limits<double>::infinity();
  TokenPlan plan;
  for (double split = 1; split <= most; ++split) {
    const double stages = std::ceil(work.stages / split);
    const double waves = std::ceil(work.blocks * split / (call.sms() * facts.resident));
    double time = waves * (start + stages * work.step);
    if (split > 1) {
      time += combine + std::ceil(rows / call.sms()) * combination_block(call, split);
    }
    if (time < best) {
      best = time;
      plan = {work.blocks * split, stages, split};
    }
  }
  return plan;
}

TokenPlan token_plan(const LayerCall& call, const TokenWork& work, double rows) {
  const LayerKernelFacts& facts = call.facts();
  if (facts.parts > 0) {
    return {work.blocks * facts.parts, std::ceil(work.stages / facts.parts), facts.parts};
  }
  return best_plan(call, work, rows);
}

// One step of a few thread blocks that have an SM each takes less where SMs hold several.
void add_token_blocks(const LayerCall& call, const TokenWork& work, const TokenPlan& plan,
                      Grid& kernel) {
  const double start = call.seconds(call.factors().prologue);
  const double places = call.sms() * call.facts().resident;
  const double full = std::floor(plan.blocks / places) * places;
  const double rest = plan.blocks - full;
  const bool alone = rest <= call.sms();
  kernel.ctas_per_sm = static_cast<int>(call.facts().resident);
  add_ctas(kernel, static_cast<std::int64_t>(full), Seconds(start + plan.stages * work.step));
  add_ctas(kernel, static_cast<std::int64_t>(rest),
           Seconds(start + plan.stages * (alone ? work.step_alone : work.step)));
}

// `cached` latents are read, each at least once.
void add_token_kernels(const LayerCall& call, const LatentShape& shape, double cached,
                       double cache_bytes, GridSequence& program) {
  const LatentShapes& shapes = kernel_shapes().latent;
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  TokenWork work = token_work(call, shape, cache_bytes);
  if (shape.selected > 0) take_chosen(shape, work);
  const bool whole = shape.selected > 0 && !shape.divides_choice;
  const TokenPlan plan =
      whole ? TokenPlan{work.blocks, work.stages, 1} : token_plan(call, work, batch * heads);
  Grid kernel;
  kernel.name = "latent attention of tokens";
  add_token_blocks(call, work, plan, kernel);
  const double cache = cached * (shapes.latent + shapes.rotated) * cache_bytes;
  call.set_memory(kernel, call.missing_since_call(cache) * cache +
                              batch * heads * (2 * shapes.latent + shapes.rotated) * kElementBytes);
  program.kernels.push_back(kernel);
  if (plan.parts > 1) {
    Grid combine;
    combine.name = "combine parts";
    add_ctas(combine, static_cast<std::int64_t>(batch * heads),
             Seconds(combination_block(call, plan.parts)));
    combine.tail = Seconds(call.seconds(call.factors().split));
    program.kernels.push_back(combine);
  }
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
  const LayerKernelFacts& facts = call.facts();
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const double tokens = batch * static_cast<double>(shape.queries);
  const bool absorbed = is_absorbed(facts, shape);
  // Queries are rotated and latents written; of prompts keys and values are put together, or their
  // rotated part copied to every head.
  double widths = 2 * shapes.rotated + shapes.latent;
  if (shape.prompt && !absorbed) {
    widths = facts.moves_heads ? 2 * (2 * shapes.query + shapes.value) : 3 * shapes.rotated;
  }
  const double bytes =
      tokens * kElementBytes * (heads * widths + 2 * (shapes.latent + shapes.rotated));
  GridSequence program;
  program.kernels.push_back(call.pass("rotate and write the cache", bytes, tokens));
  program.kernels.back().launch = call.factors().launch;
  if (shape.prompt && !(absorbed && facts.absorbed_tokens)) {
    program.kernels.push_back(prompt_kernel(call, shape));
    return program;
  }
  LatentShape asked = shape;
  if (shape.prompt) {  // each query with the keys before it
    asked.batch *= shape.queries;
    asked.keys -= (shape.queries - 1) / 2;
  }
  double cache_bytes = facts.keeps_type ? kElementBytes : shape.cache_bytes;
  if (facts.widens_cache && cache_bytes < kElementBytes) {
    const double cached =
        batch * static_cast<double>(shape.keys) * (shapes.latent + shapes.rotated);
    program.kernels.push_back(
        call.pass("widen the cache", cached * (cache_bytes + kElementBytes), 0));
    cache_bytes = kElementBytes;
  }
  const double cached = static_cast<double>(asked.batch) * static_cast<double>(asked.keys);
  add_token_kernels(call, asked, cached, cache_bytes, program);
  return program;
}

GridSequence chosen_latent_kernels(const LayerCall& call, const LatentShape& shape) {
  const std::int64_t tokens = shape.batch * shape.queries;
  const std::int64_t visible = shape.keys - (shape.queries - 1) / 2;
  LatentShape asked = shape;
  asked.prompt = false;
  asked.batch = tokens;
  asked.queries = 1;
  asked.keys = shape.fills_choice ? shape.selected : std::min(shape.selected, visible);
  const double cached = std::min(static_cast<double>(shape.batch * shape.keys),
                                 static_cast<double>(tokens * asked.keys));
  GridSequence program;
  add_token_kernels(call, asked, cached,
                    call.facts().keeps_type ? kElementBytes : shape.cache_bytes, program);
  program.kernels.front().launch = call.factors().launch;
  program.kernels.front().name = "attention to chosen latents";
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
  const std::vector<LayerCall::Groups> groups{{tokens, heads}};
  program.kernels.push_back(call.grouped_product(groups, n, k, call.fastest_tile(groups, n, k)));
  program.kernels.back().name = shape.to_latent ? "queries to latents" : "latents to results";
  program.kernels.front().launch = call.factors().launch;
  return program;
}

}  // namespace foretell
