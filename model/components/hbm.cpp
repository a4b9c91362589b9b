#include "model/components/hbm.hpp"

#include <algorithm>

namespace foretell {

Hbm::Hbm(const sc_core::sc_module_name& name, const HbmSpec& spec)
    : sc_module(name),
      socket("socket"),
      ticks_per_byte_(kTicksPerSecond / spec.bandwidth.value()),
      latency_(to_ticks(spec.latency)) {
  socket.register_b_transport(this, &Hbm::b_transport);
}

void Hbm::b_transport(int /*id*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Ticks now = now_ticks();
  const Ticks arrival = now + to_ticks(delay);
  const Ticks begin = std::max(arrival, free_at_);
  const Ticks service =
      std::llround(static_cast<double>(payload.get_data_length()) * ticks_per_byte_);
  free_at_ = begin + service;
  busy_ += service;
  (payload.is_write() ? written_bytes_ : read_bytes_) += payload.get_data_length();
  delay = to_sc_time(free_at_ + latency_ - now);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace foretell
