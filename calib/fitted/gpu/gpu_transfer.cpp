#include "calib/fitted/gpu/gpu_transfer.hpp"

#include <algorithm>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

double per_cycle(double rate, const GpuDeviceSpec& device) {
  return rate / device.sms / device.clock.boost.value();
}

// FLOP that the matrix pipe of an SM does in a cycle with operands of 16 bits; 0 without one.
double pipe_width(const GpuDeviceSpec& device) {
  for (const char* type : {"bf16", "fp16"}) {
    const auto rate = device.matrix_rate.find(type);
    if (rate != device.matrix_rate.end()) return per_cycle(rate->second, device);
  }
  return 0;
}

double width_ratio(const GpuDeviceSpec& teacher, const GpuDeviceSpec& device) {
  const double of_teacher = pipe_width(teacher);
  const double of_device = pipe_width(device);
  return of_teacher > 0 && of_device > 0 ? of_device / of_teacher : 1;
}

// Times of the plugins of TensorRT are those that its profiler sees: they are launched and set up
// by instructions, so their launches are cycles, and the pass that ends a split takes its time.
// They are the same kernels on every chip and ask no more of L2 where there is more. Weights are
// widened on the vector pipe.
void carry_over_plugin(GemmFactors& factors, bool weights_only, const GpuDeviceSpec& teacher,
                       const GpuDeviceSpec& device) {
  const double clock = teacher.clock.boost / device.clock.boost;
  factors.launch *= clock;
  factors.gemv_launch *= clock;
  factors.split /= clock;
  if (!weights_only) return;
  const double vector = per_cycle(teacher.vector_rate.at("fp32"), teacher) /
                        per_cycle(device.vector_rate.at("fp32"), device);
  const double fp32 = factors.common.widening_fp32_share;
  factors.step *= 1 - fp32 + fp32 * vector;
  factors.gemv_step *= vector;
}

// One pass over the activations is a matter of DRAM; what more it takes, to find the largest
// element, is not.
double quantise_passes(double passes, const GpuDeviceSpec& teacher, const GpuDeviceSpec& device) {
  const double beyond = std::max(0.0, passes - 1);
  return passes - beyond + beyond * (device.hbm.bandwidth / teacher.hbm.bandwidth);
}

template <class Factors>
void follow_measured_floors(Factors& factors, const GpuDeviceSpec& teacher,
                            const GpuDeviceSpec& device) {
  const Seconds difference = device.launch_floor - teacher.launch_floor;
  factors.launch = std::max(Seconds(0), factors.launch + difference);
  factors.mma_efficiency *= device.reachable_rate / teacher.reachable_rate;
}

bool reads_itself(const GpuDeviceSpec& device) {
  return gpu_architecture(device.architecture).asynchronous_products > 0;
}

// Cycles in which a warp reads operands of 16 bits beside those in which they are multiplied.
double reads_of_products(const GpuDeviceSpec& device, const CommonFactors& common) {
  constexpr double kOperandBytes = 2;
  if (reads_itself(device)) return 0;
  const double side = common.warp_tile;
  const double port = gpu_architecture(device.architecture).shared_port;
  return (2 * side * kOperandBytes / port) * pipe_width(device) / (2 * side * side);
}

void lose_asynchronous_products(AttentionFactors& factors, double share,
                                const GpuDeviceSpec& device) {
  const CommonFactors& common = factors.common;
  factors.prologue /= common.shared_blocks;
  const Seconds kernel = common.kernel_floors * device.launch_floor;
  const bool prompts = share > 0;
  if (prompts) {
    factors.mma_efficiency = std::min(share, 1.0);
    factors.sm_feed *= common.shared_blocks;
    factors.score = std::max(factors.score, whole_softmax(device, common));
  } else {
    factors.split = std::max(factors.split, Cycles(kernel.value() * device.clock.boost.value()));
  }
  factors.regroup = std::max(factors.regroup, kernel);
}

}  // namespace

Cycles whole_softmax(const GpuDeviceSpec& device, const CommonFactors& common) {
  double each = 1 / gpu_architecture(device.architecture).exponentials;
  const auto fp32 = device.vector_rate.find("fp32");
  if (fp32 != device.vector_rate.end()) {  // two operations to an instruction
    each += common.score_instructions * 2 / per_cycle(fp32->second, device);
  }
  return Cycles(kScoresAtOnce * each);
}

double share_with_reads(double share, const GpuDeviceSpec& teacher, const GpuDeviceSpec& device,
                        const CommonFactors& common) {
  if (!(share > 0)) return share;
  const double reads = reads_of_products(device, common) - reads_of_products(teacher, common);
  return 1 / std::max(1 / share + reads, 1.0);
}

void carry_over(GemmFactors& factors, const std::string& dtype, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device) {
  follow_measured_floors(factors, teacher, device);
  factors.quantise_passes = quantise_passes(factors.quantise_passes, teacher, device);
  factors.l2_share *= device.l2.resident_share / teacher.l2.resident_share;
  const bool weights_only = ends_with(dtype, "_wo");
  if (weights_only || ends_with(dtype, "_sq")) {
    carry_over_plugin(factors, weights_only, teacher, device);
  } else {
    const double width = width_ratio(teacher, device);
    factors.l2_feed *= width;
    if (reads_itself(teacher) && !reads_itself(device)) {
      factors.epilogue *= width;
      factors.stages_ahead *= std::min(1.0, device.sm.shared_memory / teacher.sm.shared_memory);
    }
  }
}

void carry_over(AttentionFactors& factors, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device) {
  const double share = factors.mma_efficiency;
  follow_measured_floors(factors, teacher, device);
  const double width = width_ratio(teacher, device);
  factors.l2_feed *= width;
  const double wider = std::max(1.0, width);
  factors.sm_feed *= wider;
  factors.prologue /= wider;
  const bool takes_turns = gpu_architecture(device.architecture).tensor_memory > 0 &&
                           gpu_architecture(teacher.architecture).tensor_memory == 0;
  if (takes_turns && factors.score > Cycles(0)) {
    factors.score = std::max(factors.score, whole_softmax(device, factors.common));
  }
  if (reads_itself(teacher) && !reads_itself(device)) {
    lose_asynchronous_products(factors, share, device);
  }
}

}  // namespace foretell
