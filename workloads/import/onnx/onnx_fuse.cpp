#include "workloads/import/onnx/onnx_fuse.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

namespace foretell {
namespace {

class Patterns {
 public:
  explicit Patterns(OnnxGraph* graph) : graph_(*graph) { index(); }

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_.count(i) > 0) continue;
      const std::string& type = graph_.nodes[i].type;
      if (type == "Erf") gelu(i);
      if (type == "Tanh") tanh_gelu(i);
      if (type == "Sigmoid") silu(i);
      if (type == "Sqrt") norm(i);
      if (type == "DequantizeLinear") dequantise(i);
      if (type == "IsNaN") nan_guard(i);
      if (type == "Softmax") masked_scores(i);
      if (type == "InstanceNormalization") group_norm(i);
      if (type == "MatMul") transposed_operand(i);
    }
    std::vector<OnnxNode> kept;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone_.count(i) == 0) kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(kept);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void index() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string& output : graph_.nodes[i].outputs) producer_[output] = i;
      for (const std::string& input : graph_.nodes[i].inputs) readers_[input].push_back(i);
    }
    for (const std::string& output : graph_.outputs) readers_[output].push_back(kNone);
  }

  std::size_t producer(const std::string& name) const {
    const auto found = producer_.find(name);
    return found == producer_.end() || gone_.count(found->second) > 0 ? kNone : found->second;
  }

  const OnnxNode& node(std::size_t i) const { return graph_.nodes[i]; }
  bool is(std::size_t i, const char* type) const { return i != kNone && node(i).type == type; }

  // The only reader of what `i` yields.
  std::size_t next(std::size_t i) const {
    const auto found = readers_.find(node(i).outputs.at(0));
    if (found == readers_.end() || found->second.size() != 1) return kNone;
    return found->second[0];
  }

  // The operand of a two-operand node that is not `name`.
  const std::string& other(std::size_t i, const std::string& name) const {
    return node(i).inputs.at(0) == name ? node(i).inputs.at(1) : node(i).inputs.at(0);
  }

  bool is_number(const std::string& name, double value, double tolerance = 1e-3) const {
    const OnnxTensor& tensor = graph_.tensor(name);
    if (!tensor.is_number()) return false;
    const auto number = static_cast<double>(tensor.constant->values[0]);
    return std::abs(number - value) <= tolerance * std::abs(value);
  }

  bool is_number(const std::string& name) const { return graph_.tensor(name).is_number(); }

  // `type`, one operand of which is a number.
  bool is_scaling(std::size_t i, const char* type, const std::string& from) const {
    return is(i, type) && node(i).inputs.size() == 2 && is_number(other(i, from));
  }

  // The last node becomes `type` of the given inputs; the others go.
  void replace(const std::vector<std::size_t>& nodes, std::size_t last, const char* type,
               std::vector<std::string> inputs, std::map<std::string, Attribute> attributes = {}) {
    OnnxNode& kept = graph_.nodes[last];
    kept.type = type;
    kept.inputs = std::move(inputs);
    kept.attributes = std::move(attributes);
    for (const std::size_t i : nodes) {
      if (i != last) gone_.insert(i);
    }
  }

  // x * 0.5 * (1 + erf(x / sqrt 2)), the factors in any order.
  void gelu(std::size_t erf) {
    const std::size_t scale = producer(node(erf).inputs.at(0));
    if (scale == kNone || node(scale).inputs.size() != 2) return;
    const bool divides = is(scale, "Div") && is_number(node(scale).inputs[1], std::sqrt(2.0));
    const bool multiplies = is(scale, "Mul") && (is_number(node(scale).inputs[0], std::sqrt(0.5)) ||
                                                 is_number(node(scale).inputs[1], std::sqrt(0.5)));
    if (!divides && !multiplies) return;
    const std::string x =
        is_number(node(scale).inputs[0]) ? node(scale).inputs[1] : node(scale).inputs[0];
    half_of_one_plus(x, {scale, erf}, erf, "none");
  }

  // x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
  void tanh_gelu(std::size_t tanh) {
    const std::size_t scale = producer(node(tanh).inputs.at(0));
    if (!is(scale, "Mul")) return;
    const double factor = std::sqrt(2.0 / std::acos(-1.0));
    std::string sum_name;
    for (const std::string& input : node(scale).inputs) {
      if (is_number(input, factor)) sum_name = other(scale, input);
    }
    if (sum_name.empty()) return;
    const std::size_t sum = producer(sum_name);
    if (!is(sum, "Add")) return;
    for (const std::string& input : node(sum).inputs) {
      const std::string& cubic_name = other(sum, input);
      const std::size_t cubic = producer(cubic_name);
      if (!is(cubic, "Mul")) continue;
      for (const std::string& number : node(cubic).inputs) {
        if (!is_number(number, 0.044715)) continue;
        const std::size_t power = producer(other(cubic, number));
        std::vector<std::size_t> nodes{scale, tanh, sum, cubic};
        if (!is(power, "Pow") && !is(power, "Mul")) continue;
        nodes.push_back(power);
        if (is(power, "Mul")) {  // x * x * x
          const std::size_t square = producer(other(power, input));
          if (!is(square, "Mul")) continue;
          nodes.push_back(square);
        }
        return half_of_one_plus(input, std::move(nodes), tanh, "tanh");
      }
    }
  }

  void half_of_one_plus(const std::string& x, std::vector<std::size_t> nodes, std::size_t function,
                        const char* formula) {
    const std::size_t plus = next(function);
    if (plus == kNone || !is(plus, "Add") ||
        !is_number(other(plus, node(function).outputs[0]), 1.0))
      return;
    nodes.push_back(plus);
    std::size_t last = plus;
    bool times_x = false;
    bool halved = false;
    for (std::size_t at = next(plus); at != kNone && is(at, "Mul") && !(times_x && halved);
         at = next(at)) {
      const std::string factor = other(at, node(last).outputs[0]);
      const std::size_t before = producer(factor);
      if (factor == x && !times_x) {
        times_x = true;
      } else if (is_number(factor, 0.5) && !halved) {
        halved = true;
      } else if (is_scaling(before, "Mul", x) && !times_x && !halved &&
                 is_number(other(before, x), 0.5)) {  // (0.5 * x) * (1 + …)
        times_x = halved = true;
        nodes.push_back(before);
      } else {
        return;
      }
      nodes.push_back(at);
      last = at;
    }
    if (times_x && halved)
      replace(nodes, last, "Gelu", {x}, {{"approximate", std::string(formula)}});
  }

  void silu(std::size_t sigmoid) {
    const std::string& x = node(sigmoid).inputs.at(0);
    const std::size_t product = next(sigmoid);
    if (!is(product, "Mul") || other(product, node(sigmoid).outputs[0]) != x) return;
    replace({sigmoid, product}, product, "Silu", {x});
  }

  // sqrt(mean(d^2) + epsilon) under d, times gamma, plus beta; d is x less its mean, or x itself.
  void norm(std::size_t root) {
    std::vector<std::size_t> nodes{root};
    const std::size_t shifted = producer(node(root).inputs.at(0));
    if (!is(shifted, "Add")) return;
    std::size_t mean = kNone;
    for (const std::string& input : node(shifted).inputs) {
      if (is(producer(input), "ReduceMean")) mean = producer(input);
    }
    if (mean == kNone || !is_last_axis(mean) || !is_number(other(shifted, node(mean).outputs[0])))
      return;
    const std::size_t square = producer(node(mean).inputs.at(0));
    if (!is(square, "Pow") && !is(square, "Mul")) return;
    const std::string d = node(square).inputs.at(0);
    if (is(square, "Mul") && node(square).inputs.at(1) != d) return;
    nodes.insert(nodes.end(), {shifted, mean, square});
    std::size_t last = next(root);
    if (is(last, "Reciprocal")) {
      nodes.push_back(last);
      last = next(last);
      if (!is(last, "Mul")) return;
    } else if (!is(last, "Div")) {
      return;
    }
    if (std::find(node(last).inputs.begin(), node(last).inputs.end(), d) ==
        node(last).inputs.end()) {
      if (!divides_one(last)) return;
      nodes.push_back(last);
      last = next(last);
      if (!is(last, "Mul")) return;
    }
    nodes.push_back(last);
    finish_norm(d, nodes, last);
  }

  bool divides_one(std::size_t i) const {
    return is(i, "Div") && is_number(node(i).inputs[0], 1.0);
  }

  void finish_norm(const std::string& d, std::vector<std::size_t>& nodes, std::size_t last) {
    const std::size_t centred = producer(d);
    bool is_centred = false;
    std::string x = d;
    if (is(centred, "Sub")) {
      const std::size_t mean = producer(node(centred).inputs.at(1));
      if (is(mean, "ReduceMean") && node(mean).inputs.at(0) == node(centred).inputs.at(0)) {
        is_centred = true;
        x = node(centred).inputs[0];
        nodes.push_back(centred);
        nodes.push_back(mean);
      }
    }
    const std::size_t cast = next(last);  // RMS norms are computed in FP32
    if (is(cast, "Cast") && is(next(cast), "Mul")) {
      nodes.push_back(cast);
      last = cast;
    }
    const std::size_t scaled = next(last);
    const bool has_factor =
        is(scaled, "Mul") && is_parameter(other(scaled, node(last).outputs[0]), x);
    if (!has_factor && is_centred) {
      return replace(nodes, last, "MeanVarianceNormalization", {x},
                     {{"axes", std::vector<std::int64_t>{-1}}});
    }
    if (!has_factor) return;
    const std::string gamma = other(scaled, node(last).outputs[0]);
    nodes.push_back(scaled);
    if (!is_centred) return replace(nodes, scaled, "SimplifiedLayerNormalization", {x, gamma});
    const std::size_t moved = next(scaled);
    if (!is(moved, "Add")) return;
    const std::string& beta = other(moved, node(scaled).outputs[0]);
    if (!is_parameter(beta, x)) return;
    nodes.push_back(moved);
    replace(nodes, moved, "LayerNormalization", {x, gamma, beta});
  }

  // Along the last axis?
  bool is_last_axis(std::size_t mean) const {
    const auto rank =
        static_cast<std::int64_t>(graph_.tensor(node(mean).inputs.at(0)).shape.size());
    std::vector<std::int64_t> axes = node(mean).integers("axes", {});
    if (node(mean).has_input(1) && graph_.tensor(node(mean).inputs[1]).constant) {
      for (const long double axis : graph_.tensor(node(mean).inputs[1]).constant->values)
        axes.push_back(static_cast<std::int64_t>(axis));
    }
    return axes.size() == 1 && (axes[0] == -1 || axes[0] == rank - 1);
  }

  bool is_parameter(const std::string& name, const std::string& x) const {
    const OnnxTensor& tensor = graph_.tensor(name);
    return tensor.is_weight && !graph_.tensor(x).shape.empty() &&
           tensor.shape == Shape{graph_.tensor(x).shape.back()};
  }

  // Keys that are transposed for their product alone: the product reads them as they were.
  // Exporters may scale them in between.
  void transposed_operand(std::size_t i) {
    const std::size_t above = producer(node(i).inputs.at(1));
    const std::size_t scale = scales_transposed(above) && next(above) == i ? above : kNone;
    const std::size_t reader = scale == kNone ? i : scale;
    const std::size_t transpose = scale == kNone ? above : producer(scaled_operand(scale));
    if (!is(transpose, "Transpose") || next(transpose) != reader) return;
    OnnxNode& moved = graph_.nodes[transpose];
    const std::string turned = moved.outputs[0];
    const std::size_t rank = graph_.tensor(turned).shape.size();
    std::vector<std::int64_t> perm = moved.integers("perm", {});
    if (perm.size() != rank || rank < 3 || graph_.tensor(turned).is_weight) return;
    std::swap(perm[rank - 1], perm[rank - 2]);
    swap_last_axes(turned);
    if (scale != kNone) swap_last_axes(node(scale).outputs[0]);
    graph_.nodes[i].attributes["transpose_b"] = std::int64_t{1};
    if (std::is_sorted(perm.begin(), perm.end())) {
      for (std::string& input : graph_.nodes[reader].inputs) {
        if (input == turned) input = moved.inputs.at(0);
      }
      gone_.insert(transpose);
    } else {
      moved.attributes["perm"] = std::move(perm);
    }
  }

  // The operand of a product or quotient with a number; empty for every other node.
  std::string scaled_operand(std::size_t i) const {
    if (!is(i, "Mul") && !is(i, "Div")) return "";
    const std::vector<std::string>& inputs = node(i).inputs;
    if (is_number(inputs.at(1))) return inputs[0];
    return is(i, "Mul") && is_number(inputs[0]) ? inputs[1] : "";
  }

  bool scales_transposed(std::size_t i) const {
    const std::string operand = scaled_operand(i);
    return !operand.empty() && is(producer(operand), "Transpose");
  }

  void swap_last_axes(const std::string& name) {
    Shape& shape = graph_.tensors.at(name).shape;
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  }

  // A mask that puts a large negative number in the place of scores is added to them instead, as
  // the mappings know attention.
  void masked_scores(std::size_t softmax) {
    const std::size_t mask = producer(node(softmax).inputs.at(0));
    if (!is(mask, "Where") || next(mask) != softmax) return;
    for (const std::size_t number : {std::size_t{1}, std::size_t{2}}) {
      const std::string scores = node(mask).inputs.at(3 - number);
      const OnnxTensor& hidden = graph_.tensor(node(mask).inputs.at(number));
      constexpr long double kHides = -1e4L;
      if (!hidden.is_number() || hidden.constant->values[0] > kHides) continue;
      if (graph_.tensor(scores).shape != graph_.tensor(node(mask).outputs[0]).shape) continue;
      return replace({}, mask, "Add", {scores, node(mask).inputs[0]});
    }
  }

  // Zero where softmax has nothing to choose from: the hardware needs no pass for it.
  void nan_guard(std::size_t is_nan) {
    const std::string x = node(is_nan).inputs.at(0);
    const std::size_t guard = next(is_nan);
    if (!is(producer(x), "Softmax") || !is(guard, "Where")) return;
    const bool picks = node(guard).inputs.at(0) == node(is_nan).outputs[0] &&
                       is_number(node(guard).inputs.at(1)) && node(guard).inputs.at(2) == x;
    if (!picks || !read_instead(node(guard).outputs[0], x)) return;
    gone_.insert(is_nan);
    gone_.insert(guard);
  }

  // Groups of channels as the channels of an instance norm, then a factor and an offset for each
  // channel.
  void group_norm(std::size_t instance) {
    const std::size_t grouped = producer(node(instance).inputs.at(0));
    const std::size_t back = next(instance);
    if (!is(grouped, "Reshape") || !is(back, "Reshape")) return;
    const std::string& x = node(grouped).inputs.at(0);
    const Shape& shape = graph_.tensor(x).shape;
    const Shape& groups = graph_.tensor(node(grouped).outputs[0]).shape;
    if (groups.size() != 3 || shape.size() < 3 || groups[0] != shape[0] ||
        graph_.tensor(node(back).outputs[0]).shape != shape)
      return;
    const std::size_t scaled = next(back);
    const std::size_t moved = is(scaled, "Mul") ? next(scaled) : kNone;
    if (!is(moved, "Add")) return;
    const std::string gamma = other(scaled, node(back).outputs[0]);
    const std::string beta = other(moved, node(scaled).outputs[0]);
    for (const std::string* each : {&gamma, &beta}) {
      const OnnxTensor& factors = graph_.tensor(*each);
      if (!factors.is_weight || element_count(factors.shape) != shape[1]) return;
    }
    replace({grouped, instance, back, scaled}, moved, "GroupNormalization", {x, gamma, beta},
            {{"num_groups", groups[1]}});
  }

  // Whoever read `old` reads `now`; not where it leaves the graph.
  bool read_instead(const std::string& old, const std::string& now) {
    const std::vector<std::size_t> readers = readers_[old];
    if (std::count(readers.begin(), readers.end(), kNone) > 0) return false;
    for (const std::size_t reader : readers) {
      for (std::string& input : graph_.nodes[reader].inputs) {
        if (input == old) input = now;
      }
      readers_[now].push_back(reader);
    }
    return true;
  }

  // After a quantise, both go, and the weights of products that read the result are stored in
  // INT8. (Dequantised weights were folded away when the file was read.)
  void dequantise(std::size_t i) {
    const std::size_t quantise = producer(node(i).inputs.at(0));
    if (!is(quantise, "QuantizeLinear")) return;
    const std::string to = node(i).outputs.at(0);
    const std::vector<std::size_t> readers = readers_[to];
    if (!read_instead(to, node(quantise).inputs.at(0))) return;
    for (const std::size_t reader : readers) store_narrow(graph_.nodes[reader]);
    gone_.insert(i);
    const std::vector<std::size_t>& left = readers_[node(quantise).outputs[0]];
    if (std::all_of(left.begin(), left.end(),
                    [this](std::size_t r) { return r != kNone && gone_.count(r) > 0; }))
      gone_.insert(quantise);
  }

  void store_narrow(const OnnxNode& product) {
    const std::string& type = product.type;
    if (type != "MatMul" && type != "Gemm" && type != "Conv" && type != "ConvTranspose") return;
    OnnxTensor& weight = graph_.tensors.at(product.inputs.at(1));
    if (weight.is_weight) weight.dtype = DType::kInt8;
  }

  OnnxGraph& graph_;
  std::unordered_map<std::string, std::size_t> producer_;
  std::unordered_map<std::string, std::vector<std::size_t>> readers_;
  std::set<std::size_t> gone_;
};

}  // namespace

void fuse_onnx_patterns(OnnxGraph* graph) { Patterns(graph).run(); }

void drop_unread_nodes(OnnxGraph* graph) {
  if (!graph->controls.empty()) return;  // bodies read what is around them
  std::set<std::string> read(graph->outputs.begin(), graph->outputs.end());
  std::vector<OnnxNode> kept;  // the last first
  for (auto node = graph->nodes.rbegin(); node != graph->nodes.rend(); ++node) {
    const bool is_read =
        std::any_of(node->outputs.begin(), node->outputs.end(),
                    [&read](const std::string& output) { return read.count(output) > 0; });
    if (!is_read) continue;
    read.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph->nodes = std::move(kept);
}

}  // namespace foretell
