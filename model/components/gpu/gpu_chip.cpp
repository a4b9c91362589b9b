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
                 const Program& program, const CollectiveSeat& seat, const LinkPeaks& peaks,
                 bool exact)
    : Executor(name, program, 0),
      seat_(seat),
      hbm_(make_memory("hbm", spec.hbm)),
      l2_("l2", l2_server_of(spec)),
      sms_("sms", spec, {spec.hbm.bandwidth, l2_server_of(spec).bandwidth}, exact) {
  sms_.dram.socket.bind(hbm_->target());
  sms_.l2.socket.bind(l2_.socket);
  if (peaks.links > BytesPerSecond(0) || peaks.network > BytesPerSecond(0))
    links_ = std::make_unique<GpuLinks>("links", peaks, l2_server_of(spec).bandwidth, sms_);
  attach_modules(*this);
}

std::unique_ptr<StreamModule> GpuChip::make_grids(std::size_t stream) {
  const std::string name = "stream" + std::to_string(stream);
  return std::make_unique<GridStream>(name.c_str(), stream, shared(), sms_);
}

std::unique_ptr<StreamModule> GpuChip::make_collectives(std::size_t stream) {
  return std::make_unique<CollectiveQueue>("collectives", seat_, stream, shared());
}

// Where grids of several streams ran: how long each had one, and how long it waited for the others.
void GpuChip::add_streams(const std::string& prefix, std::vector<ModuleActivity>& modules) const {
  std::vector<std::size_t> used;
  for (std::size_t s = 0; s < program().streams.size(); ++s) {
    const Stream& stream = program().streams[s];
    if (stream.kind() == StreamKind::kGrids && stream.size() > 0) used.push_back(s);
  }
  if (used.size() < 2) return;
  for (const std::size_t s : used) {
    modules.push_back({prefix + "stream." + program().streams[s].name,
                       to_seconds(execution().busy[s]), to_seconds(execution().stalled[s]), 0});
  }
}

// Places for thread blocks, and what else bounds how many are on an SM where grids state it.
void GpuChip::add_sms(const std::string& prefix, std::vector<ModuleActivity>& modules) const {
  modules.push_back(
      {prefix + "sms", sms_.served(GridResource::kSms), sms_.stalled(GridResource::kSms), 0});
  for (const GridResource limit :
       {GridResource::kThreads, GridResource::kRegisters, GridResource::kSharedMemory}) {
    if (!(sms_.served(limit) > Seconds(0))) continue;
    modules.push_back(
        {prefix + "sms." + to_string(limit), sms_.served(limit), sms_.stalled(limit), 0});
  }
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
  if (sms_.shared() > Seconds(0)) add_sms(prefix, modules);
  add_streams(prefix, modules);
  add("launch", WorkUnit::kLaunch, Bytes(0));
  add("link", WorkUnit::kLink, link);
}

}  // namespace foretell
