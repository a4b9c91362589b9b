// Convolutions on the vector pipe, as cuDNN does them. The fastest of three algorithms is taken, by
// the closed form of its kernels:
//
//   * implicit GEMM: a product with the image unrolled while a tile is loaded;
//   * Winograd F(2x2,3x3) in one kernel, after one that transforms the filters: a thread block
//   does
//     32 output channels of 32 patches of 2x2 pixels, which is a tile of 128x128 with the input
//     channels as depth;
//   * Winograd F(4x4,3x3) in four kernels: patches of 6x6 pixels and filters are transformed to 36
//     points each, 36 products of patches, channels and filters follow, and their results are
//     transformed back. The points of all three go through memory.
//
// Lavin and Gray (2016) describe both; the tiles are those in the names of cuDNN's and cuBLAS's
// kernels. Winograd wants 3x3 filters, stride 1 and one group.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/operator_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/program/grid.hpp"
#include "model/timing/gpu/gemm_timing.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

struct ConvolutionShape {
  std::int64_t images = 1;
  std::int64_t groups = 1;
  std::int64_t channels_in = 1;   // of a group
  std::int64_t channels_out = 1;  // of a group
  std::int64_t in_pixels = 1;     // of an image
  std::int64_t out_rows = 1;
  std::int64_t out_columns = 1;
  std::int64_t filter = 1;   // its pixels
  bool is_winograd = false;  // 3x3, with stride and dilation 1
};

// `op` is a Conv or a ConvTranspose.
ConvolutionShape convolution_shape(const Graph& graph, const Op& op);

// What its operands and results move through DRAM.
struct ConvolutionTraffic {
  Bytes input;
  Bytes weights;
  Bytes output;
};

enum class ConvolutionAlgorithm { kImplicitGemm, kFusedWinograd, kWinograd };

struct ConvolutionChoice {
  ConvolutionAlgorithm algorithm = ConvolutionAlgorithm::kImplicitGemm;
  GridSequence program;
  Seconds time;  // closed form
};

class ConvolutionKernels {
 public:
  // In FP32. The device outlives it.
  ConvolutionKernels(const GpuDeviceSpec& device, const ProductFactors& factors,
                     std::pair<double, double> interval80 = {1, 1});

  ConvolutionChoice fastest(const ConvolutionShape& shape, const ConvolutionTraffic& traffic) const;

  // Appends the kernels of the fastest and what bounds them.
  void add(const ConvolutionShape& shape, const ConvolutionTraffic& traffic, MappedOp& op) const;

  // For a convolution that is called again and again with the same operands.
  ConvolutionTraffic warm_traffic(const ConvolutionShape& shape) const;

 private:
  GridSequence implicit_gemm(const ConvolutionShape& shape,
                             const ConvolutionTraffic& traffic) const;
  GridSequence fused_winograd(const ConvolutionShape& shape,
                              const ConvolutionTraffic& traffic) const;
  GridSequence winograd(const ConvolutionShape& shape, const ConvolutionTraffic& traffic) const;
  // A pass: the bytes that it reads and writes, and those of them that go through DRAM.
  Grid transform(const std::string& name, Bytes moved, Bytes dram) const;
  double missing(Bytes footprint) const;
  double per_sm(BytesPerCycle rate) const;  // B/s

  const GpuDeviceSpec& device_;
  ProductFactors factors_;
  std::pair<double, double> interval80_;  // measured / predicted of convolutions with these factors
  const GemmType& type_;
  GemmLibrary implicit_library_;
  GemmLibrary points_library_;
  GemmTiming implicit_;
  GemmTiming points_;
};

}  // namespace foretell
