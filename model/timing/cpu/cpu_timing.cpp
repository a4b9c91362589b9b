#include "model/timing/cpu/cpu_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/timing/gpu/soft_limits.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

std::int64_t pieces(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

// Values that the unit holds in one lane: two of bf16, four of int8.
std::int64_t packed(const std::string& dtype) {
  if (dtype == "int8") return 4;
  return dtype == "fp32" ? 1 : 2;
}

std::int64_t bytes_of(const std::string& dtype) { return 4 / packed(dtype); }

double value_or(const std::map<std::string, double>& table, const std::string& key,
                double otherwise) {
  const auto found = table.find(key);
  return found == table.end() ? otherwise : found->second;
}

// Times that a narrow value is brought to fp32 or back: operands on every pass, and the result.
double conversions(CpuRowOp op) {
  switch (op) {
    case CpuRowOp::kReduce:
      return 1;
    case CpuRowOp::kAdd:
      return 3;
    case CpuRowOp::kNorm:
    case CpuRowOp::kSoftmax:
      return 4;
    default:
      return 2;
  }
}

CpuTraffic part(const CpuTraffic& traffic, double share) {
  return {traffic.l2 * share, traffic.l3 * share, traffic.dram * share};
}

}  // namespace

CpuTiming::CpuTiming(const CpuSystemSpec& system, const CpuFactors& factors, int threads)
    : system_(system),
      factors_(factors),
      threads_(threads),
      lanes_(static_cast<std::int64_t>(system.device.vector_register.value() / 4)) {
  if (threads < 1 || threads > system.cores) {
    throw UserError(fmt::format("cores: {} has {} physical cores, not {}; lower --cores", system.id,
                                system.cores, threads));
  }
}

Bytes CpuTiming::l2_capacity() const { return system_.device.cache.l2 * threads_; }

Bytes CpuTiming::l3_capacity() const {
  const CpuCacheSpec& cache = system_.device.cache;
  const double reached = std::ceil(static_cast<double>(threads_) / cache.l3_cores);
  return std::min(foretell::l3_capacity(system_), cache.l3 * reached) * factors_.l3_hold;
}

CpuTraffic CpuTiming::found(Bytes bytes, Bytes footprint) const {
  const double beyond_l1 =
      missing_share(factors_.common, footprint / (system_.device.cache.l1 * threads_));
  const double beyond_l2 =
      std::min(beyond_l1, missing_share(factors_.common, footprint / l2_capacity()));
  const double beyond_l3 =
      std::min(beyond_l2, missing_share(factors_.common, footprint / l3_capacity()));
  return {bytes * (beyond_l1 - beyond_l2), bytes * (beyond_l2 - beyond_l3), bytes * beyond_l3,
          bytes * (1 - beyond_l1)};
}

Seconds CpuTiming::cold_call(Bytes footprint) const {
  return factors_.cold_call * (found(Bytes(1), footprint).dram / Bytes(1));
}

Loop CpuTiming::empty_loop() const {
  Loop loop;
  loop.threads = threads_;
  loop.stages_ahead = factors_.stages_ahead;
  loop.call = factors_.call;
  // A tree of threads: one level for two, one more for every doubling.
  if (threads_ > 1) {
    loop.fork_join = system_.device.fork_join * factors_.fork_join * std::log2(threads_);
  }
  loop.dram = dram_bandwidth(system_) * factors_.dram_efficiency;
  loop.core_dram = std::min(
      loop.dram, BytesPerSecond(factors_.core_dram * system_.device.clock.all_core.value()));
  return loop;
}

Seconds CpuTiming::feed(const CpuTraffic& traffic) const {
  const CpuCacheSpec& cache = system_.device.cache;
  const Hertz clock = system_.device.clock.all_core;
  return traffic.l2 / (cache.l2_bandwidth * clock * factors_.l2_efficiency) +
         traffic.l3 / (cache.l3_bandwidth * clock * factors_.l3_efficiency);
}

// Products of equal shape beside each other, cut into panels of columns and blocks of rows.
struct CpuTiming::Block {
  std::int64_t count = 1;  // products
  std::int64_t m = 1, n = 1;
  double depth = 1;       // multiply-adds per result, whole packs
  FlopsPerSecond rate;    // in the inner loop
  bool in_tiles = false;  // by the matrix unit
  double packing = 0;     // cycles of laying weights out, of all products together
  double epilogue = 0;    // cycles, likewise
  CpuTraffic traffic;     // likewise
};

// Operands, results and what is done once are charged to the chunks by the results that they yield.
void CpuTiming::add_blocks(const Block& block, std::int64_t rows_of_one, Loop& loop) const {
  const std::int64_t panel = shapes_.panel_vectors * lanes_;
  const std::int64_t panels = pieces(block.n, panel);
  const auto lanes = static_cast<double>(lanes_);
  const std::int64_t blocks = pieces(block.m, rows_of_one);
  const double all = static_cast<double>(block.count) * static_cast<double>(block.m) *
                     static_cast<double>(block.n);
  const auto add = [&](std::int64_t count, std::int64_t rows, std::int64_t columns) {
    if (count == 0) return;
    const double padded = static_cast<double>(pieces(columns, lanes_) * lanes_);
    const double ends =
        block.in_tiles
            ? static_cast<double>(rows) * padded / lanes * factors_.tile_store
            : static_cast<double>(pieces(rows, shapes_.register_rows)) * factors_.tile.value();
    const double share = static_cast<double>(rows * columns) / all;
    CpuChunkRun run;
    run.count = count;
    run.compute = Flops(2 * static_cast<double>(rows) * padded * block.depth) / block.rate +
                  cycles(ends + share * (block.packing + block.epilogue));
    const CpuTraffic traffic = part(block.traffic, share);
    run.feed = feed(traffic);
    run.dram = traffic.dram;
    loop.chunks.push_back(run);
  };
  const std::int64_t last_columns = block.n - (panels - 1) * panel;
  const std::int64_t last_rows = block.m - (blocks - 1) * rows_of_one;
  add(block.count * (blocks - 1) * (panels - 1), rows_of_one, panel);
  add(block.count * (blocks - 1), rows_of_one, last_columns);
  add(block.count * (panels - 1), last_rows, panel);
  add(block.count, last_rows, last_columns);
  if (loop.chunks.size() == 1 && loop.chunks.front().count == 1) loop.fork_join = Seconds(0);
}

Loop CpuTiming::product(const CpuProduct& product) const {
  Loop loop = empty_loop();
  loop.name = fmt::format("product {}x{}x{} {}", product.m, product.n, product.k, product.dtype);
  loop.op_class = "product " + product.dtype;
  const std::int64_t panels = pieces(product.n, shapes_.panel_vectors * lanes_);
  std::int64_t rows = std::min<std::int64_t>(product.m, shapes_.block_rows);
  while (product.batch * panels * pieces(product.m, rows) < threads_ &&
         rows >= std::int64_t{2} * shapes_.least_rows) {
    rows = pieces(rows, 2);
  }
  Block block;
  block.count = product.batch;
  block.m = product.m;
  block.n = product.n;
  block.depth = depth_of(product.k, product.dtype);
  block.in_tiles = tile_depth(product.dtype) > 0;
  block.rate = core_rate(system_.device, product.dtype) *
               value_or(factors_.product_efficiency, product.dtype, 1);
  if (!product.packed_weights) {
    const double values = static_cast<double>(product.batch) * static_cast<double>(product.n) *
                          static_cast<double>(product.k);
    block.packing = factors_.pack * values / static_cast<double>(lanes_);
  }
  block.epilogue = product.gelu * factors_.gelu + product.residual * factors_.residual +
                   product.widen * factors_.widen + product.strided * factors_.strided;
  // Tiles are whole: rows that end within one are laid out anew.
  if (block.in_tiles && product.k % tile_depth(product.dtype) != 0) {
    block.epilogue += factors_.pack * static_cast<double>(product.batch * product.m) *
                      static_cast<double>(product.k) / static_cast<double>(lanes_);
  }
  block.traffic = product.weights + product.others + read_again(product);
  add_blocks(block, rows, loop);
  return loop;
}

Loop CpuTiming::vector_product(const CpuProduct& of_one_row) const {
  Loop loop = product(of_one_row);
  loop.threads = 1;
  loop.fork_join = Seconds(0);
  return loop;
}

// Every block of rows goes through the weights; what the caches did not keep comes again. Weights
// that L3 does not hold are cut into groups of columns, as many as bring least from memory: a group
// stays, and the rows come again for each. (K. Goto and R. van de Geijn, Anatomy of
// High-Performance Matrix Multiplication, ACM TOMS 34(3), 2008.)
CpuTraffic CpuTiming::read_again(const CpuProduct& product) const {
  const std::int64_t again = pieces(product.m, shapes_.block_rows) - 1;
  if (again == 0) return {};
  const auto bytes = [&](std::int64_t lines) {
    return Bytes(static_cast<double>(lines) * static_cast<double>(product.k) *
                 static_cast<double>(bytes_of(product.dtype)));
  };
  const auto batch = static_cast<double>(product.batch);
  const Bytes weights = bytes(product.n);
  const Bytes rows = bytes(product.m);
  CpuTraffic best = found(weights * (batch * static_cast<double>(again)), weights);
  const std::int64_t panels = pieces(product.n, shapes_.panel_vectors * lanes_);
  for (std::int64_t groups = 2; weights > l3_capacity() && groups <= panels; groups *= 2) {
    const auto count = static_cast<double>(groups);
    const CpuTraffic cut = found(weights * (batch * static_cast<double>(again)), weights / count) +
                           found(rows * (batch * (count - 1)), rows);
    if (cut.dram < best.dram) best = cut;
  }
  return best;
}

std::int64_t CpuTiming::tile_depth(const std::string& dtype) const {
  return static_cast<std::int64_t>(value_or(system_.device.tile_depth, dtype, 0));
}

double CpuTiming::depth_of(std::int64_t k, const std::string& dtype) const {
  const std::int64_t together = std::max(packed(dtype), tile_depth(dtype));
  return static_cast<double>(pieces(k, together) * together);
}

Loop CpuTiming::convolution(const CpuConvolution& convolution) const {
  Loop loop = empty_loop();
  loop.name =
      fmt::format("convolution {}x{} of {} to {} {}", convolution.kernel, convolution.kernel,
                  convolution.channels, convolution.filters, convolution.dtype);
  loop.op_class = "convolution " + convolution.dtype;
  // A row of pixels at a time, but with kernels of one pixel rows follow each other without a gap.
  const bool is_flat = convolution.kernel == 1;
  const std::int64_t lines = convolution.batch * convolution.out_height;
  Block block;
  block.count = is_flat ? 1 : lines;
  block.m = is_flat ? lines * convolution.out_width : convolution.out_width;
  block.n = convolution.filters;
  block.in_tiles = tile_depth(convolution.dtype) > 0;
  // Channels of neighbouring pixels follow each other, so tiles span a row of the kernel.
  const std::int64_t across = block.in_tiles ? convolution.kernel : 1;
  const std::int64_t rows = block.in_tiles ? 1 : convolution.kernel;
  block.depth = depth_of(convolution.channels * across, convolution.dtype) *
                static_cast<double>(convolution.kernel * rows);
  block.rate = core_rate(system_.device, convolution.dtype) *
               value_or(factors_.convolution_efficiency, convolution.dtype, 1);
  block.epilogue = convolution.gelu * factors_.gelu + convolution.residual * factors_.residual +
                   convolution.widen * factors_.widen;
  block.traffic = convolution.weights + convolution.others;
  add_blocks(block, is_flat ? std::min<std::int64_t>(block.m, shapes_.block_rows) : block.m, loop);
  return loop;
}

Loop CpuTiming::fork() const {
  Loop loop = empty_loop();
  loop.name = loop.op_class = "fork and join";
  loop.call = Seconds(0);
  return loop;
}

Loop CpuTiming::rows(const CpuRows& rows) const {
  Loop loop = empty_loop();
  const bool by_row =
      rows.op == CpuRowOp::kSoftmax || rows.op == CpuRowOp::kNorm || rows.op == CpuRowOp::kReduce;
  double per_vector = factors_.add;
  const double split = threads_ > 1 && rows.dtype != "fp32" ? factors_.split : 0;
  switch (rows.op) {
    case CpuRowOp::kCopy:
      loop.name = "copy";
      per_vector = factors_.copy + split;
      break;
    case CpuRowOp::kConvert:
      loop.name = "convert";
      per_vector = value_or(factors_.convert, rows.dtype, 1) + split;
      break;
    case CpuRowOp::kAdd:
      loop.name = "add";
      break;
    case CpuRowOp::kGelu:
      loop.name = "gelu";
      per_vector = factors_.gelu;
      break;
    case CpuRowOp::kSoftmax:
      loop.name = "softmax";
      per_vector = factors_.softmax + (threads_ > 1 ? factors_.split : 0);
      break;
    case CpuRowOp::kNorm:
      loop.name = "norm";
      per_vector = factors_.norm;
      break;
    case CpuRowOp::kReduce:
      loop.name = "reduce";
      per_vector = factors_.reduce;
      break;
  }
  loop.op_class = !by_row ? "element-wise" : rows.op == CpuRowOp::kNorm ? "layer_norm" : loop.name;
  per_vector *= rows.passes;
  if (rows.narrow) per_vector += conversions(rows.op) * factors_.narrow;
  // Norms and softmax read a row three times; what the first cache does not hold comes again from
  // the second.
  CpuTraffic traffic = rows.traffic;
  if (rows.op == CpuRowOp::kNorm || rows.op == CpuRowOp::kSoftmax) {
    const Bytes row(static_cast<double>(rows.cols) * (rows.narrow ? 2 : 4));
    traffic.l2 += 2 * static_cast<double>(rows.rows) *
                  missing_share(factors_.common, row / system_.device.cache.l1) * row;
  }
  // Rows are not cut; work without rows is cut anywhere.
  const std::int64_t values = rows.rows * rows.cols;
  const std::int64_t units = by_row ? rows.rows : pieces(values, lanes_);
  const bool has_tail = rows.op == CpuRowOp::kNorm && rows.cols % lanes_ != 0;
  const double tail = has_tail ? value_or(factors_.row, "norm_tail", 0) : 0;
  const double unit_cycles = by_row ? static_cast<double>(pieces(rows.cols, lanes_)) * per_vector +
                                          value_or(factors_.row, loop.name, 0) + tail
                                    : per_vector;
  const std::int64_t chunk =
      std::max<std::int64_t>(1, units / (std::int64_t{threads_} * shapes_.chunks_of_thread));
  const std::int64_t chunks = units / chunk;
  const auto add = [&](std::int64_t count, std::int64_t size) {
    if (count == 0 || size == 0) return;
    CpuChunkRun run;
    run.count = count;
    run.compute = cycles(static_cast<double>(size) * unit_cycles);
    const double share = static_cast<double>(size) / static_cast<double>(units);
    run.feed = feed(part(traffic, share));
    run.dram = traffic.dram * share;
    loop.chunks.push_back(run);
  };
  const std::int64_t left = units - chunks * chunk;
  add(chunks - left, chunk);  // some are one longer, so that none is short
  add(left, chunk + 1);
  return loop;
}

Loop CpuTiming::copy(const CpuTraffic& traffic) const {
  Loop loop = empty_loop();
  loop.name = "copy";
  loop.op_class = "stream";
  const std::int64_t chunks = std::int64_t{threads_} * shapes_.chunks_of_thread;
  CpuChunkRun run;
  run.count = chunks;
  const CpuTraffic each = part(traffic, 1.0 / static_cast<double>(chunks));
  // One register is loaded or stored in a cycle.
  run.compute =
      cycles(traffic.all() / system_.device.vector_register / static_cast<double>(chunks));
  run.feed = feed(each);
  run.dram = each.dram;
  loop.chunks.push_back(run);
  return loop;
}

std::optional<Loop> CpuTiming::fresh_pages(Bytes buffer) const {
  if (system_.fresh_buffers == Bytes(0) || buffer < system_.fresh_buffers) return std::nullopt;
  if (system_.page == Bytes(0)) {
    throw UserError(
        "system.page: " + system_.id +
        " has buffers that are new in every call; say how large their pages are, as 4 KiB");
  }
  Loop loop = empty_loop();
  loop.name = "page faults";
  loop.op_class = "stream";
  loop.call = loop.fork_join = Seconds(0);  // part of the loop that writes
  const std::int64_t chunks = std::int64_t{threads_} * shapes_.chunks_of_thread;
  CpuChunkRun run;
  run.count = chunks;
  run.compute = buffer / system_.page / static_cast<double>(chunks) * system_.page_fault;
  run.dram = buffer / static_cast<double>(chunks);
  loop.chunks.push_back(run);
  return loop;
}

std::vector<Loop> CpuTiming::weight_layouts(const CpuTraffic& weights, std::int64_t window) const {
  const int times = system_.weight_layouts + (window > 1 ? system_.window_layouts : 0);
  std::vector<Loop> loops;
  if (!(weights.all() > Bytes(0))) return loops;
  CpuTraffic source = weights;
  for (int i = 0; i < times; ++i) {
    if (std::optional<Loop> faults = fresh_pages(weights.all())) loops.push_back(*faults);
    loops.push_back(copy(source + part(weights, shapes_.layout_passes - 1)));
    loops.back().name = "weight layout";
    source = found(weights.all(), 2 * weights.all());
  }
  return loops;
}

Seconds loop_time(const Loop& loop) {
  const BytesPerSecond fair = std::min(loop.core_dram, loop.dram / loop.threads);
  Seconds longest;
  for (int thread = 0; thread < loop.threads; ++thread) {
    Seconds time;
    for (const CpuChunkRun& run : part_of(loop, thread)) {
      const Seconds moving = run.feed + (run.dram > Bytes(0) ? run.dram / fair : Seconds(0));
      time += static_cast<double>(run.count) *
              Seconds(closed_network_time(run.compute.value(), moving.value(), loop.stages_ahead));
    }
    longest = std::max(longest, time);
  }
  return loop.call + loop.fork_join + longest;
}

}  // namespace foretell
