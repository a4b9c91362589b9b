// One direction of a NeuronLink between two devices: a bandwidth server with latency.
//
// A packet enters at its TLM target socket and leaves, in the same b_transport, at its initiator
// socket towards the device at the other end. Packets pass in the order in which they arrive; the
// delay argument is when the first byte of a packet arrives, and CollectivePacket::pace how long
// after it the last one follows.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/ticks.hpp"

namespace foretell {

// Where a packet of a collective goes and what the way did to it.
struct CollectivePacket : tlm::tlm_extension<CollectivePacket> {
  int device = 0;           // at which it ends
  int rank = 0;             // that receives it
  int lane = 0;             // ring of the collective
  std::uint32_t index = 0;  // of the collective in the queue of a rank
  int step = 0;
  int reads_back = 0;  // HBM reads per byte at the receiver
  Ticks pace = 0;      // from its first to its last byte
  Ticks queued = 0;    // time it waited for the last link

  tlm_extension_base* clone() const override { return new CollectivePacket(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const CollectivePacket&>(other);
  }
};

class NeuronLink : public sc_core::sc_module {
 public:
  NeuronLink(const sc_core::sc_module_name& name, const LinkSpec& spec);

  tlm_utils::simple_target_socket<NeuronLink> in;
  tlm_utils::simple_initiator_socket<NeuronLink> out;

  std::uint64_t bytes() const { return bytes_; }
  Ticks busy() const { return busy_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  double ticks_per_byte_;
  Ticks latency_;
  Ticks free_at_ = 0;
  Ticks busy_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace foretell
