// Rows of tables of the kernels of today's language models, and their times: experts, latent
// attention, its absorbed products, state-space layers, the exchange of tokens between experts.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/gpu/layer_kernel_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/gpu/layer_kernel_facts.hpp"
#include "model/predict/rows/row_programs.hpp"
#include "model/timing/gpu/exchange_kernels.hpp"
#include "model/timing/gpu/experts_kernels.hpp"
#include "model/timing/gpu/latent_kernels.hpp"
#include "model/timing/gpu/state_space_kernels.hpp"

namespace foretell {

enum class LayerKind { kExperts, kLatent, kLatentProducts, kStateSpace, kExchange };

// Name of the folder of factors, and of the kind of table.
const char* layer_kind_name(LayerKind kind);

struct LayerRow {
  LayerKind kind = LayerKind::kExperts;
  std::string gpu;
  std::string version;
  std::string dtype;                // of the products
  std::vector<std::string> tables;  // whose factors count, the best first
  std::string family;               // what rows share that are on one side of the split
  std::string op_class;             // rows of about one size
  struct Experts {
    ExpertsShape shape;
    std::vector<ExpertLoad> loads;
  };
  std::variant<Experts, LatentShape, LatentProductShape, StateSpaceShape, ExchangeShape> shape;
};

Seconds layer_row_time(const LayerRow& row, const GpuDeviceSpec& device,
                       const LayerKernelFacts& facts, const LayerType& type,
                       const LayerKernelFactors& factors);

class LayerRowPredictor {
 public:
  // `set`: overrides of every device.
  LayerRowPredictor(LayerKind kind, std::vector<std::string> set, const RowFactors& factors);

  // UserError for a device, a type or a kernel that is not known.
  RowTime predict(const LayerRow& row);

 private:
  struct Choice {  // of one device and table
    LayerKernelFactors factors;
    LayerKernelFacts facts;
    double low = 1;
    double high = 1;
    std::string note;
  };

  bool stays(const std::string& from, const std::string& table, const GpuDeviceSpec& device) const;
  ChosenFactorSet choose_set(const GpuDeviceSpec& device, const LayerRow& row) const;
  void follow_release(const ChosenFactorSet& found, const LayerRow& row,
                      const GpuDeviceSpec& device, const CarriedKernel& kernel,
                      LayerKernelFactors& factors) const;
  void follow_machine(const std::string& table, const std::string& from, const std::string& to,
                      LayerKernelFactors& factors) const;
  OtherKernel other_kernel(const std::string& table, const LayerKernelFacts& own,
                           const std::string& lender, const std::string& architecture) const;
  const Choice& choose(const GpuDeviceSpec& device, const LayerRow& row);

  RowDevices devices_;
  KernelFactorsLibrary factors_;
  LayerKernelLibrary facts_;
  std::map<std::string, Choice> choices_;
};

std::filesystem::path layer_factors_folder(LayerKind kind);

}  // namespace foretell
