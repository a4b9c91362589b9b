#include "model/mapping/gpu/collective_kernels.hpp"

#include <utility>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/timing/gpu/network_exchange.hpp"

namespace foretell {

void CollectiveKernels::add(const std::string& name, const GpuCollectiveShape& shape,
                            MappedOp& op) const {
  const Choice choice = choose(shape);
  Grid added = kernel_of(name, choice);
  const ExchangeTime time = exchange_time(added.exchange);
  op.engine = "link";
  added.busy[WorkUnit::kLaunch] = added.launch + time.latency;
  added.busy[WorkUnit::kLink] = time.moving;
  op.program.kernels.push_back(std::move(added));
  op.intervals80.push_back(choice.interval80);
}

Grid CollectiveKernels::kernel(const std::string& name, const GpuCollectiveShape& shape) const {
  return kernel_of(name, choose(shape));
}

CollectiveKernels::Choice CollectiveKernels::choose(const GpuCollectiveShape& shape) const {
  const GroupNodes at = nodes_of_group(system_, shape.ranks, shape.stride);
  if (at.nodes == 1) return inside_node(shape);
  Choice choice{"between nodes", {}, {}, {1, 1}};
  choice.exchange = network_exchange(system_.network, at, shape, [&](const auto& part) {
    Choice inside = inside_node(part);
    choice.interval80 = inside.interval80;
    return std::move(inside.exchange);
  });
  choice.time = exchange_time(choice.exchange).whole();
  return choice;
}

CollectiveKernels::Choice CollectiveKernels::inside_node(const GpuCollectiveShape& shape) const {
  return has_nvlink() && factors_.collectives() ? fitted(shape) : published(shape);
}

Grid CollectiveKernels::kernel_of(const std::string& name, Choice choice) const {
  Grid kernel;
  kernel.name = name + " " + choice.algorithm;
  kernel.launch = launch_;
  kernel.exchange = std::move(choice.exchange);
  return kernel;
}

CollectiveKernels::Choice CollectiveKernels::fitted(const GpuCollectiveShape& shape) const {
  const CollectiveFactors& links = *factors_.collectives();
  const GpuDeviceSpec& device = system_.device;
  const GpuProtocol protocol = nccl_time(device, links.nccl, shape).protocol;
  Choice nccl{to_string(protocol),
              nccl_exchange(device, links.nccl, shape, protocol),
              {},
              links.nccl_interval};
  nccl.time = exchange_time(nccl.exchange).whole();
  if (shape.op != GpuCollective::kAllReduce ||
      shape.bytes >= kernel_shapes().collectives.own_kernels_below)
    return nccl;
  const GpuProtocol shots = custom_time(device, links.custom, shape).protocol;
  Choice custom{to_string(shots),
                custom_exchange(device, links.custom, shape, shots),
                {},
                links.custom_interval};
  custom.time = exchange_time(custom.exchange).whole();
  return custom.time < nccl.time ? custom : nccl;
}

CollectiveKernels::Choice CollectiveKernels::published(const GpuCollectiveShape& shape) const {
  const GpuDeviceSpec& device = system_.device;
  const CollectiveShapes& known = kernel_shapes().collectives;
  if (!has_nvlink()) {
    const bool host = system_.peers == "host";
    LinkExchange exchange = plain_exchange(
        device.pcie.bandwidth, host ? known.pcie_host_hop : known.pcie_direct_hop, shape);
    for (LinkRound& round : exchange.rounds) {
      round.links.rate =
          device.pcie.bandwidth * (host ? known.pcie_host_share : known.pcie_direct_share);
    }
    return {host ? "ring through the host" : "ring", std::move(exchange), {}};
  }
  const BytesPerSecond peak = device.nvlink.bandwidth;
  Choice ring{"ring", plain_exchange(peak, known.hop, shape), {}};
  if (shape.op != GpuCollective::kAllReduce) return ring;
  LinkRound round;
  round.latency = 2 * known.hop;
  round.links = {shape.ranks - 1, shape.bytes, peak};
  Choice at_once{"one-shot", {shape.ranks, peak, {round}, {}}, {}};
  return exchange_time(at_once.exchange).whole() < exchange_time(ring.exchange).whole() ? at_once
                                                                                        : ring;
}

}  // namespace foretell
