#include "hw/spec/shared/kernel_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr Range<double> kAny{1e-3, 1e6};
constexpr Range<int> kWhole{1, 1 << 24};
constexpr Range<Bytes> kBytes{Bytes(1), Bytes(1e12)};
constexpr Range<Seconds> kTime{Seconds(1e-9), Seconds(1)};

constexpr std::string_view kLoops = "loops.";

struct StandardShapes {
  std::map<std::string, Provenance> provenance;
  KernelShapes shapes = load_kernel_shapes(hw_folder(), provenance);

  int assumed(bool loops) const {
    return static_cast<int>(
        std::count_if(provenance.begin(), provenance.end(), [loops](const auto& entry) {
          return entry.second.chosen.kind == ValueKind::kAssumed &&
                 starts_with(entry.first, kLoops) == loops;
        }));
  }
};

struct KernelFileHashes {
  std::map<std::string, std::string> by_folder;
};

}  // namespace

void fields(FieldList& list, ProductShapes& shapes) {
  list.value("split_stages", shapes.split_stages, kAny,
             "Stages that a part has at least: a pipeline has to fill.");
  list.count("fourfold_tile", shapes.fourfold_tile, kWhole,
             "Largest tile, in elements, that is split into four parts and more.");
  list.count("manyfold_tile", shapes.manyfold_tile, kWhole, "The same of sixteen parts and more.");
  list.value("padded_tile", shapes.padded_tile, kAny,
             "Rows of the tiles whose stages wait where rows are missing.");
  list.value("padded_columns", shapes.padded_columns, kAny,
             "Columns of a product from which they do.");
  list.count("rowless_any_depth", shapes.rowless_any_depth, kWhole,
             "Rows up to which the kernel without tiles takes any depth.");
  list.value("rowless_rows", shapes.rowless_rows, kAny,
             "Rows that the kernel without tiles takes at once.");
  list.value("quantised_bytes", shapes.quantised_bytes, kAny,
             "Per element of the pass that quantises.");
  list.value("stages", shapes.stages, kAny,
             "Stages of operands that a thread block holds at least.");
  list.count("sums_of_thread", shapes.sums_of_thread, kWhole, "Sums that a thread holds at most.");
  list.count("other_registers", shapes.other_registers, kWhole,
             "Of a thread: fragments of operands, addresses.");
  list.count("threads", shapes.threads, kWhole, "Threads of a thread block at least.");
  list.count("paired_tile", shapes.paired_tile, kWhole,
             "Largest tile of one thread block, in elements, where there is tensor memory.");
  list.value("energy_tile", shapes.energy_tile, kAny,
             "Rows and columns of tiles whose operands are counted as energy of L2.");
}

void fields(FieldList& list, AttentionShapes& shapes) {
  list.value("keys_of_step", shapes.keys_of_step, kAny,
             "Keys that kernels for tokens take at a time.");
  list.count("few_queries", shapes.few_queries, kWhole,
             "Queries that kernels for tokens take at a time.");
  list.value("copy_threads", shapes.copy_threads, kAny,
             "Most of a thread block that writes one token to the cache.");
  list.value("smallest_tile", shapes.smallest_tile, kAny,
             "Rows, keys and elements of a head that the matrix pipe takes at least.");
  list.value("threads", shapes.threads, kAny, "Threads of a thread block at least.");
  list.value("threads_of_row", shapes.threads_of_row, kAny,
             "Threads that share the scores of a row.");
  list.value("other_registers", shapes.other_registers, kAny,
             "Of a thread, beside its sums and scores.");
  list.value("summed_width", shapes.summed_width, kAny,
             "Columns of the result at a time; wider heads take turns.");
}

void fields(FieldList& list, LatentShapes& shapes) {
  list.value("latent", shapes.latent, kAny, "Values of a latent.");
  list.value("rotated", shapes.rotated, kAny, "Values of its rotated part.");
  list.value("query", shapes.query, kAny, "Width of queries and keys that are multiplied out.");
  list.value("value", shapes.value, kAny, "Width of values.");
  list.value("tile_rows", shapes.tile_rows, kAny, "Rows of queries of a thread block.");
  list.value("absorbed_rows", shapes.absorbed_rows, kAny, "Rows of queries that ask latents.");
  list.value("tile_keys", shapes.tile_keys, kAny, "Keys of a stage.");
  list.value("least_heads", shapes.least_heads, kAny, "Rows that the matrix pipe takes at least.");
  list.value("most_parts", shapes.most_parts, kAny, "Into which a sequence is divided.");
}

void fields(FieldList& list, StateShapes& shapes) {
  list.value("channels", shapes.channels, kAny, "Of a thread block of a convolution.");
  list.value("tokens", shapes.tokens, kAny, "Of a thread block of a convolution.");
  list.value("values", shapes.values, kAny, "Of a head, that one thread block carries along.");
}

void fields(FieldList& list, PassShapes& shapes) {
  list.count("warp_row", shapes.warp_row, kWhole,
             "Longest row that a warp holds in its registers.");
  list.count("two_rows", shapes.two_rows, kWhole, "Longest row of which a warp takes two.");
  list.count("head_threads", shapes.head_threads, kWhole,
             "Most of a thread block that rotates the heads of a token.");
  list.count("row_threads", shapes.row_threads, kWhole, "Of a thread block that quantises a row.");
  list.count("least_threads", shapes.least_threads, kWhole, "Narrower ones run no more at a time.");
  list.count("row_vector", shapes.row_vector, kWhole,
             "Elements of 16 bytes, the widest access of a thread.");
}

void fields(FieldList& list, ConvolutionShapes& shapes) {
  list.value("stage", shapes.stage, kAny, "Of a stage, that is walked at once.");
  list.text("implicit_tiles", shapes.implicit_tiles, {},
            "Rows, columns and thread blocks of an SM of products without a copy of their input.");
  list.text("points_tiles", shapes.points_tiles, {},
            "The same of products of points of Winograd's method.");
  list.count("fused_tile", shapes.fused_tile, kWhole,
             "Rows and columns of the tile of the fused kernel of that method.");
  list.count("fused_channels", shapes.fused_channels, kWhole,
             "Of the result, of a thread block of it.");
  list.value("fused_results", shapes.fused_results, kAny,
             "32 channels of 32 patches of 2 x 2 pixels, that a thread block of it writes.");
  list.value("fused_step", shapes.fused_step, kAny, "Input channels of a stage.");
  list.value("fused_resident", shapes.fused_resident, kAny,
             "Thread blocks of it that an SM holds.");
  list.text(
      "fused_blocks", shapes.fused_blocks, {},
      "Images, rows and columns of patches of a thread block; the one that wastes least is taken.");
}

void fields(FieldList& list, CollectiveShapes& shapes) {
  list.count("switch_ranks", shapes.switch_ranks, kWhole, "The switch sums for a whole node.");
  list.value("small_message", shapes.small_message, kBytes,
             "Largest message of a point-to-point exchange in the low-latency protocol, "
             "NCCL_P2P_LL_THRESHOLD.");
  list.value("own_kernels_below", shapes.own_kernels_below, kBytes,
             "Frameworks call NCCL for larger sums.");
  list.count("few_ranks", shapes.few_ranks, kWhole, "Ranks up to which one phase pays longer.");
  list.value("two_phases_of_few", shapes.two_phases_of_few, kBytes,
             "Sums from which kernels of frameworks take two phases, of few ranks.");
  list.value("two_phases_of_many", shapes.two_phases_of_many, kBytes, "The same of more.");
  list.value("hop", shapes.hop, kTime,
             "From a GPU to its neighbour, a flag and its data, where nothing was fitted.");
  list.value("pcie_direct_share", shapes.pcie_direct_share, {0.01, 1},
             "Of the rate of PCIe, what a ring of GPUs that reach one another reaches.");
  list.value("pcie_direct_hop", shapes.pcie_direct_hop, kTime, "A step of that ring.");
  list.value("pcie_host_share", shapes.pcie_host_share, {0.01, 1},
             "The same of GPUs that hand over in the memory of the host.");
  list.value("pcie_host_hop", shapes.pcie_host_hop, kTime, "A step of that ring.");
  list.value("network_hop_small", shapes.network_hop_small, kTime,
             "A step between nodes, of the protocol for small messages.");
  list.value("network_small_share", shapes.network_small_share, {0.01, 1},
             "Of the bandwidth of the network, what that protocol reaches.");
  list.value("network_hop_large", shapes.network_hop_large, kTime,
             "A step between nodes, of the protocol for large messages.");
}

void fields(FieldList& list, RoutingShapes& shapes) {
  list.count("draws", shapes.draws, {1, 1000}, "Draws from a power law whose mean counts.");
  list.value("largest_share", shapes.largest_share, {1e-3, 1},
             "Of the tokens, that one expert wishes for at most.");
  list.value("few_least", shapes.few_least, kAny,
             "Least of a law for no more choices of tokens than experts.");
  list.value("few_most", shapes.few_most, kAny, "Most of that law.");
}

void fields(FieldList& list, LoopShapes& shapes) {
  list.count("panel_vectors", shapes.panel_vectors, kWhole,
             "Columns of a panel, in vector registers.");
  list.count("register_rows", shapes.register_rows, kWhole, "24 accumulators of 32 registers.");
  list.count("block_rows", shapes.block_rows, kWhole, "Rows that one chunk holds.");
  list.count("least_rows", shapes.least_rows, kWhole,
             "Below, a block is not cut for more threads.");
  list.count("chunks_of_thread", shapes.chunks_of_thread, kWhole, "Of row-wise work.");
  list.value("layout_passes", shapes.layout_passes, kAny,
             "Times that the bytes of weights pass a core that lays them out.");
  list.count("memory_turns", shapes.memory_turns, kWhole,
             "Times that a core asks the memory in a run of equal chunks.");
}

void fields(FieldList& list, KernelShapes& shapes) {
  list.group("products", shapes.products);
  list.group("attention", shapes.attention);
  list.group("latent", shapes.latent);
  list.group("states", shapes.states);
  list.group("passes", shapes.passes);
  list.group("convolutions", shapes.convolutions);
  list.group("collectives", shapes.collectives);
  list.group("routing", shapes.routing);
  list.group("loops", shapes.loops);
}

std::vector<std::array<int, 3>> triples(const std::string& text) {
  std::vector<std::array<int, 3>> all;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::istringstream numbers(word);
    std::array<int, 3> one{};
    char first = 0;
    char second = 0;
    numbers >> one[0] >> first >> one[1] >> second >> one[2];
    if (!numbers || !numbers.eof() || first != 'x' || second != 'x' || one[0] < 1 || one[1] < 1 ||
        one[2] < 1) {
      throw UserError(fmt::format("'{}': expected three whole numbers, as in 128x64x4", word));
    }
    all.push_back(one);
  }
  if (all.empty()) throw UserError("'': expected three whole numbers, as in 128x64x4");
  return all;
}

KernelShapes load_kernel_shapes(const std::filesystem::path& hw,
                                std::map<std::string, Provenance>& provenance) {
  const std::filesystem::path path = hw / "kernels" / "layers" / "shapes.yaml";
  const Bibliography bibliography = Bibliography::of(hw);
  const Node root = load_document(path, shown_path(path));
  KernelShapes shapes;
  FieldList list;
  fields(list, shapes);
  Problems problems;
  load_fields(root, list, {}, SourcedReader(bibliography, provenance), problems);
  problems.throw_if_any();
  for (const std::string* text :
       {&shapes.convolutions.implicit_tiles, &shapes.convolutions.points_tiles,
        &shapes.convolutions.fused_blocks}) {
    problems.collect([&] {
      try {
        triples(*text);
      } catch (const UserError& error) {
        throw UserError(shown_path(path) + ": convolutions: " + error.what());
      }
    });
  }
  problems.throw_if_any();
  return shapes;
}

const KernelShapes& kernel_shapes() { return kept<StandardShapes>().shapes; }

int assumed_shapes_of_gpu_kernels() { return kept<StandardShapes>().assumed(false); }
int assumed_shapes_of_cpu_loops() { return kept<StandardShapes>().assumed(true); }

std::filesystem::path neuron_fusion_file(const std::filesystem::path& hw) {
  return hw / "kernels" / "neuron" / "fusion.yaml";
}

const std::string& kernel_files_hash(const std::filesystem::path& hw) {
  const auto [found, is_new] = kept<KernelFileHashes>().by_folder.try_emplace(hw.string());
  if (!is_new) return found->second;
  std::set<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(hw / "kernels", error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".yaml") files.insert(entry->path());
  }
  std::string bytes;
  for (const std::filesystem::path& file : files)
    bytes += file.lexically_relative(hw).string() + '\n' + read_text_file(file.string());
  if (!bytes.empty()) found->second = content_hash(bytes);
  return found->second;
}

}  // namespace foretell
