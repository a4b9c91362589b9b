// The collective side of one device: its CC-cores, their way into HBM and onto the links.
//
// What a packet meets: it is read from HBM, passes the links on its way (devices between route it
// on without touching it) and is written into the HBM of the last device; a rank on the same
// device gets it through the HBM alone. The hop latency of a step contains the memory accesses of
// an idle HBM: they delay a packet only by what they take longer than that.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <map>
#include <memory>
#include <queue>
#include <systemc>
#include <vector>

#include "model/components/neuron/collective_core.hpp"
#include "model/components/neuron/collective_network.hpp"
#include "model/components/neuron/neuron_link.hpp"
#include "model/components/shared/memory.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/timing/shared/topology.hpp"

namespace foretell {

class CollectiveUnit : public sc_core::sc_module, public CollectivePort {
 public:
  SC_HAS_PROCESS(CollectiveUnit);
  // `placement` and `topology` outlive the unit. A device without ranks only routes.
  CollectiveUnit(const sc_core::sc_module_name& name, int device, const CollectiveTiming& timing,
                 const CollectiveSpec& spec, const Topology& topology,
                 const RankPlacement& placement);

  // From the links; a device may have none.
  tlm_utils::multi_passthrough_target_socket<CollectiveUnit, 32, tlm::tlm_base_protocol_types, 0,
                                             sc_core::SC_ZERO_OR_MORE_BOUND>
      in;
  // Before elaboration ends: an outgoing link, and the memory of a device with ranks.
  void connect(int link, NeuronLink& to);
  void bind_memory(Memory& hbm);

  void join(int rank, std::uint32_t index, const Collective& collective, CollectiveMember& member);

  std::uint64_t sent_bytes() const { return sent_; }          // by ranks of this device
  std::uint64_t received_bytes() const { return received_; }  // by them

  Ticks send(const OutgoingPacket& outgoing) override;
  void lane_done(int rank) override;

 private:
  using Output = tlm_utils::simple_initiator_socket<CollectiveUnit>;
  struct Arrival {
    Ticks time;
    std::uint64_t sequence;
    CollectivePacket packet;
    std::uint32_t bytes;
    bool operator>(const Arrival& other) const {
      return time != other.time ? time > other.time : sequence > other.sequence;
    }
  };
  struct Seat {
    std::unique_ptr<Output> hbm;  // each rank takes its own turns
    std::vector<std::unique_ptr<CcCore>> lanes;
    CollectiveMember* member = nullptr;
    std::size_t running = 0;  // lanes of the collective it joined
  };

  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void deliver();  // SC_METHOD: writes what has arrived, sends on what is for others
  void push_arrival(Ticks time, const CollectivePacket& packet, std::uint32_t bytes);
  // Returns how long the packet waited for the link.
  Ticks put_on_link(CollectivePacket packet, std::uint32_t bytes);
  Ticks access_hbm(int rank, tlm::tlm_command command, std::uint32_t bytes, int times);
  Seat& seat(int rank);

  int device_;
  const CollectiveTiming timing_;
  const CollectiveSpec& spec_;
  const Topology& topology_;
  const RankPlacement& placement_;
  int first_rank_ = 0;
  MemoryPath path_;
  std::vector<Seat> seats_;
  std::map<int, std::unique_ptr<Output>> outputs_;  // by number of the link
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  std::uint64_t sequence_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::vector<unsigned char> data_;  // payload buffer; its contents mean nothing
  sc_core::sc_event due_;
};

}  // namespace foretell
