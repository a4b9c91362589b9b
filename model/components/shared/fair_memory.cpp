#include "model/components/shared/fair_memory.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kDone = 0.5;  // bytes that rounding to ticks may leave

}  // namespace

FairMemory::FairMemory(const sc_core::sc_module_name& name, BytesPerSecond bandwidth)
    : sc_module(name), socket("socket"), bytes_per_tick_(bandwidth.value() / kTicksPerSecond) {
  socket.register_nb_transport_fw(this, &FairMemory::nb_transport_fw);
  SC_METHOD(finish);
  sensitive << served_;
  dont_initialize();
}

tlm::tlm_sync_enum FairMemory::nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  FORETELL_CHECK(phase == tlm::BEGIN_REQ, "the memory takes requests and nothing else");
  FORETELL_CHECK(delay == sc_core::SC_ZERO_TIME, "the memory takes requests when they are made");
  advance();
  bytes_ += payload.get_data_length();
  requests_.push_back({id, &payload, static_cast<double>(payload.get_data_length())});
  plan();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void FairMemory::advance() {
  const Ticks now = now_ticks();
  if (!requests_.empty()) {
    const double each = static_cast<double>(now - advanced_to_) * bytes_per_tick_ /
                        static_cast<double>(requests_.size());
    for (Request& request : requests_) request.left -= each;
  }
  advanced_to_ = now;
}

void FairMemory::plan() {
  if (requests_.empty()) return;
  const auto shortest =
      std::min_element(requests_.begin(), requests_.end(),
                       [](const Request& a, const Request& b) { return a.left < b.left; });
  const double ticks =
      std::max(0.0, shortest->left) * static_cast<double>(requests_.size()) / bytes_per_tick_;
  served_.cancel();
  served_.notify(to_sc_time(std::llround(std::ceil(ticks))));
}

void FairMemory::finish() {
  advance();
  std::vector<Request> served;
  const auto is_served = [](const Request& request) { return request.left < kDone; };
  std::copy_if(requests_.begin(), requests_.end(), std::back_inserter(served), is_served);
  requests_.erase(std::remove_if(requests_.begin(), requests_.end(), is_served), requests_.end());
  plan();
  for (const Request& request : served) {
    request.payload->set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket[request.id]->nb_transport_bw(*request.payload, phase, delay);
  }
}

}  // namespace foretell
