#include "model/mapping/gpu/product_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/mapping/gpu/gemm.hpp"
#include "model/timing/gpu/energy_work.hpp"
#include "model/timing/gpu/gemm_library.hpp"
#include "model/timing/gpu/tile_fit.hpp"

namespace foretell {
namespace {

// The runs of one product one after another, `batch` times.
void repeat(std::vector<CtaRun>& ctas, std::int64_t batch) {
  if (batch == 1) return;
  Grid all;
  if (ctas.size() == 1) {
    add_ctas(all, ctas.front().count * batch, ctas.front().duration);
  } else {
    for (std::int64_t i = 0; i < batch; ++i) {
      for (const CtaRun& run : ctas) add_ctas(all, run.count, run.duration);
    }
  }
  ctas = std::move(all.ctas);
}

// Where only the weights are narrow, chips without BF16 compute in FP16.
GemmType on_device(GemmType type, const GpuDeviceSpec& device) {
  const bool weights_only = type.weight_bytes < type.activation_bytes;
  if (weights_only && type.rate == "bf16" && device.matrix_rate.count("bf16") == 0) {
    type.rate = "fp16";
  }
  return type;
}

// For the choice of a tile, equal products are one with more columns, unless the library has
// kernels of its own for many of them.
GemmShape shape_of_all(const Product& product, const GemmLibrary& library) {
  if (library.vector_pipe) return {product.m, product.n, product.k, product.batch};
  return {product.m, product.n * product.batch, product.k};
}

// Each of the products with its own rows, in the tile that is chosen for their mean.
std::vector<CtaRun> uneven_blocks(const GemmTiming& timing, const Product& product,
                                  const GemmTimes& chosen) {
  Grid all;
  for (const std::int64_t rows : product.rows) {
    const GridSequence one = gemm_program(timing, {rows, product.n, product.k}, chosen);
    for (const CtaRun& run : one.kernels.back().ctas) add_ctas(all, run.count, run.duration);
  }
  return std::move(all.ctas);
}

// Counts bytes of L2 as the closed form, to which energies are fitted, counts them.
void count_bytes(const Product& product, const GemmType& type, Grid& kernel) {
  const OperandType operands{bits_of_rate(type.rate), type.weight_bytes, type.activation_bytes};
  const auto add = [&](std::int64_t rows, double times) {
    kernel.work.l2 += gemm_energy_work({rows, product.n, product.k}, operands).l2 * times;
  };
  for (const std::int64_t rows : product.rows) add(rows, 1);
  if (product.rows.empty()) add(product.m, static_cast<double>(product.batch));
  kernel.work.dram = kernel.dram_bytes;
}

}  // namespace

struct ProductKernels::Kernels {
  Kernels(const GpuDeviceSpec& device, const GemmType& kind, const GemmLibrary& tiles,
          const GemmFactors& factors, const Ratio80& ratio)
      : type(on_device(kind, device)),
        library(with_fitting_tiles(device, type, tiles)),
        timing(device, type, library, factors),
        interval80(ratio) {}

  GemmType type;
  GemmLibrary library;
  GemmTiming timing;
  Ratio80 interval80;
  // Layers have many alike.
  using Asked = std::array<std::int64_t, 5>;  // batch, m, n, k, copies
  std::map<Asked, GemmTimes> fastest;

  const GemmTimes& fastest_of(const GemmShape& shape, int copies) {
    const Asked asked = {shape.batch, shape.m, shape.n, shape.k, copies};
    auto known = fastest.find(asked);
    if (known == fastest.end()) {
      known = fastest.emplace(asked, timing.fastest(shape, {copies, false})).first;
    }
    return known->second;
  }
};

ProductKernels::ProductKernels(const GpuDeviceSpec& device, const GpuFactors& factors,
                               double clock_share)
    : device_(device), factors_(factors), clock_share_(clock_share) {}

ProductKernels::~ProductKernels() = default;

ProductKernels::Kind ProductKernels::kind_of(const Product& product) {
  if (product.over_frames) return Kind::kOverFrames;
  if (product.is_convolution) return Kind::kConvolution;
  return product.batch > 1 ? Kind::kMany : Kind::kOne;
}

// Convolutions over frames reach no more of the dense rate than the library states for these chips.
GemmFactors ProductKernels::factors_for(const std::string& type, Kind kind) const {
  GemmFactors factors = factors_.gemm(type, kind == Kind::kMany);
  if (kind != Kind::kOverFrames) return factors;
  const auto& shares = factors_.library().convolution_share;
  const auto share = shares.find(device_.architecture);
  if (share != shares.end())
    factors.mma_efficiency = std::min(factors.mma_efficiency, share->second);
  return factors;
}

// TensorRT's convolutions (xmma_fprop_implicit_gemm_…) walk the whole depth in one thread block;
// where that leaves SMs idle it takes smaller tiles.
ProductKernels::Kernels& ProductKernels::kernels_of(const std::string& type, Kind kind,
                                                    double output_bytes) {
  GemmType stored = gemm_type(type);
  if (output_bytes > 0) stored.output_bytes = std::min(stored.output_bytes, output_bytes);
  std::unique_ptr<Kernels>& kernels = kernels_[{type, kind, stored.output_bytes}];
  if (kernels != nullptr) return *kernels;
  const bool batched = kind == Kind::kMany;
  GemmLibrary library = factors_.on_vector_pipe(type)
                            ? vector_library(device_.architecture, batched)
                            : gemm_library(device_.architecture, factors_.library().id, type);
  if (kind == Kind::kConvolution || kind == Kind::kOverFrames) library.max_split = 1;
  kernels = std::make_unique<Kernels>(device_, stored, library, factors_for(type, kind),
                                      factors_.gemm_interval80(type, batched));
  return *kernels;
}

const GemmTiming& ProductKernels::timing(const std::string& type) {
  return kernels_of(type, Kind::kOne).timing;
}

const GemmType& ProductKernels::type(const std::string& type) {
  return kernels_of(type, Kind::kOne).type;
}

void ProductKernels::add(const Product& product, MappedOp& op) {
  Kernels& kernels = kernels_of(product.type, kind_of(product), product.output_bytes);
  const GemmTiming& timing = kernels.timing;
  const GemmShape all = shape_of_all(product, kernels.library);
  GemmTimes chosen = kernels.fastest_of(all, product.copies);
  // Else a kernel of its own, once for all readers of the activation.
  const bool quantises = product.type == kScaledByBlock;
  if (!quantises) chosen.quantise = Seconds(0);
  const bool repeated = product.batch > 1 && !chosen.stream_k;  // stream-K shares all of them
  if (repeated && !chosen.gemv) chosen.thread_blocks = 0;       // those of one product count
  chosen.dram = product.dram;
  const GemmShape launched = repeated ? GemmShape{product.m, product.n, product.k} : all;
  GridSequence program = gemm_program(timing, launched, chosen);
  Grid kernel = std::move(program.kernels.back());
  if (program.kernels.size() > 1) {
    Grid& pass = program.kernels.front();
    pass.moved = pass.dram_bytes;
    pass.busy[WorkUnit::kLaunch] = pass.launch;
    pass.busy[WorkUnit::kDram] = pass.dram_bytes / pass.dram_rate;
    op.program.kernels.push_back(std::move(pass));
    op.intervals80.push_back(kernels.interval80);
  }
  if (repeated) repeat(kernel.ctas, product.batch);
  kernel.moved = kernel.dram_bytes;
  const Seconds pipe = note_bounds(kernels, product, chosen, kernel, op);
  const double at_work = std::min(1.0, pipe / chosen.total);
  kernel.stretch = std::max(kernel.stretch, 1 + (1 / clock_share_ - 1) * at_work);
  if (!product.rows.empty() && chosen.thread_blocks == 0) {
    kernel.ctas = uneven_blocks(timing, product, chosen);
  }
  if (!product.is_convolution) count_bytes(product, kernels.type, kernel);
  op.program.kernels.push_back(std::move(kernel));
  op.intervals80.push_back(kernels.interval80);
}

Seconds ProductKernels::note_bounds(const Kernels& kernels, const Product& product,
                                    const GemmTimes& chosen, Grid& kernel, MappedOp& op) const {
  double blocks = 0;
  for (const CtaRun& run : kernel.ctas) blocks += static_cast<double>(run.count);
  const double slots = static_cast<double>(device_.sms) * kernel.ctas_per_sm;
  const double waves = blocks / slots;
  if (op.kernel.empty() || waves > op.waves) {
    op.kernel = kernel.name;
    op.waves = waves;
    op.occupancy = waves / std::ceil(waves);
  }
  const GemmFactors& factors = kernels.timing.factors();
  const double clock = device_.clock.boost.value();
  const double rounds = std::ceil(waves);
  kernel.busy[WorkUnit::kLaunch] = kernel.launch;
  kernel.busy[WorkUnit::kDram] = product.dram / kernels.timing.dram_rate();
  kernel.busy[WorkUnit::kL2] = chosen.l2 / kernels.timing.l2_rate();
  kernel.busy[WorkUnit::kReduction] = chosen.tail;
  if (chosen.gemv) {
    op.engine = "vector";
    kernel.busy[WorkUnit::kVectorPipe] = chosen.compute;
    return Seconds(0);
  }
  const double stages =
      std::ceil(static_cast<double>(product.k) / kernels.type.step / chosen.split);
  const GemmTile tile = chosen.tile;
  const double rate =
      dense_rate(device_, kernels.type.rate).value() * factors.mma_efficiency / device_.sms;
  const double load =
      (static_cast<double>(std::min<std::int64_t>(tile.m, product.m)) *
           kernels.type.activation_bytes +
       static_cast<double>(std::min<std::int64_t>(tile.n, product.n)) * kernels.type.weight_bytes) *
      kernels.type.step;
  const double tiles = std::ceil(static_cast<double>(product.m) / tile.m) *
                       std::ceil(static_cast<double>(product.n * product.batch) / tile.n);
  const double walked = chosen.stream_k ? tiles * stages / blocks : rounds * stages;
  const bool matrix = device_.matrix_rate.count(kernels.type.rate) > 0;
  op.engine = matrix ? "tensor" : "vector";
  const Seconds pipe(walked * 2.0 * tile.m * tile.n * kernels.type.step / rate);
  kernel.busy[matrix ? WorkUnit::kTensorPipe : WorkUnit::kVectorPipe] = pipe;
  kernel.busy[WorkUnit::kOperandFeed] = Seconds(walked * load / (factors.sm_feed.value() * clock));
  kernel.busy[WorkUnit::kPipelineLatency] = Seconds(walked * factors.step.value() / clock);
  return matrix ? pipe : Seconds(0);
}

std::string product_type(DType compute, DType weights) {
  if (compute == DType::kInt8) return "int8";
  if (compute == DType::kFp8) return weights == DType::kFp8Block ? kScaledByBlock : "fp8";
  if (compute == DType::kNvfp4) return "nvfp4";
  const bool narrow = size_of(weights) < Bytes(2);
  if (narrow) return size_of(weights) < Bytes(1) ? "int4_wo" : "int8_wo";
  return std::string(to_string(compute));
}

}  // namespace foretell
