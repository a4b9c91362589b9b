// KV blocks beyond the batch: what the engine keeps for prompts that begin alike, and what goes to
// the memory of the host.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/app/serving/request/serve_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {

bool shares_prefixes(const Load& load) {
  return std::any_of(load.trace.begin(), load.trace.end(), [](const TrafficRequest& one) {
    return one.session >= 0 || !one.opening.empty();
  });
}

void set_first_use(const EngineHost& host, const WorkerMachine& worker, WorkerRules& rules) {
  const bool on_device = host.first_on.empty() || host.first_on == worker.architecture;
  const bool counts = host.cold == "yes" && on_device;
  if (!counts) rules.host.first_prompt = Seconds(0);
  if (!counts || !worker.reads_latents) rules.host.first_piece = Seconds(0);
}

void check_image_tokens(const Load& load, std::int64_t images, std::int64_t each) {
  const std::int64_t tokens = images * each;
  if (shortest_input(load) >= tokens) return;
  throw UserError(fmt::format(
      "--images: {} of {} tokens each are more than a prompt of {}; give prompts of {} or more, "
      "their tokens included, or fewer or smaller images",
      images, each, shortest_input(load), tokens));
}

void set_images(const Load& load, const WorkerMachine& worker, WorkerRules& rules) {
  rules.images = worker.images;
  rules.image_tokens = worker.image_tokens;
  check_image_tokens(load, worker.images, worker.image_tokens);
}

void set_cache_rules(const EngineSpec& engine, const Load& load, const WorkerMachine& worker,
                     WorkerRules& rules) {
  const bool swaps = rules.preemption == Preemption::kSwap;
  const double block = worker.kv_per_token.value() * static_cast<double>(rules.block);
  // A share that is given counts in place of what would be found.
  rules.prefix_cache = engine.memory.prefix_cache == "yes" && rules.prefix_share == 0 && !swaps &&
                       shares_prefixes(load);
  if (block > 0 && (swaps || rules.prefix_cache)) {
    rules.host_blocks = static_cast<std::int64_t>(
        std::floor(engine.memory.host_pool.value() / block / worker.stages));
  }
  rules.block_bytes = Bytes(block);
  rules.host_rate = worker.host_link;
  if (swaps && rules.host_blocks == 0) {
    throw UserError(
        "engine.schedule.preemption=swap: blocks go to the memory of the host, of which the engine "
        "has none; state it, as in --set engine.memory.host_pool='4 GiB'");
  }
  if (rules.host_blocks > 0 && !(rules.host_rate > BytesPerSecond(0))) {
    throw UserError(fmt::format(
        "engine.memory.host_pool: {} has no link to the memory of its host that is known; leave "
        "the pool out, or take a GPU",
        worker.system));
  }
}

std::vector<std::string> cache_notes(const ServiceResult& result) {
  std::vector<std::string> notes;
  const double prompts = static_cast<double>(result.prompt_tokens + result.cached_tokens);
  if (result.cached_tokens > 0 || result.evicted_blocks > 0) {
    notes.push_back(fmt::format(
        "prefix cache: {:.1f} % of the tokens of prompts were found; {} blocks were evicted{}",
        prompts > 0 ? 100 * static_cast<double>(result.cached_tokens) / prompts : 0,
        result.evicted_blocks,
        result.offloaded_blocks > 0
            ? fmt::format(", {} of them to the memory of the host", result.offloaded_blocks)
            : ""));
  }
  if (result.copied_blocks > 0) {
    notes.push_back(fmt::format(
        "memory of the host: {} KV blocks were copied there and back in {:.3g} s of the workers",
        result.copied_blocks, result.spent[kCopies].value()));
  }
  return notes;
}

}  // namespace foretell
