// Several GPUs, of one node or of several, that exchange data over their links and the network.
//
// All GPUs of a group run the same program. In lock step the first one is simulated and the others
// take part in its collectives alone; a collective like one before, which began on idle links, too,
// takes as long as that and is not executed again, unless a grid runs beside it. Otherwise every
// GPU runs the program itself.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/components/gpu/gpu_chip.hpp"
#include "model/components/shared/known_times.hpp"

namespace foretell {

class GpuNode : public sc_core::sc_module, public CollectiveNetwork {
 public:
  SC_HAS_PROCESS(GpuNode);
  // `idle`: a program of nothing, for the GPUs
  // that only take part in collectives; both programs outlive the node.
  GpuNode(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, int gpus,
          const LinkPeaks& peaks, const Program& program, const Program& idle, bool lock_step,
          bool exact);

  void join(int rank, std::uint32_t index, const Collective& collective,
            CollectiveMember& member) override;

  GpuChip& gpu(int rank) { return *gpus_.at(static_cast<std::size_t>(rank)); }
  int gpus() const { return static_cast<int>(gpus_.size()); }

 private:
  // Waits for all ranks on behalf of the first one.
  struct LockStep final : CollectiveMember {
    void collective_done() override {
      if (--running == 0) node->all_done();
    }
    GpuNode* node = nullptr;
    CollectiveMember* member = nullptr;
    int running = 0;
  };
  void all_done();
  // SC_METHOD, which takes no const member.
  void known_done() {  // NOLINT(readability-make-member-function-const)
    gpu(0).sms().hold(-known_sms_);
    all_.member->collective_done();
  }

  std::vector<std::unique_ptr<GpuChip>> gpus_;
  bool lock_step_;
  LockStep all_;
  KnownTimes known_;
  KnownTimes::Key key_;  // of the collective at hand
  Ticks joined_ = 0;
  int known_sms_ = 0;  // that it holds, where its time is known
  bool alone_ = true;  // no grid ran on the SMs when it began
  sc_core::sc_event known_over_;
};

}  // namespace foretell
