#include "model/mapping/gpu/convolution_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/mapping/gpu/gemm.hpp"
#include "model/mapping/shared/convolution.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/soft_limits.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

constexpr double kElement = 4;        // bytes
constexpr std::int64_t kPatchIn = 6;  // F(4x4,3x3)
constexpr std::int64_t kPatchOut = 4;
constexpr std::int64_t kPoints = kPatchIn * kPatchIn;
constexpr std::int64_t kFusedPoints = 16;  // F(2x2,3x3)

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Products of the vector pipe with these tiles.
GemmLibrary product_library(const std::string& tiles) {
  GemmLibrary library;
  library.vector_pipe = true;
  library.stage = kernel_shapes().convolutions.stage;
  for (const auto& [rows, columns, resident] : triples(tiles))
    library.tiles.push_back({rows, columns, resident});
  library.max_split = 1;
  return library;
}

Bytes elements(double count) { return Bytes(kElement * count); }

Bytes input_of(const ConvolutionShape& shape) {
  return elements(static_cast<double>(shape.images * shape.groups * shape.channels_in) *
                  static_cast<double>(shape.in_pixels));
}

Bytes weights_of(const ConvolutionShape& shape) {
  return elements(static_cast<double>(shape.groups * shape.channels_in * shape.channels_out) *
                  static_cast<double>(shape.filter));
}

Bytes output_of(const ConvolutionShape& shape) {
  return elements(static_cast<double>(shape.images * shape.groups * shape.channels_out) *
                  static_cast<double>(shape.out_rows * shape.out_columns));
}

bool is_one(const Op& op, const char* attribute) {
  const std::vector<std::int64_t> values = integers_of(op, attribute, {});
  return std::all_of(values.begin(), values.end(), [](std::int64_t value) { return value == 1; });
}

}  // namespace

ConvolutionShape convolution_shape(const Graph& graph, const Op& op) {
  const Shape& x = graph.tensor(op.inputs[0]).shape;
  const Shape& y = graph.tensor(op.outputs.front()).shape;
  const ImplicitGemm gemm = implicit_gemm(graph, op);
  ConvolutionShape shape;
  shape.images = x[0];
  shape.groups = gemm.groups;
  shape.channels_in = gemm.k_channels;
  shape.channels_out = gemm.n;
  shape.in_pixels = element_count(x) / (x[0] * x[1]);
  shape.filter = gemm.k / gemm.k_channels;
  shape.out_columns = gemm.m / x[0];
  if (op.kind != "Conv" || y.size() != 4) return shape;
  shape.out_rows = y[2];
  shape.out_columns = y[3];
  const Shape& weight = graph.tensor(op.inputs[1]).shape;
  shape.is_winograd =
      weight[2] == 3 && weight[3] == 3 && is_one(op, "strides") && is_one(op, "dilations");
  return shape;
}

ConvolutionKernels::ConvolutionKernels(const GpuDeviceSpec& device, const ProductFactors& factors,
                                       std::pair<double, double> interval80)
    : device_(device),
      factors_(factors),
      interval80_(std::move(interval80)),
      type_(gemm_type("fp32")),
      implicit_library_(product_library(kernel_shapes().convolutions.implicit_tiles)),
      points_library_(product_library(kernel_shapes().convolutions.points_tiles)),
      implicit_(device, type_, implicit_library_, factors.gemm),
      points_(device, type_, points_library_, factors.gemm) {}

double ConvolutionKernels::per_sm(BytesPerCycle rate) const {
  return rate.value() * device_.clock.boost.value();
}

double ConvolutionKernels::missing(Bytes footprint) const {
  const Bytes capacity = device_.l2.capacity * factors_.gemm.l2_share;
  return missing_share(factors_.gemm.common, footprint / capacity);
}

ConvolutionTraffic ConvolutionKernels::warm_traffic(const ConvolutionShape& shape) const {
  const double share = missing(input_of(shape) + weights_of(shape) + output_of(shape));
  return {input_of(shape) * share, weights_of(shape) * share, output_of(shape)};
}

Grid ConvolutionKernels::transform(const std::string& name, Bytes moved, Bytes dram) const {
  Grid kernel;
  kernel.name = name;
  kernel.launch = factors_.gemm.launch;
  kernel.memory_latency = implicit_.prologue();
  kernel.dram_bytes = dram * factors_.transform;
  kernel.dram_rate = implicit_.dram_rate();
  kernel.l2_bytes = moved * factors_.transform;
  kernel.l2_rate = implicit_.l2_rate();
  return kernel;
}

GridSequence ConvolutionKernels::implicit_gemm(const ConvolutionShape& shape,
                                               const ConvolutionTraffic& traffic) const {
  GemmShape product;
  product.m = shape.images * shape.out_rows * shape.out_columns;
  product.n = shape.channels_out;
  product.k = shape.channels_in * shape.filter;
  product.batch = shape.groups;
  GemmTimes times = implicit_.fastest(product, {});
  times.dram = traffic.input + traffic.weights + traffic.output;
  times.dram_rate = implicit_.dram_rate();
  GridSequence program = gemm_program(implicit_, product, times);
  program.kernels.back().name = "implicit " + program.kernels.back().name;
  return program;
}

GridSequence ConvolutionKernels::fused_winograd(const ConvolutionShape& shape,
                                                const ConvolutionTraffic& traffic) const {
  const ConvolutionShapes& fused = kernel_shapes().convolutions;
  std::int64_t patches = 0;
  for (const auto& [images, rows, columns] : triples(fused.fused_blocks)) {
    const std::int64_t blocks = ceil_div(shape.images, images) *
                                ceil_div(shape.out_rows, std::int64_t{2} * rows) *
                                ceil_div(shape.out_columns, std::int64_t{2} * columns);
    patches = patches == 0 ? blocks : std::min(patches, blocks);
  }
  const std::int64_t count = patches * ceil_div(shape.channels_out, fused.fused_channels);
  const double waves = std::ceil(static_cast<double>(count) / device_.sms);
  const double resident = std::min(fused.fused_resident, waves);
  const auto depth = static_cast<double>(shape.channels_in);
  const GemmFactors& gemm = factors_.gemm;
  const double rate = dense_rate(device_, type_.rate).value() * gemm.mma_efficiency *
                      factors_.winograd / device_.sms;
  const double multiply = 2.0 * fused.fused_tile * fused.fused_tile * fused.fused_step / rate;
  const double fetch = 2 * fused.fused_tile * kElement * fused.fused_step / per_sm(gemm.sm_feed);
  const double latency = gemm.step.value() / device_.clock.boost.value() / resident;
  const double stages = std::ceil(depth / fused.fused_step / fused.stage) * fused.stage;
  const double prologue = implicit_.prologue().value();
  const double block = prologue / resident + stages * std::max(multiply + fetch, latency) +
                       fused.fused_results * kElement / per_sm(gemm.epilogue);
  const Bytes points = elements(depth * static_cast<double>(shape.channels_out * kFusedPoints));
  const double spilled = missing(points + input_of(shape) + output_of(shape));
  GridSequence program;
  program.kernels.push_back(transform("transform filters", weights_of(shape) + points,
                                      traffic.weights + spilled * points));
  Grid kernel;
  kernel.name = "winograd 128x128";
  kernel.launch = gemm.launch;
  kernel.memory_latency = Seconds(prologue);
  kernel.dram_bytes = traffic.input + spilled * points + traffic.output;
  kernel.dram_rate = implicit_.dram_rate();
  // Four input pixels and sixteen points of each filter per patch and channel.
  kernel.l2_bytes = elements(static_cast<double>(count) * depth * fused.fused_channels *
                             static_cast<double>(4 + kFusedPoints));
  kernel.l2_rate = implicit_.l2_rate();
  add_ctas(kernel, count, Seconds(block));
  const double longer = std::max(
      waves * block,
      std::max((kernel.dram_bytes / kernel.dram_rate), (kernel.l2_bytes / kernel.l2_rate)).value());
  kernel.stages_ahead = grown_stages_ahead(gemm.common, gemm.stages_ahead, longer);
  kernel.stretch = implicit_.stretch(Seconds(longer));
  program.kernels.push_back(std::move(kernel));
  return program;
}

GridSequence ConvolutionKernels::winograd(const ConvolutionShape& shape,
                                          const ConvolutionTraffic& traffic) const {
  GemmShape product;
  product.m =
      shape.images * ceil_div(shape.out_rows, kPatchOut) * ceil_div(shape.out_columns, kPatchOut);
  product.n = shape.channels_out;
  product.k = shape.channels_in;
  product.batch = kPoints;
  const auto points_of = [](std::int64_t rows, std::int64_t columns) {
    return elements(static_cast<double>(kPoints * rows) * static_cast<double>(columns));
  };
  const Bytes patches = points_of(product.m, product.k);
  const Bytes filters = points_of(product.n, product.k);
  const Bytes results = points_of(product.m, product.n);
  // Points that were just written are found in L2 as far as they fit.
  const double from_dram = missing(patches + filters + results);
  GemmTimes times = points_.fastest(product, {});
  times.dram = (patches + filters) * from_dram + results;
  times.dram_rate = points_.dram_rate();
  GridSequence program;
  program.kernels.push_back(
      transform("transform input", input_of(shape) + patches, traffic.input + patches));
  program.kernels.push_back(
      transform("transform filters", weights_of(shape) + filters, traffic.weights + filters));
  program.kernels.push_back(gemm_program(points_, product, times).kernels.back());
  program.kernels.back().name = "winograd " + program.kernels.back().name;
  program.kernels.push_back(transform("transform output", results + output_of(shape),
                                      results * from_dram + traffic.output));
  return program;
}

ConvolutionChoice ConvolutionKernels::fastest(const ConvolutionShape& shape,
                                              const ConvolutionTraffic& traffic) const {
  ConvolutionChoice best;
  best.program = implicit_gemm(shape, traffic);
  best.time = program_time(best.program, device_);
  const bool has_winograd = factors_.winograd > 0 && factors_.transform > 0;
  if (!has_winograd || !shape.is_winograd || shape.groups > 1) return best;
  const auto consider = [&](ConvolutionAlgorithm algorithm, GridSequence program) {
    const Seconds time = program_time(program, device_);
    if (time < best.time) best = {algorithm, std::move(program), time};
  };
  consider(ConvolutionAlgorithm::kFusedWinograd, fused_winograd(shape, traffic));
  consider(ConvolutionAlgorithm::kWinograd, winograd(shape, traffic));
  return best;
}

void ConvolutionKernels::add(const ConvolutionShape& shape, const ConvolutionTraffic& traffic,
                             MappedOp& op) const {
  ConvolutionChoice choice = fastest(shape, traffic);
  op.engine = "vector";
  for (Grid& kernel : choice.program.kernels) {
    kernel.moved = kernel.dram_bytes;
    kernel.busy[WorkUnit::kLaunch] = kernel.launch + kernel.memory_latency;
    kernel.busy[WorkUnit::kDram] = kernel.dram_bytes / kernel.dram_rate;
    kernel.busy[WorkUnit::kL2] = kernel.l2_bytes / kernel.l2_rate;
    for (const CtaRun& run : kernel.ctas) {
      op.kernel = kernel.name;
      op.waves = static_cast<double>(run.count) / (device_.sms * kernel.ctas_per_sm);
      op.occupancy = op.waves / std::ceil(op.waves);
      kernel.busy[WorkUnit::kVectorPipe] += std::ceil(op.waves) * run.duration;
    }
    op.program.kernels.push_back(std::move(kernel));
    op.intervals80.push_back(interval80_);
  }
}

}  // namespace foretell
