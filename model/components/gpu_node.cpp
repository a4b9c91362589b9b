#include "model/components/gpu_node.hpp"

#include <string>

namespace foretell {

GpuNode::GpuNode(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, int gpus,
                 BytesPerSecond link_peak, bool lock_step)
    : sc_module(name), lock_step_(lock_step) {
  std::vector<GpuLinks*> links;
  for (int g = 0; g < gpus; ++g) {
    const std::string gpu_name = "gpu" + std::to_string(g);
    gpus_.push_back(std::make_unique<GpuChip>(gpu_name.c_str(), spec, link_peak));
    links.push_back(&gpus_.back()->links());
  }
  for (int g = 0; g < gpus; ++g) {
    gpu(g).links().connect(links, g);
    gpu(g).stream().join_through(*this, g);
  }
}

void GpuNode::run(const std::vector<GpuProgram>& programs) {
  for (const auto& gpu : gpus_) {
    gpu->stream().run(programs);
    if (lock_step_) return;
  }
}

void GpuNode::join(int rank, std::uint32_t index, const LinkExchange& exchange,
                   CollectiveMember& member) {
  if (!lock_step_) return gpu(rank).links().start(exchange, index, member);
  all_.member = &member;
  all_.running = exchange.ranks;
  for (int r = 0; r < exchange.ranks; ++r) gpu(r).links().start(exchange, index, all_);
}

}  // namespace foretell
