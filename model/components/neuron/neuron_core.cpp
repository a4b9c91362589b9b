#include "model/components/neuron/neuron_core.hpp"

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "model/components/shared/stream_registry.hpp"

namespace foretell {

NeuronCore::NeuronCore(const sc_core::sc_module_name& name, const NeuronCoreSpec& spec,
                       const NeuronCoreScaling& scaling, const Program& program,
                       const CollectiveSeat& seat)
    : Executor(name, program, scaling.semaphore_latency),
      spec_(spec),
      scaling_(scaling),
      seat_(seat),
      dma_("dma", spec.dma, scaling.dma_rate_fraction, shared()) {
  attach_modules(*this);
}

std::unique_ptr<StreamModule> NeuronCore::make_engine(std::size_t stream) {
  FORETELL_CHECK(stream < kEngineCount, "the engines are the first streams");
  const auto engine = static_cast<Engine>(stream);
  const std::string name(to_string(engine));
  const auto lanes = [&](const LaneEngineSpec& lane) {
    return std::make_unique<LaneEngine>(name.c_str(), engine, lane, spec_, scaling_.engine_time,
                                        shared(), ports_);
  };
  switch (engine) {
    case Engine::kTensor:
      return std::make_unique<TensorEngine>(name.c_str(), spec_.tensor, scaling_.engine_time,
                                            shared());
    case Engine::kVector:
      return lanes(spec_.vector);
    case Engine::kScalar:
      return lanes(spec_.scalar);
    case Engine::kGpSimd:
      return lanes(spec_.gpsimd);
    case Engine::kSync:
      break;
  }
  return std::make_unique<SyncEngine>(name.c_str(), engine, shared());
}

std::unique_ptr<StreamModule> NeuronCore::make_ring(std::size_t stream) {
  FORETELL_CHECK(stream >= kEngineCount, "rings follow the engines");
  return std::make_unique<DmaRingModule>(dma_, stream - kEngineCount);
}

std::unique_ptr<StreamModule> NeuronCore::make_collectives(std::size_t stream) {
  return std::make_unique<CollectiveQueue>("collectives", seat_, stream, shared());
}

void NeuronCore::add_activity(const std::string& prefix,
                              std::vector<ModuleActivity>& modules) const {
  const ProgramExecution& ran = execution();
  for (std::size_t s = 0; s < program().streams.size(); ++s) {
    const Stream& stream = program().streams[s];
    if (stream.size() == 0 || stream.kind() == StreamKind::kTransfers) continue;
    const bool engine = stream.kind() == StreamKind::kInstructions;
    modules.push_back({prefix + stream.name, to_seconds(ran.busy[s]),
                       to_seconds(engine ? ran.stalled[s] : 0), 0});
  }
  const auto dma = std::find_if(modules.begin(), modules.end(), [&](const ModuleActivity& module) {
    return module.path == prefix + "collectives";
  });
  modules.insert(dma, {prefix + "dma", to_seconds(ran.dma_busy), Seconds(0),
                       static_cast<double>(ran.loaded_bytes + ran.stored_bytes)});
}

NeuronChip::NeuronChip(const sc_core::sc_module_name& name, const NeuronDeviceSpec& spec,
                       const NeuronCoreScaling& scaling, const Program& program, int active_cores,
                       Seconds call_overhead, CollectiveNetwork* network, int first_rank)
    : sc_module(name), hbm_(make_memory("hbm", spec.hbm)), call_("call") {
  FORETELL_CHECK(active_cores > 0 && active_cores <= spec.cores, "active cores beyond the device");
  for (int c = 0; c < active_cores; ++c) {
    const std::string core_name = "core" + std::to_string(c);
    cores_.push_back(std::make_unique<NeuronCore>(core_name.c_str(), spec.core, scaling, program,
                                                  CollectiveSeat{network, first_rank + c}));
    cores_.back()->dma().hbm.bind(hbm_->target());
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
