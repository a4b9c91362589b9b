#include "model/predict/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/system/collective_run.hpp"

namespace foretell {
namespace {

// Stages are equal when they have the same number of layers and neither the embeddings nor the
// head.
bool inner(const Pipeline& pipeline, int stage) { return stage > 0 && stage + 1 < pipeline.stages; }

struct Stage {
  Metrics metrics;
  Bytes output;
};

class PipelineRunner {
 public:
  PipelineRunner(const Pipeline& pipeline, const Handover& handover)
      : pipeline_(pipeline), handover_(handover) {}

  PipelinePass run(const StageGraph& graph_of,
                   const std::function<Metrics(const Graph&)>& run_stage) {
    PipelinePass pass;
    Seconds way;
    std::vector<OperatorMetrics> operators;
    for (int s = 0; s < pipeline_.stages; ++s) {
      const LayerRange layers = stage_layers(pipeline_.layers, pipeline_.stages, s);
      if (!can_reuse(layers, s)) last_ = execute(*graph_of(layers), run_stage, s, layers);
      const Seconds time = last_.metrics.device + handover(s);
      for (OperatorMetrics op : last_.metrics.operators) {
        op.start += way;
        operators.push_back(std::move(op));
      }
      way += time;
      if (s > 0 && time <= pass.slowest) continue;
      pass.slowest = time;
      pass.metrics = last_.metrics;
    }
    pass.output = last_.output;
    pass.metrics.instructions = instructions_;
    pass.metrics.events = events_;
    pass.metrics.operators = std::move(operators);
    pass.metrics.call += way - pass.metrics.device;
    pass.metrics.device = way;
    return pass;
  }

 private:
  bool can_reuse(const LayerRange& layers, int stage) const {
    return inner(pipeline_, stage) && inner(pipeline_, executed_) &&
           layers.last - layers.first == layers_.last - layers_.first;
  }

  Stage execute(const Graph& graph, const std::function<Metrics(const Graph&)>& run_stage,
                int stage, const LayerRange& layers) {
    Stage result{run_stage(graph), Bytes(0)};
    for (const TensorId output : graph.outputs()) result.output += graph.tensor(output).bytes();
    instructions_ += result.metrics.instructions;
    events_ += result.metrics.events;
    executed_ = stage;
    layers_ = layers;
    return result;
  }

  Seconds handover(int stage) {
    const bool last = stage + 1 == pipeline_.stages;
    const bool same_device = (stage + 1) % pipeline_.stages_per_device != 0;
    if (last || same_device) return Seconds(0);
    if (handed_ != last_.output) time_ = handover_(last_.output);
    handed_ = last_.output;
    return time_;
  }

  const Pipeline& pipeline_;
  const Handover& handover_;
  Stage last_;  // executed
  int executed_ = -1;
  Bytes handed_;  // the last time
  Seconds time_;  // that it took
  LayerRange layers_;
  std::uint64_t instructions_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace

LayerRange stage_layers(std::int64_t layers, int stages, int stage) {
  if (stages == 1) return {};
  FORETELL_CHECK(stage >= 0 && stage < stages && stages <= layers, "no such pipeline stage");
  const std::int64_t each = layers / stages;
  const std::int64_t longer = layers % stages;
  const std::int64_t first = stage * each + std::min<std::int64_t>(stage, longer);
  return {first, first + each + (stage < longer ? 1 : 0) - 1};
}

Seconds handover_time(const NeuronSystemSpec& system, const NeuronFactors& factors,
                      const StageLayout& layout, Bytes bytes) {
  const auto message = [&](int apart) {
    const auto size = static_cast<std::uint64_t>(std::ceil(bytes.value()));
    return to_seconds(execute_message(system, factors, {layout.parts, apart, size}).duration);
  };
  const int cores = system.device.cores;
  const int of_instance = system.devices_of_instance() * cores;
  const double far = system.instance_count() == 1 ? 0 : share_leaving(layout, of_instance);
  const Seconds near = far < 1 ? message(std::max(layout.parts, cores)) : Seconds(0);
  if (far <= 0) return near;
  return near * (1 - far) + message(std::max(layout.parts, of_instance)) * far;
}

double share_leaving(const StageLayout& layout, int of_node) {
  const int handed = (layout.stages - 1) / layout.on_device;
  const int together = std::max(layout.on_device, of_node / layout.parts);  // stages of a node
  const int leaving = (layout.stages - 1) / together;
  return handed == 0 ? 0 : static_cast<double>(leaving) / handed;
}

PipelinePass run_pipeline(const Pipeline& pipeline, const Handover& handover,
                          const StageGraph& graph_of,
                          const std::function<Metrics(const Graph&)>& run) {
  return PipelineRunner(pipeline, handover).run(graph_of, run);
}

}  // namespace foretell
