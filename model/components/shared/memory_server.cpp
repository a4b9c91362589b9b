#include "model/components/shared/memory_server.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/components/shared/memory_access.hpp"

namespace foretell {
namespace {

constexpr double kDone = 0.5;  // bytes that rounding to ticks may leave

}  // namespace

MemoryServer::MemoryServer(const sc_core::sc_module_name& name, const HbmSpec& spec)
    : Memory(name),
      socket("socket"),
      ticks_per_byte_(kTicksPerSecond / spec.bandwidth.value()),
      bytes_per_tick_(spec.bandwidth.value() / kTicksPerSecond),
      latency_(to_ticks(spec.latency)) {
  if (spec.model == kBankModel) {
    try {
      banks_ = std::make_unique<BankedMemory>(
          banked_memory(spec, load_memory_timings(spec.standard, "device.hbm.standard")));
    } catch (const UserError& error) {
      throw UserError("memory " + std::string(this->name()) + ": " + error.what() +
                      ", or leave device.hbm.model at 'rate'");
    }
  }
  socket.register_b_transport(this, &MemoryServer::b_transport);
  socket.register_nb_transport_fw(this, &MemoryServer::nb_transport_fw);
  SC_METHOD(finish);
  sensitive << served_;
  dont_initialize();
}

double MemoryServer::occupied(const tlm::tlm_generic_payload& payload,
                              bool beside_other_direction) {
  const double bytes = payload.get_data_length();
  const auto* const stated = payload.get_extension<OccupiedBytes>();
  double occupied = stated == nullptr ? bytes : stated->bytes;
  if (banks_ != nullptr) {
    const bool turned = payload.is_write() != last_writes_;
    const double turns = beside_other_direction ? turns_beside(*banks_, Bytes(bytes)) : turned;
    const BankTime time = bank_time(*banks_, Bytes(bytes), Bytes(bytes), turns);
    bank_time_ += time;
    occupied = std::max(occupied, time.total().value() * banks_->bandwidth.value());
  }
  last_writes_ = payload.is_write();
  (payload.is_write() ? written_bytes_ : read_bytes_) += payload.get_data_length();
  return occupied;
}

void MemoryServer::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const Ticks now = now_ticks();
  const auto own = static_cast<std::size_t>(id);
  if (own >= ports_.size()) ports_.resize(own + 1);
  share(ports_, static_cast<double>(now - shared_to_));
  shared_to_ = now;
  const auto writes_otherwise = [&](const Port& port) {
    return &port != &ports_[own] && port.work > 0 && port.writes != payload.is_write();
  };
  const bool beside =
      banks_ != nullptr && std::any_of(ports_.begin(), ports_.end(), writes_otherwise);
  const Ticks service = std::llround(occupied(payload, beside) * ticks_per_byte_);
  const Ticks ahead = to_ticks(delay);  // of now, the transaction arrives
  if (ahead > 0) {
    arrived_at_ = ports_;
    share(arrived_at_, static_cast<double>(ahead));
  }
  const double passed =
      time_of(ahead > 0 ? arrived_at_ : ports_, own, static_cast<double>(service));
  ports_[own].work += static_cast<double>(service);
  ports_[own].writes = payload.is_write();
  busy_ += service;
  delay = to_sc_time(ahead + std::llround(passed) + latency_);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void MemoryServer::share(std::vector<Port>& ports, double ticks) {
  while (ticks > 0) {
    double least = 0;
    int working = 0;
    for (const Port& port : ports) {
      if (port.work <= 0) continue;
      least = working == 0 ? port.work : std::min(least, port.work);
      ++working;
    }
    if (working == 0) return;
    const double each = std::min(least, ticks / working);
    for (Port& port : ports) port.work = std::max(0.0, port.work - each);
    if (each < least) return;  // none is done
    ticks -= each * working;
  }
}

double MemoryServer::time_of(const std::vector<Port>& ports, std::size_t own, double service) {
  const double work = ports[own].work + service;
  double sum = work;
  for (std::size_t other = 0; other < ports.size(); ++other) {
    if (other != own) sum += std::min(ports[other].work, work);
  }
  return sum;
}

tlm::tlm_sync_enum MemoryServer::nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  FORETELL_CHECK(phase == tlm::BEGIN_REQ, "the memory takes requests and the end of answers");
  FORETELL_CHECK(delay == sc_core::SC_ZERO_TIME, "the memory takes requests when they are made");
  advance();
  const bool writes = payload.is_write();
  const bool beside = std::any_of(requests_.begin(), requests_.end(),
                                  [&](const Request& request) { return request.writes != writes; });
  const double bytes = occupied(payload, beside);
  busy_ += std::llround(bytes * ticks_per_byte_);
  requests_.push_back({id, &payload, bytes, writes});
  plan();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void MemoryServer::advance() {
  const Ticks now = now_ticks();
  if (!requests_.empty()) {
    const double each = static_cast<double>(now - advanced_to_) * bytes_per_tick_ /
                        static_cast<double>(requests_.size());
    for (Request& request : requests_) request.left -= each;
  }
  advanced_to_ = now;
}

void MemoryServer::plan() {
  if (requests_.empty()) return;
  const auto shortest =
      std::min_element(requests_.begin(), requests_.end(),
                       [](const Request& a, const Request& b) { return a.left < b.left; });
  const double ticks =
      std::max(0.0, shortest->left) * static_cast<double>(requests_.size()) / bytes_per_tick_;
  served_.cancel();
  served_.notify(to_sc_time(std::llround(std::ceil(ticks))));
}

void MemoryServer::finish() {
  advance();
  std::vector<Request> served;
  const auto is_served = [](const Request& request) { return request.left < kDone; };
  std::copy_if(requests_.begin(), requests_.end(), std::back_inserter(served), is_served);
  requests_.erase(std::remove_if(requests_.begin(), requests_.end(), is_served), requests_.end());
  plan();
  for (const Request& request : served) {
    request.payload->set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = to_sc_time(latency_);
    socket[request.id]->nb_transport_bw(*request.payload, phase, delay);
  }
}

void MemoryServer::add_activity(const std::string& prefix,
                                std::vector<ModuleActivity>& modules) const {
  if (banks_ == nullptr) return;
  const auto bytes = static_cast<double>(read_bytes_ + written_bytes_);
  modules.push_back({prefix + "transfers", bank_time_.transfer, Seconds(0), bytes});
  modules.push_back({prefix + "row_misses", bank_time_.rows, Seconds(0), 0});
  modules.push_back({prefix + "turnaround", bank_time_.turnaround, Seconds(0), 0});
  modules.push_back({prefix + "refresh", bank_time_.refresh, Seconds(0), 0});
}

}  // namespace foretell
