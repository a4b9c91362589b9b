// Device memory of a graph by what it holds.
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/base/metrics.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/training/training_step.hpp"

namespace foretell {

// Memory of one core that runs the graph: weights at their stored types, states, inputs and
// outputs, and the most that activations hold at one time, as if none stayed in the scratchpad.
MemoryUse memory_of_core(const Graph& graph, const HostSpec& host);

// Memory of one copy that is trained: weights, gradients and state of the optimiser, and the most
// that activations hold at one time, those that the backward pass waits for among them.
MemoryUse memory_of_training(const TrainingStep& step, Bytes runtime);

// What a core needs that runs one graph and then the other with the same weights and states.
MemoryUse largest(const MemoryUse& a, const MemoryUse& b);

}  // namespace foretell
