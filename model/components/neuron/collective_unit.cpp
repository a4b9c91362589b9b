#include "model/components/neuron/collective_unit.hpp"

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "model/components/shared/memory_access.hpp"

namespace foretell {

CollectiveUnit::CollectiveUnit(const sc_core::sc_module_name& name, int device,
                               const CollectiveTiming& timing, const CollectiveSpec& spec,
                               const Topology& topology, const RankPlacement& placement)
    : sc_module(name),
      in("in"),
      device_(device),
      timing_(timing),
      spec_(spec),
      topology_(topology),
      placement_(placement),
      data_(timing.packet),
      due_("due") {
  in.register_b_transport(this, &CollectiveUnit::b_transport);
  const auto& devices = placement.devices();
  const auto position = std::find(devices.begin(), devices.end(), device);
  if (position != devices.end()) {
    seats_.resize(static_cast<std::size_t>(placement.cores_per_device()));
    first_rank_ = static_cast<int>(position - devices.begin()) * placement.cores_per_device();
  }
  for (std::size_t s = 0; s < seats_.size(); ++s) {
    seats_[s].hbm = std::make_unique<Output>(("hbm" + std::to_string(s)).c_str());
    for (int lane = 0; lane < spec.rings; ++lane) {
      const std::string core = "cc" + std::to_string(static_cast<int>(s) * spec.rings + lane);
      seats_[s].lanes.push_back(std::make_unique<CcCore>(
          core.c_str(), timing_, first_rank_ + static_cast<int>(s), lane, *this));
    }
  }
  SC_METHOD(deliver);
  sensitive << due_;
  dont_initialize();
}

void CollectiveUnit::connect(int link, NeuronLink& to) {
  const std::string name = "out" + std::to_string(link);
  auto& output = outputs_[link] = std::make_unique<Output>(name.c_str());
  output->bind(to.in);
}

void CollectiveUnit::bind_memory(Memory& hbm) {
  for (Seat& seat : seats_) seat.hbm->bind(hbm.target());
}

CollectiveUnit::Seat& CollectiveUnit::seat(int rank) {
  return seats_.at(static_cast<std::size_t>(rank - first_rank_));
}

void CollectiveUnit::join(int rank, std::uint32_t index, const Collective& collective,
                          CollectiveMember& member) {
  CollectiveShape shape = collective;
  if (shape.ranks == 0) shape.ranks = placement_.ranks();
  const auto plans = plan_collective(spec_, shape, placement_.ranks_of_instance());
  Seat& joined = seat(rank);
  joined.member = &member;
  joined.running = plans.size();
  for (std::size_t lane = 0; lane < plans.size(); ++lane) {
    joined.lanes[lane]->join(index, plans[lane]);
  }
}

void CollectiveUnit::lane_done(int rank) {
  Seat& joined = seat(rank);
  if (--joined.running == 0) joined.member->collective_done();
}

Ticks CollectiveUnit::send(const OutgoingPacket& outgoing) {
  const Ticks now = now_ticks();
  const Ticks read =
      access_hbm(outgoing.from, tlm::TLM_READ_COMMAND, outgoing.bytes, outgoing.reads);
  CollectivePacket packet;
  packet.device = placement_.device(outgoing.to);
  packet.rank = outgoing.to;
  packet.lane = outgoing.lane;
  packet.index = outgoing.index;
  packet.step = outgoing.step;
  packet.reads_back = outgoing.reads_back;
  packet.pace = std::max(std::llround(outgoing.bytes * timing_.ticks_per_byte),
                         static_cast<long long>(read - now - timing_.hop));
  sent_ += outgoing.bytes;
  if (packet.device == device_) {
    push_arrival(now + packet.pace + timing_.hop, packet, outgoing.bytes);
    return now + packet.pace;
  }
  const Ticks waited = put_on_link(packet, outgoing.bytes);
  return now + waited + packet.pace;
}

Ticks CollectiveUnit::put_on_link(CollectivePacket packet, std::uint32_t bytes) {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(0);
  payload.set_data_ptr(data_.data());
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_extension(&packet);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  (*outputs_.at(topology_.next_link(device_, packet.device)))->b_transport(payload, delay);
  payload.clear_extension(&packet);
  return packet.queued;
}

void CollectiveUnit::b_transport(int /*id*/, tlm::tlm_generic_payload& payload,
                                 sc_core::sc_time& delay) {
  const auto* packet = payload.get_extension<CollectivePacket>();
  FORETELL_CHECK(packet != nullptr, "devices exchange packets of collectives");
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  Ticks at = now_ticks() + to_ticks(delay);  // a transit packet goes on with its first byte
  if (packet->device == device_) {
    at += packet->pace + std::max<Ticks>(0, timing_.hop - timing_.link_latency);
  }
  push_arrival(at, *packet, payload.get_data_length());
}

void CollectiveUnit::push_arrival(Ticks time, const CollectivePacket& packet, std::uint32_t bytes) {
  arrivals_.push({time, sequence_++, packet, bytes});
  if (arrivals_.top().time == time) due_.notify(to_sc_time(time - now_ticks()));
}

void CollectiveUnit::deliver() {
  const Ticks now = now_ticks();
  while (!arrivals_.empty() && arrivals_.top().time <= now) {
    const Arrival arrival = arrivals_.top();
    arrivals_.pop();
    if (arrival.packet.device != device_) {
      put_on_link(arrival.packet, arrival.bytes);
      continue;
    }
    Ticks written = access_hbm(arrival.packet.rank, tlm::TLM_WRITE_COMMAND, arrival.bytes, 1);
    if (arrival.packet.reads_back > 0) {
      written = access_hbm(arrival.packet.rank, tlm::TLM_READ_COMMAND, arrival.bytes,
                           arrival.packet.reads_back);
    }
    received_ += arrival.bytes;
    seat(arrival.packet.rank)
        .lanes[static_cast<std::size_t>(arrival.packet.lane)]
        ->received(arrival.packet.index, arrival.packet.step, arrival.bytes,
                   std::max(now, written - timing_.hop));
  }
  if (!arrivals_.empty()) due_.notify(to_sc_time(arrivals_.top().time - now));
}

Ticks CollectiveUnit::access_hbm(int rank, tlm::tlm_command command, std::uint32_t bytes,
                                 int times) {
  static const Speaker kSpeaker{[] { return std::string("a packet of a collective"); }};
  Ticks end = now_ticks();
  for (int i = 0; i < times; ++i) {
    auto& memory = *seat(rank).hbm;
    end = std::max(end, now_ticks() + path_.pass(*memory.operator->(), memory.name(),
                                                 {command, 0, bytes, 0}, 0, kSpeaker));
  }
  return end;
}

}  // namespace foretell
