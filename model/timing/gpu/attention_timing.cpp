#include "model/timing/gpu/attention_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "calib/fitted/gpu/gpu_transfer.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "model/timing/gpu/cta_schedule.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"
#include "model/timing/gpu/occupancy.hpp"
#include "model/timing/gpu/soft_limits.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

constexpr double kStoredBytes = 2;  // per element of queries and results in memory

// The queries of a tile stay in shared memory, where a tile of keys and one of values take turns;
// scores and sums are in registers. Libraries that have the room hold more.
CtaResources resources(const AttentionShapes& shapes, const AttentionTile& tile, double width,
                       const AttentionType& type, bool tensor_memory) {
  CtaResources cta;
  cta.shared_memory = Bytes(width * (tile.rows * type.query_bytes + tile.keys * type.key_bytes));
  const double threads = std::max(shapes.threads, shapes.threads_of_row * tile.rows);
  const double sums =
      tensor_memory ? 0 : tile.rows * (std::min(width, shapes.summed_width) + tile.keys);
  cta.threads = static_cast<int>(threads);
  cta.registers_per_thread = static_cast<int>(shapes.other_registers + std::ceil(sums / threads));
  return cta;
}

std::string kernel_name(const AttentionTile& tile, double width) {
  return fmt::format("attention with heads of {:.0f}, tile of {:.0f} queries and {:.0f} keys",
                     width, tile.rows, tile.keys);
}

// The tile of the library, halved until an SM has room for it.
AttentionTile context_tile(const GpuDeviceSpec& device, const AttentionLibrary& library,
                           const AttentionType& type, const AttentionShape& shape) {
  AttentionTile tile = attention_tile(library, type, shape);
  const auto width = static_cast<double>(shape.head_dim);
  const bool tensor_memory = library.paired;
  while (true) {
    const std::vector<SmShortage> lacking =
        shortages(device, resources(library.shapes, tile, width, type, tensor_memory));
    if (lacking.empty()) return tile;
    if (tile.rows > library.shapes.smallest_tile) {
      tile.rows = std::max(library.shapes.smallest_tile, tile.rows / 2);
    } else if (tile.keys > library.shapes.smallest_tile) {
      tile.keys = std::max(library.shapes.smallest_tile, tile.keys / 2);
    } else {
      refuse_kernel(device, kernel_name(tile, width), lacking);
    }
  }
}

double kernel_time(const Grid& kernel, const GpuDeviceSpec& device) {
  const auto moved = [](Bytes bytes, BytesPerSecond rate) {
    return bytes > Bytes(0) ? (bytes / rate).value() : 0.0;
  };
  const double memory =
      kernel.memory_latency.value() +
      std::max(moved(kernel.dram_bytes, kernel.dram_rate), moved(kernel.l2_bytes, kernel.l2_rate));
  const double compute =
      kernel.ctas.empty()
          ? 0.0
          : cta_makespan(kernel.ctas, static_cast<std::int64_t>(device.sms) * kernel.ctas_per_sm)
                .value();
  return (kernel.launch.value() + kernel.tail.value() +
          exchange_time(kernel.exchange).whole().value() +
          closed_network_time(compute, memory, kernel.stages_ahead)) *
         kernel.stretch;
}

// A kernel and what its thread blocks do, in SM seconds until it is finished.
struct Kernel {
  Grid kernel;
  AttentionWork work;
};

// One call, with the factors in seconds and bytes per second.
class Call {
 public:
  Call(const GpuDeviceSpec& device, const AttentionLibrary& library, const AttentionType& type,
       const AttentionFactors& factors, const AttentionShape& shape)
      : device_(device),
        library_(library),
        type_(type),
        factors_(factors),
        shape_(shape),
        batch_(static_cast<double>(shape.batch)),
        queries_(static_cast<double>(shape.queries)),
        keys_(static_cast<double>(shape.keys)),
        heads_(static_cast<double>(shape.heads)),
        key_heads_(static_cast<double>(shape.key_heads)),
        share_(heads_ / key_heads_),
        window_(static_cast<double>(shape.window)),
        width_(static_cast<double>(shape.head_dim)),
        depth_(padded_width(library, width_)),
        phase_(shape.phase),
        sms_(device.sms),
        clock_(device.clock.boost.value()) {}

  Grid prepare() const;
  Kernel context() const;
  Kernel generation() const;

 private:
  double seconds(Cycles cycles) const { return cycles.value() / clock_; }
  double combination(double parts) const {
    return seconds(factors_.split) + parts * seconds(factors_.part);
  }
  double sm_rate(BytesPerCycle feed) const { return feed.value() * clock_; }
  // FLOP per second of an SM that the instructions of the kernel can reach.
  double product_rate() const {
    const double share =
        library_.register_products ? gpu_architecture(device_.architecture).register_products : 1;
    return share * dense_rate(device_, type_.rate).value() / sms_;
  }
  // Share of data of such a size that has left L2 since the call before.
  double missing(double bytes) const {
    const double capacity = factors_.l2_share * device_.l2.capacity.value();
    return missing_share(factors_.common, bytes / capacity);
  }
  void set_memory(Grid& kernel, double dram, double l2, BytesPerCycle feed) const {
    kernel.dram_bytes = Bytes(dram);
    kernel.dram_rate = device_.hbm.bandwidth * factors_.dram_efficiency;
    kernel.l2_bytes = Bytes(l2);
    kernel.l2_rate = BytesPerSecond(sm_rate(feed) * sms_);
  }
  struct Walk {
    double steps;
    double edges;    // steps in which the causal mask has an edge
    double skipped;  // steps before the window that are looked at all the same
    bool cut;        // the window hides keys from some query
  };
  Walk walk(double first_query, double last_query, double keys) const;
  struct Parts {
    double count;    // of one sequence and head
    double working;  // those that have keys inside the window
    double steps;    // of each that works
  };
  Parts parts(double count, double blocks) const;
  Kernel split_kernel(const Parts& parts, double groups, bool combines) const;
  void set_cache_reads(Grid& kernel) const;
  int blocks_per_sm() const;
  double whole_step() const;

  const GpuDeviceSpec& device_;
  const AttentionLibrary& library_;
  const AttentionType& type_;
  const AttentionFactors& factors_;
  const AttentionShape& shape_;
  double batch_, queries_, keys_, heads_, key_heads_, share_, window_;
  double width_;  // of a head
  double depth_;  // the same, filled up for the matrix pipe
  AttentionPhase phase_;
  double sms_, clock_;
};

Grid Call::prepare() const {
  const double written = 2 * batch_ * queries_ * key_heads_ * width_;
  const double rotated = library_.prepare == AttentionLibrary::Prepare::kSplitAndRotate
                             ? batch_ * queries_ * heads_ * width_
                             : 0;
  const double keys = (kStoredBytes + type_.key_bytes) * written;  // read and written
  const double queries = (kStoredBytes + type_.query_bytes) * rotated;
  const double bytes = keys + queries;
  Grid kernel;
  kernel.name = "write keys and values";
  // The threads that turn queries have keys and values on the side.
  const double hidden = factors_.prepare_hidden * keys;
  set_memory(kernel, missing(bytes) * bytes, bytes - hidden, factors_.prepare_feed);
  if (factors_.prepare_block > Cycles(0)) {  // one thread block per token
    const double threads = std::min(library_.shapes.copy_threads, key_heads_ * width_);
    kernel.ctas_per_sm = static_cast<int>(
        std::min<double>(device_.sm.max_ctas, std::floor(device_.sm.max_threads / threads)));
    add_ctas(kernel, static_cast<std::int64_t>(batch_ * queries_),
             Seconds(seconds(factors_.prepare_block)));
    kernel.stages_ahead = factors_.common.stages_limit;
  }
  return kernel;
}

// Queries from `first_query` up to `last_query`, counted from the start of what is asked.
Call::Walk Call::walk(double first_query, double last_query, double keys) const {
  const double before = keys_ - queries_;
  const bool causal = phase_ == AttentionPhase::kContext;
  const double high = causal ? std::min(keys_, last_query + before) : keys_;
  const double low = window_ > 0 ? std::max(0.0, first_query + before - window_) : 0;
  const double skipped = library_.skips_window ? 0 : std::floor(low / keys);
  const double steps = std::ceil(high / keys) - std::floor(low / keys);
  double edges = 0;
  if (causal && (queries_ > 1 || library_.masks_one_token)) {
    edges = std::ceil(high / keys) - std::floor(std::min(keys_, first_query + before + 1) / keys);
  }
  const bool cut = window_ > 0 && last_query + before - 1 > window_;
  return {steps, std::min(steps, edges), skipped, cut};
}

Kernel Call::context() const {
  const AttentionTile tile = context_tile(device_, library_, type_, shape_);
  const AttentionSplit split = attention_split(library_, type_, shape_, sms_);
  const bool packed = packs_queries(library_, shape_);
  const double packed_heads = packed ? share_ : 1;
  const double groups = packed ? batch_ * key_heads_ : batch_ * heads_;
  const double rows = queries_ * packed_heads;
  const auto tiles = static_cast<std::int64_t>(std::ceil(rows / tile.rows));
  const double scores = tile.rows * tile.keys;
  const double rate = factors_.mma_efficiency * product_rate();
  const double products = 4 * scores * depth_ / rate;
  const double softmax = scores / kScoresAtOnce * seconds(factors_.score);
  const double masked = scores / kScoresAtOnce * seconds(factors_.masked_score);
  const double window_edge = seconds(factors_.window_block);
  // Where 8 bits are multiplied along the depth of both operands only, values of wide heads are
  // turned.
  const bool turned = type_.query_bytes < kStoredBytes &&
                      gpu_architecture(device_.architecture).narrow_along_depth > 0;
  const bool special =
      library_.special_small_heads ? (turned ? width_ >= 128 : width_ < 128) : packed && share_ > 1;
  const double latency =
      seconds(factors_.prologue) + (special ? seconds(factors_.special_block) : 0);
  // Kernels with one stage load, wait and compute in turn.
  const bool one_stage = library_.one_stage;
  const double wait = one_stage ? seconds(factors_.step) : 0;
  const double load = 2 * tile.keys * type_.key_bytes * depth_ / sm_rate(factors_.sm_feed);
  const double step_load = one_stage ? load : 0;
  const bool paired = library_.paired;
  const bool overlaps = paired || (library_.encoder_overlaps && phase_ == AttentionPhase::kEncoder);
  const double step =
      (overlaps ? std::max(products, softmax) : products + softmax) + wait + step_load;
  const double row_load = type_.query_bytes * depth_ / sm_rate(factors_.sm_feed);
  const double stored = split.combines ? 2 * kStoredBytes : kStoredBytes;  // parts are FP32
  Kernel result;
  Grid& kernel = result.kernel;
  kernel.name = "attention";
  if (split.parts > 1) kernel.name += fmt::format(" split {:.0f}", split.parts);
  for (std::int64_t i = 0; i < tiles; ++i) {
    const auto place = static_cast<double>(library_.longest_first ? tiles - 1 - i : i);
    const double first_row = place * tile.rows;
    const double last_row = std::min(rows, first_row + tile.rows);
    const Walk walked =
        walk(std::floor(first_row / packed_heads),
             std::min(queries_, std::ceil((first_row + tile.rows) / packed_heads)), tile.keys);
    const double store = (last_row - first_row) * width_ * stored / sm_rate(factors_.sm_feed);
    // Rows that do not exist cost a pair of tiles no traffic.
    const double loaded =
        (paired ? last_row - first_row : tile.rows) * row_load + (one_stage ? 0 : load);
    const double every = latency + loaded + store;
    const double each = std::ceil(walked.steps / split.parts);
    const double whole = std::ceil(walked.steps / each) - 1;  // parts beside the last
    const double edges = walked.edges * masked + (walked.cut ? window_edge : 0);
    add_ctas(kernel, static_cast<std::int64_t>(groups * whole), Seconds(every + each * step));
    add_ctas(kernel, static_cast<std::int64_t>(groups),
             Seconds(every + (walked.steps - whole * each) * step + walked.skipped * wait + edges));
    const double share = groups / sms_;
    result.work.products += Seconds(share * walked.steps * products);
    result.work.softmax += Seconds(share * (walked.steps * softmax + edges));
    result.work.feed +=
        Seconds(share * ((whole + 1) * (loaded + store) + walked.steps * step_load));
    result.work.latency +=
        Seconds(share * ((whole + 1) * latency + (walked.steps + walked.skipped) * wait));
  }
  const double asked = batch_ * queries_ * heads_ * width_;
  const double bytes = asked * (type_.query_bytes + kStoredBytes) +
                       2 * batch_ * keys_ * key_heads_ * width_ * type_.key_bytes;
  set_memory(kernel, missing(bytes) * bytes, bytes, factors_.l2_feed);
  kernel.stages_ahead = factors_.stages_ahead;
  kernel.launch = factors_.launch + (width_ != 128 ? factors_.other_head : Seconds(0)) +
                  (regroups(library_, shape_) ? factors_.regroup : Seconds(0));
  if (split.combines) kernel.tail = Seconds(combination(split.parts));
  return result;
}

Call::Parts Call::parts(double count, double blocks) const {
  if (library_.split == AttentionLibrary::Split::kSquareRoot) {
    // The whole sequence is divided, the window notwithstanding.
    const double each = std::ceil(std::ceil(keys_ / library_.shapes.keys_of_step) / count);
    return {count, std::min(count, std::ceil(blocks / each)), std::min(each, blocks)};
  }
  const double each = std::ceil(blocks / count);
  if (library_.split == AttentionLibrary::Split::kFastest) return {count, count, each};
  return {count, std::ceil(blocks / each), each};
}

// As many as the library means to, where there is room for them: keys and values pass through in
// pieces.
int Call::blocks_per_sm() const {
  const double rows =
      packs_queries(library_, shape_) ? std::min(share_, library_.shapes.keys_of_step) : 1;
  const AttentionTile tile{
      std::ceil(rows / library_.shapes.smallest_tile) * library_.shapes.smallest_tile,
      library_.shapes.smallest_tile};
  return std::min(library_.blocks_per_sm,
                  ctas_per_sm(device_, resources(library_.shapes, tile, width_, type_, false),
                              kernel_name(tile, width_)));
}

// Seconds of a step of tokens whose kernel multiplies rows that nothing asks for, then takes the
// softmax of them.
double Call::whole_step() const {
  const double scores = library_.step_rows * library_.shapes.keys_of_step;
  const double rate = device_.reachable_rate * product_rate();
  return 4 * scores * depth_ / rate +
         scores / kScoresAtOnce * seconds(whole_softmax(device_, factors_.common));
}

Kernel Call::split_kernel(const Parts& parts, double groups, bool combines) const {
  const double rows = packs_queries(library_, shape_) ? share_ : 1;
  const double latency = seconds(factors_.step);
  const double feed =
      library_.shapes.keys_of_step * 2 * width_ * type_.key_bytes / sm_rate(factors_.sm_feed);
  const double softmax = library_.step_rows > 0 ? whole_step()
                                                : rows * library_.shapes.keys_of_step /
                                                      kScoresAtOnce * seconds(factors_.score);
  const double step = latency + feed + softmax;
  const bool cut = window_ > 0 && keys_ > window_;
  const double start = seconds(factors_.prologue);
  Kernel result;
  Grid& kernel = result.kernel;
  kernel.name = "attention";
  if (parts.count > 1) kernel.name += fmt::format(" split {:.0f}", parts.count);
  kernel.ctas_per_sm = blocks_per_sm();
  add_ctas(kernel, static_cast<std::int64_t>(groups * parts.working),
           Seconds(start + parts.steps * step + (cut ? seconds(factors_.window_block) : 0)));
  add_ctas(kernel, static_cast<std::int64_t>(groups * (parts.count - parts.working)),
           Seconds(start));
  kernel.tail = Seconds(seconds(factors_.head) * batch_ * heads_ / sms_ +
                        (combines ? combination(parts.count) : 0));
  const double share = groups / sms_ / kernel.ctas_per_sm;
  const double steps = share * parts.working * parts.steps;
  result.work.softmax = Seconds(steps * softmax);
  result.work.feed = Seconds(steps * feed);
  result.work.latency = Seconds(steps * latency + share * parts.count * start);
  return result;
}

void Call::set_cache_reads(Grid& kernel) const {
  const double keys = window_ > 0 ? std::min(keys_, window_) : keys_;
  const double bytes = 2 * batch_ * key_heads_ * keys * width_ * type_.key_bytes;
  set_memory(kernel, missing(bytes) * bytes, bytes * (packs_queries(library_, shape_) ? 1 : share_),
             factors_.l2_feed);
  if (factors_.cold_bytes > Bytes(0)) {
    kernel.memory_latency =
        factors_.cold_stream * (1 - std::exp(-bytes / factors_.cold_bytes.value()));
  }
  kernel.stages_ahead = factors_.stages_ahead;
  kernel.launch = factors_.launch + (regroups(library_, shape_) ? factors_.regroup : Seconds(0));
}

Kernel Call::generation() const {
  const double groups =
      batch_ * (packs_queries(library_, shape_)
                    ? key_heads_ * std::ceil(share_ / library_.shapes.keys_of_step)
                    : heads_);
  double blocks = std::ceil(keys_ / library_.shapes.keys_of_step);
  if (window_ > 0 && keys_ > window_) {
    blocks -= std::floor((keys_ - 1 - window_) / library_.shapes.keys_of_step);
  }
  const AttentionSplit rule = attention_split(library_, type_, shape_, sms_);
  Kernel best;
  if (rule.parts > 0) {
    best = split_kernel(parts(rule.parts, blocks), groups, rule.combines);
    set_cache_reads(best.kernel);
    return best;
  }
  double fastest = std::numeric_limits<double>::infinity();
  for (double count = 1; count <= std::min(library_.max_split, blocks); count *= 2) {
    Kernel split = split_kernel(parts(count, blocks), groups, count > 1);
    set_cache_reads(split.kernel);
    const double time = kernel_time(split.kernel, device_);
    if (time < fastest) {
      fastest = time;
      best = std::move(split);
    }
  }
  return best;
}

}  // namespace

AttentionPlan plan_attention(const GpuDeviceSpec& device, const AttentionLibrary& library,
                             const AttentionType& type, const AttentionFactors& factors,
                             const AttentionShape& shape) {
  const Call call(device, library, type, factors, shape);
  AttentionPlan plan;
  const bool writes = shape.phase == AttentionPhase::kContext;
  if (writes && factors.prepare_feed > BytesPerCycle(0)) {
    plan.program.kernels.push_back(call.prepare());
  }
  Kernel kernel = shape.phase == AttentionPhase::kGeneration ? call.generation() : call.context();
  if (factors.power_drop > 0) {
    const double time = kernel_time(kernel.kernel, device);
    kernel.kernel.stretch = power_stretch(factors.common, factors.power_drop, time);
  }
  plan.program.kernels.push_back(std::move(kernel.kernel));
  plan.work = kernel.work;
  return plan;
}

GridSequence attention_program(const GpuDeviceSpec& device, const AttentionLibrary& library,
                               const AttentionType& type, const AttentionFactors& factors,
                               const AttentionShape& shape) {
  return plan_attention(device, library, type, factors, shape).program;
}

Seconds program_time(const GridSequence& program, const GpuDeviceSpec& device) {
  double time = 0;
  for (const Grid& kernel : program.kernels) time += kernel_time(kernel, device);
  return Seconds(time);
}

}  // namespace foretell
