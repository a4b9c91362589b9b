#include "workloads/import/onnx/onnx_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/onnx/onnx_tensor.hpp"

namespace foretell {

OnnxNode neutral(const onnx::NodeProto& proto, std::size_t index) {
  OnnxNode node;
  node.type = proto.op_type();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  node.name = proto.name();
  if (node.name.empty() && proto.output_size() > 0) node.name = proto.output(0);
  if (node.name.empty()) node.name = node.type + "." + std::to_string(index);
  for (const onnx::AttributeProto& attribute : proto.attribute()) {
    Attribute& value = node.attributes[attribute.name()];
    switch (attribute.type()) {
      case onnx::AttributeProto::FLOAT:
        value = static_cast<double>(attribute.f());
        break;
      case onnx::AttributeProto::INT:
        value = attribute.i();
        break;
      case onnx::AttributeProto::STRING:
        value = attribute.s();
        break;
      case onnx::AttributeProto::INTS:
        value = std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
        break;
      case onnx::AttributeProto::TENSOR: {  // ConstantOfShape: one element
        const auto constant = constant_of(attribute.t());
        if (constant && constant->values.size() == 1 && constant->is_integer)
          value = static_cast<std::int64_t>(constant->values[0]);
        if (constant && constant->values.size() == 1 && !constant->is_integer)
          value = static_cast<double>(constant->values[0]);
        break;
      }
      default:
        node.attributes.erase(attribute.name());
    }
  }
  return node;
}

std::string reader_of(const onnx::GraphProto& graph, const std::string& tensor) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    if (std::find(node.input().begin(), node.input().end(), tensor) == node.input().end()) continue;
    return " of node '" + neutral(node, static_cast<std::size_t>(i)).name + "' (" + node.op_type() +
           ")";
  }
  return "";
}

std::string role_of_dimension(const std::string& name, bool is_named, int axis) {
  const std::string lower = to_lower(name);
  const auto contains = [&lower](std::string_view part) {
    return lower.find(part) != std::string::npos;
  };
  const bool is_batch =
      contains("batch") || lower == "n" || lower == "b" || (!is_named && axis == 0);
  if (is_batch) return "batch";
  const bool is_sequence = contains("seq") || lower == "s" || lower == "l" || contains("token");
  return is_sequence ? "seq" : "";
}

std::string note_of_opset(std::int64_t opset) {
  constexpr std::int64_t kOldest = 7;
  constexpr std::int64_t kNewest = 20;
  if (opset > 0 && opset < kOldest) {
    return fmt::format("opset {} is older than {}, from which on operators are known", opset,
                       kOldest);
  }
  if (opset <= kNewest) return "";
  return fmt::format("opset {} is newer than {}: operators are read as they were in {}", opset,
                     kNewest, kNewest);
}

void check_sizes(const std::string& path, const DimensionSizes& sizes,
                 const std::vector<std::string>& open) {
  const std::string trips = trips_of_loop("");
  for (const auto& [name, size] : sizes) {
    const bool is_of_run = name == "batch" || name == "seq" || starts_with(name, trips);
    if (is_of_run || std::find(open.begin(), open.end(), name) != open.end()) continue;
    throw UserError(path + ": --dim " + name +
                    ": no dimension that the file leaves open has this name" +
                    (open.empty() ? "; it leaves none open" : "; they are: " + join(open, ", ")));
  }
}

std::string wrong_divisor(const OnnxNode& node) {
  for (const char* name : {"strides", "dilations", "kernel_shape"}) {
    for (const std::int64_t value : node.integers(name, {})) {
      if (value < 1) return std::string(name) + " must be at least 1";
    }
  }
  for (const char* name : {"group", "blocksize", "num_outputs", "num_heads"}) {
    if (node.integer(name, 1) < 1) return std::string(name) + " must be at least 1";
  }
  return "";
}

std::string wrong_axes(const OnnxNode& node, const OnnxGraph& graph) {
  constexpr std::size_t kBesideSpace = 2;  // samples and channels
  const bool convolves = node.type.find("Conv") != std::string::npos;
  if (!convolves && node.type.find("Pool") == std::string::npos) return "";
  if (!node.has_input(0)) return "has no input";
  const std::size_t rank = graph.tensor(node.inputs[0]).shape.size();
  if (rank <= kBesideSpace) return "'" + node.inputs[0] + "' has no spatial axes";
  const std::size_t spatial = rank - kBesideSpace;
  for (const auto& [name, length] : {std::pair<const char*, std::size_t>{"kernel_shape", spatial},
                                     {"strides", spatial},
                                     {"dilations", spatial},
                                     {"pads", 2 * spatial}}) {
    const std::size_t given = node.integers(name, {}).size();
    if (given > 0 && given != length) {
      return std::string(name) + " has " + std::to_string(given) + " numbers, needs " +
             std::to_string(length);
    }
  }
  const std::size_t weight = node.type == "QLinearConv" ? 3 : 1;
  if (!convolves || !node.has_input(weight)) return "";
  const Shape& window = graph.tensor(node.inputs[weight]).shape;
  if (window.size() != rank) {
    return "its weight has another number of axes than '" + node.inputs[0] + "'";
  }
  const Shape stated = node.integers("kernel_shape", {});
  if (!stated.empty() && !std::equal(stated.begin(), stated.end(), window.begin() + kBesideSpace))
    return "kernel_shape is not that of its weight";
  return "";
}

onnx::NodeProto adapted_node(const onnx::NodeProto& node, std::int64_t opset,
                             const onnx::TensorProto* axes) {
  constexpr std::int64_t kAxesAreInput = 18;  // opset
  onnx::NodeProto adapted = node;
  const bool takes_axes = node.op_type().rfind("Reduce", 0) == 0 && opset >= kAxesAreInput;
  if (!takes_axes || node.input_size() < 2 || node.op_type() == "ReduceSum") return adapted;
  onnx::AttributeProto* attribute = adapted.add_attribute();
  attribute->set_name("axes");
  attribute->set_type(onnx::AttributeProto::INTS);
  if (axes != nullptr) *attribute->mutable_ints() = axes->int64_data();
  adapted.mutable_input()->RemoveLast();
  return adapted;
}

bool is_known_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx" || domain == "com.microsoft" ||
         domain == "ai.onnx.preview.training";
}

std::vector<std::string> captured_names(const onnx::NodeProto& node) {
  std::vector<std::string> names;
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const onnx::NodeProto& inner : attribute.g().node()) {
      names.insert(names.end(), inner.input().begin(), inner.input().end());
      for (std::string& name : captured_names(inner)) names.push_back(std::move(name));
    }
    for (const onnx::ValueInfoProto& output : attribute.g().output())
      names.push_back(output.name());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<OnnxTensor> results_of(const OnnxGraph& graph) {
  std::vector<OnnxTensor> results;
  for (const std::string& output : graph.outputs) results.push_back(graph.tensor(output));
  return results;
}

std::string trips_of_loop(const std::string& name) { return "trips " + name; }

std::vector<OnnxTensor> larger_of(const std::vector<OnnxTensor>& a,
                                  const std::vector<OnnxTensor>& b) {
  std::vector<OnnxTensor> larger = a;
  for (std::size_t i = 0; i < larger.size(); ++i) {
    if (element_count(b[i].shape) > element_count(a[i].shape)) larger[i] = b[i];
  }
  return larger;
}

bool never_stops(const OnnxGraph& body) {
  std::string goes_on = body.outputs.front();
  for (auto node = body.nodes.rbegin(); node != body.nodes.rend(); ++node) {
    const bool passes = node->type == "Identity" || node->type == "Cast";
    if (passes && node->outputs.front() == goes_on) goes_on = node->inputs.at(0);
  }
  const OnnxTensor& condition = body.tensor(goes_on);
  return goes_on == body.inputs[1] ||
         (condition.is_number() && condition.constant->values.front() != 0);
}

bool OnnxTensor::is_number() const { return constant && constant->values.size() == 1; }

namespace {

// The value of an attribute that is there and of this type.
template <class T>
T value_or(const std::map<std::string, Attribute>& attributes, const std::string& name,
           const T& otherwise) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return otherwise;
  const auto* value = std::get_if<T>(&found->second);
  return value == nullptr ? otherwise : *value;
}

}  // namespace

std::int64_t OnnxNode::integer(const std::string& attribute, std::int64_t otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

double OnnxNode::number(const std::string& attribute, double otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

std::string OnnxNode::text(const std::string& attribute, const std::string& otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

std::vector<std::int64_t> OnnxNode::integers(const std::string& attribute,
                                             const std::vector<std::int64_t>& otherwise) const {
  return value_or(attributes, attribute, otherwise);
}

}  // namespace foretell
