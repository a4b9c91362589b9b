#include "model/timing/gpu/gemm_timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/errors.hpp"
#include "model/timing/gpu/soft_limits.hpp"
#include "model/timing/gpu/stream_k.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

constexpr double kPartialBytes = 4;  // partial results of a split are FP32

}  // namespace

// What all candidates of a shape share, in bytes and seconds.
struct GemmTiming::Work {
  double m, n, k, batch;
  double weights;
  double stages;  // of k, by whole and half stages
  double dram;
  double dram_time;
  double far;  // how much longer stages are
};

GemmTiming::GemmTiming(const GpuDeviceSpec& device, const GemmType& type,
                       const GemmLibrary& library, const GemmFactors& factors)
    : type_(type), library_(library), factors_(factors), sms_(device.sms) {
  const double clock = device.clock.boost.value();
  const auto per_sm = [&](BytesPerCycle rate) { return rate.value() * clock; };
  const auto latency = [&](Cycles cycles) { return cycles.value() / clock; };
  burst_limit_ = std::sqrt(device.vector_limit);
  sm_rate_ = dense_rate(device, type.rate).value() * factors.mma_efficiency / sms_;
  dram_rate_ = device.hbm.bandwidth.value() * factors.dram_efficiency;
  l2_capacity_ = device.l2.capacity.value() * factors.l2_share;
  sm_feed_ = per_sm(factors.sm_feed);
  l2_rate_ = per_sm(factors.l2_feed) * sms_;
  epilogue_ = per_sm(factors.epilogue);
  prologue_ = latency(factors.prologue);
  step_ = latency(factors.step);
  split_ = latency(factors.split);
  padded_row_ = latency(factors.padded_row);
  quantise_row_ = latency(factors.quantise_row);
  fixup_ = latency(factors.fixup);
  gemv_step_ = latency(factors.gemv_step);
  gemv_column_ = latency(factors.gemv_column);
  const auto vector = device.vector_rate.find("fp32");
  gemv_rate_ = vector == device.vector_rate.end() ? 0 : vector->second * factors.gemv_efficiency;
}

GemmTiming::Work GemmTiming::prepare(const GemmShape& shape, const GemmL2State& l2) const {
  FORETELL_CHECK(shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.batch > 0,
                 "a matrix product without elements");
  Work work{};
  work.m = static_cast<double>(shape.m);
  work.n = static_cast<double>(shape.n);
  work.k = static_cast<double>(shape.k);
  work.batch = static_cast<double>(shape.batch);
  work.weights = work.batch * work.n * work.k * type_.weight_bytes;
  const double activations = work.batch * work.m * work.k * type_.activation_bytes;
  const double results = work.batch * work.m * work.n * type_.output_bytes;
  const double copies = l2.weight_copies;
  const double between_weights =
      copies * work.weights + (l2.own_activations ? copies : 1) * activations + results;
  const double between_activations =
      l2.own_activations ? between_weights : work.weights + activations + results;
  const double operands =
      missing_share(factors_.common, between_weights / l2_capacity_) * work.weights +
      missing_share(factors_.common, between_activations / l2_capacity_) * activations;
  work.dram = operands + results;
  const double row = work.k * type_.activation_bytes;
  const double kept =
      1 -
      factors_.long_rows * std::clamp((row / factors_.common.page_row.value() - 1) / 2, 0.0, 1.0);
  work.dram_time = (operands / kept + results) / dram_rate_;
  work.far =
      1 + factors_.far_rows * std::max(0.0, std::log2(row / factors_.common.far_row.value()));
  const double stage = library_.stage;
  work.stages = std::ceil(work.k / type_.step / stage) * stage;
  return work;
}

// A tile with missing rows delays its stages. With tiles in raster order every wave has a partial
// tile as long as there are few along m; beyond, only some have.
double GemmTiming::padding_delay(const Work& work, const GemmTile& tile) const {
  if (library_.padded_rows == 0 || work.m <= static_cast<double>(library_.padded_rows)) return 0;
  if (work.n < library_.shapes.padded_columns) return 0;
  const double tiles = std::ceil(work.m / tile.m);
  const double missing_rows = tiles * library_.shapes.padded_tile - work.m;
  return padded_row_ * (1 - std::exp(-missing_rows / factors_.common.padded_reach)) *
         std::min(1.0, factors_.common.padded_tiles / tiles);
}

double GemmTiming::stage_time(const Work& work, const GemmTile& tile, double rows, double columns,
                              double resident) const {
  const double multiply = 2.0 * tile.m * tile.n * type_.step / sm_rate_;
  if (library_.vector_pipe) {
    const double fetch =
        (tile.m * type_.activation_bytes + tile.n * type_.weight_bytes) * type_.step;
    return work.far *
           std::max({multiply + fetch / sm_feed_, multiply * factors_.mma_efficiency / burst_limit_,
                     step_ / resident});
  }
  const double load = (rows * type_.activation_bytes + columns * type_.weight_bytes) * type_.step;
  return std::max({multiply, load / sm_feed_, step_ / resident}) + padding_delay(work, tile);
}

// The pipeline over k fills as far as there are stages.
double GemmTiming::filling(double stages) const {
  return library_.fills_gradually ? prologue_ * (1 - std::exp(-stages)) : prologue_;
}

void GemmTiming::consider(const Work& work, const GemmTile& tile, int split,
                          GemmTimes& best) const {
  const double tiles_m = std::ceil(work.m / tile.m);
  const double cluster =
      work.m > static_cast<double>(library_.cluster_from) ? library_.cluster_rows : 1;
  const double tiles_n = std::ceil(work.n / tile.n);
  const double rows = std::min<double>(tile.m, work.m);
  const double columns = std::min<double>(tile.n, work.n);
  const double store = rows * columns * type_.output_bytes / epilogue_;
  const double l2_bytes =
      (tiles_n * work.m * type_.activation_bytes + tiles_m * work.n * type_.weight_bytes) * work.k *
      work.batch;
  const double transfer = std::max(work.dram_time, l2_bytes / l2_rate_);
  const int area = tile.m * tile.n;
  for (int s = 1; s <= library_.max_split; s += library_.split_by_one ? 1 : s) {
    if (s > 1 && work.k < library_.shapes.split_stages * type_.step * s) break;
    if (s >= 4 && area > library_.shapes.fourfold_tile) break;
    if (s >= 16 && area > library_.shapes.manyfold_tile) break;
    if (split != 0 && s != split) continue;
    const double thread_blocks = std::ceil(tiles_m / cluster) * cluster * tiles_n * s * work.batch;
    const double waves = std::ceil(thread_blocks / sms_);
    const double resident = std::min<double>(tile.resident, waves);
    const double stages =
        s == 1 ? work.stages : std::ceil(work.stages / s / library_.stage) * library_.stage;
    const double prologue = filling(stages);
    const double stage = stage_time(work, tile, rows, columns, resident);
    const double out = (s > 1 ? 2 : 1) * store;
    double compute = waves * (prologue / resident + stages * stage + out);
    if (library_.persistent) {
      compute = prologue + stages * stage + out + (waves - 1) * std::max(stages * stage, out);
    }
    const double memory = prologue + transfer;
    const double tail = s > 1 ? split_ + 2 * kPartialBytes * s * work.m * work.n / l2_rate_ : 0.0;
    if (std::max(compute, memory) + tail >= best.total.value()) continue;
    const double ahead = stages_ahead(compute, memory);
    const double total = closed_network_time(compute, memory, ahead) + tail;
    if (total >= best.total.value()) continue;
    best.tile = tile;
    best.split = s;
    best.stream_k = false;
    best.resident = resident;
    best.thread_blocks = thread_blocks;
    best.waves = waves;
    best.compute = Seconds(compute);
    best.memory = Seconds(memory);
    best.prologue = Seconds(prologue);
    best.tail = Seconds(tail);
    best.stages_ahead = ahead;
    best.l2 = Bytes(l2_bytes);
    best.total = Seconds(total);
  }
  if (split == 0 && fixup_ > 0 && !library_.vector_pipe && cluster == 1) {
    consider_stream_k(work, tile, transfer, best);
  }
}

double GemmTiming::stages_ahead(double compute, double memory) const {
  return grown_stages_ahead(factors_.common, factors_.stages_ahead, std::max(compute, memory));
}

double GemmTiming::stream_k_time(const Work& work, const GemmTile& tile, double blocks,
                                 std::int64_t block) const {
  const double rows = std::min<double>(tile.m, work.m);
  const double columns = std::min<double>(tile.n, work.n);
  const auto tiles = static_cast<std::int64_t>(std::ceil(work.m / tile.m) *
                                               std::ceil(work.n / tile.n) * work.batch);
  const auto units = static_cast<std::int64_t>(std::llround(work.stages / library_.stage));
  const StreamKShare share = stream_k_share(tiles, units, static_cast<std::int64_t>(blocks), block);
  const double stage = stage_time(work, tile, rows, columns, 1);
  const double store = rows * columns * type_.output_bytes / epilogue_;
  const double partial = rows * columns * kPartialBytes / epilogue_;
  const auto piece = [&](std::int64_t walked) {
    const double stages = static_cast<double>(walked) * library_.stage;
    return walked == 0 ? 0.0 : filling(stages) + stages * stage;
  };
  const auto whole = static_cast<double>(share.whole);
  return piece(share.head) + (share.head > 0 ? partial : 0.0) + whole * (piece(units) + store) +
         piece(share.tail) + (share.tail > 0 ? store : 0.0) +
         static_cast<double>(share.added) * (fixup_ + partial);
}

void GemmTiming::consider_stream_k(const Work& work, const GemmTile& tile, double transfer,
                                   GemmTimes& best) const {
  const double tiles = std::ceil(work.m / tile.m) * std::ceil(work.n / tile.n) * work.batch;
  const double units = tiles * std::round(work.stages / library_.stage);
  const double blocks = std::min(sms_, units);
  if (std::fmod(tiles, blocks) == 0) return;  // what the tiles alone are
  const double prologue = filling(work.stages);
  const double memory = prologue + transfer;
  const double stage =
      stage_time(work, tile, std::min<double>(tile.m, work.m), std::min<double>(tile.n, work.n), 1);
  const double least = std::floor(units / blocks) * library_.stage * stage;
  if (std::max(least, memory) >= best.total.value()) return;
  double compute = 0;
  for (std::int64_t block = 0; block < static_cast<std::int64_t>(blocks); ++block) {
    compute = std::max(compute, stream_k_time(work, tile, blocks, block));
  }
  const double ahead = stages_ahead(compute, memory);
  const double total = closed_network_time(compute, memory, ahead);
  if (total >= best.total.value()) return;
  best = GemmTimes();
  best.tile = tile;
  best.stream_k = true;
  best.thread_blocks = blocks;
  best.waves = blocks / sms_;
  best.compute = Seconds(compute);
  best.memory = Seconds(memory);
  best.prologue = Seconds(prologue);
  best.stages_ahead = ahead;
  const double tiles_m = std::ceil(work.m / tile.m);
  const double tiles_n = std::ceil(work.n / tile.n);
  best.l2 =
      Bytes((tiles_n * work.m * type_.activation_bytes + tiles_m * work.n * type_.weight_bytes) *
            work.k * work.batch);
  best.total = Seconds(total);
}

GemmTimes GemmTiming::gemv(const Work& work) const {
  GemmTimes times;
  times.gemv = true;
  times.thread_blocks = sms_;
  times.waves = 1;
  times.compute = Seconds(work.k * gemv_step_ *
                          std::sqrt(std::max(1.0, work.m / library_.shapes.rowless_rows)));
  times.dram = Bytes(work.weights);
  times.dram_rate = dram_rate();
  times.memory = Seconds(work.weights / dram_rate_);
  times.stages_ahead = factors_.common.pass_stages;
  const double multiply = gemv_rate_ > 0 ? 2 * work.m * work.n * work.k / gemv_rate_ : 0.0;
  times.compute = Seconds(std::max(times.compute.value(), multiply));
  times.tail = Seconds(work.n * gemv_column_ / sms_);
  times.total =
      factors_.gemv_launch + times.tail +
      Seconds(closed_network_time(times.compute.value(), times.memory.value(), times.stages_ahead));
  return times;
}

GemmTimes GemmTiming::fastest_tile(const Work& work) const {
  GemmTimes best;
  best.total = Seconds(std::numeric_limits<double>::infinity());
  const std::vector<GemmTile>* tiles = &library_.tiles;
  for (const GemmLibrary::Dispatch& entry : library_.dispatch) {
    tiles = &entry.tiles;
    if (work.m <= static_cast<double>(entry.up_to)) break;
  }
  for (const GemmTile& tile : *tiles) consider(work, tile, 0, best);
  return best;
}

// Clocks under the power limit: the matrix pipe loses more the longer it works, the vector pipe
// comes to a lower clock after a few milliseconds.
double GemmTiming::stretch(Seconds time) const {
  if (library_.vector_pipe) {
    const double reached = time.value() / (time + factors_.common.power_drop_delay).value();
    return 1 + (factors_.power_drop + 1 / burst_limit_ - 1) * reached;
  }
  return power_stretch(factors_.common, factors_.power_drop, time.value());
}

Bytes GemmTiming::quantise_bytes(const GemmShape& shape) const {
  return Bytes(static_cast<double>(shape.m) * static_cast<double>(shape.k) *
               library_.shapes.quantised_bytes * factors_.quantise_passes);
}

Seconds GemmTiming::quantise(const GemmShape& shape) const {
  const double rows = std::ceil(static_cast<double>(shape.m) / sms_) * quantise_row_;
  const double bytes = quantise_bytes(shape).value() / dram_rate_;
  return factors_.quantise_launch +
         Seconds(closed_network_time(rows, bytes, factors_.common.pass_stages));
}

GemmTimes GemmTiming::fastest(const GemmShape& shape, const GemmL2State& l2) const {
  const Work work = prepare(shape, l2);
  const Seconds extra = shape.k < library_.fast_depth ? factors_.short_k : Seconds(0);
  GemmTimes without_tiles;
  without_tiles.total = Seconds(std::numeric_limits<double>::infinity());
  if (shape.m <= library_.gemv_rows) {
    without_tiles = gemv(work);
    if (shape.m > library_.shapes.rowless_any_depth) {
      without_tiles.extra_launch = extra;
      without_tiles.total += extra;
    }
    if (!library_.gemv_competes) return without_tiles;
  }
  GemmTimes best;
  if (library_.tunes_by_power_of_two) {
    GemmShape tuned = shape;
    tuned.m = 1;
    while (tuned.m < shape.m) tuned.m *= 2;
    const GemmTimes choice = fastest_tile(prepare(tuned, l2));
    best.total = Seconds(std::numeric_limits<double>::infinity());
    consider(work, choice.tile, choice.split, best);
  } else {
    best = fastest_tile(work);
  }
  best.dram = Bytes(work.dram);
  best.dram_rate = BytesPerSecond(work.dram / work.dram_time);
  best.total += factors_.launch;
  best.extra_launch = extra;
  best.total += extra;
  best.stretch = stretch(best.total);
  best.total *= best.stretch;
  if (type_.quantises) {
    best.quantise = quantise(shape);
    best.total += best.quantise;
  }
  if (without_tiles.total < best.total) return without_tiles;
  return best;
}

Seconds GemmTiming::thread_block(const GemmShape& shape, const GemmTimes& chosen, std::int64_t rows,
                                 std::int64_t columns, bool follows) const {
  if (chosen.gemv) return chosen.compute;
  const Work work = prepare(shape, {});
  const auto r = static_cast<double>(rows);
  const auto c = static_cast<double>(columns);
  const double stages =
      chosen.split == 1 ? work.stages
                        : std::ceil(work.stages / chosen.split / library_.stage) * library_.stage;
  const double store = (chosen.split > 1 ? 2 : 1) * r * c * type_.output_bytes / epilogue_;
  const double loop = stages * stage_time(work, chosen.tile, r, c, chosen.resident);
  if (follows) return Seconds(std::max(loop, store));
  return Seconds(filling(stages) / chosen.resident + loop + store);
}

Seconds GemmTiming::stream_k_block(const GemmShape& shape, const GemmTimes& chosen,
                                   std::int64_t block) const {
  return Seconds(stream_k_time(prepare(shape, {}), chosen.tile, chosen.thread_blocks, block));
}

}  // namespace foretell
