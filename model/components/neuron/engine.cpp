#include "model/components/neuron/engine.hpp"

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "model/timing/neuron/instruction_work.hpp"
#include "model/timing/neuron/neuron_timing.hpp"

namespace foretell {

const SharedPort& HeldPorts::last_free() const {
  if (ports[0] == nullptr) return *ports[1];
  return ports[1] == nullptr || ports[0]->free_at >= ports[1]->free_at ? *ports[0] : *ports[1];
}

void HeldPorts::claim(Engine engine, const SharedPort::Claim& claim) const {
  for (SharedPort* port : ports) {
    if (port != nullptr) port->claims[static_cast<std::size_t>(engine)] = claim;
  }
}

bool HeldPorts::must_yield(Engine engine, Ticks since, Ticks now) const {
  const auto self = static_cast<std::size_t>(engine);
  for (const SharedPort* port : ports) {
    if (port == nullptr) continue;
    for (std::size_t other = 0; other < port->claims.size(); ++other) {
      const SharedPort::Claim& claim = port->claims[other];
      if (other == self || claim.since < 0 || claim.earliest > now) continue;
      if (claim.since < since || (claim.since == since && other < self)) return true;
    }
  }
  return false;
}

void HeldPorts::hold_until(Ticks end, Engine engine, EntryRef holder) const {
  claim(engine, {});
  for (SharedPort* port : ports) {
    if (port == nullptr) continue;
    port->free_at = end;
    port->holder = holder;
  }
}

EngineQueue::EngineQueue(const sc_core::sc_module_name& name, Engine engine, ProgramShared& shared)
    : sc_module(name),
      engine_(engine),
      shared_(shared),
      queue_(shared.program.engine(engine)),
      times_(shared.execution.entries[static_cast<std::size_t>(engine)]),
      wake_("due") {
  times_.reserve(queue().size());
  SC_METHOD(wake);
  sensitive << wake_;
  dont_initialize();
}

void EngineQueue::start() {
  released_at_ = now_ticks();
  free_at_ = released_at_;
  run();
}

void EngineQueue::wake() {
  if (running_) {
    running_ = false;
    retire(now_ticks());
  }
  run();
}

void EngineQueue::retire(Ticks at) {
  retired_ = next_;
  shared_.semaphores.raise(
      queue()[next_ - 1].signal, at,
      {static_cast<std::int32_t>(engine_), static_cast<std::uint32_t>(next_ - 1)});
}

void EngineQueue::run() {
  registered_ = false;
  while (!running_ && next_ < queue().size()) {
    if (!begin_next()) return;
  }
  if (!running_) retired_ = next_;  // at the end of the queue
}

bool EngineQueue::begin_next() {
  const Instruction& instruction = queue()[next_];
  const auto readiness = shared_.semaphores.check(
      shared_.program.waits.data() + instruction.first_wait, instruction.wait_count);
  if (!readiness.ready) {
    if (!registered_) {
      registered_ = true;
      shared_.semaphores.notify(readiness.blocked_on, readiness.threshold, *this);
    }
    return false;
  }
  Ticks ready = std::max(readiness.at, released_at_);
  EntryRef cause = readiness.cause;
  const HeldPorts held = ports(instruction);
  if (held.any()) {
    // Ask for the ports when the instruction could begin, not before: others may come first.
    const SharedPort& last = held.last_free();
    const Ticks since = std::max(free_at_, ready);
    const Ticks earliest = std::max(since, last.free_at);
    const Ticks now = now_ticks();
    // Whoever becomes ready at this very moment gets one delta cycle to claim it as well, unless it
    // has known that before and has claimed it.
    const bool all_claimed = shared_.semaphores.all_foreseen() && now > released_at_;
    const bool settled = earliest <= now && (settled_ || all_claimed);
    settled_ = earliest <= now;
    if (!settled || held.must_yield(engine_, since, now)) {
      held.claim(engine_, {since, earliest});
      wake_.notify(to_sc_time(std::max<Ticks>(0, earliest - now)));
      return false;
    }
    if (last.free_at > since) {
      ready = last.free_at;
      cause = last.holder;
    }
  }
  const Ticks idle_from = free_at_;
  const Slot slot = schedule(instruction, ready, cause);
  auto& execution = shared_.execution;
  const auto e = static_cast<std::size_t>(engine_);
  times_.push_back({slot.begin, slot.end, slot.cause});
  execution.busy[e] += slot.busy;
  execution.stalled[e] += std::max<Ticks>(0, slot.begin - idle_from);
  execution.end = std::max(execution.end, slot.end);
  if (instruction.op >= 0) {
    count_instruction(engine_, instruction,
                      execution.operators[static_cast<std::size_t>(instruction.op)].work);
  }
  free_at_ = std::max(free_at_, slot.end);
  settled_ = false;
  held.hold_until(slot.end, engine_,
                  {static_cast<std::int32_t>(engine_), static_cast<std::uint32_t>(next_)});
  ++next_;
  if (instruction.signal == kNoSemaphore) return true;
  // It retires in order, so not before what runs in front of it has ended.
  const Ticks now = now_ticks();
  if (shared_.semaphores.known_ahead(instruction.signal)) {
    retire(free_at_);
  } else if (free_at_ <= now) {
    retire(now);
  } else {
    running_ = true;
    wake_.notify(to_sc_time(free_at_ - now));
  }
  return true;
}

LaneEngine::LaneEngine(const sc_core::sc_module_name& name, Engine engine,
                       const LaneEngineSpec& spec, const NeuronCoreSpec& core, double time_scale,
                       ProgramShared& shared, CorePorts& ports)
    : EngineQueue(name, engine, shared),
      engine_(engine),
      spec_(spec),
      core_(core),
      ticks_per_cycle_(kTicksPerSecond / spec.clock.value() * time_scale),
      gpsimd_works_(!shared.program.engine(Engine::kGpSimd).empty()),
      ports_(ports) {}

EngineQueue::Slot LaneEngine::schedule(const Instruction& instruction, Ticks ready,
                                       EntryRef cause) {
  const Cycles cycles = lane_cycles(engine_, spec_, core_.sbuf.partitions, instruction) +
                        access_overhead(spec_, instruction);
  const Ticks duration = duration_.of(cycles.value() * ticks_per_cycle_);
  const bool waited = ready > free_at_;
  const Ticks begin = waited ? ready : free_at_;
  return {begin, begin + duration, duration, waited ? cause : previous()};
}

HeldPorts LaneEngine::ports(const Instruction& instruction) {
  const bool turns_at_sbuf = uses_sbuf(instruction) && !core_.access.sbuf_apart;
  if (engine_ == Engine::kGpSimd) return {{nullptr, turns_at_sbuf ? &ports_.sbuf : nullptr}};
  HeldPorts held;
  if (uses_psum(instruction) && !core_.access.psum_apart) held.ports[0] = &ports_.psum;
  // The SBUF port matters only where GpSimd has work.
  if (engine_ == Engine::kVector && turns_at_sbuf && gpsimd_works_) held.ports[1] = &ports_.sbuf;
  return held;
}

TensorEngine::TensorEngine(const sc_core::sc_module_name& name, const TensorEngineSpec& spec,
                           double time_scale, ProgramShared& shared)
    : EngineQueue(name, Engine::kTensor, shared),
      spec_(spec),
      ticks_per_cycle_(kTicksPerSecond / spec.clock.value() * time_scale) {
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto entry =
        spec.cycles_per_column.find(std::string(to_string(static_cast<ElementType>(t))));
    cycles_per_column_[static_cast<std::size_t>(t)] =
        entry == spec.cycles_per_column.end() ? 0 : entry->second;
  }
  require_known_types();
}

void TensorEngine::require_known_types() const {
  for (std::size_t index = 0; index < queue().size(); ++index) {
    const Instruction& i = queue()[index];
    if (i.opcode == Opcode::kSemaphoreOnly) continue;
    if (cycles_per_column_[static_cast<std::size_t>(i.type)] > 0) continue;
    std::string types;
    for (const auto& [type, cycles] : spec_.cycles_per_column) {
      types += (types.empty() ? "" : ", ") + type;
    }
    throw UserError("tensor[" + std::to_string(index) + "] " + std::string(to_string(i.opcode)) +
                    ": the tensor engine does not multiply " + std::string(to_string(i.type)) +
                    "; it has " + types);
  }
}

EngineQueue::Slot TensorEngine::load_stationary(const Instruction& instruction, Ticks ready,
                                                EntryRef cause) {
  const double rate = cycles_per_column_[static_cast<std::size_t>(instruction.type)];
  const Ticks duration =
      load_duration_.of(tensor_cycles(spec_, instruction, rate).value() * ticks_per_cycle_);
  const Ticks array_free = std::max(shadow_free_, stationary_ready_);
  const bool waited = ready > array_free;
  const Ticks begin = waited ? ready : array_free;
  if (!waited) cause = shadow_free_ >= stationary_ready_ ? last_matmul_ : previous();
  stationary_ready_ = begin + duration;
  return {begin, begin + duration, 0, cause};
}

EngineQueue::Slot TensorEngine::schedule(const Instruction& instruction, Ticks ready,
                                         EntryRef cause) {
  if (instruction.opcode == Opcode::kSemaphoreOnly) {  // leaves the array and its weights alone
    const bool waited = ready > free_at_;
    const Ticks at = waited ? ready : free_at_;
    return {at, at, 0, waited ? cause : previous()};
  }
  const double rate = cycles_per_column_[static_cast<std::size_t>(instruction.type)];
  if (instruction.opcode == Opcode::kLoadStationary)
    return load_stationary(instruction, ready, cause);
  const double cycles =
      tensor_cycles(spec_, instruction, rate).value() / spec_.sustained_efficiency;
  const Ticks duration = duration_.of(cycles * ticks_per_cycle_);
  const bool whole = instruction.tile == 0;
  const auto taken = [&](unsigned quadrant) {
    return whole || (instruction.tile >> quadrant & 1U) != 0;
  };
  Ticks array_free = last_begin_;
  if (whole_free_ >= 0) {
    array_free = std::max(array_free, whole_free_);
  } else {
    for (unsigned q = 0; q < quadrant_free_.size(); ++q) {
      if (taken(q)) array_free = std::max(array_free, quadrant_free_[q]);
    }
  }
  const bool weights_late = stationary_ready_ > array_free;
  array_free = std::max(array_free, stationary_ready_);
  const bool waited = ready > array_free;
  const Ticks begin = waited ? ready : array_free;
  if (!waited) cause = weights_late ? previous() : last_matmul_;
  if (!whole && whole_free_ >= 0) quadrant_free_.fill(whole_free_);
  whole_free_ = whole ? begin + duration : -1;
  for (unsigned q = 0; q < quadrant_free_.size(); ++q) {
    if (!whole && taken(q)) quadrant_free_[q] = begin + duration;
  }
  last_begin_ = begin;
  shadow_free_ = begin;
  // Parallel tiles overlap: account only the time that extends the busy period.
  const Ticks busy = std::max<Ticks>(0, begin + duration - std::max(begin, free_at_));
  last_matmul_ = {static_cast<std::int32_t>(Engine::kTensor),
                  static_cast<std::uint32_t>(position())};
  return {begin, begin + duration, busy, cause};
}

}  // namespace foretell
