#include "model/components/neuron/collective_core.hpp"

#include <algorithm>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"

namespace foretell {

CollectiveTiming collective_timing(const NeuronDeviceSpec& device, const NeuronFactors& factors) {
  CollectiveTiming timing;
  timing.ticks_per_byte = kTicksPerSecond / device.collective.rate.value();
  timing.hop = to_ticks(hop_latency(device, factors));
  timing.link_latency = to_ticks(device.link.latency);
  timing.phase_overhead = to_ticks(device.collective.phase_overhead);
  timing.packet = static_cast<std::uint32_t>(device.collective.packet.value());
  return timing;
}

CcCore::CcCore(const sc_core::sc_module_name& name, const CollectiveTiming& timing, int rank,
               int lane, CollectivePort& port)
    : sc_module(name), timing_(timing), rank_(rank), lane_(lane), port_(port), wake_("due") {
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void CcCore::join(std::uint32_t index, const CollectivePlan& plan) {
  FORETELL_CHECK(!active_, "a CC-core runs one collective at a time");
  active_ = true;
  index_ = index;
  plan_ = plan;
  due_ = now_ticks();
  begin_step(0);
  run();
}

void CcCore::begin_step(int step) {
  step_number_ = step;
  collective_step(plan_, rank_, step, step_);
  send_ = 0;
  offset_ = 0;
  if (step_.begins_phase) due_ += timing_.phase_overhead;
}

void CcCore::run() {
  while (active_) {
    const auto arrived = inbox_.find({index_, step_number_});
    if (!sends_left()) {
      if (arrived == inbox_.end() || arrived->second.bytes < step_.received) return;
      due_ = std::max(due_, arrived->second.at);
    }
    const Ticks now = now_ticks();
    if (now < due_) {
      wake_.notify(to_sc_time(due_ - now));
      return;
    }
    if (sends_left()) {
      send_packet();
      continue;
    }
    inbox_.erase(arrived);
    if (step_number_ + 1 < plan_.steps) {
      begin_step(step_number_ + 1);
    } else {
      active_ = false;
      port_.lane_done(rank_);
      return;  // which may have joined the next collective already
    }
  }
}

void CcCore::send_packet() {
  const CollectiveSend& send = step_.sends[send_];
  OutgoingPacket packet;
  packet.from = rank_;
  packet.to = send.to;
  packet.lane = lane_;
  packet.index = index_;
  packet.step = step_number_;
  packet.bytes =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(timing_.packet, send.bytes - offset_));
  packet.reads = step_.reads;
  packet.reads_back = step_.reads_back;
  due_ = port_.send(packet);
  offset_ += packet.bytes;
  if (offset_ == send.bytes) {
    ++send_;
    offset_ = 0;
  }
}

void CcCore::received(std::uint32_t index, int step, std::uint64_t bytes, Ticks at) {
  Inbox& inbox = inbox_[{index, step}];
  inbox.bytes += bytes;
  inbox.at = std::max(inbox.at, at);
  if (active_ && index == index_ && step == step_number_ && !sends_left()) run();
}

}  // namespace foretell
