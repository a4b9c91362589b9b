// Operators that work element by element.
#include <utility>

#include "workloads/import/onnx/onnx_translator.hpp"

namespace foretell {
namespace {

// Operators of the IR with the name that they have in ONNX.
void same_name(OnnxTranslator& to, const OnnxNode& node) {
  to.give(node, node.type, {to.id(node.inputs.at(0))});
}

// One operand may be a number that is known.
void arithmetic(OnnxTranslator& to, const OnnxNode& node) {
  const std::string& a = node.inputs.at(0);
  const std::string& b = node.inputs.at(1);
  const auto number = [&](const std::string& name, const std::string& other) {
    const OnnxTensor& known = to.tensor(name);
    return known.is_weight && known.is_number() && !to.has(name) &&
           to.tensor(other).shape.size() >= known.shape.size();
  };
  const auto scalar = [&](const std::string& name) {
    return Attribute(static_cast<double>(to.tensor(name).constant->values[0]));
  };
  if (number(b, a)) return to.give(node, node.type, {to.id(a)}, {{"scalar", scalar(b)}});
  if (number(a, b)) return to.give(node, node.type, {to.id(b)}, {{"scalar", scalar(a)}});
  // Exporters write biases on either side; here they come second.
  const bool commutes = node.type == "Add" || node.type == "Mul";
  const bool swaps = commutes && to.tensor(a).is_weight && !to.tensor(b).is_weight;
  to.give(node, node.type, {to.id(swaps ? b : a), to.id(swaps ? a : b)});
}

void general(OnnxTranslator& to, const OnnxNode& node, const std::string& function) {
  std::vector<TensorId> inputs;
  for (const std::string& input : node.inputs) {
    // Limits of a clip, exponents and the like are part of the instruction.
    if (input.empty() || (!inputs.empty() && to.tensor(input).is_number())) continue;
    inputs.push_back(to.id(input));
  }
  to.give(node, "Elementwise", std::move(inputs), {{"function", function}});
}

void by_name(OnnxTranslator& to, const OnnxNode& node) { general(to, node, node.type); }

// A slope for all, for each element or, in old files, for each channel.
void p_relu(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  TensorId slope = to.id(node.inputs.at(1));
  const Shape& shape = to.shape(x);
  if (to.shape(slope).size() == 1 && shape.size() > 2 && to.shape(slope)[0] == shape[1]) {
    Shape channels(shape.size() - 1, 1);
    channels[0] = shape[1];
    slope = to.reshape(node, slope, channels, "slope");
  }
  to.give(node, "Elementwise", {x, slope}, {{"function", std::string("PRelu")}});
}

void gelu(OnnxTranslator& to, const OnnxNode& node) {
  const bool tanh = node.text("approximate", "none") == "tanh" || node.type == "FastGelu";
  to.give(node, "Gelu", {to.id(node.inputs.at(0))},
          {{"approximate", std::string(tanh ? "tanh" : "none")}});
}

// What changes nothing at inference.
void pass_through(OnnxTranslator& to, const OnnxNode& node) {
  to.set(node.outputs.at(0), to.id(node.inputs.at(0)));
  // The mask of a dropout that drops nothing.
  if (node.outputs.size() > 1 && !node.outputs[1].empty()) {
    to.set(node.outputs[1], to.add(node, "Move", {to.id(node.inputs.at(0))},
                                   {{"function", std::string("Generate")},
                                    {"shape", to.tensor(node.outputs[1]).shape}},
                                   "mask"));
  }
}

void quantise(OnnxTranslator& to, const OnnxNode& node) {
  to.give(node, "Elementwise", {to.id(node.inputs.at(0))}, {{"function", std::string("Quantise")}});
}

void dequantise(OnnxTranslator& to, const OnnxNode& node) {
  to.give(node, "Elementwise", {to.id(node.inputs.at(0))},
          {{"function", std::string("Dequantise")}});
}

// Scale and zero point come from the largest and smallest element.
void dynamic_quantise(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < to.shape(x).size(); ++i) axes.push_back(static_cast<int>(i));
  const auto reduce = [&](const char* function) {
    return to.add(
        node, "Reduce", {x},
        {{"function", std::string(function)}, {"axes", axes}, {"keep_dims", std::int64_t{0}}},
        function);
  };
  const TensorId largest = reduce("Max");
  const TensorId smallest = reduce("Min");
  to.give(node, "Elementwise", {x}, {{"function", std::string("Quantise")}});
  if (node.outputs.size() > 1 && !node.outputs[1].empty()) to.set(node.outputs[1], largest);
  if (node.outputs.size() > 2 && !node.outputs[2].empty()) to.set(node.outputs[2], smallest);
}

// One step of an optimiser for each of several tensors: rate, step count, then the parameters,
// their gradients and the state; the results are the new parameters and states.
class OptimiserStep {
 public:
  OptimiserStep(OnnxTranslator& to, const OnnxNode& node) : to_(to), node_(node) {
    states_ = node.type == "Adam" ? 2 : 1;
    count_ = (node.inputs.size() - 2) / (2 + states_);
    if (node.inputs.size() != 2 + count_ * (2 + states_) ||
        node.outputs.size() != count_ * (1 + states_))
      to.fail(node, std::to_string(node.inputs.size()) + " inputs");
  }

  void run() {
    for (std::size_t i = 0; i < count_; ++i) {
      const TensorId x = input(0, i);
      const TensorId g = op("Add", {input(1, i), scaled(x, "norm", i)}, "gradient", i);
      if (node_.type == "Adam") {
        adam(x, g, i);
      } else if (node_.type == "Adagrad") {
        const TensorId h = op("Add", {input(2, i), op("Mul", {g, g}, "square", i)}, "state", i);
        finish(x, op("Div", {g, op("Sqrt", {h}, "root", i)}, "direction", i), i);
        give(1, i, h);
      } else {
        const TensorId v =
            op("Add", {scaled(input(2, i), "old", i), scaled(g, "new", i)}, "momentum", i);
        finish(x, v, i);
        give(1, i, v);
      }
    }
  }

 private:
  void adam(TensorId x, TensorId g, std::size_t i) {
    const TensorId v = op("Add", {scaled(input(2, i), "v_old", i), scaled(g, "v_new", i)}, "v", i);
    const TensorId square = op("Mul", {g, g}, "square", i);
    const TensorId h =
        op("Add", {scaled(input(3, i), "h_old", i), scaled(square, "h_new", i)}, "h", i);
    finish(x, op("Div", {v, op("Sqrt", {h}, "root", i)}, "direction", i), i);
    give(1, i, v);
    give(2, i, h);
  }

  void finish(TensorId x, TensorId direction, std::size_t i) {
    give(0, i, op("Sub", {x, scaled(direction, "step", i)}, "next", i));
  }

  TensorId input(std::size_t group, std::size_t i) {
    return to_.id(node_.inputs[2 + group * count_ + i]);
  }
  void give(std::size_t group, std::size_t i, TensorId id) {
    to_.set(node_.outputs[group * count_ + i], id);
  }
  TensorId op(const char* kind, std::vector<TensorId> inputs, const char* part, std::size_t i) {
    return to_.add(node_, kind, std::move(inputs), {}, std::string(part) + "." + std::to_string(i));
  }
  TensorId scaled(TensorId x, const char* part, std::size_t i) {
    return to_.add(node_, "Mul", {x}, {{"scalar", 1.0}},
                   std::string(part) + "." + std::to_string(i) + ".scaled");
  }

  OnnxTranslator& to_;
  const OnnxNode& node_;
  std::size_t states_ = 1;
  std::size_t count_ = 0;
};

}  // namespace

void add_elementwise_rules(OnnxRules& rules) {
  for (const char* name : {"Relu", "Tanh", "Sigmoid", "Exp", "Sqrt", "Erf", "Silu"})
    rules[name] = same_name;
  for (const char* name : {"Add", "Sub", "Mul", "Div"}) rules[name] = arithmetic;
  for (const char* name : {"Abs",
                           "Acos",
                           "Acosh",
                           "And",
                           "Asin",
                           "Asinh",
                           "Atan",
                           "Atanh",
                           "BitShift",
                           "Cast",
                           "Ceil",
                           "Celu",
                           "Clip",
                           "Cos",
                           "Cosh",
                           "Elu",
                           "Equal",
                           "Floor",
                           "Greater",
                           "GreaterOrEqual",
                           "HardSigmoid",
                           "HardSwish",
                           "IsInf",
                           "IsNaN",
                           "LeakyRelu",
                           "Less",
                           "LessOrEqual",
                           "Log",
                           "Max",
                           "Mean",
                           "Min",
                           "Mish",
                           "Mod",
                           "Neg",
                           "Not",
                           "Or",
                           "Pow",
                           "Reciprocal",
                           "Round",
                           "Selu",
                           "Shrink",
                           "Sign",
                           "Sin",
                           "Sinh",
                           "Softplus",
                           "Softsign",
                           "Sum",
                           "Tan",
                           "ThresholdedRelu",
                           "Where",
                           "Xor"})
    rules[name] = by_name;
  rules["PRelu"] = p_relu;
  rules["Gelu"] = gelu;
  rules["FastGelu"] = gelu;
  rules["CastLike"] = [](OnnxTranslator& to, const OnnxNode& node) {
    to.give(node, "Elementwise", {to.id(node.inputs.at(0))}, {{"function", std::string("Cast")}});
  };
  for (const char* name : {"Adam", "Adagrad", "Momentum"})
    rules[name] = [](OnnxTranslator& to, const OnnxNode& n) { OptimiserStep(to, n).run(); };
  rules["Dropout"] = pass_through;
  rules["Identity"] = pass_through;
  rules["QuantizeLinear"] = quantise;
  rules["DequantizeLinear"] = dequantise;
  rules["DynamicQuantizeLinear"] = dynamic_quantise;
}

}  // namespace foretell
