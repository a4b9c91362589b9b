#include "model/components/shared/hbm.hpp"

#include <algorithm>

namespace foretell {

Hbm::Hbm(const sc_core::sc_module_name& name, const HbmSpec& spec)
    : sc_module(name),
      socket("socket"),
      ticks_per_byte_(kTicksPerSecond / spec.bandwidth.value()),
      latency_(to_ticks(spec.latency)) {
  socket.register_b_transport(this, &Hbm::b_transport);
}

void Hbm::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Ticks now = now_ticks();
  const Ticks arrival = now + to_ticks(delay);
  const auto own = static_cast<std::size_t>(id);
  if (own >= ports_.size()) ports_.resize(own + 1);
  const Ticks begin = std::max(arrival, ports_[own].free_at);
  const Ticks service =
      std::llround(static_cast<double>(payload.get_data_length()) * ticks_per_byte_);
  Ticks end = begin + service;
  for (std::size_t other = 0; other < ports_.size(); ++other) {
    Port& port = ports_[other];
    if (other == own || port.free_at <= begin || port.begin >= begin + service) continue;
    const Ticks shared = std::min(port.free_at - std::max(port.begin, begin), service);
    end += shared;
    port.free_at += shared;
  }
  if (begin > ports_[own].free_at) ports_[own].begin = begin;
  ports_[own].free_at = end;
  busy_ += service;
  (payload.is_write() ? written_bytes_ : read_bytes_) += payload.get_data_length();
  delay = to_sc_time(end + latency_ - now);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace foretell
