#include "model/mapping/gpu/pass_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/base/text.hpp"
#include "model/timing/gpu/pass_timing.hpp"

namespace foretell {
namespace {

// The fact that rules ask for: the operator itself, or "norm" for those over a row. A batch norm
// whose mean and variance are known is a factor and an offset.
std::string fact_of(const std::string& operation) {
  return ends_with(operation, "Norm") && operation != "BatchNorm" ? "norm" : operation;
}

// A softmax between products whose thread block has one row, two elements of 16 bits to a thread.
void take_rows(Seconds row, const PassWork& work, Hertz clock, PassShape& shape,
               PassFactors& factors) {
  constexpr std::int64_t kWarp = 32;
  constexpr std::int64_t kMostThreads = 1024;
  shape.vector = work.element_bytes > 2 ? 1 : 2;
  shape.rows_per_block = 1;
  const std::int64_t warps = (work.columns + shape.vector * kWarp - 1) / (shape.vector * kWarp);
  shape.threads = std::min(warps * kWarp, kMostThreads);
  factors.block = factors.step = row * clock;
}

}  // namespace

const std::optional<PassKernels::Chosen>& PassKernels::choose(const PassWork& work) {
  const bool wide = work.element_bytes > 2;
  const auto [place, is_new] =
      chosen_.try_emplace(work.operation + (wide ? " wide" : " narrow"), std::nullopt);
  if (!is_new) return place->second;
  const std::vector<PassSource> sources =
      kernel_libraries().passes(factors_.library().id, fact_of(work.operation), wide);
  for (const PassSource& source : sources) {
    auto found = factors_.pass({source.table});
    if (!found) continue;
    const std::string note = found->device == device_.id
                                 ? ""
                                 : "passes: factors of " + source.table + " on " + found->device;
    place->second = Chosen{table_operator(source.op), found->factors, note, found->interval80};
    break;
  }
  return place->second;
}

Grid PassKernels::kernel_of(const PassWork& work, const std::optional<Chosen>& chosen) const {
  Grid kernel;
  double passes = 1;
  if (chosen) {
    PassShape shape = pass_shape(chosen->info, {1, 1}, work.rows, work.columns, work.element_bytes);
    PassFactors factors = chosen->factors;
    const std::optional<Seconds>& row = factors_.library().softmax_row;
    if (work.operation == "Softmax" && row)
      take_rows(*row, work, device_.clock.boost, shape, factors);
    kernel = pass_kernel(device_, factors, shape);
    passes = factors.passes;
  } else {
    kernel.memory_latency = products_.prologue();
    kernel.dram_rate = products_.dram_rate();
    kernel.l2_rate = products_.l2_rate();
  }
  if (work.operation == "Softmax") passes /= factors_.library().softmax_share;
  kernel.name = work.name;
  kernel.launch = products_.factors().launch;
  kernel.dram_bytes = work.dram * passes;
  kernel.l2_bytes = work.moved * passes;
  return kernel;
}

void PassKernels::add(const PassWork& work, MappedOp& op) {
  const std::optional<Chosen>& chosen = choose(work);
  Grid kernel = kernel_of(work, chosen);
  if (chosen) op.note = chosen->note;
  kernel.busy[WorkUnit::kLaunch] = kernel.launch + kernel.memory_latency;
  kernel.busy[WorkUnit::kDram] = kernel.dram_bytes / kernel.dram_rate;
  kernel.busy[WorkUnit::kL2] = kernel.l2_bytes / kernel.l2_rate;
  for (const CtaRun& run : kernel.ctas) {
    const auto places = static_cast<double>(device_.sms) * kernel.ctas_per_sm;
    const double waves = std::max(1.0, static_cast<double>(run.count) / places);
    kernel.busy[WorkUnit::kPipelineLatency] += waves * run.duration;
  }
  kernel.moved = work.dram;
  op.program.kernels.push_back(std::move(kernel));
  op.intervals80.push_back(chosen ? chosen->interval80 : Ratio80{1, 1});
}

}  // namespace foretell
