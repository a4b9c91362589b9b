// The fitted factors that a network on a GPU runs with: those of the matrix products by data type,
// those of single operators (products and convolutions on the vector pipe, passes), those of
// attention kernels, and those of collectives.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/attention_block_factors.hpp"
#include "calib/fitted/gpu/attention_factors_choice.hpp"
#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/gpu_factor_tables.hpp"
#include "calib/fitted/gpu/link_factors.hpp"
#include "calib/fitted/gpu/operator_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

using Ratio80 = std::pair<double, double>;  // measured / predicted: 80 % lay between

// What collectives between the GPUs of a node run with.
struct CollectiveFactors {
  LinkFactors nccl;
  LinkFactors custom;  // kernels of inference libraries for small sums
  Ratio80 nccl_interval{1, 1};
  Ratio80 custom_interval{1, 1};
};

// Factors of an operator and where they are from.
template <class Factors>
struct ChosenOperatorFactors {
  Factors factors;
  std::string table;   // "pytorch norm fp32"
  std::string device;  // that they were fitted on
  Ratio80 interval80{1, 1};
};

class GpuFactors {
 public:
  // `which`: "" are the fitted ones of the device, or of its nearest neighbour where it has none;
  // "none": published facts alone; else a folder like calib/factors, which counts before it
  // (GpuFactorTables::of()). `set` are overrides of factors of every type of
  // products, "factors.launch=1 us", and of attention, "factors.attention.score=2 cycles";
  // UserError for what cannot be set.
  // `library` is whose kernels the network runs, "": that of hw/kernels/choice.yaml. What was
  // fitted on `held_out`, a device, is left out of account; "": nothing.
  GpuFactors(const GpuDeviceSpec& device, const std::string& which,
             std::vector<std::string> set = {}, std::string library = "",
             const std::string& held_out = "");

  const KernelLibrary& library() const;
  const CommonFactors& common() const { return tables_ ? tables_->common() : common_factors(); }
  // Null with "none".
  const GpuFactorTables* tables() const { return tables_.get(); }

  // The table of single operators of a family ("conv") that do without the matrix pipe.
  static std::string eager_table(const std::string& family);

  // For a type of gemm_library.hpp. UserError when no chip has factors for one like it. FP32 that
  // the matrix pipe does not take has those of the vector pipe, of one product or of many in one
  // kernel (`batched`), with the launch of a kernel in a graph.
  GemmFactors gemm(const std::string& type, bool batched = false) const;
  // For products with these factors; {1, 1} with "none".
  Ratio80 gemm_interval80(const std::string& type, bool batched = false) const;
  bool on_vector_pipe(const std::string& type) const;

  // From the first of `tables` (attention_library.hpp) that was fitted on the device, else on the
  // nearest chip; nothing with "none". UserError when no chip has one of them.
  std::optional<ChosenAttentionFactors> attention(const std::vector<std::string>& tables) const;

  // From the first of `tables` that was fitted on any chip: those of the device or of its nearest
  // neighbour. Nothing with "none" and when no chip has one of them.
  std::optional<ChosenOperatorFactors<ProductFactors>> product(
      const std::vector<std::string>& tables) const;
  std::optional<ChosenOperatorFactors<PassFactors>> pass(
      const std::vector<std::string>& tables) const;

  // What whole layers of attention of a table (attention_block_factors.hpp) showed to be added to
  // their kernels: on the device or its nearest neighbour; nothing with "none", of a table that
  // was not fitted, and after take_kernels_alone().
  std::optional<ChosenOperatorFactors<AttentionBlockFactors>> attention_block(
      const std::string& table) const;
  // Operators then take the time of their kernels alone: what layers add is fitted to the rest.
  void take_kernels_alone() { kernels_alone_ = true; }

  // Those of the device or of its nearest neighbour; nothing with "none".
  const std::optional<CollectiveFactors>& collectives() const { return collectives_; }

  const std::string& id() const { return id_; }  // "h100-sxm@<content hash>", or "none"

  // Those of a type with path, value and meaning.
  std::vector<Parameter> parameters(const std::string& type) const;

  // Where the factors of a type are from, when not fitted for it on this device; "" if they are.
  std::string note(const std::string& type) const;

 private:
  void apply_set(GemmFactors& products, AttentionFactors& attention) const;

  GpuDeviceSpec device_;
  std::vector<std::string> set_;
  std::string library_;                            // "": that of networks
  std::shared_ptr<const GpuFactorTables> tables_;  // null: none
  std::string id_ = "none";
  bool kernels_alone_ = false;
  std::optional<CollectiveFactors> collectives_;
};

}  // namespace foretell
