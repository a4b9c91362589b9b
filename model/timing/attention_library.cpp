#include "model/timing/attention_library.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"

namespace foretell {
namespace {

// Tables are of types of two bytes or one; the others run like those of two.
std::string table_type(double bytes) { return bytes < 2 ? "fp8" : "bf16"; }

constexpr double kXqaKeys = 128;
constexpr double kLargestSplit = 128;
constexpr double kTritonSplits = 8;
constexpr std::int64_t kPairedWidth = 128;  // of heads of which tensor memory holds two tiles
constexpr double kTokenRows = 16;  // heads that the kernels for tokens take at a time, at least
constexpr double kTokenKeys = 128;
constexpr int kOneHeadBlocks = 3;  // thread blocks of one query head that an SM holds
constexpr std::int64_t kWideHead = 256;
constexpr std::int64_t kMostShared = 32;  // query heads for one head of keys in one thread block

AttentionTile flash2_tile(std::int64_t width) {
  // The kernels for a paged cache.
  return {64, width <= 64 ? 256.0 : width <= 128 ? 128.0 : 64.0};
}

AttentionTile flash3_tile(const AttentionType& type, const AttentionShape& shape) {
  const std::int64_t width = shape.head_dim;
  const bool local = shape.window > 0;
  const bool paged = shape.phase != AttentionPhase::kEncoder;
  const bool causal =
      shape.phase == AttentionPhase::kContext && !local;  // of more than one query, that is
  const bool few = shape.queries * (shape.heads / shape.key_heads) <= 64;
  if (type.query_bytes < 2) {
    if (width <= 96) return {192, width <= 64 ? 160.0 : 128.0};
    if (width <= 128) return {few ? 64.0 : 128.0, few ? 96.0 : paged ? 160.0 : 224.0};
    if (width <= 192) return {128, 160};
    return {128, local ? 64.0 : 128.0};
  }
  if (width <= 64) return {192, causal ? 128.0 : local || paged ? 160.0 : 192.0};
  if (width <= 96) return {192, local || paged ? 128.0 : 144.0};
  if (width <= 128) return {few ? 64.0 : 128.0, causal || local || paged ? 128.0 : 176.0};
  if (width <= 192) return {128, paged || local ? 96.0 : 112.0};
  return {128, local ? 64.0 : 80.0};
}

// Warp-specialised kernels of TensorRT-LLM for Hopper. Published are 256, 128 and 64 keys in BF16,
// too, by the width of a head; what was measured of those is nearer to 64 throughout.
AttentionTile specialised_tile(const AttentionType& type, std::int64_t width) {
  constexpr double kRows = 128;
  if (type.query_bytes >= 2) return {kRows, 64};
  return {kRows, width <= 128 ? 256.0 : 128.0};
}

// The smallest number of parts that fills its waves nearly as well as the best.
double fewest_parts(double tiles, double blocks, double slots, bool only_distinct) {
  constexpr double kNearlyBest = 0.85;
  const double limit = std::min({kLargestSplit, slots, blocks});
  const auto filled = [&](double parts) {
    const bool same_as_fewer =
        only_distinct && parts > 1 && std::ceil(blocks / parts) == std::ceil(blocks / (parts - 1));
    if (same_as_fewer) return 0.0;
    const double waves = tiles * parts / slots;
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (double parts = 1; parts <= limit; ++parts) best = std::max(best, filled(parts));
  double parts = 1;
  while (filled(parts) < kNearlyBest * best) ++parts;
  return parts;
}

constexpr double kNearlyFull = 0.8;  // share of a wave above which FlashAttention divides nothing

AttentionSplit flash3_split(const AttentionType& type, const AttentionShape& shape, double sms) {
  const AttentionTile tile = flash3_tile(type, shape);
  const auto groups = static_cast<double>(shape.key_heads);
  const std::int64_t rows = shape.queries * (shape.heads / shape.key_heads);
  const double tiles = std::ceil(static_cast<double>(rows) / tile.rows);
  const auto keys = static_cast<double>(shape.keys);
  const double seen =
      shape.window > 0 ? std::min(keys, static_cast<double>(shape.window) + 1 + tile.rows) : keys;
  const double blocks = std::ceil(seen / tile.keys);
  constexpr double kFewBlocks = 4;
  if (groups * tiles >= kNearlyFull * sms || blocks <= kFewBlocks) return {};
  // The most, as for one sequence; a kernel that goes ahead then divides the work of all sequences
  // evenly over the SMs.
  const double most = fewest_parts(groups * tiles, blocks, sms, false);
  constexpr double kMargin = 1.1;
  const double all_blocks = std::ceil(keys / tile.keys);
  const double each =
      std::ceil(kMargin * static_cast<double>(shape.batch) * tiles * all_blocks * groups / sms);
  return {std::clamp(std::ceil(all_blocks / each), 1.0, most), most > 1};
}

// FlashAttention-2 makes rows of the heads that share keys only for one query without a window.
bool flash2_packs(const AttentionShape& shape) {
  return shape.queries == 1 && shape.heads > shape.key_heads && shape.window == 0;
}

AttentionSplit flash2_split(const AttentionShape& shape, double sms) {
  if (!flash2_packs(shape)) return {};
  const std::int64_t share = shape.heads / shape.key_heads;
  const AttentionTile tile = flash2_tile(shape.head_dim);
  const double blocks = std::ceil(static_cast<double>(shape.keys) / tile.keys);
  const double tiles = static_cast<double>(shape.batch * shape.key_heads) *
                       std::ceil(static_cast<double>(share) / tile.rows);
  const double slots = 2 * sms;
  if (tiles >= kNearlyFull * slots) return {};
  const double parts = fewest_parts(tiles, blocks, slots, true);
  return {parts, parts > 1};
}

AttentionSplit xqa_split(const AttentionShape& shape, double sms) {
  // One part per 128 keys, fewer for long sequences, up to 8 waves of thread blocks.
  constexpr double kWaves = 8;
  const double groups = static_cast<double>(shape.batch * shape.key_heads);
  double parts = std::ceil(static_cast<double>(shape.keys) / kXqaKeys);
  parts = std::max(1.0, std::min(parts, std::round(std::sqrt(8 * parts))));
  const double waves = groups * parts / sms / kWaves;
  parts = std::max(1.0, waves > 1 ? std::floor(parts / waves) : parts);
  return {parts, parts > 1};
}

// As many parts as fit one wave, none of them shorter than a pair of tiles of keys.
AttentionSplit one_wave_split(const AttentionShape& shape, double sms) {
  constexpr double kLeastKeys = 256;
  const auto keys = static_cast<double>(shape.keys);
  const double seen =
      shape.window > 0 ? std::min(keys, static_cast<double>(shape.window) + kLeastKeys) : keys;
  const double groups = static_cast<double>(shape.batch * shape.key_heads);
  const double parts =
      std::min(std::ceil(seen / kLeastKeys), std::max(1.0, std::floor(sms / groups)));
  return {parts, parts > 1};
}

}  // namespace

std::string attention_kernels(const std::string& architecture, const std::string& framework,
                              const AttentionType& type, const AttentionShape& shape) {
  const std::int64_t share = shape.heads / shape.key_heads;
  const bool generation = shape.phase == AttentionPhase::kGeneration;
  if (framework == "trtllm" || framework.empty()) {
    // Later kernels: heads that tensor memory holds in parts, and windows of wide heads.
    const bool later =
        shape.head_dim > kWideHead || (shape.head_dim == kWideHead && shape.window > 0);
    if (!generation) return architecture == "blackwell" && later ? "trtllm-wide" : "trtllm";
    if (share == 1 || share > kMostShared) return "trtllm-one-head";
    const bool hopper = architecture == "hopper";
    return hopper && type.key_bytes < 2 && shape.head_dim >= 128 ? "trtllm-fp8" : "trtllm";
  }
  // Kernels written in Triton serve what the hand-written ones do not.
  const bool wide_window = framework == "sglang" && architecture == "hopper" &&
                           shape.head_dim == kWideHead && shape.window > 0;
  if (wide_window) return framework + "-triton";
  // On Blackwell the kernels for tensor memory take wide heads only in the type of the cache.
  const bool mixed_wide = framework == "sglang" && architecture == "blackwell" && !generation &&
                          shape.head_dim >= kWideHead && type.key_bytes != type.query_bytes;
  if (mixed_wide) return framework + "-mixed";
  return shape.head_dim > kWideHead ? framework + "-wide" : framework;
}

AttentionLibrary attention_library(const std::string& architecture, const std::string& kernels) {
  AttentionLibrary library;
  const bool hopper = architecture == "hopper";
  const bool blackwell = architecture == "blackwell";
  if (blackwell) library.tiles = AttentionLibrary::Tiles::kPaired;
  if (starts_with(kernels, "trtllm")) {
    library.prepare = AttentionLibrary::Prepare::kSplitAndRotate;
    library.special_small_heads = true;
    library.masks_one_token = true;
    if (hopper) library.tiles = AttentionLibrary::Tiles::kSpecialised;
    library.one_head = kernels == "trtllm-one-head";
    library.split = library.one_head ? AttentionLibrary::Split::kFastest
                    : blackwell      ? AttentionLibrary::Split::kOneWave
                                     : AttentionLibrary::Split::kXqa;
    library.blocks_per_sm = library.one_head ? kOneHeadBlocks : kernels == "trtllm-fp8" ? 2 : 1;
    return library;
  }
  const bool triton = starts_with(kernels, "sglang-") && hopper;
  const bool wide = triton || kernels.find("-wide") != std::string::npos;
  library.max_split = wide ? kTritonSplits : kLargestSplit;
  library.packs_queries = !blackwell;
  library.longest_first = hopper;
  library.one_token_packs = blackwell && starts_with(kernels, "vllm");
  library.masks_one_token = blackwell && !library.one_token_packs;
  if (kernels == "sglang-mixed") {
    library.tiles = AttentionLibrary::Tiles::kFlash2;
    library.packs_queries = true;
    return library;
  }
  if (triton) {
    library.tiles = AttentionLibrary::Tiles::kTriton;
    library.skips_window = false;
    library.packs_queries = false;
    library.longest_first = false;
  } else if (hopper && !wide) {
    library.tiles = AttentionLibrary::Tiles::kFlash3;
    library.split = AttentionLibrary::Split::kFlash3;
  } else if (!hopper && !blackwell && starts_with(kernels, "vllm")) {
    library.tiles = AttentionLibrary::Tiles::kFlash2;
    library.split = AttentionLibrary::Split::kFlash2;
    library.packs_queries = false;
  }
  return library;
}

AttentionTile attention_tile(const AttentionLibrary& library, const AttentionType& type,
                             const AttentionShape& shape) {
  if (library.one_token_packs && shape.queries == 1) {
    const std::int64_t share = shape.heads / shape.key_heads;
    return {std::ceil(static_cast<double>(share) / kTokenRows) * kTokenRows, kTokenKeys};
  }
  switch (library.tiles) {
    case AttentionLibrary::Tiles::kFlash2:
      return flash2_tile(shape.head_dim);
    case AttentionLibrary::Tiles::kFlash3:
      return flash3_tile(type, shape);
    case AttentionLibrary::Tiles::kTriton:
      return {shape.head_dim <= kWideHead ? 128.0 : 32.0, 64};
    case AttentionLibrary::Tiles::kPaired:
      return {shape.head_dim <= kPairedWidth ? 256.0 : 128.0,
              shape.head_dim <= kWideHead ? 128.0 : 64.0};
    case AttentionLibrary::Tiles::kSpecialised:
      return specialised_tile(type, shape.head_dim);
    case AttentionLibrary::Tiles::kPlain:
      break;
  }
  return {128, 64};
}

bool packs_queries(const AttentionLibrary& library, const AttentionShape& shape) {
  if (library.split == AttentionLibrary::Split::kFlash2) return flash2_packs(shape);
  if (shape.phase == AttentionPhase::kGeneration) return !library.one_head;
  return library.packs_queries || (library.one_token_packs && shape.queries == 1);
}

bool regroups(const AttentionLibrary& library, const AttentionShape& shape) {
  // With one sequence, or one head of keys, the same memory only has another shape.
  return library.split == AttentionLibrary::Split::kFlash2 && flash2_packs(shape) &&
         shape.batch > 1 && shape.key_heads > 1;
}

AttentionSplit attention_split(const AttentionLibrary& library, const AttentionType& type,
                               const AttentionShape& shape, double sms) {
  switch (library.split) {
    case AttentionLibrary::Split::kXqa:
      if (shape.phase != AttentionPhase::kGeneration) return {};
      return xqa_split(shape, sms);
    case AttentionLibrary::Split::kFlash2:
      return flash2_split(shape, sms);
    case AttentionLibrary::Split::kFlash3:
      return flash3_split(type, shape, sms);
    case AttentionLibrary::Split::kOneWave:
      if (shape.phase != AttentionPhase::kGeneration) return {};
      return one_wave_split(shape, sms);
    case AttentionLibrary::Split::kFastest:
      break;
  }
  if (shape.phase != AttentionPhase::kGeneration) return {};
  return {0, false};
}

std::string_view to_string(AttentionPhase phase) {
  switch (phase) {
    case AttentionPhase::kContext:
      return "context";
    case AttentionPhase::kEncoder:
      return "encoder";
    case AttentionPhase::kGeneration:
      break;
  }
  return "generation";
}

std::vector<std::string> attention_tables(const std::string& architecture,
                                          const std::string& framework, const AttentionType& type,
                                          const AttentionShape& shape) {
  const std::string kernels = attention_kernels(architecture, framework, type, shape);
  const std::string rest = ' ' + std::string(to_string(shape.phase)) + ' ' +
                           table_type(type.query_bytes) + ' ' + table_type(type.key_bytes);
  std::vector<std::string> tables = {kernels + rest, kernels.substr(0, kernels.find('-')) + rest};
  for (const char* other : {"trtllm", "sglang", "vllm"}) tables.push_back(other + rest);
  return tables;
}

AttentionLibrary library_of_table(const std::string& architecture, const std::string& table) {
  return attention_library(architecture, table.substr(0, table.find(' ')));
}

}  // namespace foretell
