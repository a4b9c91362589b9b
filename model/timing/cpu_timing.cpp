#include "model/timing/cpu_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kSoftness = 0.6;          // see missing_share
constexpr std::int64_t kPanelVectors = 4;  // columns of a panel, in vector registers
constexpr std::int64_t kRegisterRows = 6;  // 24 accumulators of 32 registers
constexpr std::int64_t kBlockRows = 64;    // rows that one chunk takes along
constexpr std::int64_t kLeastRows = 16;    // below, a block is not cut for more threads
constexpr std::int64_t kRowChunks = 8;     // chunks per thread of row-wise work

std::int64_t pieces(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

double overlapped(double a, double b, double exponent) {
  const double longer = std::max(a, b);
  if (!(longer > 0)) return 0;
  return longer * std::pow(1 + std::pow(std::min(a, b) / longer, exponent), 1 / exponent);
}

// Values that the unit takes along in one lane: two of bf16, four of int8.
std::int64_t packed(const std::string& dtype) {
  if (dtype == "int8") return 4;
  return dtype == "fp32" ? 1 : 2;
}

CpuTraffic part(const CpuTraffic& traffic, double share) {
  return {traffic.l2 * share, traffic.l3 * share, traffic.dram * share};
}

CpuTraffic sum(const CpuTraffic& a, const CpuTraffic& b) {
  return {a.l2 + b.l2, a.l3 + b.l3, a.dram + b.dram};
}

}  // namespace

double missing_share(Bytes footprint, Bytes capacity) {
  return std::clamp((footprint / capacity - 1) / kSoftness, 0.0, 1.0);
}

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
  const double beyond_l2 = missing_share(footprint, l2_capacity());
  const double beyond_l3 = std::min(beyond_l2, missing_share(footprint, l3_capacity()));
  return {bytes * (1 - beyond_l2), bytes * (beyond_l2 - beyond_l3), bytes * beyond_l3};
}

CpuLoop CpuTiming::empty_loop() const {
  CpuLoop loop;
  loop.threads = threads_;
  loop.overlap = factors_.overlap;
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

CpuLoop CpuTiming::product(const CpuProduct& product) const {
  CpuLoop loop = empty_loop();
  loop.name = fmt::format("product {}x{}x{} {}", product.m, product.n, product.k, product.dtype);
  const auto known = factors_.product_efficiency.find(product.dtype);
  const double efficiency = known == factors_.product_efficiency.end() ? 1 : known->second;
  const FlopsPerSecond rate = core_rate(system_.device, product.dtype) * efficiency;
  const std::int64_t panel = kPanelVectors * lanes_;
  const std::int64_t panels = pieces(product.n, panel);
  std::int64_t block = std::min(product.m, kBlockRows);
  while (product.batch * panels * pieces(product.m, block) < threads_ && block >= 2 * kLeastRows) {
    block = pieces(block, 2);
  }
  const std::int64_t blocks = pieces(product.m, block);
  const double depth =
      static_cast<double>(pieces(product.k, packed(product.dtype)) * packed(product.dtype));
  const double all_columns = static_cast<double>(product.batch * product.m * product.n);
  // Operands and results are charged to the chunks by the results that they yield; a panel of
  // weights that is worked on again lies in the second cache by then.
  const auto add = [&](std::int64_t count, std::int64_t rows, std::int64_t columns) {
    if (count == 0) return;
    const double padded = static_cast<double>(pieces(columns, lanes_) * lanes_);
    const double tiles = static_cast<double>(pieces(rows, kRegisterRows));
    const double results = static_cast<double>(rows * columns);
    CpuChunkRun run;
    run.count = count;
    run.compute = Flops(2 * static_cast<double>(rows) * padded * depth) / rate +
                  cycles(tiles * factors_.tile.value() +
                         product.epilogue * factors_.gelu * results / all_columns);
    const CpuTraffic traffic = part(sum(product.weights, product.others), results / all_columns);
    run.feed = feed(traffic);
    run.dram = traffic.dram;
    loop.chunks.push_back(run);
  };
  const std::int64_t last_columns = product.n - (panels - 1) * panel;
  const std::int64_t last_rows = product.m - (blocks - 1) * block;
  for (std::int64_t row_block = 0; row_block < std::min<std::int64_t>(blocks, 2); ++row_block) {
    const bool is_last = row_block + 1 == std::min<std::int64_t>(blocks, 2);
    const std::int64_t rows = is_last ? last_rows : block;
    const std::int64_t count = product.batch * (is_last ? 1 : blocks - 1);
    add(count * (panels - 1), rows, panel);
    add(count, rows, last_columns);
  }
  return loop;
}

CpuLoop CpuTiming::rows(const CpuRows& rows) const {
  CpuLoop loop = empty_loop();
  const bool by_row =
      rows.op == CpuRowOp::kSoftmax || rows.op == CpuRowOp::kNorm || rows.op == CpuRowOp::kReduce;
  double per_vector = factors_.add;
  switch (rows.op) {
    case CpuRowOp::kAdd:
      loop.name = "add";
      break;
    case CpuRowOp::kGelu:
      loop.name = "gelu";
      per_vector = factors_.gelu;
      break;
    case CpuRowOp::kSoftmax:
      loop.name = "softmax";
      per_vector = factors_.softmax;
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
  per_vector *= rows.passes;
  if (rows.narrow) per_vector += factors_.convert;
  // Rows are not cut; work without rows is cut anywhere.
  const std::int64_t values = rows.rows * rows.cols;
  const std::int64_t units = by_row ? rows.rows : pieces(values, lanes_);
  const double unit_cycles =
      by_row ? static_cast<double>(pieces(rows.cols, lanes_)) * per_vector + factors_.row.value()
             : per_vector;
  const std::int64_t chunk = std::max<std::int64_t>(1, units / (threads_ * kRowChunks));
  const std::int64_t chunks = units / chunk;
  const auto add = [&](std::int64_t count, std::int64_t size) {
    if (count == 0 || size == 0) return;
    CpuChunkRun run;
    run.count = count;
    run.compute = cycles(static_cast<double>(size) * unit_cycles);
    const double share = static_cast<double>(size) / static_cast<double>(units);
    run.feed = feed(part(rows.traffic, share));
    run.dram = rows.traffic.dram * share;
    loop.chunks.push_back(run);
  };
  const std::int64_t left = units - chunks * chunk;
  add(chunks - left, chunk);  // some are one longer, so that none is short
  add(left, chunk + 1);
  return loop;
}

CpuLoop CpuTiming::copy(const CpuTraffic& traffic) const {
  CpuLoop loop = empty_loop();
  loop.name = "copy";
  const std::int64_t chunks = threads_ * kRowChunks;
  CpuChunkRun run;
  run.count = chunks;
  const CpuTraffic each = part(traffic, 1.0 / static_cast<double>(chunks));
  run.feed = feed(each);
  run.dram = each.dram;
  loop.chunks.push_back(run);
  return loop;
}

Seconds loop_time(const CpuLoop& loop) {
  const BytesPerSecond fair = std::min(loop.core_dram, loop.dram / loop.threads);
  Seconds longest;
  for (int thread = 0; thread < loop.threads; ++thread) {
    Seconds time;
    for (const CpuChunkRun& run : part_of(loop, thread)) {
      const Seconds moving = run.feed + (run.dram > Bytes(0) ? run.dram / fair : Seconds(0));
      time += static_cast<double>(run.count) *
              Seconds(overlapped(run.compute.value(), moving.value(), loop.overlap));
    }
    longest = std::max(longest, time);
  }
  return loop.call + loop.fork_join + longest;
}

}  // namespace foretell
