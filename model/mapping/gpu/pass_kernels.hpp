// Kernels that go over their operands without multiplying matrices, in a network: element-wise
// chains, norms, softmax, gathers, and what turns activations into a narrower type.
//
// Their factors are those of single operators (docs/gpu_operators.md): the table of the element's
// width, or of the other one where no chip has it. Two things are not taken over from the tables:
// the host, and the launch, which is the gap between two kernels of a graph.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/timing/gpu/gemm_timing.hpp"
#include "model/timing/gpu/operator_library.hpp"

namespace foretell {

struct PassWork {
  std::string name;       // of the kernel
  std::string operation;  // operator whose kind decides how the work is divided, "LayerNorm"
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  double element_bytes = 4;  // of the wider operand
  Bytes moved;
  Bytes dram;  // the part of it that misses L2
};

class PassKernels {
 public:
  // All outlive it. `products`: of the type that activations are multiplied in, for the gap between
  // two kernels and, where factors are none, for the rates.
  PassKernels(const GpuDeviceSpec& device, const GpuFactors& factors, const GemmTiming& products)
      : device_(device), factors_(factors), products_(products) {}

  // Appends the kernel, what bounds it, and a note when its factors are from another chip.
  void add(const PassWork& work, MappedOp& op);

 private:
  struct Chosen {
    TableOperator info;
    PassFactors factors;
    std::string note;
    Ratio80 interval80{1, 1};
  };
  const std::optional<Chosen>& choose(const PassWork& work);
  Grid kernel_of(const PassWork& work, const std::optional<Chosen>& chosen) const;

  const GpuDeviceSpec& device_;
  const GpuFactors& factors_;
  const GemmTiming& products_;
  std::map<std::string, std::optional<Chosen>> chosen_;  // by family and width
};

}  // namespace foretell
