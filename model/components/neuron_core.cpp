#include "model/components/neuron_core.hpp"

#include <array>
#include <string>

#include "model/base/errors.hpp"

namespace foretell {

NeuronCore::NeuronCore(const sc_core::sc_module_name& name, const NeuronCoreSpec& spec,
                       const NeuronCoreScaling& scaling, const Program& program,
                       const CollectiveSeat& seat)
    : sc_module(name),
      shared_{
          program, Semaphores(program.semaphores.size(), scaling.semaphore_latency), {}, {}, {}},
      tensor_("tensor", spec.tensor, scaling.engine_time, shared_),
      vector_("vector", Engine::kVector, spec.vector, spec.sbuf.partitions, scaling.engine_time,
              shared_),
      scalar_("scalar", Engine::kScalar, spec.scalar, spec.sbuf.partitions, scaling.engine_time,
              shared_),
      gpsimd_("gpsimd", Engine::kGpSimd, spec.gpsimd, spec.sbuf.partitions, scaling.engine_time,
              shared_),
      sync_("sync", Engine::kSync, shared_),
      dma_("dma", spec.dma, scaling.dma_rate_fraction, shared_),
      collectives_("collectives", seat, shared_) {}

void NeuronCore::start() {
  dma_.start();
  collectives_.start();
  for (EngineQueue* queue :
       std::array<EngineQueue*, 5>{&tensor_, &vector_, &scalar_, &gpsimd_, &sync_}) {
    queue->start();
  }
}

bool NeuronCore::finished() const {
  return tensor_.finished() && vector_.finished() && scalar_.finished() && gpsimd_.finished() &&
         sync_.finished() && dma_.finished() && collectives_.finished();
}

std::string NeuronCore::describe_blocked() const {
  const Program& program = shared_.program;
  std::string text;
  const auto describe = [&](const std::string& who, std::uint32_t first_wait, std::uint16_t count) {
    for (std::uint32_t w = first_wait; w < first_wait + count; ++w) {
      const Wait& wait = program.waits[w];
      const std::uint32_t value = shared_.semaphores.value(wait.semaphore);
      if (value >= wait.threshold) continue;
      text += "\n  " + who + " waits for semaphore '" + program.semaphores[wait.semaphore] +
              "' to reach " + std::to_string(wait.threshold) + "; it is " + std::to_string(value);
    }
  };
  const std::array<const EngineQueue*, kEngineCount> queues = {&tensor_, &vector_, &scalar_,
                                                               &gpsimd_, &sync_};
  for (std::size_t e = 0; e < queues.size(); ++e) {
    const auto& instructions = program.engines[e];
    const std::size_t at = queues[e]->position();
    if (at >= instructions.size()) continue;
    const Instruction& head = instructions[at];
    describe(std::string(to_string(static_cast<Engine>(e))) + "[" + std::to_string(at) + "] " +
                 std::string(to_string(head.opcode)),
             head.first_wait, head.wait_count);
  }
  for (std::size_t r = 0; r < program.rings.size(); ++r) {
    const std::size_t at = dma_.position(r);
    if (at >= program.rings[r].transfers.size()) continue;
    const Transfer& head = program.rings[r].transfers[at];
    describe("dma " + program.rings[r].name + "[" + std::to_string(at) + "]", head.first_wait,
             head.wait_count);
  }
  const std::size_t at = collectives_.position();
  if (at < program.collectives.size()) {
    const Collective& head = program.collectives[at];
    const std::string who =
        "collectives[" + std::to_string(at) + "] " + std::string(to_string(head.kind));
    if (collectives_.joined()) text += "\n  " + who + " waits for the other cores to join";
    describe(who, head.first_wait, head.wait_count);
  }
  return text;
}

NeuronChip::NeuronChip(const sc_core::sc_module_name& name, const NeuronDeviceSpec& spec,
                       const NeuronCoreScaling& scaling, const Program& program, int active_cores,
                       Seconds call_overhead, CollectiveNetwork* network, int first_rank)
    : sc_module(name), hbm_("hbm", spec.hbm), call_("call") {
  FORETELL_CHECK(active_cores > 0 && active_cores <= spec.cores, "active cores beyond the device");
  for (int c = 0; c < active_cores; ++c) {
    const std::string core_name = "core" + std::to_string(c);
    cores_.push_back(std::make_unique<NeuronCore>(core_name.c_str(), spec.core, scaling, program,
                                                  CollectiveSeat{network, first_rank + c}));
    cores_.back()->dma().hbm.bind(hbm_.socket);
  }
  SC_METHOD(begin_call);
  sensitive << call_;
  dont_initialize();
  call_.notify(to_sc_time(to_ticks(call_overhead)));
}

void NeuronChip::begin_call() {
  for (auto& core : cores_) core->start();
}

}  // namespace foretell
