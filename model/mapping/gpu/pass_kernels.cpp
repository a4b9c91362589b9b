#include "model/mapping/gpu/pass_kernels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/timing/pass_timing.hpp"

namespace foretell {
namespace {

// An operator of operator_library.hpp whose table tells how long one of a kind takes.
struct Source {
  const char* table;
  const char* op;
};

constexpr Source kWide{"pytorch element-wise fp32", "add"};
constexpr Source kNarrow{"vidur element-wise fp16", "add"};

// By kind of operator and width of its elements, the best one first.
std::vector<Source> sources(const std::string& operation, bool wide) {
  const auto by_width = [&](Source of_wide, Source of_narrow) {
    return wide ? std::vector<Source>{of_wide, of_narrow} : std::vector<Source>{of_narrow, of_wide};
  };
  if (operation == "quantise") return {{"trtllm quantise fp8", "quantise"}, kNarrow};
  if (operation == "Gather")
    return wide ? by_width(kWide, kNarrow) : std::vector<Source>{{"vidur gather fp16", "emb"}};
  if (operation == "Softmax") return {{"pytorch softmax fp32", "softmax"}};
  // A batch norm whose mean and variance are known is a factor and an offset.
  const bool ends_in_norm =
      operation.size() >= 4 && operation.substr(operation.size() - 4) == "Norm";
  const bool is_norm = ends_in_norm && operation != "BatchNorm";
  if (is_norm) return by_width({"pytorch norm fp32", "ln"}, {"vidur norm fp16", "rms_norm"});
  return by_width(kWide, kNarrow);
}

}  // namespace

const std::optional<PassKernels::Chosen>& PassKernels::choose(const PassWork& work) {
  const bool wide = work.element_bytes > 2;
  const auto [place, is_new] =
      chosen_.try_emplace(work.operation + (wide ? " wide" : " narrow"), std::nullopt);
  if (!is_new) return place->second;
  for (const Source& source : sources(work.operation, wide)) {
    auto found = factors_.pass({source.table});
    if (!found) continue;
    const std::string note =
        found->device == device_.id
            ? ""
            : std::string("passes: factors of ") + source.table + " on " + found->device;
    place->second = Chosen{table_operator(source.op), found->factors, note, found->interval80};
    break;
  }
  return place->second;
}

GpuKernel PassKernels::kernel_of(const PassWork& work, const std::optional<Chosen>& chosen) const {
  GpuKernel kernel;
  double passes = 1;
  if (chosen) {
    const PassShape shape =
        pass_shape(chosen->info, {1, 1}, work.rows, work.columns, work.element_bytes);
    kernel = pass_kernel(device_, chosen->factors, shape);
    passes = chosen->factors.passes;
  } else {
    kernel.memory_latency = products_.prologue();
    kernel.dram_rate = products_.dram_rate();
    kernel.l2_rate = products_.l2_rate();
  }
  kernel.name = work.name;
  kernel.launch = products_.factors().launch;
  kernel.dram_bytes = work.dram * passes;
  kernel.l2_bytes = work.moved * passes;
  return kernel;
}

void PassKernels::add(const PassWork& work, MappedOp& op) {
  const std::optional<Chosen>& chosen = choose(work);
  GpuKernel kernel = kernel_of(work, chosen);
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
