// Recurrent layers, unrolled: the products with the input for all steps at once, then step by step
// the product with the state and the gates.
#include <utility>

#include "workloads/import/onnx/onnx_translator.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxSteps = 4096;

class Recurrent {
 public:
  Recurrent(OnnxTranslator& to, const OnnxNode& node)
      : to_(to), node_(node), gates_(node.type == "LSTM" ? 4 : (node.type == "GRU" ? 3 : 1)) {
    const Shape& x = to.tensor(node.inputs.at(0)).shape;
    const Shape& state = to.tensor(node.inputs.at(2)).shape;  // [directions, gates * H, H]
    if (x.size() != 3 || state.size() != 3) to.fail(node, "input of shape " + to_string(x));
    batch_first_ = node.integer("layout", 0) != 0;
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    directions_ = state[0];
    hidden_ = state[2];
    const Shape weights = {directions_, gates_ * hidden_, x[2]};
    if (to.tensor(node.inputs.at(1)).shape != weights || state[1] != gates_ * hidden_) {
      to.fail(node, "W of shape " + to_string(to.tensor(node.inputs.at(1)).shape) +
                        " and R of shape " + to_string(state) + "; W has to be " +
                        to_string(weights));
    }
    if (directions_ < 1 || directions_ > 2 || steps_ < 1)
      to.fail(node, "input of shape " + to_string(x) + " and R of shape " + to_string(state));
    if (steps_ > kMaxSteps) {
      to.fail(node, std::to_string(steps_) + " steps; up to " + std::to_string(kMaxSteps) +
                        " are unrolled");
    }
  }

  void run() {
    TensorId x = to_.id(node_.inputs[0]);
    if (batch_first_) x = to_.transpose(node_, x, {1, 0, 2}, "steps");
    std::vector<TensorId> all, last, cell;
    for (std::int64_t d = 0; d < directions_; ++d) direction(x, d, &all, &last, &cell);
    give(0, all, {steps_, batch_, directions_, hidden_});
    give(1, last, {});
    give(2, cell, {});
  }

 private:
  std::string part(const char* what, std::int64_t direction, std::int64_t step = -1) const {
    std::string text = std::to_string(direction) + "." + what;
    return step < 0 ? text : text + "." + std::to_string(step);
  }

  // Weights of one direction, [rows, columns] with the gates in the rows.
  TensorId weights(std::size_t input, std::int64_t direction, const char* name) {
    TensorId all = to_.id(node_.inputs[input]);
    const Shape shape = to_.shape(all);
    if (directions_ > 1) {
      all = to_.add(node_, "Slice", {all},
                    {{"axis", std::int64_t{0}}, {"begin", direction}, {"end", direction + 1}},
                    part(name, direction));
    }
    return to_.reshape(node_, all, Shape(shape.begin() + 1, shape.end()),
                       part(name, direction) + ".2d");
  }

  void direction(TensorId x, std::int64_t d, std::vector<TensorId>* all,
                 std::vector<TensorId>* last, std::vector<TensorId>* cell) {
    const std::map<std::string, Attribute> transposed{{"transpose_b", std::int64_t{1}}};
    TensorId inputs =
        to_.add(node_, "MatMul", {x, weights(1, d, "W")}, transposed, part("input", d));
    const TensorId state_weights = weights(2, d, "R");
    const bool has_bias = node_.has_input(3) && to_.tensor(node_.inputs[3]).is_weight;
    const auto bias = [&](const char* name) {
      return to_.weight(node_.name + "." + part(name, d), {gates_ * hidden_});
    };
    const TensorId state_bias = has_bias ? bias("Rb") : kNoId;
    if (has_bias) inputs = to_.add(node_, "Add", {inputs, bias("Wb")}, {}, part("input_bias", d));
    std::vector<std::int64_t> ones(static_cast<std::size_t>(steps_), 1);
    TensorId step_inputs = inputs;
    if (steps_ > 1) {
      step_inputs = to_.add(node_, "Split", {inputs}, {{"axis", std::int64_t{0}}, {"sizes", ones}},
                            part("split", d));
    }
    const auto graph_input = [&](const char* name) {
      return to_.graph().add_input(node_.name + "." + part(name, d), {batch_, hidden_},
                                   DType::kFp32);
    };
    TensorId state = graph_input("state");
    TensorId memory = gates_ == 4 ? graph_input("memory") : kNoId;
    std::vector<TensorId> states;
    for (std::int64_t t = 0; t < steps_; ++t) {
      const TensorId here = to_.reshape(node_, step_inputs + static_cast<TensorId>(t),
                                        {batch_, gates_ * hidden_}, part("step", d, t));
      TensorId sum =
          to_.add(node_, "MatMul", {state, state_weights}, transposed, part("state", d, t));
      if (has_bias) sum = to_.add(node_, "Add", {sum, state_bias}, {}, part("state_bias", d, t));
      sum = to_.add(node_, "Add", {sum, here}, {}, part("sum", d, t));
      state = gates(sum, state, &memory, d, t);
      states.push_back(to_.reshape(node_, state, {1, batch_, 1, hidden_}, part("out", d, t)));
    }
    all->push_back(join(states, 0, part("all", d)));
    last->push_back(to_.reshape(node_, state, {1, batch_, hidden_}, part("last", d)));
    if (memory != kNoId)
      cell->push_back(to_.reshape(node_, memory, {1, batch_, hidden_}, part("cell", d)));
  }

  // The gates and, with them, the next state.
  TensorId gates(TensorId sum, TensorId state, TensorId* memory, std::int64_t d, std::int64_t t) {
    const auto op = [&](const char* kind, std::vector<TensorId> inputs, const char* name) {
      return to_.add(node_, kind, std::move(inputs), {}, part(name, d, t));
    };
    if (gates_ == 1) return op("Tanh", {sum}, "tanh");
    const std::int64_t sigmoids = gates_ - 1;
    const TensorId parts =
        to_.add(node_, "Split", {sum},
                {{"axis", std::int64_t{1}},
                 {"sizes", std::vector<std::int64_t>{sigmoids * hidden_, hidden_}}},
                part("gates", d, t));
    const TensorId open = op("Sigmoid", {parts}, "sigmoid");
    const TensorId pieces =
        to_.add(node_, "Split", {open},
                {{"axis", std::int64_t{1}},
                 {"sizes", std::vector<std::int64_t>(static_cast<std::size_t>(sigmoids), hidden_)}},
                part("pieces", d, t));
    const TensorId candidate = op("Tanh", {parts + 1}, "tanh");
    if (gates_ == 3) {  // z * h + (1 - z) * candidate
      const TensorId difference = op("Sub", {state, candidate}, "difference");
      const TensorId kept = op("Mul", {pieces, difference}, "kept");
      return op("Add", {kept, candidate}, "next");
    }
    const TensorId kept = op("Mul", {pieces + 2, *memory}, "kept");
    const TensorId added = op("Mul", {pieces, candidate}, "added");
    *memory = op("Add", {kept, added}, "memory");
    return op("Mul", {pieces + 1, op("Tanh", {*memory}, "memory_tanh")}, "next");
  }

  // Up to 64 tensors are joined at once.
  TensorId join(std::vector<TensorId> parts, std::int64_t axis, const std::string& name) {
    constexpr std::size_t kMost = 64;
    for (int round = 0; parts.size() > 1; ++round) {
      std::vector<TensorId> joined;
      for (std::size_t first = 0; first < parts.size(); first += kMost) {
        const std::size_t end = std::min(parts.size(), first + kMost);
        const std::vector<TensorId> some(parts.begin() + static_cast<std::ptrdiff_t>(first),
                                         parts.begin() + static_cast<std::ptrdiff_t>(end));
        joined.push_back(some.size() == 1 ? some[0]
                                          : to_.add(node_, "Concat", some, {{"axis", axis}},
                                                    name + "." + std::to_string(round) + "." +
                                                        std::to_string(first)));
      }
      parts = std::move(joined);
    }
    return parts[0];
  }

  // Output `index` of the node, of all directions.
  void give(std::size_t index, const std::vector<TensorId>& parts, const Shape& shape) {
    if (index >= node_.outputs.size() || node_.outputs[index].empty() || parts.empty()) return;
    const std::int64_t axis = shape.empty() ? 0 : 2;
    TensorId y = join(parts, axis, "output." + std::to_string(index));
    if (index == 0) {
      y = to_.transpose(node_, y,
                        batch_first_ ? std::vector<std::int64_t>{1, 0, 2, 3}
                                     : std::vector<std::int64_t>{0, 2, 1, 3},
                        "y");
    }
    if (index > 0 && batch_first_)
      y = to_.transpose(node_, y, {1, 0, 2}, "y" + std::to_string(index));
    to_.set(node_.outputs[index], y);
  }

  OnnxTranslator& to_;
  const OnnxNode& node_;
  std::int64_t gates_;
  bool batch_first_ = false;
  std::int64_t steps_ = 0, batch_ = 0, directions_ = 0, hidden_ = 0;
};

}  // namespace

void add_recurrent_rules(OnnxRules& rules) {
  for (const char* name : {"LSTM", "GRU", "RNN"})
    rules[name] = [](OnnxTranslator& to, const OnnxNode& node) { Recurrent(to, node).run(); };
}

}  // namespace foretell
