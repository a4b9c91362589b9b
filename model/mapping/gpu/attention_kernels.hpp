// Attention of a graph as one kernel: scores stay in the SM.
//
// Thread blocks, their order and their bytes are those of model/timing/gpu/attention_timing.hpp
// with the factors fitted to the tables of attention. Two things differ from a row of such a table.
// It was measured alone in a CUDA graph, whose launch is in its factor; in a network only the gap
// between two kernels of a graph is left. And a row of a prompt includes the kernel that splits,
// rotates and stores queries, keys and values, which a graph has as operations of its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/attention_block_facts.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "model/timing/gpu/attention_timing.hpp"

namespace foretell {

class AttentionKernels {
 public:
  // All outlive it. `launch`: from the kernel before to the first thread block, in a graph.
  // Without `heads_share_keys` a thread block for tokens serves one query head; without
  // `chunks_share_keys` where keys are seen in chunks.
  AttentionKernels(const GpuDeviceSpec& device, const GpuFactors& factors, Seconds launch,
                   bool heads_share_keys = true, bool chunks_share_keys = true)
      : device_(device),
        factors_(factors),
        launch_(launch),
        heads_share_keys_(heads_share_keys),
        chunks_share_keys_(chunks_share_keys) {}

  // Appends the kernel, what bounds it, and a note when its factors are not those of this chip for
  // the library. `dram`: what comes from and goes to DRAM. UserError when it fits no SM.
  void add(const AttentionDimensions& asked, const AttentionType& type, Bytes dram, MappedOp& op);

 private:
  struct Chosen {
    AttentionFactors factors;
    AttentionLibrary library;
    std::string note;
    Ratio80 interval80{1, 1};
  };
  Chosen choose(const std::string& framework, const AttentionShape& shape,
                const AttentionType& type) const;
  std::string framework(const AttentionShape& shape, bool in_chunks) const;
  void cap_rate(double head_width, AttentionFactors& factors) const;
  AttentionBlockFacts::Call chosen_call(const char* phase) const;
  // Queries with keys that an indexer chose share no tile, each is a sequence of its own; but for
  // kernels that take the blocks of neighbours together.
  AttentionDimensions one_by_one(AttentionDimensions attention) const;
  // How the library reads them, where that is known, and what it takes in a whole layer.
  void read_chosen(const AttentionDimensions& asked, const AttentionDimensions& read,
                   Grid& kernel) const;

  const GpuDeviceSpec& device_;
  const GpuFactors& factors_;
  Seconds launch_;
  bool heads_share_keys_;
  bool chunks_share_keys_;
  std::map<std::string, Chosen> chosen_;  // by table and width of a head
};

// Keys that a query of a causal prompt reads on average, of which at most `selected` are chosen.
// `keys` holds the queries, which are its last.
std::int64_t mean_chosen_keys(std::int64_t queries, std::int64_t keys, std::int64_t selected);

// A few queries after a cache are generation; this many queries are heads that share keys.
AttentionShape shape_of(const AttentionDimensions& attention);

}  // namespace foretell
