// One engine of a NeuronCore: an in-order instruction queue that runs one instruction at a time.
//
// An instruction begins when the one before it has ended, its semaphores are reached and the
// memory port it needs is free. The engine runs ahead of the SystemC clock as far as the times of
// its semaphores are known, and tells its own as soon as it knows them; it synchronises with the
// others for a port that is shared, and for a semaphore that other streams raise, too.
#pragma once

#include <array>
#include <systemc>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/stream_module.hpp"
#include "model/program/program.hpp"

namespace foretell {

// A memory port that one engine at a time may use: Vector and Scalar share the one to PSUM, Vector
// and GpSimd the one to SBUF [A2:596-597, 766-767]. Who has waited longest comes first, so that two
// engines with work for it take turns.
struct SharedPort {
  struct Claim {
    Ticks since = -1;     // ready but for the ports; -1: no claim
    Ticks earliest = -1;  // all its ports are free
  };
  Ticks free_at = 0;
  EntryRef holder;
  std::array<Claim, kEngineCount> claims;
};

// The ports that one instruction holds together while it runs.
struct HeldPorts {
  std::array<SharedPort*, 2> ports{};  // nullptr: does not need that one

  bool any() const { return ports[0] != nullptr || ports[1] != nullptr; }
  // The one that is free last; only when there is any.
  const SharedPort& last_free() const;
  void claim(Engine engine, const SharedPort::Claim& claim) const;
  // Is there another engine that asked before, and could begin at `now`?
  bool must_yield(Engine engine, Ticks since, Ticks now) const;
  void hold_until(Ticks end, Engine engine, EntryRef holder) const;
};

struct CorePorts {
  SharedPort psum;
  SharedPort sbuf;
};

class EngineQueue : public sc_core::sc_module, public StreamModule, public SemaphoreWaiter {
 public:
  SC_HAS_PROCESS(EngineQueue);
  EngineQueue(const sc_core::sc_module_name& name, Engine engine, ProgramShared& shared);

  void start() override;
  bool finished() const override { return retired_ == queue().size(); }
  std::size_t position() const override { return next_; }
  void semaphore_reached() override { run(); }

 protected:
  struct Slot {
    Ticks begin = 0;
    Ticks end = 0;
    Ticks busy = 0;  // engine time to account
    EntryRef cause;
  };
  // When the instruction begins and ends if its semaphores allow `ready`. May keep state.
  virtual Slot schedule(const Instruction& instruction, Ticks ready, EntryRef cause) = 0;
  // The ports this instruction must hold.
  virtual HeldPorts ports(const Instruction& instruction) = 0;

  const std::vector<Instruction>& queue() const { return queue_; }
  EntryRef previous() const {
    return next_ == 0 ? EntryRef{}
                      : EntryRef{static_cast<std::int32_t>(engine_),
                                 static_cast<std::uint32_t>(next_ - 1)};
  }
  Ticks free_at_ = 0;  // end of the last instruction begun

 private:
  void wake();  // SC_METHOD
  void run();
  bool begin_next();      // false: blocked or synchronising
  void retire(Ticks at);  // the last instruction begun ends then

  Engine engine_;
  ProgramShared& shared_;
  const std::vector<Instruction>& queue_;
  std::vector<EntryTimes>& times_;
  sc_core::sc_event wake_;
  Ticks released_at_ = 0;
  std::size_t next_ = 0;
  std::size_t retired_ = 0;
  bool running_ = false;     // what others raise, too, is raised at wake_
  bool registered_ = false;  // waiting for a semaphore
  bool settled_ = false;     // has claimed its ports a delta cycle ago
};

// Vector, Scalar and GpSimd.
class LaneEngine final : public EngineQueue {
 public:
  // `time_scale`: engine time is multiplied by this (clock derating, compiler maturity).
  LaneEngine(const sc_core::sc_module_name& name, Engine engine, const LaneEngineSpec& spec,
             const NeuronCoreSpec& core, double time_scale, ProgramShared& shared,
             CorePorts& ports);

 private:
  Slot schedule(const Instruction& instruction, Ticks ready, EntryRef cause) override;
  HeldPorts ports(const Instruction& instruction) override;

  Engine engine_;
  const LaneEngineSpec& spec_;
  const NeuronCoreSpec& core_;
  double ticks_per_cycle_;
  WholeTicks duration_;
  bool gpsimd_works_;  // the program has work for it
  CorePorts& ports_;
};

// The 128x128 systolic array. LoadStationary fills a shadow copy of the weights while the running
// MultiplyMoving goes on [A2:282-285]; matmuls in disjoint 32x32 quadrants run in parallel
// [ISA:918-934].
class TensorEngine final : public EngineQueue {
 public:
  TensorEngine(const sc_core::sc_module_name& name, const TensorEngineSpec& spec, double time_scale,
               ProgramShared& shared);

 private:
  Slot schedule(const Instruction& instruction, Ticks ready, EntryRef cause) override;
  HeldPorts ports(const Instruction&) override { return {}; }
  void require_known_types() const;  // UserError for a type the array does not multiply
  Slot load_stationary(const Instruction& instruction, Ticks ready, EntryRef cause);

  const TensorEngineSpec& spec_;
  double ticks_per_cycle_;
  WholeTicks duration_;       // of matmuls
  WholeTicks load_duration_;  // of their weights
  std::array<double, kElementTypeCount> cycles_per_column_{};
  Ticks whole_free_ = 0;  // of all quadrants alike; -1: each of quadrant_free_
  std::array<Ticks, 16> quadrant_free_{};
  Ticks last_begin_ = 0;  // matmuls begin in order
  EntryRef last_matmul_;
  Ticks shadow_free_ = 0;       // the shadow weights were swapped in
  Ticks stationary_ready_ = 0;  // the last LoadStationary has ended
};

// The Sync engine only waits and signals.
class SyncEngine final : public EngineQueue {
 public:
  using EngineQueue::EngineQueue;

 private:
  Slot schedule(const Instruction&, Ticks ready, EntryRef cause) override {
    const Ticks begin = std::max(ready, free_at_);
    return {begin, begin, 0, ready > free_at_ ? cause : previous()};
  }
  HeldPorts ports(const Instruction&) override { return {}; }
};

}  // namespace foretell
