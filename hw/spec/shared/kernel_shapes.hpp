// How kernels are built where no file of a library says otherwise: tiles, thread blocks, and the
// sizes from which another way is taken (hw/kernels/layers/shapes.yaml, with source or reason).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct Provenance;

// Matrix products on GPUs.
struct ProductShapes {
  double split_stages = 0;
  int fourfold_tile = 0;  // elements
  int manyfold_tile = 0;  // elements
  double padded_tile = 0;
  double padded_columns = 0;
  int rowless_any_depth = 0;  // rows
  double rowless_rows = 0;
  double quantised_bytes = 0;
  double stages = 0;
  int sums_of_thread = 0;
  int other_registers = 0;
  int threads = 0;
  int paired_tile = 0;  // elements
  double energy_tile = 0;
};

// Attention whose heads have keys and values of one width.
struct AttentionShapes {
  double keys_of_step = 0;
  int few_queries = 0;
  double copy_threads = 0;
  double smallest_tile = 0;
  double threads = 0;
  double threads_of_row = 0;
  double other_registers = 0;
  double summed_width = 0;
};

// Attention to latents: widths of a head, and tiles.
struct LatentShapes {
  double latent = 0;
  double rotated = 0;
  double query = 0;
  double value = 0;
  double tile_rows = 0;
  double tile_keys = 0;
  double absorbed_rows = 0;
  double least_heads = 0;
  double most_parts = 0;
};

// Recurrences and their convolutions.
struct StateShapes {
  double channels = 0;
  double tokens = 0;
  double values = 0;
};

// Kernels that go once over their operands.
struct PassShapes {
  int warp_row = 0;
  int two_rows = 0;
  int head_threads = 0;
  int row_threads = 0;
  int least_threads = 0;
  int row_vector = 0;
};

// Convolutions on the vector pipe.
struct ConvolutionShapes {
  double stage = 0;
  std::string implicit_tiles;  // triples(): rows, columns, thread blocks of an SM
  std::string points_tiles;
  int fused_tile = 0;
  int fused_channels = 0;
  double fused_results = 0;
  double fused_step = 0;
  double fused_resident = 0;
  std::string fused_blocks;  // triples(): images, rows, columns of patches
};

struct CollectiveShapes {
  int switch_ranks = 0;
  Bytes small_message;
  Bytes own_kernels_below;
  int few_ranks = 0;
  Bytes two_phases_of_few;
  Bytes two_phases_of_many;
  Seconds hop;
  // Over PCIe: what a ring reaches of the rate of the link in one direction, and its step.
  double pcie_direct_share = 1;
  Seconds pcie_direct_hop;
  double pcie_host_share = 1;  // through the memory of the host
  Seconds pcie_host_hop;
  // Between nodes: a step of the protocol for small messages, its share of the bandwidth, and a
  // step of the one for large ones.
  Seconds network_hop_small;
  double network_small_share = 1;
  Seconds network_hop_large;
};

// Loads of experts that are drawn from a power law.
struct RoutingShapes {
  int draws = 0;
  double largest_share = 0;  // of the tokens
  double few_least = 0;  // ends of the law where experts are as many as choices of tokens or more
  double few_most = 0;
};

// Loops of a library on the cores of a CPU.
struct LoopShapes {
  int panel_vectors = 0;
  int register_rows = 0;
  int block_rows = 0;
  int least_rows = 0;
  int chunks_of_thread = 0;
  double layout_passes = 0;
  int memory_turns = 0;
};

struct KernelShapes {
  ProductShapes products;
  AttentionShapes attention;
  LatentShapes latent;
  StateShapes states;
  PassShapes passes;
  ConvolutionShapes convolutions;
  CollectiveShapes collectives;
  RoutingShapes routing;
  LoopShapes loops;
};

void fields(FieldList& list, KernelShapes& shapes);

// "128x64x4 32x32x8". UserError for what is no list of three whole numbers above 0 each.
std::vector<std::array<int, 3>> triples(const std::string& text);

// From a folder like hw/. UserError with file and line.
KernelShapes load_kernel_shapes(const std::filesystem::path& hw,
                                std::map<std::string, Provenance>& provenance);
// From hw/, read once in a run (model/base/kept_inputs.hpp).
const KernelShapes& kernel_shapes();

}  // namespace foretell
