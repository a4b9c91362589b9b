#include "model/components/gpu/gpu_chip.hpp"

#include <string>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "model/base/errors.hpp"
#include "model/components/neuron/collective_queue.hpp"
#include "model/components/shared/stream_registry.hpp"

namespace foretell {
namespace {

HbmSpec l2_server_of(const GpuDeviceSpec& spec) {
  HbmSpec server;
  server.capacity = spec.l2.capacity;
  server.bandwidth = BytesPerSecond(gpu_architecture(spec.architecture).l2_port *
                                    spec.clock.boost.value() * static_cast<double>(spec.sms));
  return server;
}

}  // namespace

GpuChip::GpuChip(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec,
                 const Program& program, const CollectiveSeat& seat, BytesPerSecond link_peak,
                 bool exact)
    : Executor(name, program, 0),
      dram_rate_(spec.hbm.bandwidth),
      l2_server_(l2_server_of(spec)),
      seat_(seat),
      hbm_(make_memory("hbm", spec.hbm)),
      l2_("l2", l2_server_),
      sms_("sms", spec.sms, exact) {
  if (link_peak > BytesPerSecond(0)) {
    links_ = std::make_unique<GpuLinks>("links", link_peak, l2_server_.bandwidth, sms_);
    links_->l2.bind(l2_.socket);
  }
  attach_modules(*this);
}

std::unique_ptr<StreamModule> GpuChip::make_grids(std::size_t stream) {
  const std::string name = "stream" + std::to_string(stream);
  auto module = std::make_unique<GridStream>(name.c_str(), stream, shared(), sms_, dram_rate_,
                                             l2_server_.bandwidth);
  module->dram.bind(hbm_->target());
  module->l2.bind(l2_.socket);
  return module;
}

std::unique_ptr<StreamModule> GpuChip::make_collectives(std::size_t stream) {
  return std::make_unique<CollectiveQueue>("collectives", seat_, stream, shared());
}

void GpuChip::add_activity(const std::string& prefix, std::vector<ModuleActivity>& modules) const {
  UnitTimes busy;
  Bytes dram;
  Bytes l2;
  Bytes link;
  for (const OperatorActivity& op : execution().operators) {
    busy += op.busy;
    dram += op.dram;
    l2 += op.l2;
    link += op.link;
  }
  const auto add = [&](const char* path, WorkUnit unit, Bytes bytes) {
    modules.push_back({prefix + path, busy[unit], Seconds(0), bytes.value()});
  };
  add("tensor", WorkUnit::kTensorPipe, Bytes(0));
  add("vector", WorkUnit::kVectorPipe, Bytes(0));
  add("l2", WorkUnit::kL2, l2);
  add("dram", WorkUnit::kDram, dram);
  if (sms_.shared() > Seconds(0)) {
    modules.push_back({prefix + "sms", sms_.served(GridResource::kSms), sms_.stalled(), 0});
  }
  add("launch", WorkUnit::kLaunch, Bytes(0));
  add("link", WorkUnit::kLink, link);
}

}  // namespace foretell
