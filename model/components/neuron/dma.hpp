// The DMA engines of one core and the rings that feed them.
//
// A ring issues its transfers in order as their semaphores allow; after the start latency, which
// delays but does not occupy, a transfer's descriptors are spread over the engines that are free
// first. An engine works on one transfer at a time. Rings that have transfers ready take turns
// [DOV:29]: inputs do not wait for all the weights that are being prefetched. The bytes pass
// the HBM over a TLM socket, so a transfer ends when both the engines and the memory are done.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <queue>
#include <systemc>
#include <tuple>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/neuron/dma_occupancy.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/components/shared/stream_module.hpp"

namespace foretell {

class DmaEngines : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(DmaEngines);
  DmaEngines(const sc_core::sc_module_name& name, const DmaSpec& spec, double rate_fraction,
             ProgramShared& shared);

  tlm_utils::simple_initiator_socket<DmaEngines> hbm;

  // One ring, by its number among the rings.
  void start(std::size_t ring) { issue(ring); }
  bool finished(std::size_t ring) const;
  // Transfers issued so far by a ring; its head when it is blocked.
  std::size_t position(std::size_t ring) const { return rings_[ring].next; }

 private:
  struct RingState final : public SemaphoreWaiter {
    void semaphore_reached() override { owner->issue(index); }
    DmaEngines* owner = nullptr;
    std::size_t index = 0;
    std::size_t next = 0;         // first transfer not yet issued
    std::size_t begun = 0;        // first transfer that has not begun
    std::vector<Ticks> ready_at;  // of those issued: start latency over
    std::size_t completed = 0;
    Ticks last_issue = 0;
    Ticks last_end = 0;

    bool waiting() const { return begun < next; }
    Ticks head() const { return ready_at[begun]; }
  };
  struct InFlight {  // completes at `time`
    Ticks time;
    std::size_t ring;
    std::uint32_t index;
    bool operator>(const InFlight& other) const {
      return std::tie(time, ring, index) > std::tie(other.time, other.ring, other.index);
    }
  };
  using TimeQueue = std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>>;

  void service();                 // SC_METHOD: completes and starts what is due
  void issue(std::size_t index);  // of the ring
  // The ring whose turn it is among those with a transfer ready; nullptr: none.
  RingState* due_ring(Ticks now);
  void begin(RingState& ring, Ticks now);
  void complete(const InFlight& done);
  void schedule_wake(Ticks now);
  // Occupies engines for the descriptors; returns when the last of them is done.
  Ticks occupy_engines(const Transfer& transfer, Ticks now);
  Ticks pass_hbm(const Transfer& transfer, std::size_t ring, std::size_t index, Ticks now);

  const DmaSpec& spec_;
  double rate_fraction_;
  Ticks start_latency_;
  const std::vector<Transfer>& transfers(std::size_t ring) const {
    return shared_.program.ring(ring);
  }
  std::vector<EntryTimes>& times(std::size_t ring) const {
    return shared_.execution.entries[kEngineCount + ring];
  }

  ProgramShared& shared_;
  std::vector<RingState> rings_;
  DmaOccupancy occupancy_;
  WholeTicks descriptor_ticks_;
  std::uint64_t next_address_ = 0;  // of the next tensor whose address is not stated
  MemoryPath path_;
  TimeQueue in_flight_;
  std::size_t last_ring_;  // that had its turn
  bool serving_ = false;   // service() runs, which schedules the next wake at its end
  Ticks wake_at_ = -1;     // the next; -1: none
  EntryRef last_begun_;
  sc_core::sc_event wake_;
};

// One ring of the engines: the module of a stream of transfers.
class DmaRingModule final : public StreamModule {
 public:
  DmaRingModule(DmaEngines& engines, std::size_t ring) : engines_(engines), ring_(ring) {}

  void start() override { engines_.start(ring_); }
  bool finished() const override { return engines_.finished(ring_); }
  std::size_t position() const override { return engines_.position(ring_); }

 private:
  DmaEngines& engines_;
  std::size_t ring_;
};

}  // namespace foretell
