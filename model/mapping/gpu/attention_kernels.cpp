#include "model/mapping/gpu/attention_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/cta_schedule.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kTileRows = 128;
constexpr std::int64_t kStepKeys = 64;
constexpr double kSpecialFunctions = 16;  // exponentials of an SM per cycle [CUDAPG]
constexpr std::int64_t kSmallTile = 16;   // least rows of the matrix pipe
constexpr std::int64_t kMostParts = 128;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Attention {
 public:
  Attention(const GpuDeviceSpec& device, const GemmTiming& timing, const GemmType& type,
            const AttentionDimensions& attention, Bytes dram, Bytes all)
      : device_(device), timing_(timing), type_(type), a_(attention) {
    kernel_.launch = timing.factors().launch;
    kernel_.memory_latency = timing.prologue();
    kernel_.dram_bytes = dram;
    kernel_.dram_rate = timing.dram_rate();
    kernel_.l2_bytes = all;
    kernel_.l2_rate = timing.l2_rate();
    kernel_.overlap = 1 + timing.factors().overlap;
  }

  void add_to(MappedOp& op) {
    if (a_.queries >= kTileRows) {
      whole_tiles();
    } else {
      parts_of_sequences();
    }
    note(op);
    op.program.kernels.push_back(std::move(kernel_));
  }

 private:
  double clock() const { return device_.clock.boost.value(); }
  double width() const { return static_cast<double>(a_.head_dim); }

  struct Step {
    double products;
    double exponentials;
    double feed;
    double time() const { return std::max(products + exponentials, feed); }
  };

  // `rows` queries and kStepKeys keys.
  Step step(std::int64_t rows) const {
    const double rate =
        dense_rate(device_, type_.rate).value() * timing_.factors().mma_efficiency / device_.sms;
    const auto padded = static_cast<double>(ceil_div(rows, kSmallTile) * kSmallTile);
    const auto scores = static_cast<double>(rows * kStepKeys);
    const double bytes = 2.0 * kStepKeys * width() * type_.activation_bytes;
    return {4 * padded * kStepKeys * width() / rate, scores / (kSpecialFunctions * clock()),
            bytes / (timing_.factors().sm_feed.value() * clock())};
  }

  double store(std::int64_t rows) const {
    return static_cast<double>(rows) * width() * type_.activation_bytes /
           (timing_.factors().epilogue.value() * clock());
  }

  // Steps of the rows up to `last_row`, one after the last of them.
  std::int64_t steps_to(std::int64_t last_row) const {
    const std::int64_t keys =
        a_.causal ? std::min(a_.keys, last_row + a_.keys - a_.queries) : a_.keys;
    return ceil_div(keys, kStepKeys);
  }

  void whole_tiles() {
    const Step one = step(kTileRows);
    for (std::int64_t row = 0; row < a_.queries; row += kTileRows) {
      const std::int64_t last = std::min(a_.queries, row + kTileRows);
      add_blocks(a_.batch * a_.heads, steps_to(last), one, store(last - row));
    }
  }

  void parts_of_sequences() {
    const std::int64_t rows = a_.queries * (a_.heads / a_.kv_heads);
    const Step one = step(rows);
    const std::int64_t groups = a_.batch * a_.kv_heads;
    const std::int64_t steps = steps_to(a_.queries);
    // As many parts as SMs are left for.
    std::int64_t best = 1;
    while (2 * best <= std::min(kMostParts, steps) && 2 * best * groups <= device_.sms) best *= 2;
    add_blocks(groups * best, ceil_div(steps, best), one, store(rows));
    parts_ = best;
    if (best > 1) kernel_.tail = Seconds(timing_.factors().split.value() / clock());
  }

  void add_blocks(std::int64_t count, std::int64_t steps, const Step& one, double store) {
    const auto walked = static_cast<double>(steps);
    add_ctas(kernel_, count, Seconds(timing_.prologue().value() + walked * one.time() + store));
    const double blocks = static_cast<double>(count);
    blocks_ += blocks;
    products_ += blocks * walked * one.products;
    exponentials_ += blocks * walked * one.exponentials;
    feed_ += blocks * walked * one.feed;
  }

  void note(MappedOp& op) {
    kernel_.name = "attention";
    if (parts_ > 1) kernel_.name += " split " + std::to_string(parts_);
    const double sms = device_.sms;
    const bool matrix = device_.matrix_rate.count(type_.rate) > 0;
    op.engine = matrix ? "tensor" : "vector";
    op.kernel = kernel_.name;
    op.waves = blocks_ / sms;
    double busy = 0;
    for (const CtaRun& run : kernel_.ctas) {
      busy += static_cast<double>(run.count) * run.duration.value();
    }
    op.occupancy = std::min(1.0, busy / sms / cta_makespan(kernel_.ctas, device_.sms).value());
    op.bounds["launch"] += kernel_.launch;
    op.bounds[matrix ? "tensor pipe" : "vector pipe"] += Seconds(products_ / sms);
    op.bounds["special functions"] += Seconds(exponentials_ / sms);
    op.bounds["operand feed"] += Seconds(feed_ / sms);
    op.bounds["DRAM"] += kernel_.dram_bytes / kernel_.dram_rate;
    op.bounds["L2"] += kernel_.l2_bytes / kernel_.l2_rate;
    op.bounds["reduction"] += kernel_.tail;
    op.dram += kernel_.dram_bytes;
  }

  const GpuDeviceSpec& device_;
  const GemmTiming& timing_;
  const GemmType& type_;
  const AttentionDimensions& a_;
  GpuKernel kernel_;
  std::int64_t parts_ = 1;
  double blocks_ = 0;
  double products_ = 0;  // SM seconds, like the following
  double exponentials_ = 0;
  double feed_ = 0;
};

}  // namespace

void add_attention(const GpuDeviceSpec& device, const GemmTiming& timing, const GemmType& type,
                   const AttentionDimensions& attention, Bytes dram, Bytes all, MappedOp& op) {
  Attention(device, timing, type, attention, dram, all).add_to(op);
}

}  // namespace foretell
