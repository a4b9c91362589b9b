// What the kernels of model/timing/*_kernels.hpp (experts, latent attention, state space, exchange)
// have in common: factors in seconds and bytes per second of a chip, tiles, passes over memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calib/fitted/gpu/layer_kernel_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/gpu/layer_kernel_facts.hpp"
#include "model/program/grid.hpp"

namespace foretell {

// Refers to what it is made of, which outlives it.
class LayerCall {
 public:
  // UserError when the chip has no pipe for the type.
  // `between`: bytes that others touch between two calls, 0 where it is called in a loop.
  LayerCall(const GpuDeviceSpec& device, const LayerKernelFacts& facts, const LayerType& type,
            const LayerKernelFactors& factors, Bytes between = Bytes(0));

  // Groups of equal products, each with weights of its own.
  struct Groups {
    double rows = 0;   // of activations
    double count = 0;  // groups with this many
  };
  // A product of all groups in one launch: activations rows x k, weights n x k of each group, in
  // these tiles. `elsewhere` are groups whose weights are on other GPUs; their blocks end at once.
  // Weights are found in L2 only when all of them fit (l2_share). Time and bytes of nothing but the
  // product.
  Grid grouped_product(const std::vector<Groups>& groups, double n, double k, const LayerTile& tile,
                       const std::vector<Groups>& elsewhere = {}) const;
  // The fastest of the library's tiles for such a product.
  LayerTile fastest_tile(const std::vector<Groups>& groups, double n, double k) const;

  // Bytes that pass once through the SMs and L2, as far as they fit, else DRAM; and rows with a
  // thread block for each.
  Grid pass(const std::string& name, double bytes, double rows) const;

  double seconds(Cycles cycles) const { return cycles.value() / clock_; }
  double feed(BytesPerCycle rate) const { return rate.value() * clock_; }  // B/s of one SM
  double sms() const { return sms_; }
  double sm_rate() const { return sm_rate_; }  // FLOP/s of an SM that loops reach
  void set_memory(Grid& kernel, double dram) const;
  // Share of `bytes` that has left L2: of what the kernel before wrote, and of weights, caches and
  // states that the call before used.
  double missing(double bytes) const;
  double missing_since_call(double bytes) const { return missing(bytes + between_); }

  const GpuDeviceSpec& device() const { return device_; }
  const LayerKernelFacts& facts() const { return facts_; }
  const LayerType& type() const { return type_; }
  const LayerKernelFactors& factors() const { return factors_; }

 private:
  struct Blocks {
    double count = 0;
    Seconds time;  // of each
  };
  Blocks blocks_of(const std::vector<Groups>& groups, double n, double k,
                   const LayerTile& tile) const;
  double reads(const LayerTile& tile, double depth) const;

  const GpuDeviceSpec& device_;
  const LayerKernelFacts& facts_;
  const LayerType& type_;
  const LayerKernelFactors& factors_;
  double clock_;
  double sms_;
  double sm_rate_;
  double between_;        // bytes
  double read_rate_ = 0;  // B/s from shared memory into registers; 0: the pipe reads it itself
};

}  // namespace foretell
