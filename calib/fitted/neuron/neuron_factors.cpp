#include "calib/fitted/neuron/neuron_factors.hpp"

#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "hw/spec/shared/follow_override.hpp"

namespace foretell {

void fields(FieldList& list, NeuronFactors& factors) {
  list.value("dma_rate_fraction", factors.dma_rate_fraction, {0.01, 2},
             "Achieved share of the sustained DMA rate.");
  list.value("call_overhead", factors.call_overhead, {Seconds(0), Seconds(60)},
             "Runtime and framework per call; replaces device.host.call_overhead unless 0.");
  list.value("prefetch_window_fraction", factors.prefetch_window_fraction, {0.01, 1},
             "Share of SBUF that may hold weights that are not yet used.");
  list.value("semaphore_latency", factors.semaphore_latency, {Seconds(0), Seconds(1e-3)},
             "From the end of an instruction to the start of one that waits on another engine.");
  list.value("prefill_overhead", factors.prefill_overhead, {Seconds(0), Seconds(60)},
             "Host and runtime per prefill of a generation; call_overhead when 0.");
  list.value("decode_dma_rate_fraction", factors.decode_dma_rate_fraction, {0.01, 2},
             "Achieved share of the sustained DMA rate in decode steps, which stream weights.");
  list.value("decode_window_fraction", factors.decode_window_fraction, {0.01, 1},
             "Share of the prefetch window that decode steps use.");
  list.value(
      "clock_derate", factors.clock_derate, {0.1, 10},
      "Clocks of the compute engines are divided by this while all cores of the device work, "
      "by less while fewer do; DMA is not.");
  list.value("hop_latency", factors.hop_latency, {Seconds(0), Seconds(0.1)},
             "One step of a ring collective; replaces link.hop_latency unless 0.");
  list.open_table("sdk_engine_time", factors.sdk_engine_time, check_sdk_version, {0.1, 10},
                  "Engine time is multiplied by this up to and including the SDK release.");
  list.open_table("sdk_call_time", factors.sdk_call_time, check_sdk_version, {0.1, 100},
                  "Call overhead is multiplied by this up to and including the SDK release.");
  list.open_table("sdk_image_call_time", factors.sdk_image_call_time, check_sdk_version, {0.1, 100},
                  "Call overhead of networks that read images is multiplied by this, on top, up to "
                  "and including the SDK release.");
  list.open_table(
      "sdk_batched_prefill_time", factors.sdk_batched_prefill_time, check_sdk_version, {0.1, 10},
      "Prefill of more than one sequence takes this many times longer up to and including "
      "the SDK release.");
}

void all_fields(FieldList& list, NeuronSystemSpec& spec, NeuronFactors& factors) {
  all_fields(list, spec);
  list.group("factors", factors);
}

double sdk_engine_time(const NeuronFactors& factors, std::string_view sdk) {
  return sdk_multiplier(factors.sdk_engine_time, sdk);
}

double sdk_call_time(const NeuronFactors& factors, std::string_view sdk, bool reads_images) {
  const double images = reads_images ? sdk_multiplier(factors.sdk_image_call_time, sdk) : 1;
  return sdk_multiplier(factors.sdk_call_time, sdk) * images;
}

double sdk_prefill_time(const NeuronFactors& factors, std::string_view sdk, std::int64_t batch) {
  return batch > 1 ? sdk_multiplier(factors.sdk_batched_prefill_time, sdk) : 1;
}

std::vector<std::string> follow_overrides(const NeuronDeviceSpec& published,
                                          const NeuronDeviceSpec& stated,
                                          const std::set<std::string>& given,
                                          NeuronFactors& factors) {
  std::vector<std::string> moved;
  const auto follow = [&](const char* path, Seconds& factor, Seconds before, Seconds after) {
    // Without a factor the value itself counts.
    if (after == before || given.count(path) > 0 || !(factor > Seconds(0))) return;
    factor = follow_time(factor, before, after);
    moved.emplace_back(path);
  };
  const Seconds overhead = published.host.call_overhead;
  follow("factors.call_overhead", factors.call_overhead, overhead, stated.host.call_overhead);
  follow("factors.prefill_overhead", factors.prefill_overhead, overhead, stated.host.call_overhead);
  follow("factors.hop_latency", factors.hop_latency, published.link.hop_latency,
         stated.link.hop_latency);
  return moved;
}

}  // namespace foretell
