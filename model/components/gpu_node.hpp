// Several GPUs that exchange data over their links.
//
// All GPUs of a group run the same programs. In lock step the stream of the first one is simulated
// and the others take part in its exchanges alone; otherwise every GPU runs the programs itself.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/spec/gpu_spec.hpp"
#include "model/components/gpu_chip.hpp"

namespace foretell {

class GpuNode : public sc_core::sc_module, public ExchangeNetwork {
 public:
  // `link_peak`: of the links of a GPU, one direction.
  GpuNode(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, int gpus,
          BytesPerSecond link_peak, bool lock_step);

  // From the start; the programs outlive the simulation.
  void run(const std::vector<GpuProgram>& programs);

  void join(int rank, std::uint32_t index, const LinkExchange& exchange,
            CollectiveMember& member) override;

  GpuChip& gpu(int rank) { return *gpus_.at(static_cast<std::size_t>(rank)); }
  int gpus() const { return static_cast<int>(gpus_.size()); }

 private:
  // Waits for all ranks on behalf of the first one.
  struct LockStep final : CollectiveMember {
    void collective_done() override {
      if (--running == 0) member->collective_done();
    }
    CollectiveMember* member = nullptr;
    int running = 0;
  };

  std::vector<std::unique_ptr<GpuChip>> gpus_;
  bool lock_step_;
  LockStep all_;
};

}  // namespace foretell
