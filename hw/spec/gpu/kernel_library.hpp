// What kernel libraries do: one file per library in hw/kernels/, and hw/kernels/choice.yaml, which
// says whose kernels networks run and which tables of measurements stand in for which.
//
//   id: sglang
//   name: SGLang
//   source: AICONF
//   builds_on: [cublas, cutlass]     # whose rules come first
//   runs_networks: yes               # --library takes it
//   measured_alone: no               # there is no table of its kernels
//   releases: {first: "0.5", last: "0.5.14"}
//   one_by_one: {RmsNorm: 8}         # operators are kernels of their own, launched by the host;
//                                    # these take several passes
//   epilogues: no                    # bias, activation and residual are passes after a product
//   narrow_residuals: no             # 8-bit networks keep the type of sums of activations
//   strided_products: no             # heads are copied apart before products and together after
//   fused_attention: narrow          # one kernel in 16 bits and fewer; else products and a softmax
//   fused_keys: 384                  # … up to this many keys
//   attention_apart: [volta]         # … not on these architectures
//   softmax: {share: 0.67, row: 2 us}  # between products: of the memory's rate; of a thread block,
//                                    # which has a row
//   passes: {LayerNorm: 4}           # operators of several kernels, though others are grouped
//   epilogue_activations: [Relu]     # functions that are fused into an epilogue; else all are
//   fastest_type: yes                # a product runs in 16 bits where that is faster than in 8
//   attention_share: {blackwell: 0.16}  # of the dense rate, at most, that attention reaches there
//   attention_share: {hopper: {64: 0.32, 128: 0.37}}  # … with heads of these widths
//   convolution_share: {hopper: 0.12}   # … that convolutions over frames reach
//   host: {per_launch: 9 us}         # the host launches kernel by kernel and takes this long
//   host: {per_launch: 9 us, longer: {Conv: 3.8}}  # … and this many times as long for an operator
//   host: {per_call: 160 us}         # what it takes besides for a forward pass
//   host: {per_prompt_layer: 80 us, until: "0.10"}  # … for a layer of a prompt, before a release
//   host: {per_sample: 10 ms}        # … for a token of a sequence that it chooses
//   streams:                         # branches of a block that run beside the rest of it
//     - {branch: shared_experts, when: {launch: graph, tokens: "<= 1024"}, source: SGLSTREAM}
//   asks_latents:                    # prompts that continue a cache of latents, and ask these
//     - {when: {architecture: hopper, cached: "< 8192"}, source: SGLMLA}
//   products: [ … ]                  # rules; read by model/timing/gpu/gemm_library.hpp
//
// Rules of a section are those of the libraries it builds on, then its own; kernel_rules.hpp says
// how they are written.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/shared/kernel_rules.hpp"
#include "model/base/units.hpp"
#include "model/config/document.hpp"

namespace foretell {

// A branch of a block that runs on a second stream of the GPU. Conditions: `launch`, as of the call
// ("graph", "stream"), and `tokens` that enter the branch.
struct StreamRule {
  RuleConditions conditions;
  std::string branch;
};

// Kernels that read the cache once came to an architecture for these groups of heads first.
struct SmallGroups {
  std::string architecture;  // "": no difference
  int below = 0;             // query heads to a key
  std::string until;         // first release whose kernels serve them, too
};

// Kernels that read the cache once do not serve keys that are seen in chunks, between two releases.
struct ChunkedKeys {
  std::string since;   // first release that sees chunks, with the kernels of one head; "": none
  std::string until;   // first release without them
  std::string except;  // architecture whose kernels serve chunks throughout
};

// Shares of a dense rate by width of the heads; width 0: of all heads.
using SharesByWidth = std::map<int, double>;

// The share that attention reaches with heads of this width. The time of a score is that of its
// products, which grows with the width, and that of its exponential, which does not: linear between
// two stated widths. Narrower and wider heads have the share of the nearest.
double share_of_width(const SharesByWidth& shares, double width);

struct KernelLibrary {
  std::string id;
  std::string name;
  std::vector<std::string> builds_on;
  bool runs_networks = false;
  bool measured_alone = true;
  std::string first_release;  // "": of no release in particular
  std::string last_release;
  std::string custom_sums;         // table of its kernel for small sums of several GPUs; "": none
  std::string quantises;           // table of its pass that quantises; "": none
  std::string one_head;            // kernels for tokens that serve one query head each; "": none
  std::string one_head_until;      // first release that does without them …
  std::string one_head_odd_until;  // … for groups that are no power of two; "": the same
  SmallGroups one_head_small;      // … for few heads to a key on one architecture
  ChunkedKeys one_head_chunks;     // … for keys in chunks
  bool quantises_by_row = false;   // a thread block quantises a row
  bool one_by_one = false;         // launches operator by operator and groups none
  std::map<std::string, int> passes;  // … of those that take more than one pass, by their kind
  bool epilogues = true;              // products take bias, activation and residual
  bool narrow_residuals = true;       // 8-bit networks store sums of activations in 8 bits
  bool strided_products = true;       // products read and write with strides
  enum class FusedAttention { kYes, kNo, kNarrow };
  FusedAttention fused_attention = FusedAttention::kYes;
  std::int64_t fused_keys = 0;                    // 0: any
  std::vector<std::string> attention_apart;       // architectures without that kernel
  std::vector<std::string> epilogue_activations;  // that products and convolutions take; empty: all
  bool fastest_type = false;  // multiplies in 16 bits where the chip is faster so than in 8
  double softmax_share = 1;   // of the memory's rate that a softmax between products reaches
  std::optional<Seconds> softmax_row;  // … and of its thread block, which has one row
  std::map<std::string, SharesByWidth> attention_share;  // … and of the dense rate, by chips
  std::map<std::string, double> convolution_share;       // … of convolutions over frames
  std::optional<Seconds> per_launch;            // of its host, which launches kernel by kernel
  std::map<std::string, double> longer_launch;  // … this many times as long, by kind of operator
  Seconds per_call;                             // of its host, besides, for a forward pass
  Seconds per_sample;                           // … to choose a token of one sequence
  Seconds per_prompt_layer;                     // … for a layer of a prompt
  std::string per_prompt_layer_until;           // first release without; "": all have it
  int cold_copies = 0;  // other operands between two calls of its tables; 0: none
  std::vector<StreamRule> streams;
  std::optional<std::vector<RuleConditions>> asks_latents;
  Node root;  // the file

  bool has_products() const;  // whose products tables are about
  // Does the branch run on a second stream? `launch`: "graph" or "stream".
  bool runs_beside(const std::string& branch, const std::string& launch, double tokens) const;
  // Do `queries` of a prompt after `cached` latents read these themselves, or are keys and
  // values of every head made of them again? Nothing where the file does not say.
  std::optional<bool> asks_latents_of(const std::string& architecture, double queries,
                                      double cached) const;
};

// A library's own names for the tables of an operator: which table of measured single operators
// tells how long a pass of a network takes.
struct PassSource {
  std::string table;  // "pytorch norm fp32"
  std::string op;     // of operator_library.hpp
};

// The kernel that sums small operands of several GPUs.
struct CollectiveKernel {
  std::string table;           // of calib/factors, without the way it is launched
  bool shots_by_size = false;  // one phase or two by a size that its source names; else the faster
};

struct KernelChoice {
  std::string networks;                // whose kernels a network runs unless --library says
  std::vector<std::string> common;     // rules for libraries without a file
  std::vector<std::string> attention;  // libraries that stand in for one another, the best first
  // … where another order is nearer for tokens, by architecture.
  std::map<std::string, std::vector<std::string>> attention_of_tokens;
  std::vector<std::string> operators;  // the same, of single operators
  std::string eager;                   // whose tables of single operators stand for products
  std::string collectives;             // table of what runs between GPUs
  std::string custom_sums;             // … of small sums, where the library says nothing
  // Parts of a block that need no other part of it, and what the names of their operators hold.
  std::map<std::string, std::string> branches;
  std::string scaled_in_pipe;  // whose FP8 products are nearest to blocks scaled in the pipe
  // How much longer a launch takes than beside the newest boards: processors are as old as the
  // boards that they come with. By architecture of the board; 1 where it is not named.
  std::map<std::string, double> host_slowness;
};

class KernelLibraries {
 public:
  // UserError with all that is wrong with the files of the folder.
  static KernelLibraries load(const std::string& folder);

  const std::vector<KernelLibrary>& all() const { return libraries_; }
  const KernelChoice& choice() const { return choice_; }
  const KernelLibrary* find(std::string_view id) const;  // null for one without a file

  // The library of --library; "" is the default. UserError with the nearest name.
  const KernelLibrary& of_networks(const std::string& id) const;

  // The libraries whose rules apply to `id`, in the order in which they do.
  std::vector<const KernelLibrary*> chain(const std::string& id) const;

  // What `name` ("sglang_custom") calls in a release; "" is the newest. UserError for a library
  // without sums of its own.
  CollectiveKernel custom_collective(const std::string& name, const std::string& release) const;

  // Tables of a pass for an operator ("Softmax"), by width of its elements; the best first.
  std::vector<PassSource> passes(const std::string& library, const std::string& operation,
                                 bool wide) const;

  // The launch time of the host of a library that states one, beside a board of this architecture.
  Seconds launch_time(const KernelLibrary& library, const std::string& architecture) const;

 private:
  struct PassRule {
    RuleConditions conditions;
    std::vector<PassSource> sources;
  };
  void read_choice(const Node& root);

  std::vector<KernelLibrary> libraries_;
  KernelChoice choice_;
  std::vector<PassRule> passes_;
};

// Those of hw/kernels/. What it returns is never changed.
const KernelLibraries& kernel_libraries();

}  // namespace foretell
