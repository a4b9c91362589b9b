#include "calib/fitted/gpu/attention_factors_choice.hpp"

#include <algorithm>

#include "calib/fitted/gpu/gpu_transfer.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/follow_override.hpp"

namespace foretell {
namespace {

void follow_overrides(AttentionFactors& factors, const GpuDeviceSpec& device) {
  const GpuDeviceSpec& published = published_device(device);
  factors.launch = follow_time(factors.launch, published.launch_floor, device.launch_floor);
  factors.mma_efficiency =
      follow_share(factors.mma_efficiency, published.reachable_rate, device.reachable_rate);
}

}  // namespace

ChosenAttentionFactors choose_attention(const KernelFactorsLibrary& library,
                                        const GpuDeviceSpec& device,
                                        const std::vector<std::string>& tables) {
  const ChosenFactorSet found = library.choose(device, tables);
  ChosenAttentionFactors chosen;
  FieldList list;
  fields(list, chosen.factors);
  read_factor_set(found.set, list);
  if (found.device != device.id) {
    carry_over(chosen.factors, *find_published_device(found.device), device);
  } else {
    follow_overrides(chosen.factors, device);
  }
  chosen.table = found.set.table;
  chosen.device = found.device;
  chosen.interval_low = found.set.interval_low;
  chosen.interval_high = found.set.interval_high;
  return chosen;
}

AttentionFactors ideal_attention_factors(const GpuDeviceSpec& device, const std::string& type,
                                         double head_dim) {
  AttentionFactors factors;
  factors.dram_efficiency = 1;
  factors.stages_ahead = kAllAhead;
  factors.l2_share = 1;
  const GpuArchitecture& architecture = gpu_architecture(device.architecture);
  factors.l2_feed = BytesPerCycle(architecture.l2_port);
  factors.sm_feed = BytesPerCycle(architecture.shared_port);
  factors.mma_efficiency = 1;
  const double per_cycle =
      dense_rate(device, type).value() / device.sms / device.clock.boost.value();
  const double products = 4 * kScoresAtOnce * head_dim / per_cycle;
  factors.score = Cycles(std::max(0.0, kScoresAtOnce / architecture.exponentials - products));
  return factors;
}

}  // namespace foretell
