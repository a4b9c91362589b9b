#include "workloads/import/control_flow.hpp"

#include <algorithm>
#include <utility>

#include "workloads/import/onnx/onnx_import.hpp"

namespace foretell {
namespace {

ControlStep run(std::string part) {
  ControlStep step;
  step.like = part;
  step.name = std::move(part);
  return step;
}

// Layers between the first, which has the embeddings, and the last, which has the head, are equal.
std::vector<ControlStep> early_exits(const ModelConfig& config) {
  std::vector<ControlStep> steps;
  for (std::int64_t layer = config.layers - 1; layer >= 0; --layer) {
    std::vector<ControlStep> from_here = {run("layer." + std::to_string(layer))};
    if (layer > 0 && layer < config.layers - 1) from_here.front().like = "layer.1";
    if (layer < config.layers - 1) {
      ControlStep exit;
      exit.kind = ControlStep::Kind::kBranch;
      exit.name = "exit." + std::to_string(layer);
      exit.stated = config.exits[static_cast<std::size_t>(layer)];
      exit.instead = std::move(steps);
      from_here.push_back(std::move(exit));
    }
    steps = std::move(from_here);
  }
  return steps;
}

bool computes(const Graph& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
    return op.kind != "Reshape" && op.kind != "Transpose" && op.kind != "Split" &&
           op.kind != "Slice";
  });
}

class OnnxSteps {
 public:
  OnnxSteps(const std::string& path, const DimensionSizes& sizes) : path_(path), sizes_(sizes) {}

  std::vector<ControlStep> of(const OnnxGraph& graph, const std::string& part) const {
    std::vector<ControlStep> steps;
    if (!graph.nodes.empty() && computes(import_onnx(path_, sizes_, part).graph))
      steps.push_back(run(part));
    for (const OnnxControl& control : graph.controls) {
      ControlStep step;
      const bool branches = control.type == "If";
      step.kind = branches ? ControlStep::Kind::kBranch : ControlStep::Kind::kLoop;
      step.name = control.name;
      if (control.known) step.stated = *control.known;
      step.is_constant = control.known.has_value();
      step.body = of(control.bodies.front(), onnx_part(part, control, 0));
      if (branches) step.instead = of(control.bodies.back(), onnx_part(part, control, 1));
      steps.push_back(std::move(step));
    }
    return steps;
  }

 private:
  const std::string& path_;
  const DimensionSizes& sizes_;
};

}  // namespace

std::vector<ControlStep> control_flow(const ModelConfig& config, const Binding& binding) {
  if (!config.exits.empty()) return early_exits(config);
  if (config.family != Family::kOnnx) return {};
  const DimensionSizes sizes = onnx_sizes(config, binding);
  const OnnxGraph graph = load_onnx(config.onnx_file, sizes);
  if (graph.controls.empty()) return {};
  return OnnxSteps(config.onnx_file, sizes).of(graph, kMainPart);
}

std::vector<std::string> part_names(const std::vector<ControlStep>& steps) {
  std::vector<std::string> names;
  for (const ControlStep& step : steps) {
    if (step.kind == ControlStep::Kind::kRun) names.push_back(step.name);
    for (const auto* inner : {&step.body, &step.instead}) {
      for (std::string& name : part_names(*inner)) names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace foretell
