// The published rates that bound operators, as a record states them.
#pragma once

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "reports/record/run_record.hpp"
#include "workloads/ir/dtype.hpp"

namespace foretell {

// One NeuronCore: its engines, with matmuls in `matmul`, its DMA engines, and the device memory
// that it shares with the other cores.
MachineRecord neuron_machine(const LoadedSystem& system, DType matmul);

// One GPU.
MachineRecord gpu_machine(const LoadedGpuSystem& system, DType matmul);

}  // namespace foretell
