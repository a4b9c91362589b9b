// The links of one GPU of a node and what its kernels exchange over them, round by round.
//
// Every GPU has one server for each direction of its links; the switch between them, or the mesh of
// links that takes its place, does not slow anybody down. A message passes the outgoing server of
// its sender and the incoming one of its receiver at the same time and is there when the slower of
// the two is through with it. Servers are TLM-2.0 targets of the base protocol that share their
// rate evenly among the messages at hand, so what meets on a link slows each other down. Servers
// take bytes at the peak rate: a protocol that reaches less of it occupies them longer.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>

#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "model/base/units.hpp"
#include "model/components/gpu/sm_pool.hpp"
#include "model/components/neuron/collective_network.hpp"
#include "model/components/shared/memory_server.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/program/link_exchange.hpp"

namespace foretell {

// Of one GPU, one direction; 0: there are none.
struct LinkPeaks {
  BytesPerSecond links;    // within a node
  BytesPerSecond network;  // to other nodes
};

class GpuLinks : public sc_core::sc_module, public SmClient {
 public:
  SC_HAS_PROCESS(GpuLinks);
  // `l2_peak` of L2. The local parts of exchanges pass it as a grid on `sms` that holds no place
  // there and no more of L2 than its rate.
  GpuLinks(const sc_core::sc_module_name& name, const LinkPeaks& peaks, BytesPerSecond l2_peak,
           SmPool& sms);

  // All GPUs of the node, the rank at `rank` being this one; once, before elaboration ends.
  void connect(const std::vector<GpuLinks*>& node, int rank);

  // Begins the part of this rank in exchange number `index` of the node; none other is running, and
  // references must outlive it. `member` is notified when the part is done.
  void start(const LinkExchange& exchange, std::uint32_t index, CollectiveMember& member);
  // Counts an exchange that is known from one like it and not executed again.
  void count(const LinkExchange& exchange);

  MemoryServer& incoming() { return in_; }  // for others to bind to
  std::uint64_t sent_bytes() const { return sent_; }
  std::uint64_t received_bytes() const { return received_; }

 private:
  struct Message {
    tlm::tlm_generic_payload out;
    tlm::tlm_generic_payload in;
    const LinkMessages* of = nullptr;
    int to = 0;       // rank
    double left = 0;  // bytes that were not handed to the servers yet, at the peak rate
    int servers = 0;  // that still work on it
  };

  void begin_round();
  void grid_ended(Ticks drained) override;  // flags are there and the local part is done
  void send(const LinkMessages& messages);
  void send_piece(Message& message);
  void receive(std::uint64_t serial, std::uint64_t bytes);
  void end_round_if_complete();
  tlm::tlm_sync_enum nb_transport_bw(int id, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  const LinkRound& round() const { return exchange_->rounds[round_]; }
  // Rank that gets message number `i` of those.
  int receiver(const LinkMessages& messages, int i) const;

  using Ways =
      tlm_utils::multi_passthrough_initiator_socket<GpuLinks, 32, tlm::tlm_base_protocol_types, 0,
                                                    sc_core::SC_ZERO_OR_MORE_BOUND>;

  LinkPeaks peaks_;
  BytesPerSecond l2_peak_;
  SmPool& sms_;
  Grid moving_;  // the local part of the round
  MemoryServer out_;
  MemoryServer in_;
  std::unique_ptr<MemoryServer> network_out_;  // none without a network; likewise below
  std::unique_ptr<MemoryServer> network_in_;
  Ways links_;    // own out, then everybody's in
  Ways network_;  // likewise
  std::vector<GpuLinks*> node_;
  int rank_ = 0;

  const LinkExchange* exchange_ = nullptr;
  CollectiveMember* member_ = nullptr;
  std::size_t round_ = 0;
  int repeats_ = 0;           // of the round
  std::uint64_t serial_ = 0;  // number of the round at hand, the same on all ranks
  std::vector<std::unique_ptr<Message>> messages_;
  std::size_t sent_messages_ = 0;  // of the round
  int leaving_ = 0;                // messages of the round, those that are not sent yet among them
  std::map<std::uint64_t, int> arrived_;  // by serial: a neighbour may be ahead
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace foretell
