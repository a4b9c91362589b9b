// Facts about the libraries that run the kernels of today's language models
// (hw/kernels/layers/layer_kernels.yaml): how data types are stored, which tiles a library has,
// what its kernels leave out. Not fitted; each entry says where it is from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

struct Node;

// How a data type of a table is stored and computed.
struct LayerType {
  std::string name;
  std::string rate;             // rate of the chip that counts: "bf16", "fp8", "fp4"
  std::string other_rate;       // … where the chip has none
  double activation_bytes = 2;  // per element, scales included
  double weight_bytes = 2;
};

struct LayerTile {
  double rows = 128;
  double columns = 128;
  double stage_bytes = 0;  // of weights along k, in one stage of the pipeline; 0: of the kernel
  double resident = 1;     // thread blocks that share an SM
};

// A tile that a library takes for as many tokens, where it is not tuned for the shape.
struct UntunedTile {
  double most_tokens = 0;      // 0: any number
  bool up_to_experts = false;  // as many tokens as the GPU has experts
  LayerTile tile;
};

// Shapes of experts with a file of tuned tiles, by chip: experts of the GPU and their width on it.
using TunedShapes = std::map<std::string, std::set<std::pair<std::int64_t, std::int64_t>>>;

struct LayerKernelFacts {
  std::string kernels;       // beginning of "<framework> <kernel>" of a table
  std::string architecture;  // of the chip; empty: all
  std::vector<LayerTile> tiles;
  double stage_bytes = 128;  // of weights along k, in one stage of the pipeline
  bool gated = true;         // experts with three matrices
  bool permutes = true;      // rows are copied to their experts, else found by the products
  bool activates = true;     // … activated by a pass of their own, else by the first products
  bool all_choices = false;  // passes walk the choices of other GPUs' experts, too, and products
                             // have blocks for them
  bool sums_all = false;     // … of the passes only the sum, and no product
  // Experts: sorting the choices by expert takes this long for each of them. The launch of a table
  // was measured with this many experts; 0: it holds for any number.
  Seconds sort_per_expert;
  double sorted_experts = 0;
  bool tuned_at_powers = false;  // tiles are those of the power of two below the tokens
  // Rows of a tile without a tuner: this share of the next power of two of the choices of all
  // tokens for each expert of this GPU; 0: tiles are the fastest.
  double tile_of_rows = 0;
  std::vector<UntunedTile> untuned;  // for shapes that are not tuned; none: all are
  std::shared_ptr<const TunedShapes> tuned;
  std::optional<LayerType> type;  // of weights and products, where it is not that of the table
  double absorbed_up_to = 0;      // prompts: queries of a sequence that ask the latents themselves
  bool absorbed_tokens = false;   // … each of them as a sequence of its own
  double prompt_rows = 0;         // prompts: rows of queries of a thread block; 0 is as usual
  bool moves_heads = true;        // prompts: a pass copies or converts all of the heads
  bool widens_cache = false;  // tokens: a copy of the cache in the type of the queries comes first
  bool keeps_type = false;  // tokens: caches are of the type of the queries, whatever is asked for
  double most_parts = 0;    // tokens: into which a sequence is divided; 0 is as many as help
  double parts = 0;         // … into just as many
  double value_parts = 1;   // tokens: thread blocks that share the values of a head
  double resident = 1;      // tokens: thread blocks that share an SM
  // Tokens: this many warps of a thread block read the keys of a stage from shared memory into
  // their registers, each all of them, and wait for what they load; 0: the matrix pipe reads shared
  // memory itself, while the next stage comes.
  double operand_readers = 0;
  double least_heads = 0;     // tokens: rows of a tile however few the heads; 0 is as usual
  double tile_keys = 0;       // tokens: keys of a stage; 0 is as usual
  double walk_tokens = 0;     // convolutions: a thread block walks a sequence of a few channels by
  double walk_channels = 16;  // … as many tokens; 0: tokens of a sequence have blocks of their own
  // Scans: a thread block for each head of a sequence does all of a chunk before the next, in one
  // kernel; else what is inside chunks is done at once, and a second kernel goes through the chain.
  bool scans_in_one = false;
  bool convolves_values = true;  // convolutions: over queries, keys and values; else without values
  std::string kernels_of;        // another library, whose kernels these are: it lends its factors
  bool stays = false;            // what was fitted on this architecture says nothing of others
  bool longest_first = true;     // prompts: order of the tiles
  bool absorbed_prompts = false;  // prompts ask the latents themselves, heads side by side in tiles
  double head_tile = 64;          // tokens of latent attention: heads that a thread block serves;
                                  // scans: values of a head
  double wire_bytes = 2;          // exchange: per element of what is sent
  double gpus_per_node = 8;       // exchange: that links connect
  BytesPerSecond network_rate;    // … of one GPU to other nodes, one direction
  bool per_choice = false;        // exchange: a token is sent once for each expert, not each GPU
};

// How tokens found their experts where a table was measured.
struct TableRouting {
  std::int64_t groups = 1;       // of experts, of which …
  std::int64_t top_groups = 1;   // … of which this many answer a token
  bool others_to_first = false;  // choices of other GPUs' experts are made by the first one, of all
                                 // tokens that have a choice here
  bool first_only = false;       // the first expert answers every token, and no other
};

class LayerKernelLibrary {
 public:
  LayerKernelLibrary();  // reads the file; UserError with file:line

  // UserError with the nearest name; types that share a rate the chip does not have compute in
  // their other rate.
  const LayerType& type(const std::string& name) const;
  // The first entry of the file whose `kernels` begin the text "<framework> <kernel>", and that is
  // for all chips or those of this architecture. Null, or UserError, when there is none.
  const LayerKernelFacts* find(const std::string& kernels,
                               const std::string& architecture = "") const;
  const LayerKernelFacts& facts(const std::string& kernels,
                                const std::string& architecture = "") const;
  // For rows of a table of this library, version and shape "<hidden> <intermediate> <top_k>
  // <experts>": the first entry of the file that names them, else any expert for any token.
  const TableRouting& routing(const std::string& kernels, const std::string& version,
                              const std::string& shape) const;
  // Kernels that a call of a table launches, as the first entry of the file that names it, for all
  // chips or those of this architecture, says; 0
  // where none does.
  double launches(const std::string& table, const std::string& architecture = "") const;
  // How many times as long the host takes for a call on the machines where tables of chips of this
  // architecture were measured; 1 where the file says nothing.
  double host_time(const std::string& architecture) const;
  // Whether experts of such rows have a gate, as far as the file says.
  bool has_gate(const std::string& kernels, const std::string& shape) const;

 private:
  struct NamedRouting {
    std::string kernels;                // beginning of a table's name
    std::vector<std::string> versions;  // none: all
    std::vector<std::string> shapes;    // none: all
    TableRouting routing;
  };

  struct NamedShapes {
    std::string kernels;
    std::vector<std::string> shapes;
  };

  struct NamedLaunches {
    std::string kernels;
    std::string architecture;  // empty: all
    int count = 0;
  };

  static NamedRouting read_routing(const Node& node);
  LayerKernelFacts read_facts(const Node& node) const;
  void read_tuned_shapes();

  std::vector<LayerType> types_;
  std::vector<NamedRouting> routings_;
  std::vector<NamedShapes> ungated_;
  std::vector<NamedLaunches> launches_;
  std::map<std::string, double> hosts_;  // by architecture
  std::vector<LayerKernelFacts> facts_;
};

}  // namespace foretell
