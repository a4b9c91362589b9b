// A NeuronCore-v2: five engine queues, its semaphores, its DMA engines and its queue of
// collectives; and the chip around it.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/spec/neuron_spec.hpp"
#include "model/components/collective_queue.hpp"
#include "model/components/dma.hpp"
#include "model/components/engine.hpp"
#include "model/components/hbm.hpp"

namespace foretell {

// How fast the engines of a core run relative to their published clocks.
struct NeuronCoreScaling {
  double engine_time = 1;  // multiplies the time of PE, Vector, Scalar and GpSimd
  double dma_rate_fraction = 1;
  Ticks semaphore_latency = 0;
};

class NeuronCore : public sc_core::sc_module {
 public:
  // `spec` and `program` outlive the core. The program has passed validate().
  NeuronCore(const sc_core::sc_module_name& name, const NeuronCoreSpec& spec,
             const NeuronCoreScaling& scaling, const Program& program, const CollectiveSeat& seat);

  void start();
  bool finished() const;
  // For a core that stopped before it finished: who waits for what, one line per blocked queue.
  std::string describe_blocked() const;
  const CoreExecution& execution() const { return shared_.execution; }
  DmaEngines& dma() { return dma_; }

 private:
  CoreShared shared_;
  TensorEngine tensor_;
  LaneEngine vector_;
  LaneEngine scalar_;
  LaneEngine gpsimd_;
  SyncEngine sync_;
  DmaEngines dma_;
  CollectiveQueue collectives_;
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
  std::size_t core_count() const { return cores_.size(); }
  const Hbm& hbm() const { return hbm_; }
  Hbm& hbm() { return hbm_; }  // for others to bind to

 private:
  void begin_call();  // SC_METHOD, after the host's call overhead

  Hbm hbm_;
  std::vector<std::unique_ptr<NeuronCore>> cores_;
  sc_core::sc_event call_;
};

}  // namespace foretell
