#include "model/timing/gemm_library.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kAnyRows = std::numeric_limits<std::int64_t>::max();

// Rows of C in steps of 16, columns (weights) in the widths that the matrix pipe takes; at most
// `area` elements, which is what accumulators have room for.
std::vector<GemmTile> fine_tiles(const std::vector<int>& columns, int area) {
  std::vector<GemmTile> tiles;
  for (const int n : columns) {
    for (int m = 16; m <= 256; m += 16) {
      if (m * n <= area) tiles.push_back({m, n});
    }
  }
  return tiles;
}

std::vector<GemmTile> power_of_two_tiles() {
  std::vector<GemmTile> tiles;
  for (int m = 16; m <= 256; m *= 2) {
    for (int n = 16; n <= 256; n *= 2) {
      if (m * n <= 256 * 128) tiles.push_back({m, n});
    }
  }
  return tiles;
}

// Kernels that copy with cp.async, before the tensor memory accelerator.
std::vector<GemmTile> ampere_tiles() {
  return {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {128, 64}, {64, 128}, {64, 64}};
}

// Products of blockwise FP8 with the scales applied by the vector pipe.
std::vector<GemmTile> deep_gemm_tiles() {
  return {{64, 16},  {64, 32},  {64, 64},   {64, 96},   {64, 128},  {64, 160},
          {128, 64}, {128, 96}, {128, 112}, {128, 128}, {128, 144}, {128, 160}};
}

// Rows of C and 128 columns (weights) at a time.
std::vector<GemmTile> blockwise_tiles() {
  std::vector<GemmTile> tiles;
  for (int m = 16; m <= 256; m += 16) tiles.push_back({m, 128});
  return tiles;
}

// Of TensorRT-LLM's plugins: the kernels of Ampere, on later chips, too.
std::vector<GemmTile> weight_only_tiles() {
  return {{16, 128}, {16, 256}, {32, 128}, {64, 128}, {128, 128}};
}

std::vector<GemmTile> int8_plugin_tiles() {
  return {{32, 128}, {64, 128}, {128, 64}, {64, 64}, {128, 256}, {256, 128}};
}

bool has_tma(const std::string& architecture) {
  return architecture == "hopper" || architecture == "blackwell";
}

bool is_plugin(const std::string& type) {
  return type == "int8_sq" || type == "int8_wo" || type == "int4_wo";
}

GemmLibrary plugin_library(const std::string& type) {
  GemmLibrary library;
  const bool weights_only = type != "int8_sq";
  library.tiles = weights_only ? weight_only_tiles() : int8_plugin_tiles();
  library.split_by_one = true;
  library.whole_edges = true;  // rows that do not exist are masked, not skipped
  library.max_split = weights_only ? 7 : 1;
  library.gemv_rows = weights_only ? 8 : 4;
  library.gemv_competes = weights_only;  // as one more kernel for the profiler
  library.fast_depth = weights_only ? 128 : 0;
  library.tunes_by_power_of_two = true;  // the profiler of the plugins rounds rows up
  return library;
}

GemmLibrary cublas(const std::string& architecture) {
  GemmLibrary library;
  if (architecture == "hopper") {
    library.tiles = fine_tiles({64, 128, 192, 256}, 32768);
  } else if (architecture == "blackwell") {
    library.tiles = fine_tiles({64, 128, 256}, 65536);  // pairs of thread blocks share a tile
  } else {
    library.tiles = ampere_tiles();
    library.stage = 0.5;
  }
  return library;
}

// Tiles by rows of C and columns of C, with the thread blocks whose registers an SM holds.
std::vector<GemmTile> vector_tiles() {
  return {{128, 128, 2}, {64, 128, 4}, {64, 64, 8}, {32, 128, 4},
          {128, 32, 4},  {32, 64, 4},  {32, 32, 8}};
}

}  // namespace

const std::vector<GemmType>& gemm_types() {
  static const std::vector<GemmType> kTypes = {
      {"fp32", "fp32", 4, 4, 32, false, 4},
      {"tf32", "tf32", 4, 4, 32, false, 4},
      {"bf16", "bf16", 2, 2, 64, false},
      {"fp16", "fp16", 2, 2, 64, false},
      {"fp8", "fp8", 1, 1, 128, true},
      {"fp8_static", "fp8", 1, 1, 128, false},
      {"fp8_block", "fp8", 1, 1, 128, true},
      {"nvfp4", "fp4", 0.5625, 0.5625, 256, true},  // one scale of a byte per 16 elements
      {"int8", "int8", 1, 1, 128, false},
      {"int8_sq", "int8", 1, 1, 128, false},
      {"int8_wo", "bf16", 2, 1, 64, false},
      {"int4_wo", "bf16", 2, 0.5, 64, false},
  };
  return kTypes;
}

const GemmType& gemm_type(const std::string& name) {
  std::vector<std::string> names;
  for (const GemmType& type : gemm_types()) {
    if (type.name == name) return type;
    names.push_back(type.name);
  }
  throw unknown_name("data type", name, names);
}

GemmLibrary gemm_library(const std::string& architecture, const std::string& framework,
                         const std::string& type) {
  if (is_plugin(type)) return plugin_library(type);
  GemmLibrary library = cublas(architecture);
  library.fills_gradually = gemm_type(type).activation_bytes >= 2;
  if (!has_tma(architecture)) return library;
  const bool hopper = architecture == "hopper";
  if (type == "nvfp4") {
    library.tiles =
        framework == "sglang" ? power_of_two_tiles() : std::vector<GemmTile>{{128, 256}};
    library.max_split = 1;
  } else if (type == "fp8_block") {
    library.max_split = 1;
    if (hopper && framework == "trtllm") {  // 128 rows, narrower where that fills a wave
      library.dispatch = {
          {64, {{64, 128}, {32, 128}, {16, 128}}},
          {kAnyRows,
           {{128, 32}, {128, 48}, {128, 64}, {128, 80}, {128, 96}, {128, 112}, {128, 128}}}};
      library.padded_rows = 64;
    } else if (hopper) {
      library.tiles = deep_gemm_tiles();
    } else {
      library.tiles = blockwise_tiles();
      library.persistent = true;
      library.whole_edges = true;  // tiles are dealt out beforehand
    }
  } else if (type == "fp8" && framework != "trtllm") {  // CUTLASS, by rows
    library.max_split = 1;
    if (hopper) {
      library.dispatch = {{64, {{64, 64}}}, {128, {{64, 128}}}, {kAnyRows, {{128, 128}}}};
      if (framework == "vllm") library.dispatch.insert(library.dispatch.begin(), {16, {{16, 64}}});
      library.cluster_rows = 2;
      library.cluster_from = 128;
      library.persistent = true;
      library.whole_edges = true;
    } else {
      library.dispatch = {
          {64, {{64, 64}}}, {128, {{64, 128}}}, {256, {{128, 128}}}, {kAnyRows, {{256, 128}}}};
    }
  }
  return library;
}

GemmLibrary vector_library(const std::string& architecture, bool batched) {
  GemmLibrary library;
  library.vector_pipe = true;
  library.whole_edges = true;
  library.stage = 0.25;  // eight elements of k
  library.tiles = vector_tiles();
  if (architecture == "pascal") {
    library.tiles = {{128, 32, 4}, {64, 64, 8}, {32, 128, 4}};
  }
  if (!batched) return library;
  library.max_split = 1;
  if (architecture == "pascal") {
    library.tiles = {{64, 128, 4}};
  } else if (architecture == "volta") {
    library.tiles = {{64, 64, 8}, {128, 32, 4}};
  } else if (architecture == "turing") {
    library.tiles = {{64, 64, 8}, {64, 128, 4}, {32, 128, 4}};
  } else {
    library.tiles = {{128, 128, 2}};
  }
  return library;
}

GemmL2State collector_l2_state(const std::string& framework, const std::string& version,
                               const std::string& type, double l2_bytes, double weight_bytes) {
  if (is_plugin(type)) return {1, false};
  if (framework == "sglang") return {6, true};
  if (framework == "vllm") return {6, false};
  if (framework == "cublaslt") {  // calib/measure/cuda: weights that fill L2 twice
    const double copies = std::ceil(2 * l2_bytes / weight_bytes) + 1;
    return {static_cast<int>(std::clamp(copies, 1.0, 64.0)), false};
  }
  if (starts_with(version, "1.0.") || starts_with(version, "1.2.")) return {5, false};
  return {static_cast<int>(std::clamp(std::ceil(l2_bytes / weight_bytes), 1.0, 5.0)), false};
}

}  // namespace foretell
