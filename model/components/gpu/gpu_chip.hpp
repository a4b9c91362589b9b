// One GPU: the SMs that run thread blocks, L2, DRAM and links, around the streams of a program.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/components/gpu/gpu_links.hpp"
#include "model/components/gpu/grid_stream.hpp"
#include "model/components/gpu/sm_pool.hpp"
#include "model/components/neuron/collective_network.hpp"
#include "model/components/shared/executor.hpp"
#include "model/components/shared/memory.hpp"
#include "model/components/shared/memory_server.hpp"

namespace foretell {

class GpuChip final : public Executor {
 public:
  // `peaks`: none of a GPU that is alone. `seat`: where its
  // collectives meet those of others. `exact`: equal thread blocks are placed again and again.
  GpuChip(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, const Program& program,
          const CollectiveSeat& seat, const LinkPeaks& peaks, bool exact);

  // The modules of its streams, for the registry.
  std::unique_ptr<StreamModule> make_grids(std::size_t stream);
  std::unique_ptr<StreamModule> make_collectives(std::size_t stream);

  const char* kind() const override { return "GPU"; }
  GpuLinks& links() { return *links_; }
  Memory& hbm() { return *hbm_; }  // for others to bind to
  const SmPool& sms() const { return sms_; }
  SmPool& sms() { return sms_; }
  void add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const override;

 private:
  void add_sms(const std::string& prefix, std::vector<ModuleActivity>& modules) const;
  void add_streams(const std::string& prefix, std::vector<ModuleActivity>& modules) const;

  CollectiveSeat seat_;
  std::unique_ptr<Memory> hbm_;
  MemoryServer l2_;
  SmPool sms_;
  std::unique_ptr<GpuLinks> links_;
};

}  // namespace foretell
