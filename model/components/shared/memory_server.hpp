// Our memory: HBM, L2 or DRAM as a TLM-2.0 target of the base protocol that several initiators
// share.
//
//   b_transport   adds to its delay argument the time until the last byte has passed. Initiators
//                 take turns in small pieces, so a short transaction does not wait for a long one
//                 of another: those that have work share the rate evenly, and what a transaction
//                 takes from one that was answered before delays the next of that initiator.
//   nb_transport  BEGIN_REQ is answered with END_REQ at once, BEGIN_RESP comes when the last byte
//                 has passed. All requests at hand share the rate evenly: exact for any mix, at an
//                 event per request.
//
// A request occupies the memory for its bytes at the peak rate, or as long as the banks need
// (model/timing/shared/bank_timing.hpp). An initiator that cannot take bytes at the peak says with
// an OccupiedBytes how long it holds the memory; other memories may ignore that.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/memory.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/timing/shared/bank_timing.hpp"

namespace foretell {

inline constexpr const char* kRateModel = "rate";
inline constexpr const char* kBankModel = "banks";

class MemoryServer final : public Memory {
 public:
  SC_HAS_PROCESS(MemoryServer);
  // UserError when spec.model is "banks" and timings or stacks are missing.
  MemoryServer(const sc_core::sc_module_name& name, const HbmSpec& spec);
  MemoryServer(const sc_core::sc_module_name& name, BytesPerSecond bandwidth)
      : MemoryServer(name, HbmSpec{Bytes(0), bandwidth, Seconds(0), "", "", 0}) {}

  // A device whose program needs no memory leaves it unbound.
  tlm_utils::multi_passthrough_target_socket<MemoryServer, 32, tlm::tlm_base_protocol_types, 0,
                                             sc_core::SC_ZERO_OR_MORE_BOUND>
      socket;

  Target& target() override { return socket; }
  std::uint64_t read_bytes() const override { return read_bytes_; }
  std::uint64_t written_bytes() const override { return written_bytes_; }
  Ticks busy() const override { return busy_; }
  void add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const override;

 private:
  struct Port {       // one per initiator of b_transport
    double work = 0;  // ticks that the memory alone still needs for what it asked
    bool writes = false;
  };

  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);
  // What ports that share the rate have left of their work after this many ticks.
  static void share(std::vector<Port>& ports, double ticks);
  // Ticks until a port is done with this much more, without another request: of every other one as
  // much passes meanwhile, or all that it has.
  static double time_of(const std::vector<Port>& ports, std::size_t own, double service);
  void finish();   // SC_METHOD: the shortest request is served
  void advance();  // what all requests got since the last time
  void plan();     // when the next request will be served
  // Bytes at the peak that the transaction occupies the memory for; counts it.
  double occupied(const tlm::tlm_generic_payload& payload, bool beside_other_direction);

  struct Request {
    int id = 0;
    tlm::tlm_generic_payload* payload = nullptr;
    double left = 0;  // bytes
    bool writes = false;
  };

  double ticks_per_byte_;
  double bytes_per_tick_;
  Ticks latency_;
  std::unique_ptr<BankedMemory> banks_;  // nullptr: the peak rate
  BankTime bank_time_;                   // of all requests so far
  std::vector<Port> ports_;
  std::vector<Port> arrived_at_;  // as they will be when a transaction arrives later
  Ticks shared_to_ = 0;           // the time of their work
  std::vector<Request> requests_;
  Ticks advanced_to_ = 0;
  Ticks busy_ = 0;
  std::uint64_t read_bytes_ = 0;
  std::uint64_t written_bytes_ = 0;
  bool last_writes_ = false;
  sc_core::sc_event served_;
};

}  // namespace foretell
