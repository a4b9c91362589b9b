#include "workloads/import/onnx/onnx_graph.hpp"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/onnx/onnx_file.hpp"
#include "workloads/import/onnx/onnx_tensor.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kOldestOpset = 7;
constexpr const char* kTrainingDomain = "ai.onnx.preview.training";

onnx::TypeProto type_of(const Shape& shape, int element_type) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(element_type);
  onnx::TensorShapeProto* dims = type.mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : shape) dims->add_dim()->set_dim_value(size);
  return type;
}

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

class Loader {
 public:
  Loader(std::string path, const DimensionSizes& sizes)
      : path_(std::move(path)), sizes_(sizes), model_(read_onnx_file(path_)) {}

  OnnxGraph run() {
    const onnx::GraphProto& graph = model_->graph();
    result_.name = graph.name();
    read_opsets();
    for (const onnx::TensorProto& tensor : graph.initializer()) add_initializer(tensor);
    for (const onnx::ValueInfoProto& input : graph.input()) {
      if (!is_known(input.name())) add_input(input);
    }
    for (const onnx::ValueInfoProto& info : graph.value_info()) declared_[info.name()] = &info;
    for (const onnx::ValueInfoProto& info : graph.output()) declared_[info.name()] = &info;
    for (const int index : ordered_nodes()) add_node(index);
    for (const onnx::ValueInfoProto& output : graph.output()) {
      if (!is_known(output.name())) fail("output '" + output.name() + "' is computed by no node");
      result_.outputs.push_back(output.name());
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(path_ + ": " + message);
  }

  [[noreturn]] void fail(const OnnxNode& node, const std::string& message) const {
    fail("node '" + node.name + "' (" + node.type + "): " + message);
  }

  bool is_known(const std::string& name) const { return result_.tensors.count(name) > 0; }

  void read_opsets() {
    for (const onnx::OperatorSetIdProto& opset : model_->opset_import()) {
      const std::string& domain = opset.domain();
      opsets_[domain] = static_cast<int>(opset.version());
      if (domain.empty() || domain == "ai.onnx") result_.opset = opset.version();
    }
    if (result_.opset == 0 && opsets_.empty()) result_.opset = 1;
    opsets_[""] = static_cast<int>(result_.opset);
    if (result_.opset > 0 && result_.opset < kOldestOpset) {
      result_.notes.push_back("opset " + std::to_string(result_.opset) +
                              " is older than 7, from which on operators are known");
    }
  }

  void add_initializer(const onnx::TensorProto& proto) {
    const std::optional<DType> dtype = dtype_of(proto.data_type());
    if (!dtype) {
      fail("initialiser '" + proto.name() + "' has element type " +
           std::to_string(proto.data_type()) + ", which no device computes in");
    }
    OnnxTensor tensor;
    tensor.shape.assign(proto.dims().begin(), proto.dims().end());
    for (const std::int64_t size : tensor.shape) {
      if (size < 0) fail("initialiser '" + proto.name() + "' has shape " + to_string(tensor.shape));
    }
    tensor.dtype = *dtype;
    tensor.is_weight = true;
    tensor.constant = constant_of(proto);
    define(proto.name(), std::move(tensor), proto.data_type());
  }

  void define(const std::string& name, OnnxTensor tensor, int element_type) {
    const bool is_negative = std::any_of(tensor.shape.begin(), tensor.shape.end(),
                                         [](std::int64_t size) { return size < 0; });
    if (is_negative) fail("tensor '" + name + "' has shape " + to_string(tensor.shape));
    element_count(tensor.shape);
    if (tensor.constant) protos_[name] = proto_of(*tensor.constant);
    if (tensor.constant) data_[name] = &protos_[name];
    types_[name] = type_of(tensor.shape, element_type);
    // Values are handed over as 64-bit integers or single precision.
    if (tensor.constant && protos_[name].data_type() != element_type && tensor.constant->is_integer)
      types_[name].mutable_tensor_type()->set_elem_type(element_type);
    type_pointers_[name] = &types_[name];
    result_.tensors[name] = std::move(tensor);
  }

  void add_input(const onnx::ValueInfoProto& input) {
    if (!input.type().has_tensor_type())
      fail("input '" + input.name() + "' is no tensor but a sequence, a map or optional");
    const onnx::TypeProto::Tensor& type = input.type().tensor_type();
    const std::optional<DType> dtype = dtype_of(type.elem_type());
    if (!dtype) {
      fail("input '" + input.name() + "' has element type " + std::to_string(type.elem_type()) +
           ", which no device computes in");
    }
    if (!type.has_shape()) fail("input '" + input.name() + "' has no shape");
    OnnxTensor tensor;
    for (int axis = 0; axis < type.shape().dim_size(); ++axis)
      tensor.shape.push_back(size_of_dimension(input.name(), axis, type.shape().dim(axis)));
    tensor.dtype = *dtype;
    const auto nothing = std::find(tensor.shape.begin(), tensor.shape.end(), 0);
    if (tensor.shape.size() == 1 && nothing != tensor.shape.end())
      tensor.constant = OnnxConstant{tensor.shape, {}, !is_real(type.elem_type())};
    define(input.name(), std::move(tensor), type.elem_type());
    result_.inputs.push_back(input.name());
  }

  std::int64_t size_of_dimension(const std::string& input, int axis,
                                 const onnx::TensorShapeProto::Dimension& dimension) {
    if (dimension.has_dim_value() && dimension.dim_value() >= 0) return dimension.dim_value();
    const std::string name = dimension.has_dim_param() && !dimension.dim_param().empty()
                                 ? dimension.dim_param()
                                 : input + "." + std::to_string(axis);
    const auto given = sizes_.find(name);
    if (given != sizes_.end()) return given->second;
    const std::string lower = to_lower(name);
    const auto contains = [&lower](std::string_view part) {
      return lower.find(part) != std::string::npos;
    };
    const bool is_batch = contains("batch") || lower == "n" || lower == "b" ||
                          (!dimension.has_dim_param() && axis == 0);
    const bool is_sequence = contains("seq") || lower == "s" || lower == "l" || contains("token");
    const auto bound = sizes_.find(is_batch ? "batch" : "seq");
    if ((is_batch || is_sequence) && bound != sizes_.end()) return bound->second;
    fail("dimension '" + name + "' (axis " + std::to_string(axis) + " of input '" + input +
         "') is left open: give --dim " + name + "=SIZE");
  }

  // Nodes in an order in which each comes after those it reads from.
  std::vector<int> ordered_nodes() const {
    const onnx::GraphProto& graph = model_->graph();
    std::unordered_map<std::string, int> producer;
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& output : graph.node(i).output()) {
        if (output.empty()) continue;
        if (is_known(output) || !producer.emplace(output, i).second)
          fail("tensor '" + output + "' is defined more than once");
      }
    }
    std::vector<int> waiting(static_cast<std::size_t>(graph.node_size()), 0);
    std::vector<std::vector<int>> readers(waiting.size());
    std::deque<int> ready;
    std::vector<int> order;
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& input : graph.node(i).input()) {
        if (input.empty() || is_known(input)) continue;
        const auto found = producer.find(input);
        if (found == producer.end()) {
          fail("node '" + neutral(graph.node(i), static_cast<std::size_t>(i)).name + "' (" +
               graph.node(i).op_type() + ") reads tensor '" + input + "', which nothing defines");
        }
        ++waiting[static_cast<std::size_t>(i)];
        readers[static_cast<std::size_t>(found->second)].push_back(i);
      }
      if (waiting[static_cast<std::size_t>(i)] == 0) ready.push_back(i);
    }
    for (; !ready.empty(); ready.pop_front()) {
      order.push_back(ready.front());
      for (const int reader : readers[static_cast<std::size_t>(ready.front())]) {
        if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
      }
    }
    if (order.size() < waiting.size()) {
      const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; });
      const auto index = static_cast<std::size_t>(stuck - waiting.begin());
      fail("node '" + neutral(graph.node(static_cast<int>(index)), index).name +
           "' is part of a cycle, or behind one");
    }
    return order;
  }

  void add_node(int index) {
    onnx::NodeProto& proto = *model_->mutable_graph()->mutable_node(index);
    OnnxNode node = neutral(proto, static_cast<std::size_t>(index));
    if (!proto.domain().empty() && proto.domain() != "ai.onnx" &&
        proto.domain() != "com.microsoft" && proto.domain() != kTrainingDomain) {
      fail(node, "operators of domain '" + proto.domain() +
                     "' are not known; export the network with those of ai.onnx alone");
    }
    if (node.type == "Constant") return add_constant(node, proto);
    std::vector<const OnnxTensor*> inputs;
    bool all_known = !node.inputs.empty();
    for (const std::string& input : node.inputs) {
      inputs.push_back(input.empty() ? nullptr : &result_.tensor(input));
      all_known = all_known && (input.empty() || inputs.back()->is_weight);
    }
    const std::vector<onnx::TypeProto> types = infer(node, proto);
    if (const auto folded = fold_onnx(node, inputs)) {
      for (std::size_t i = 0; i < folded->size(); ++i) define_folded(node.outputs[i], (*folded)[i]);
      return;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const auto type = i < types.size() ? types[i] : onnx::TypeProto();
      define_result(node, node.outputs[i], type, all_known && node.type != "RandomNormalLike");
    }
    if (!all_known) result_.nodes.push_back(std::move(node));
  }

  void define_folded(const std::string& name, const OnnxConstant& constant) {
    OnnxTensor tensor;
    tensor.shape = constant.shape;
    tensor.dtype = constant.is_integer ? DType::kInt64 : DType::kFp32;
    tensor.is_weight = true;
    tensor.constant = constant;
    define(name, std::move(tensor),
           constant.is_integer ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
  }

  void add_constant(const OnnxNode& node, const onnx::NodeProto& proto) {
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      OnnxConstant constant;
      if (attribute.name() == "value" && attribute.has_t()) {
        onnx::TensorProto tensor = attribute.t();
        tensor.set_name(node.outputs.at(0));
        return add_initializer(tensor);
      }
      if (attribute.name() == "value_int" || attribute.name() == "value_float") {
        constant.is_integer = attribute.name() == "value_int";
        constant.values = {constant.is_integer ? static_cast<long double>(attribute.i())
                                               : static_cast<long double>(attribute.f())};
        return define_folded(node.outputs.at(0), constant);
      }
      if (attribute.name() == "value_ints" || attribute.name() == "value_floats") {
        constant.is_integer = attribute.name() == "value_ints";
        constant.values.assign(attribute.ints().begin(), attribute.ints().end());
        constant.values.insert(constant.values.end(), attribute.floats().begin(),
                               attribute.floats().end());
        constant.shape = {static_cast<std::int64_t>(constant.values.size())};
        return define_folded(node.outputs.at(0), constant);
      }
    }
    fail(node, "its value is sparse or text, which is not supported");
  }

  // The library counts spatial axes from both without looking.
  void check_axes(const OnnxNode& node) const {
    const bool convolves = node.type.find("Conv") != std::string::npos;
    if (!convolves && node.type.find("Pool") == std::string::npos) return;
    const std::size_t weight = node.type == "QLinearConv" ? 3 : 1;
    if (!node.has_input(0)) fail(node, "has no input");
    const std::size_t rank = result_.tensor(node.inputs[0]).shape.size();
    if (rank < 3) fail(node, "'" + node.inputs[0] + "' has no spatial axes");
    if (convolves && node.has_input(weight) &&
        result_.tensor(node.inputs[weight]).shape.size() != rank)
      fail(node, "its weight has another number of axes than '" + node.inputs[0] + "'");
  }

  // The library divides by these without looking.
  void check_divisors(const OnnxNode& node) const {
    for (const char* name : {"strides", "dilations", "kernel_shape"}) {
      for (const std::int64_t value : node.integers(name, {})) {
        if (value < 1) fail(node, std::string(name) + " must be at least 1");
      }
    }
    for (const char* name : {"group", "blocksize", "num_outputs", "num_heads"}) {
      if (node.integer(name, 1) < 1) fail(node, std::string(name) + " must be at least 1");
    }
  }

  // Types of the outputs by the rules of the library; empty where it knows the operator no more.
  std::vector<onnx::TypeProto> infer(const OnnxNode& node, onnx::NodeProto& proto) {
    const std::string domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
    const auto opset = opsets_.find(domain);
    const onnx::OpSchema* schema =
        opset == opsets_.end()
            ? nullptr
            : onnx::OpSchemaRegistry::Schema(proto.op_type(), opset->second, domain);
    if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return {};
    check_divisors(node);
    check_axes(node);
    if (proto.input_size() < schema->min_input() || proto.output_size() < schema->min_output())
      fail(node, "has fewer inputs or results than the operator");
    onnx::NodeProto adapted = adapt(proto);
    onnx::shape_inference::InferenceContextImpl context(adapted, type_pointers_, data_, {});
    try {
      schema->GetTypeAndShapeInferenceFunction()(context);
    } catch (const std::exception& error) {
      fail(node, std::string("its shapes do not fit: ") + error.what());
    }
    return context.allOutputTypes_;
  }

  // Operators of later opsets in the form in which the library knows them.
  onnx::NodeProto adapt(const onnx::NodeProto& proto) const {
    onnx::NodeProto adapted = proto;
    const bool takes_axes = proto.op_type().rfind("Reduce", 0) == 0 && result_.opset >= 18;
    if (takes_axes && proto.input_size() > 1 && proto.op_type() != "ReduceSum") {
      const auto data = data_.find(proto.input(1));
      onnx::AttributeProto* axes = adapted.add_attribute();
      axes->set_name("axes");
      axes->set_type(onnx::AttributeProto::INTS);
      if (data != data_.end()) *axes->mutable_ints() = data->second->int64_data();
      adapted.mutable_input()->RemoveLast();
    }
    return adapted;
  }

  void define_result(const OnnxNode& node, const std::string& name, const onnx::TypeProto& inferred,
                     bool is_weight) {
    const auto found = declared_.find(name);
    const onnx::TypeProto* declared = found == declared_.end() ? nullptr : &found->second->type();
    if (!inferred.has_tensor_type() && inferred.value_case() != onnx::TypeProto::VALUE_NOT_SET)
      fail(node, "sequences, maps and optional values are not supported");
    if (declared != nullptr && !declared->has_tensor_type() &&
        declared->value_case() != onnx::TypeProto::VALUE_NOT_SET)
      fail(node, "sequences, maps and optional values are not supported");
    const Shape shape = merged_shape(node, name, inferred, declared);
    int element_type = inferred.tensor_type().elem_type();
    if (element_type == 0 && declared != nullptr)
      element_type = declared->tensor_type().elem_type();
    if (element_type == 0) element_type = onnx::TensorProto::FLOAT;
    const std::optional<DType> dtype = dtype_of(element_type);
    if (!dtype) {
      fail(node, "its result has element type " + std::to_string(element_type) +
                     ", which no device computes in");
    }
    OnnxTensor tensor;
    tensor.shape = shape;
    tensor.dtype = *dtype;
    tensor.is_weight = is_weight;
    define(name, std::move(tensor), element_type);
  }

  Shape merged_shape(const OnnxNode& node, const std::string& name, const onnx::TypeProto& inferred,
                     const onnx::TypeProto* declared) const {
    const bool has_inferred = inferred.has_tensor_type() && inferred.tensor_type().has_shape();
    const bool has_declared =
        declared != nullptr && declared->has_tensor_type() && declared->tensor_type().has_shape();
    if (!has_inferred && !has_declared) unknown_shape(node, name);
    const onnx::TensorShapeProto& first =
        has_inferred ? inferred.tensor_type().shape() : declared->tensor_type().shape();
    Shape shape;
    for (int axis = 0; axis < first.dim_size(); ++axis) {
      const onnx::TensorShapeProto::Dimension* other = nullptr;
      if (has_inferred && has_declared &&
          declared->tensor_type().shape().dim_size() == first.dim_size())
        other = &declared->tensor_type().shape().dim(axis);
      const bool known = first.dim(axis).has_dim_value();
      const bool other_known = other != nullptr && other->has_dim_value();
      if (known && other_known && first.dim(axis).dim_value() != other->dim_value()) {
        fail(node, "axis " + std::to_string(axis) + " of '" + name + "' is " +
                       std::to_string(first.dim(axis).dim_value()) + " by its inputs, but " +
                       std::to_string(other->dim_value()) + " as the file declares it");
      }
      if (!known && !other_known) unknown_shape(node, name);
      shape.push_back(known ? first.dim(axis).dim_value() : other->dim_value());
      if (shape.back() < 0) fail(node, "its result '" + name + "' has shape " + to_string(shape));
    }
    return shape;
  }

  [[noreturn]] void unknown_shape(const OnnxNode& node, const std::string& name) const {
    fail(node, "the shape of its result '" + name +
                   "' depends on data or on a rule that is not known: no mapping");
  }

  std::string path_;
  const DimensionSizes& sizes_;
  std::shared_ptr<onnx::ModelProto> model_;
  std::unordered_map<std::string, int> opsets_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  std::unordered_map<std::string, onnx::TypeProto> types_;
  std::unordered_map<std::string, onnx::TypeProto*> type_pointers_;
  std::unordered_map<std::string, onnx::TensorProto> protos_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_;
  OnnxGraph result_;
};

}  // namespace

bool OnnxTensor::is_number() const { return constant && constant->values.size() == 1; }

std::int64_t OnnxNode::integer(const std::string& attribute, std::int64_t otherwise) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return otherwise;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? otherwise : *value;
}

double OnnxNode::number(const std::string& attribute, double otherwise) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return otherwise;
  const auto* value = std::get_if<double>(&found->second);
  return value == nullptr ? otherwise : *value;
}

std::string OnnxNode::text(const std::string& attribute, const std::string& otherwise) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return otherwise;
  const auto* value = std::get_if<std::string>(&found->second);
  return value == nullptr ? otherwise : *value;
}

std::vector<std::int64_t> OnnxNode::integers(const std::string& attribute,
                                             const std::vector<std::int64_t>& otherwise) const {
  const auto found = attributes.find(attribute);
  if (found == attributes.end()) return otherwise;
  const auto* value = std::get_if<std::vector<std::int64_t>>(&found->second);
  return value == nullptr ? otherwise : *value;
}

OnnxGraph load_onnx(const std::string& path, const DimensionSizes& sizes) {
  return Loader(path, sizes).run();
}

}  // namespace foretell
