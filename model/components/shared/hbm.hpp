// The HBM of one device as a TLM-2.0 target: a bandwidth server with latency that all cores share.
//
// b_transport adds to its delay argument the time until the last byte has passed. Initiators take
// turns in small pieces, so a short transaction does not wait for a long one of somebody else: both
// go at half the rate as long as they overlap, and what a transaction takes from one that was
// answered before delays the next of that initiator. Any TLM base-protocol memory model with
// annotated delays can stand in its place.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/ticks.hpp"

namespace foretell {

class Hbm : public sc_core::sc_module {
 public:
  Hbm(const sc_core::sc_module_name& name, const HbmSpec& spec);

  // A device whose program needs no memory leaves it unbound.
  tlm_utils::multi_passthrough_target_socket<Hbm, 32, tlm::tlm_base_protocol_types, 0,
                                             sc_core::SC_ZERO_OR_MORE_BOUND>
      socket;

  std::uint64_t read_bytes() const { return read_bytes_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  Ticks busy() const { return busy_; }

 private:
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  struct Port {  // one per initiator
    Ticks begin = 0;
    Ticks free_at = 0;  // it has work between these
  };

  double ticks_per_byte_;
  Ticks latency_;
  std::vector<Port> ports_;
  Ticks busy_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace foretell
