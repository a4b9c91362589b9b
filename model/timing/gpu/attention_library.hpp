// What is known of attention kernels without a measurement: which library a framework calls, its
// tiles, the order in which it issues them, and into how many parts it divides a sequence. The
// rules are data (hw/kernels/); here is what their words mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {

enum class AttentionPhase { kContext, kEncoder, kGeneration };

struct AttentionShape {
  AttentionPhase phase = AttentionPhase::kContext;
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // tokens of one sequence that ask
  std::int64_t keys = 1;     // tokens of one sequence that answer, the asking ones included
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t window = 0;  // tokens a query looks back, itself not counted; 0: all
};

struct AttentionType {
  std::string rate = "bf16";  // rate of the chip that counts
  double query_bytes = 2;     // per element, in the products
  double key_bytes = 2;       // per element, in the cache
};

struct AttentionTile {
  double rows = 128;  // of queries
  double keys = 64;
};

struct AttentionLibrary {
  // Into how many parts a sequence is divided:
  //   kFastest      as the closed form finds fastest
  //   kSquareRoot   one part per `split_keys`, of long sequences in proportion to their root, up to
  //                 `split_waves` of thread blocks
  //   kMinParts  the fewest that fill their waves nearly as well as the best
  //   kEvenWork     the same for one sequence at most; the work of all is divided evenly
  //   kOneWave      as many as fit one wave, each of `least_keys` at least
  enum class Split { kFastest, kSquareRoot, kMinParts, kEvenWork, kOneWave };
  // What goes ahead of a prompt: nothing, keys and values into the cache, or the splitting of
  // queries, keys and values, their rotation and the cache.
  enum class Prepare { kNone, kCacheWrite, kSplitAndRotate };
  std::string tiles = "plain";     // a table of tiles of hw/kernels/
  bool paired = false;             // two tiles of queries take turns, their sums in tensor memory
  bool encoder_overlaps = false;   // without a mask, warps that multiply hide the softmax of others
  bool register_products = false;  // threads load the operands of products (mma.sync)
  // Of heads that kernels are compiled for: narrower heads are padded to the next. Empty, or wider
  // ones: a multiple of what the matrix pipe takes at least.
  std::vector<double> head_widths;
  bool one_stage = false;  // a thread block loads, waits and computes in turn
  bool longest_first = false;
  bool packs_queries = false;  // all heads that share keys in one tile
  Split split = Split::kFastest;
  Prepare prepare = Prepare::kCacheWrite;
  // Prompts: whose kernel, a thread block for each token, a cache in 8 bits is written like; "": as
  // the rows that were fitted to say.
  std::string narrow_cache_like;
  double max_split = 128;        // parts of a sequence, where the rule knows no other limit
  bool skips_window = true;      // prompts: keys outside the window are not walked
  bool one_token_packs = false;  // prompts of one token go to the kernel for tokens
  bool masks_one_token = false;  // prompts of one token are masked like longer ones
  bool one_head = false;         // a thread block serves one query head
  int blocks_per_sm = 1;         // thread blocks that an SM holds, of generation
  // Tokens: rows that a step multiplies however few heads ask; 0: as the fitted step says.
  double step_rows = 0;
  bool special_small_heads = false;  // special_block is of heads narrower than 128
  double split_keys = 0;
  double split_waves = 0;
  double least_keys = 0;
  double largest_split = 0;   // parts
  double nearly_full = 0;     // share of a wave above which nothing is divided
  double nearly_best = 0;     // share of the best filling that fewer parts have to reach
  double few_blocks = 0;      // of keys, of which nothing is divided
  double margin = 0;          // on the even share of the work
  double one_token_rows = 0;  // heads that the kernels for one token take at a time, at least
  double one_token_keys = 0;
  AttentionShapes shapes = kernel_shapes().attention;
};

// Which kernels `framework` ("": that of networks) calls for a shape: its name, with an addition
// where heads, windows or types make it call others.
std::string attention_kernels(const std::string& architecture, const std::string& framework,
                              const AttentionType& type, const AttentionShape& shape);
// The library of such a name.
AttentionLibrary attention_library(const std::string& architecture, const std::string& kernels);

// Prompts only.
AttentionTile attention_tile(const AttentionLibrary& library, const AttentionType& type,
                             const AttentionShape& shape);

// Columns of a head of `width` in products and in shared memory.
double padded_width(const AttentionLibrary& library, double width);

// Whether a thread block serves all query heads that share keys.
bool packs_queries(const AttentionLibrary& library, const AttentionShape& shape);

// Whether the query heads that share keys have to be brought together, before and after.
bool regroups(const AttentionLibrary& library, const AttentionShape& shape);

struct AttentionSplit {
  double parts = 1;       // into which the keys of one tile of queries are divided
  bool combines = false;  // a reduction follows, be there one part or more
};

// By the rule of the library on a chip of this many SMs; parts 0 where the rule is not known.
AttentionSplit attention_split(const AttentionLibrary& library, const AttentionType& type,
                               const AttentionShape& shape, double sms);

// The table whose `prepare_block` holds where a call takes factors of another chip that know none;
// "" where none stands in.
std::string table_of_cache_write(const AttentionLibrary& library, const AttentionType& type,
                                 AttentionPhase phase);

// "context", "encoder", "generation".
std::string_view to_string(AttentionPhase phase);

// Tables of measured kernels that can stand for a call, the best first: "trtllm context bf16 fp8"
// is kernels, phase, type of the products and type of the cache. After those of `framework` those
// of its plain kernels, then those of the other libraries.
std::vector<std::string> attention_tables(const std::string& architecture,
                                          const std::string& framework, const AttentionType& type,
                                          const AttentionShape& shape);
// The library of the kernels of such a table.
AttentionLibrary library_of_table(const std::string& architecture, const std::string& table);

// The form of a call of `asked` with the factors of `found`: that which those were fitted with,
// unless kernels of the same library multiply from registers and those of `found` do not.
AttentionLibrary library_of_call(const std::string& architecture, const std::string& asked,
                                 const std::string& found);

}  // namespace foretell
