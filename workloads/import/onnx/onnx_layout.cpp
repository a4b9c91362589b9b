// Operators that rearrange, select and generate elements.
#include <algorithm>
#include <numeric>
#include <utility>

#include "workloads/import/onnx/onnx_translator.hpp"

namespace foretell {
namespace {

using Integers = std::vector<std::int64_t>;

// Results whose shapes are known: a view of the same elements.
void view(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  to.set(node.outputs.at(0), to.reshape(node, x, to.tensor(node.outputs[0]).shape, ""));
}

void transpose(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  Integers reversed(to.shape(x).size());
  std::iota(reversed.rbegin(), reversed.rend(), std::int64_t{0});
  to.set(node.outputs.at(0), to.transpose(node, x, node.integers("perm", reversed), ""));
}

void concat(OnnxTranslator& to, const OnnxNode& node) {
  std::vector<TensorId> inputs;
  for (const std::string& input : node.inputs) inputs.push_back(to.id(input));
  if (inputs.size() == 1) return to.set(node.outputs.at(0), inputs[0]);
  to.give(node, "Concat", std::move(inputs), {{"axis", node.integer("axis", 0)}});
}

void split(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const auto axis =
      static_cast<std::size_t>(to.axis(node, node.integer("axis", 0), to.shape(x).size()));
  Integers sizes;
  for (const std::string& output : node.outputs) sizes.push_back(to.tensor(output).shape.at(axis));
  if (sizes.size() == 1) return to.set(node.outputs[0], x);
  const TensorId first =
      to.add(node, "Split", {x}, {{"axis", static_cast<std::int64_t>(axis)}, {"sizes", sizes}});
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    to.set(node.outputs[i], first + static_cast<TensorId>(i));
}

// Elements that a rule picks or makes: every result has the shape that inference found.
void move(OnnxTranslator& to, const OnnxNode& node, const char* function,
          std::size_t operands = 64) {
  std::vector<TensorId> inputs;
  for (const std::string& input : node.inputs) {
    if (input.empty() || inputs.size() >= operands) continue;
    // Axes, sizes and the like are part of the instruction.
    if (!inputs.empty() && to.tensor(input).constant) continue;
    inputs.push_back(to.id(input));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    to.set(node.outputs[i], to.add(node, "Move", inputs,
                                   {{"function", std::string(function)},
                                    {"shape", to.tensor(node.outputs[i]).shape}},
                                   i == 0 ? "" : std::to_string(i)));
  }
}

// Ranges of axes one after the other; anything but steps of one is a copy.
void slice(OnnxTranslator& to, const OnnxNode& node) {
  TensorId x = to.id(node.inputs.at(0));
  const auto known = [&](std::size_t input) {
    return !node.has_input(input) || to.tensor(node.inputs[input]).constant.has_value();
  };
  if (!known(1) || !known(2) || !known(3) || !known(4)) return move(to, node, "Slice", 1);
  const Integers starts = to.integers(node, "starts", 1, {});
  const Integers ends = to.integers(node, "ends", 2, {});
  Integers all(starts.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const Integers axes = to.integers(node, "axes", 3, all);
  const Integers steps = to.integers(node, "steps", 4, Integers(starts.size(), 1));
  const bool regular =
      std::all_of(steps.begin(), steps.end(), [](std::int64_t s) { return s == 1; });
  if (!regular || ends.size() != starts.size() || axes.size() != starts.size())
    return move(to, node, "Slice", 1);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = to.axis(node, axes[i], to.shape(x).size());
    const std::int64_t size = to.shape(x)[static_cast<std::size_t>(axis)];
    const auto clamp = [size](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const std::int64_t begin = clamp(starts[i]);
    const std::int64_t end = clamp(ends[i]);
    if (begin == 0 && end == size) continue;
    x = to.add(node, "Slice", {x}, {{"axis", axis}, {"begin", begin}, {"end", end}},
               axes.size() == 1 ? "" : std::to_string(axis));
  }
  to.set(node.outputs.at(0), x);
}

// Rows of a table are an embedding lookup.
void gather(OnnxTranslator& to, const OnnxNode& node) {
  const OnnxTensor& table = to.tensor(node.inputs.at(0));
  if (table.is_weight && table.shape.size() == 2 && node.integer("axis", 0) == 0)
    return to.give(node, "Gather", {to.id(node.inputs[0]), to.id(node.inputs.at(1))});
  move(to, node, "Gather");
}

void pad(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const bool known = !node.has_input(1) || to.tensor(node.inputs[1]).constant.has_value();
  const Integers pads =
      known ? to.integers(node, "pads", 1, node.integers("paddings", {})) : Integers{};
  if (pads.size() != 2 * to.shape(x).size()) return move(to, node, "Pad", 1);
  to.give(node, "Pad", {x}, {{"pads", pads}});
}

void resize(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const Shape before = to.shape(x);
  const Shape& after = to.tensor(node.outputs.at(0)).shape;
  const std::string mode = node.text("mode", "nearest");
  const bool images = before.size() > 2 && before.size() == after.size() && before[0] == after[0] &&
                      before[1] == after[1];
  const bool known = mode == "nearest" || mode == "linear" || mode == "cubic";
  if (!images || !known) return move(to, node, mode == "nearest" ? "Resize" : "Interpolate", 1);
  to.give(node, "Resize", {x}, {{"sizes", Shape(after.begin() + 2, after.end())}, {"mode", mode}});
}

// Blocks of channels as neighbours in space, or the other way round.
void depth_to_space(OnnxTranslator& to, const OnnxNode& node) {
  const Shape x = to.tensor(node.inputs.at(0)).shape;
  const std::int64_t b = node.integer("blocksize", 1);
  const Shape& result = to.tensor(node.outputs.at(0)).shape;
  if (x.size() != 4 || b < 1) to.fail(node, "block of " + std::to_string(b));
  TensorId y = to.id(node.inputs[0]);
  if (node.type == "SpaceToDepth") {
    y = to.reshape(node, y, {x[0], x[1], x[2] / b, b, x[3] / b, b}, "blocks");
    y = to.transpose(node, y, {0, 3, 5, 1, 2, 4}, "order");
  } else if (node.text("mode", "DCR") == "DCR") {
    y = to.reshape(node, y, {x[0], b, b, x[1] / (b * b), x[2], x[3]}, "blocks");
    y = to.transpose(node, y, {0, 3, 4, 1, 5, 2}, "order");
  } else {
    y = to.reshape(node, y, {x[0], x[1] / (b * b), b, b, x[2], x[3]}, "blocks");
    y = to.transpose(node, y, {0, 1, 4, 2, 5, 3}, "order");
  }
  to.set(node.outputs.at(0), to.reshape(node, y, result, "image"));
}

}  // namespace

void add_layout_rules(OnnxRules& rules) {
  for (const char* name : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) rules[name] = view;
  rules["Transpose"] = transpose;
  rules["Concat"] = concat;
  rules["Split"] = split;
  rules["Slice"] = slice;
  rules["Gather"] = gather;
  rules["Pad"] = pad;
  rules["Resize"] = resize;
  rules["Upsample"] = resize;
  rules["DepthToSpace"] = depth_to_space;
  rules["SpaceToDepth"] = depth_to_space;
  const auto moves = [&rules](const char* name, OnnxRule rule) { rules[name] = rule; };
  moves("Expand", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Expand", 1); });
  moves("Tile", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Tile", 1); });
  moves("GatherElements",
        [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "GatherElements"); });
  moves("GatherND", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "GatherND"); });
  moves("Scatter", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Scatter"); });
  moves("ScatterElements",
        [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "ScatterElements"); });
  moves("ScatterND", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "ScatterND"); });
  moves("Trilu", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Triangle", 1); });
  moves("Compress", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Gather"); });
  moves("OneHot", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "OneHot", 1); });
  moves("ReverseSequence",
        [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "ReverseSequence"); });
  moves("MaxUnpool", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "MaxUnpool", 2); });
  moves("GridSample", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "GridSample"); });
  moves("RoiAlign", [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "RoiAlign"); });
  for (const char* name :
       {"EyeLike", "ConstantOfShape", "Range", "RandomNormalLike", "RandomUniformLike", "Bernoulli",
        "HannWindow", "HammingWindow", "BlackmanWindow", "Shape", "Size"})
    moves(name, [](OnnxTranslator& to, const OnnxNode& n) { move(to, n, "Generate", 1); });
}

}  // namespace foretell
