// Kernels in which the GPUs of a group exchange data over NVLink or PCIe.
#pragma once

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {

class CollectiveKernels {
 public:
  // Both outlive it. `launch`: from the kernel before to the first message.
  CollectiveKernels(const GpuSystemSpec& system, const GpuFactors& factors, Seconds launch)
      : system_(system), factors_(factors), launch_(launch) {}

  // Appends the kernel of a collective and what bounds it. `name`: of the operator.
  void add(const std::string& name, const GpuCollectiveShape& shape, MappedOp& op) const;

  // With fitted factors the fastest protocol of NCCL or, for small sums, of the kernels of
  // inference libraries; by published facts alone and over PCIe a ring (Patarasuk and Yuan, 2009),
  // and for small sums over NVLink one round in which every GPU reads what all the others have,
  // after a barrier. Over PCIe the ring reaches a share of the link, less where every message is
  // written to the memory of the host and read from there (CollectiveShapes). Groups on several
  // nodes: network_exchange.hpp.
  Grid kernel(const std::string& name, const GpuCollectiveShape& shape) const;

 private:
  struct Choice {
    std::string algorithm;
    LinkExchange exchange;
    Seconds time;
    Ratio80 interval80{1, 1};
  };
  Choice choose(const GpuCollectiveShape& shape) const;
  Choice inside_node(const GpuCollectiveShape& shape) const;
  Grid kernel_of(const std::string& name, Choice choice) const;
  Choice fitted(const GpuCollectiveShape& shape) const;
  Choice published(const GpuCollectiveShape& shape) const;
  bool has_nvlink() const { return system_.interconnect == "nvlink"; }

  const GpuSystemSpec& system_;
  const GpuFactors& factors_;
  Seconds launch_;
};

}  // namespace foretell
