// Tables of whole attention layers (kind `attention_block`): from the hidden state to the output
// projection of one GPU. A row is a graph of one layer of the network that it names, with as many
// heads as it says, which runs as networks do: mapped to kernels, simulated. What a library adds to
// that is fitted on such tables (attention_block_factors.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/attention_block_facts.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/timing/gpu/attention_block_timing.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct AttentionBlockRow {
  std::string gpu;
  std::string framework;
  std::string kind;           // mla, dsa, msa
  std::string phase;          // context, generation
  std::string model;          // of WorkloadLibrary
  std::string product_dtype;  // of the projections
  bool narrow_cache = false;  // keys and values in FP8
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // of a sequence
  std::int64_t keys = 1;     // of a sequence, the queries included
  std::int64_t heads = 1;    // of the GPU
};

// UserError that names the column that is wrong.
AttentionBlockRow read_attention_block_row(const NamedCells& cells, const CsvRow& row);

// What rows share that are on one side of the split: the heads, as in tables of latent attention.
std::string attention_block_family(const NamedCells& cells, const CsvRow& row);

// The graph of the layer, types applied. UserError when the network has no such attention.
Graph attention_block_graph(const ModelConfig& model, const AttentionBlockRow& row,
                            const PrecisionPolicy& precision, const AttentionBlockFacts& facts,
                            const std::string& architecture);

class AttentionBlockPredictor {
 public:
  // `set` are overrides of the device of every row. UserError when a device that is held out is not
  // known.
  AttentionBlockPredictor(std::vector<std::string> set, RowFactors factors);

  // UserError when the GPU, the network or its attention does not exist.
  RowTime predict(const AttentionBlockRow& row);

  // What the row's kernels take, each alone, and how far others like them were off.
  struct Parts {
    AttentionBlockWork work;
    std::pair<double, double> interval80{1, 1};
    std::string note;
  };
  Parts parts(const AttentionBlockRow& row);

  // "<framework> <kind> <phase>" of the kernels that serve the row, as factors are named.
  std::string table(const AttentionBlockRow& row);

 private:
  struct Gpu {
    GpuSystemSpec system;
    GpuFactors factors;
    std::string likeness;  // of one of the user's
  };
  const Gpu& gpu_of(const AttentionBlockRow& row);
  const ModelConfig& network_of(const AttentionBlockRow& row);
  std::string kernels_phase(const AttentionBlockRow& row);
  std::optional<ChosenOperatorFactors<AttentionBlockFactors>> added(const AttentionBlockRow& row);
  void refer(const ModelConfig& model, const AttentionBlockRow& row,
             const std::string& architecture, AttentionBlockWork& work) const;

  std::vector<std::string> set_;
  RowFactors factors_;
  GpuCatalog catalog_;
  WorkloadLibrary workloads_;
  AttentionBlockFacts facts_;
  std::map<std::string, Gpu> gpus_;              // by name and library
  std::map<std::string, ModelConfig> networks_;  // by name
};

}  // namespace foretell
