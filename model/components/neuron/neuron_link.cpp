#include "model/components/neuron/neuron_link.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

NeuronLink::NeuronLink(const sc_core::sc_module_name& name, const LinkSpec& spec)
    : sc_module(name),
      in("in"),
      out("out"),
      ticks_per_byte_(kTicksPerSecond / spec.bandwidth.value()),
      latency_(to_ticks(spec.latency)) {
  in.register_b_transport(this, &NeuronLink::b_transport);
}

void NeuronLink::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* const packet = payload.get_extension<CollectivePacket>();
  FORETELL_CHECK(packet != nullptr, "a link carries packets of collectives");
  const Ticks now = now_ticks();
  const Ticks arrival = now + to_ticks(delay);
  const Ticks begin = std::max(arrival, free_at_);
  const Ticks service =
      std::llround(static_cast<double>(payload.get_data_length()) * ticks_per_byte_);
  free_at_ = begin + service;
  busy_ += service;
  bytes_ += payload.get_data_length();
  packet->queued = begin - arrival;
  packet->pace = std::max(packet->pace, service);
  delay = to_sc_time(begin + latency_ - now);
  out->b_transport(payload, delay);
}

}  // namespace foretell
