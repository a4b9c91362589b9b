// Operators of today's language models timed by the kernels that were measured as a whole
// (model/timing/gpu/*_kernels.hpp): experts, latent attention and its absorbed products,
// recurrences, and the exchange of tokens. hw/kernels/layers/choice.yaml says whose tables count.
//
// Each function appends kernels and returns true; false where no factors are known of such a
// kernel, a shape or a type, and where factors are turned off: the caller puts the operator
// together from products and passes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "calib/fitted/gpu/layer_kernel_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/gpu/layer_kernel_facts.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "model/timing/gpu/latent_kernels.hpp"
#include "model/timing/gpu/layer_call.hpp"
#include "workloads/ir/dtype.hpp"

namespace foretell {

struct ExpertShape;
struct StateSpace;

// What each part of a chip with that many SMs would take alone for the kernel, which moves what it
// reads.
void note_busy(int sms, Grid& kernel);
// … and that it is the largest kernel of the operator.
void note_largest(int sms, const Grid& kernel, MappedOp& op);

class LayerKernels {
 public:
  // The device and the factors outlive it. `between`: bytes that a call touches, which push weights
  // and caches out of L2 before they are read again.
  LayerKernels(const GpuSystemSpec& system, const GpuFactors& factors, Bytes between)
      : system_(system), device_(system.device), factors_(factors), between_(between) {}

  // Products compute in one type and store weights in another.
  bool add_experts(const ExpertShape& shape, DType compute, DType weights, MappedOp& op);

  // Attention whose head has the widths of kernels for latents, `cache_bytes` per element.
  bool add_latent(const AttentionDimensions& attention, double cache_bytes, MappedOp& op);

  // A matrix per head that queries or results of latents are multiplied with, `k` x `n`.
  bool add_latent_product(std::int64_t tokens, std::int64_t heads, std::int64_t n, std::int64_t k,
                          MappedOp& op);

  bool add_scan(const StateSpace& work, MappedOp& op);

  // Tokens of a rank on the way to its experts ("dispatch") or back ("combine"). Choices and their
  // weights, no wider than top_k, travel with the tokens and take no time of their own.
  struct Exchanged {
    std::string direction;
    std::int64_t ranks = 2;
    std::int64_t stride = 1;  // from a rank to its next one
    std::int64_t tokens = 1;
    std::int64_t hidden = 1;
    std::int64_t top_k = 1;
    std::int64_t experts = 1;
  };
  bool add_exchange(const Exchanged& exchange, MappedOp& op);

 private:
  struct Chosen {
    LayerKernelFactors factors;
    LayerKernelFacts facts;
    LayerType type;
    std::int64_t sms = 0;
    Ratio80 interval80{1, 1};
    std::string table;
    std::string note;
  };
  // `folder` of factors; last words of tables by `types`; kernels that take that many tokens.
  struct Wanted {
    const char* folder;
    std::string operation;
    std::string type;
    std::vector<std::string> tables;
    std::int64_t tokens = 0;
    bool exchanged = false;
    bool spread = false;  // each GPU holds some of the experts
  };
  bool add_chosen_latent(const LatentShape& shape, MappedOp& op);
  const Chosen* choose(const Wanted& wanted);
  std::optional<Chosen> find(const Wanted& wanted) const;
  LayerCall call_of(const Chosen& chosen) const;
  void take(const Chosen& chosen, GridSequence program, MappedOp& op) const;

  const GpuSystemSpec& system_;
  const GpuDeviceSpec& device_;
  const GpuFactors& factors_;
  Bytes between_;
  std::map<std::string, std::optional<Chosen>> chosen_;
};

}  // namespace foretell
