// Kernels of products on the pipes of a GPU: one or many of the same shape.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/timing/gpu/gemm_timing.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// `batch` products [m,k] x [k,n] that one kernel does together.
struct Product {
  std::string type;  // of gemm_library.hpp
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Bytes dram;                      // that misses L2, results included
  int copies = 1;                  // of weights like these that are used until these are used again
  double output_bytes = 0;         // of an element that is written; 0: as in the tables of its type
  bool is_convolution = false;     // whose kernels never divide the depth
  bool over_frames = false;        // … and whose filters span frames, too
  std::vector<std::int64_t> rows;  // of each of the products, where they differ; m is their mean
};

class ProductKernels {
 public:
  // Both outlive it. `clock_share` of the boost clock is left where the matrix pipe is always at
  // work.
  ProductKernels(const GpuDeviceSpec& device, const GpuFactors& factors, double clock_share);
  ~ProductKernels();

  // Appends the kernel and what bounds it. UserError when the chip has no pipe for the type.
  void add(const Product& product, MappedOp& op);

  // The timing of a type, for what memory-bound kernels have in common with products.
  const GemmTiming& timing(const std::string& type);
  const GemmType& type(const std::string& type);

 private:
  struct Kernels;
  enum class Kind { kOne, kMany, kConvolution, kOverFrames };
  static Kind kind_of(const Product& product);
  GemmFactors factors_for(const std::string& type, Kind kind) const;
  Kernels& kernels_of(const std::string& type, Kind kind, double output_bytes = 0);
  // Returns the time of the matrix pipe.
  Seconds note_bounds(const Kernels& kernels, const Product& product, const GemmTimes& chosen,
                      Grid& kernel, MappedOp& op) const;

  const GpuDeviceSpec& device_;
  const GpuFactors& factors_;
  double clock_share_;
  std::map<std::tuple<std::string, Kind, double>, std::unique_ptr<Kernels>> kernels_;
};

// The type of a product whose operands are multiplied as `compute` and whose weights are stored as
// `weights`.
inline constexpr const char* kScaledByBlock = "fp8_block";  // quantises what it reads
std::string product_type(DType compute, DType weights);

}  // namespace foretell
