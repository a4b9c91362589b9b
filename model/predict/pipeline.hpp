// A network cut into stages of consecutive layers, each on cores of its own.
//
// The stages stand on the devices in order. The activations that one hands to the next,
// [tokens x hidden], are stored to HBM and loaded from there as part of the two stages. Between
// devices they are messages, simulated: each core of a stage sends what it holds to the core of its
// place in the next, over the links between them, the network or the neighbour. A token
// goes through all stages one after the other. As soon as there are as many batches in flight as
// stages, the slowest stage decides how many come out per second.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/base/metrics.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Layers of a stage, both included. The default is every layer of a network that is not cut.
struct LayerRange {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

// As even as possible: the first stages have one layer more where the layers do not divide. Caller
// promises 0 <= stage < stages <= layers.
LayerRange stage_layers(std::int64_t layers, int stages, int stage);

struct Pipeline {
  std::int64_t layers = 0;    // of the network; of no meaning with one stage
  int stages = 1;             // of one copy
  int stages_per_device = 1;  // more than one: neighbours that share a device hand over in its HBM
};

struct PipelinePass {
  Metrics metrics;  // device: the way through all stages; resources and HBM: of the slowest stage
  Seconds slowest;  // its time, with handing over
  Bytes output;     // of the last stage
};

// How long the next stage waits for activations of which each core holds this many bytes.
using Handover = std::function<Seconds(Bytes)>;

using StageGraph = std::function<std::shared_ptr<const Graph>(const LayerRange&)>;

// One pass of a batch. `graph_of` builds the graph of a stage, `run` executes it; equal stages are
// executed once.
PipelinePass run_pipeline(const Pipeline& pipeline, const Handover& handover,
                          const StageGraph& graph_of,
                          const std::function<Metrics(const Graph&)>& run);

// Stages of a copy, which fill node after node.
struct StageLayout {
  int stages = 1;
  int parts = 1;      // of each: cores, GPUs
  int on_device = 1;  // stages that share a device and hand over in its memory
};
// Of the boundaries between devices, those that lie between nodes of `of_node` parts.
double share_leaving(const StageLayout& layout, int of_node);

// `bytes` of each core to the next device; where stages lie on several instances, the mean over the
// boundaries between devices.
Seconds handover_time(const NeuronSystemSpec& system, const NeuronFactors& factors,
                      const StageLayout& layout, Bytes bytes);

}  // namespace foretell
