#include "workloads/import/hf/decoder/shard.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kSliceColumns = 128;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ModelConfig shard_of(const ModelConfig& config, int ranks) {
  if (ranks == 1) return config;
  if (config.family == Family::kEncoder) {
    throw UserError(config.name + ": encoders run on one core per copy; leave --tp out");
  }
  if (ranks < 1 || ranks > config.heads) {
    throw UserError(config.name + ": " + std::to_string(ranks) + " cores cannot share its " +
                    std::to_string(config.heads) + " attention heads; --tp must be from 1 to " +
                    std::to_string(config.heads));
  }
  ModelConfig shard = config;
  shard.heads = ceil_div(config.heads, ranks);
  shard.kv_heads = std::max<std::int64_t>(1, ceil_div(config.kv_heads, ranks));
  if (shard.heads % shard.kv_heads != 0) shard.kv_heads = shard.heads;
  shard.intermediate =
      ceil_div(ceil_div(config.intermediate, ranks), kSliceColumns) * kSliceColumns;
  shard.vocab = ceil_div(config.vocab, ranks);
  return shard;
}

}  // namespace foretell
