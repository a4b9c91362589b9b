// A memory whose bandwidth all requests at hand share evenly, as a TLM-2.0 target of the base
// protocol: BEGIN_REQ is answered with END_REQ at once, BEGIN_RESP comes when the last byte has
// passed. Exact for any mix of requests, at one event per request (compare Hbm, which answers ahead
// of time and so only knows the requests so far).
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "model/base/units.hpp"
#include "model/components/shared/ticks.hpp"

namespace foretell {

class FairMemory : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(FairMemory);
  FairMemory(const sc_core::sc_module_name& name, BytesPerSecond bandwidth);

  tlm_utils::multi_passthrough_target_socket<FairMemory> socket;

  double bytes() const { return bytes_; }  // of all requests so far

 private:
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void finish();   // SC_METHOD: the shortest request is served
  void advance();  // what all requests got since the last time
  void plan();     // when the next request will be served

  struct Request {
    int id = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    double left = 0;  // bytes
  };

  double bytes_per_tick_;
  std::vector<Request> requests_;
  Ticks advanced_to_ = 0;
  double bytes_ = 0;
  sc_core::sc_event served_;
};

}  // namespace foretell
