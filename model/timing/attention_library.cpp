#include "model/timing/attention_library.hpp"

#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kLargestSplit = 128;
constexpr double kTritonSplits = 8;
constexpr int kOneHeadBlocks = 3;  // thread blocks of one query head that an SM holds
constexpr std::int64_t kWideHead = 256;
constexpr std::int64_t kMostShared = 32;  // query heads for one head of keys in one thread block

// Tables are of types of two bytes or one; the others run like those of two.
std::string table_type(double bytes) { return bytes < 2 ? "fp8" : "bf16"; }

}  // namespace

std::string attention_kernels(const std::string& architecture, const std::string& framework,
                              const AttentionType& type, const AttentionShape& shape) {
  const std::int64_t share = shape.heads / shape.key_heads;
  const bool generation = shape.phase == AttentionPhase::kGeneration;
  if (framework == "trtllm" || framework.empty()) {
    if (!generation) return "trtllm";
    if (share == 1 || share > kMostShared) return "trtllm-one-head";
    const bool hopper = architecture == "hopper";
    return hopper && type.key_bytes < 2 && shape.head_dim >= 128 ? "trtllm-fp8" : "trtllm";
  }
  // Kernels written in Triton serve what the hand-written ones do not.
  const bool wide_window = framework == "sglang" && architecture == "hopper" &&
                           shape.head_dim == kWideHead && shape.window > 0;
  if (wide_window) return framework + "-triton";
  return shape.head_dim > kWideHead ? framework + "-wide" : framework;
}

AttentionLibrary attention_library(const std::string& architecture, const std::string& kernels) {
  AttentionLibrary library;
  if (starts_with(kernels, "trtllm")) {
    library.prepare = AttentionLibrary::Prepare::kSplitAndRotate;
    library.special_small_heads = true;
    library.one_head = kernels == "trtllm-one-head";
    library.split =
        library.one_head ? AttentionLibrary::Split::kFastest : AttentionLibrary::Split::kXqa;
    library.blocks_per_sm = library.one_head ? kOneHeadBlocks : kernels == "trtllm-fp8" ? 2 : 1;
    return library;
  }
  const bool hopper = architecture == "hopper";
  const bool triton = kernels == "sglang-triton";
  const bool wide = triton || kernels.find("-wide") != std::string::npos;
  library.skips_window = !triton;
  library.max_split = wide ? kTritonSplits : kLargestSplit;
  library.packs_queries = architecture != "blackwell";
  library.longest_first = hopper;
  library.wide_tiles = hopper && !wide;
  library.split =
      hopper && !wide ? AttentionLibrary::Split::kFlash3 : AttentionLibrary::Split::kFastest;
  return library;
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
