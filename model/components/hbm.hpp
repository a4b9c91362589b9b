// The HBM of one device as a TLM-2.0 target: a bandwidth server with latency that all cores share.
//
// b_transport adds to its delay argument the time until the last byte has passed: transactions
// are served in the order in which they arrive. Any TLM base-protocol memory model with annotated
// delays can stand in its place.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <systemc>
#include <tlm>

#include "hw/spec/neuron_spec.hpp"
#include "model/components/ticks.hpp"

namespace foretell {

class Hbm : public sc_core::sc_module {
 public:
  Hbm(const sc_core::sc_module_name& name, const HbmSpec& spec);

  tlm_utils::multi_passthrough_target_socket<Hbm> socket;

  std::uint64_t read_bytes() const { return read_bytes_; }
  std::uint64_t written_bytes() const { return written_bytes_; }
  Ticks busy() const { return busy_; }

 private:
  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  double ticks_per_byte_;
  Ticks latency_;
  Ticks free_at_ = 0;
  Ticks busy_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace foretell
