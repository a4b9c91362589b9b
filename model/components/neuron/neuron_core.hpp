// A NeuronCore-v2: five engine queues, its semaphores, its DMA engines and its queue of
// collectives; and the chip around it.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/neuron/collective_queue.hpp"
#include "model/components/neuron/dma.hpp"
#include "model/components/neuron/engine.hpp"
#include "model/components/shared/executor.hpp"
#include "model/components/shared/memory.hpp"

namespace foretell {

// How fast the engines of a core run relative to their published clocks.
struct NeuronCoreScaling {
  double engine_time = 1;  // multiplies the time of PE, Vector, Scalar and GpSimd
  double dma_rate_fraction = 1;
  Ticks semaphore_latency = 0;
};

class NeuronCore final : public Executor {
 public:
  // `spec` outlives the core.
  NeuronCore(const sc_core::sc_module_name& name, const NeuronCoreSpec& spec,
             const NeuronCoreScaling& scaling, const Program& program, const CollectiveSeat& seat);

  // The modules of its streams, for the registry.
  std::unique_ptr<StreamModule> make_engine(std::size_t stream);
  std::unique_ptr<StreamModule> make_ring(std::size_t stream);
  std::unique_ptr<StreamModule> make_collectives(std::size_t stream);

  const char* kind() const override { return "NeuronCore"; }
  DmaEngines& dma() { return dma_; }
  void add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const override;

 private:
  const NeuronCoreSpec& spec_;
  NeuronCoreScaling scaling_;
  CollectiveSeat seat_;
  CorePorts ports_;
  DmaEngines dma_;
};

// One device: cores that share the HBM. All active cores run the same program (data parallel
// copies, or ranks `first_rank` and following of a group); the host starts them together.
class NeuronChip : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(NeuronChip);
  NeuronChip(const sc_core::sc_module_name& name, const NeuronDeviceSpec& spec,
             const NeuronCoreScaling& scaling, const Program& program, int active_cores,
             Seconds call_overhead, CollectiveNetwork* network = nullptr, int first_rank = 0);

  const NeuronCore& core(std::size_t index) const { return *cores_[index]; }
  NeuronCore& core(std::size_t index) { return *cores_[index]; }
  std::size_t core_count() const { return cores_.size(); }
  const Memory& hbm() const { return *hbm_; }
  Memory& hbm() { return *hbm_; }  // for others to bind to

 private:
  void begin_call();  // SC_METHOD, after the host's call overhead

  std::unique_ptr<Memory> hbm_;
  std::vector<std::unique_ptr<NeuronCore>> cores_;
  sc_core::sc_event call_;
};

}  // namespace foretell
