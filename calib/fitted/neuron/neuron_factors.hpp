// The fitted numbers of a NeuronCore and how they follow releases and overrides.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Fitted numbers (calib/factors/<device>.yaml). The defaults are what the published facts alone
// say: they are what `--factors none` runs on.
struct NeuronFactors {
  double dma_rate_fraction = 1;         // achieved / sustained DMA rate
  Seconds call_overhead;                // replaces HostSpec::call_overhead when > 0
  double prefetch_window_fraction = 1;  // share of SBUF that may hold weights not yet used
  Seconds semaphore_latency;            // engine to engine
  Seconds prefill_overhead;             // host, per prefill of a generation; 0: call_overhead
  double decode_dma_rate_fraction = 1;  // dma_rate_fraction of decode steps
  double decode_window_fraction = 1;    // share of the prefetch window that decode steps use
  double clock_derate = 1;              // engine clocks, all cores at work, are divided by this
  Seconds hop_latency;                  // replaces LinkSpec::hop_latency when > 0
  // Compiler maturity: engine time is multiplied by this for SDK releases up to the key
  // ("2.9" -> 1.15, "2.14" -> 1.11); no entry above: 1.
  std::map<std::string, double> sdk_engine_time;
  // The call overhead is multiplied by this up to the key, and by the second on top where a network
  // reads images.
  std::map<std::string, double> sdk_call_time;
  std::map<std::string, double> sdk_image_call_time;
  // The same for the prefill of more than one sequence, up to the key.
  std::map<std::string, double> sdk_batched_prefill_time;
};

void fields(FieldList& list, NeuronFactors& factors);

// Those of the system, then those of the factors as factors.….
void all_fields(FieldList& list, NeuronSystemSpec& spec, NeuronFactors& factors);

// A step of a collective, without its transfer.
inline Seconds hop_latency(const NeuronDeviceSpec& device, const NeuronFactors& factors) {
  return factors.hop_latency > Seconds(0) ? factors.hop_latency : device.link.hop_latency;
}

// Multiplier of engine time.
double sdk_engine_time(const NeuronFactors& factors, std::string_view sdk);
// Multiplier of the call overhead of a network that reads images, or none.
double sdk_call_time(const NeuronFactors& factors, std::string_view sdk, bool reads_images);
// Multiplier of the prefill of `batch` sequences.
double sdk_prefill_time(const NeuronFactors& factors, std::string_view sdk, std::int64_t batch);

// What was fitted in place of device.host.call_overhead and link.hop_latency, but for the paths in
// `given`. Paths of the factors that moved.
std::vector<std::string> follow_overrides(const NeuronDeviceSpec& published,
                                          const NeuronDeviceSpec& stated,
                                          const std::set<std::string>& given,
                                          NeuronFactors& factors);

}  // namespace foretell
