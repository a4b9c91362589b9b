// A CC-core: runs the part of one rank in one ring of a collective, step by step.
//
// A step begins when the sends of the step before it have left and everything that it was to
// receive has arrived; the first step of a phase begins its overhead later. Packets of a send
// follow each other at the rate of the ring.
#pragma once

#include <cstdint>
#include <map>
#include <systemc>
#include <utility>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/components/shared/ticks.hpp"
#include "model/timing/shared/collective_schedule.hpp"

namespace foretell {

// What the CC-cores of a device know about time.
struct CollectiveTiming {
  double ticks_per_byte = 0;  // of one ring
  Ticks hop = 0;              // a step without its transfer
  Ticks link_latency = 0;     // of the first link, part of the hop
  Ticks phase_overhead = 0;
  std::uint32_t packet = 0;  // bytes
};
CollectiveTiming collective_timing(const NeuronDeviceSpec& device, const NeuronFactors& factors);

// A packet as its sender sees it.
struct OutgoingPacket {
  int from = 0;  // rank
  int to = 0;
  int lane = 0;
  std::uint32_t index = 0;
  int step = 0;
  std::uint32_t bytes = 0;
  int reads = 0;
  int reads_back = 0;
};

// The device around the CC-cores.
class CollectivePort {
 public:
  virtual ~CollectivePort() = default;
  // Reads the packet and puts it on its way now; returns when the sender may send the next one.
  virtual Ticks send(const OutgoingPacket& outgoing) = 0;
  // `rank` has done its part in `lane`.
  virtual void lane_done(int rank) = 0;
};

class CcCore : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CcCore);
  CcCore(const sc_core::sc_module_name& name, const CollectiveTiming& timing, int rank, int lane,
         CollectivePort& port);

  // Begins collective `index` now. None other is running.
  void join(std::uint32_t index, const CollectivePlan& plan);
  // `bytes` of a step are in the memory of the rank from `at` on. May come before the rank joins.
  void received(std::uint32_t index, int step, std::uint64_t bytes, Ticks at);

 private:
  struct Inbox {
    std::uint64_t bytes = 0;
    Ticks at = 0;  // the last of them
  };

  void run();  // SC_METHOD
  void begin_step(int step);
  void send_packet();
  bool sends_left() const { return send_ < step_.sends.size(); }

  const CollectiveTiming& timing_;
  int rank_;
  int lane_;
  CollectivePort& port_;
  bool active_ = false;
  std::uint32_t index_ = 0;
  CollectivePlan plan_;
  int step_number_ = 0;
  CollectiveStep step_;
  std::size_t send_ = 0;                                  // of the step
  std::uint64_t offset_ = 0;                              // into that send
  Ticks due_ = 0;                                         // nothing to do before
  std::map<std::pair<std::uint32_t, int>, Inbox> inbox_;  // by collective and step
  sc_core::sc_event wake_;
};

}  // namespace foretell
