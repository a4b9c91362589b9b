#include "workloads/import/onnx/onnx_graph.hpp"

#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/onnx/onnx_file.hpp"
#include "workloads/import/onnx/onnx_functions.hpp"
#include "workloads/import/onnx/onnx_inputs.hpp"
#include "workloads/import/onnx/onnx_node.hpp"
#include "workloads/import/onnx/onnx_shapes.hpp"
#include "workloads/import/onnx/onnx_tensor.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

constexpr int kDeepestBody = 16;

class Loader {
 public:
  Loader(std::string path, const DimensionSizes& sizes)
      : path_(std::move(path)),
        sizes_(sizes),
        model_(read_onnx_file(path_)),
        graph_(model_->mutable_graph()) {}

  OnnxGraph run() {
    inline_functions(path_, model_.get());
    read_opsets();
    for (const onnx::TensorProto& tensor : graph_->initializer()) add_initializer(tensor);
    for (const onnx::ValueInfoProto& input : graph_->input()) {
      if (!is_known(input.name())) {
        add_input(input);
      } else if (!result_.tensor(input.name()).is_weight) {
        fail("input '" + input.name() + "' is defined more than once");
      }
    }
    check_sizes(path_, sizes_, open_);
    return read_nodes();
  }

 private:
  OnnxGraph read_nodes() {
    const onnx::GraphProto& graph = *graph_;
    result_.name = graph.name();
    for (const onnx::ValueInfoProto& info : graph.value_info()) declared_[info.name()] = &info;
    for (const onnx::ValueInfoProto& info : graph.output()) declared_[info.name()] = &info;
    for (const int index : ordered_nodes()) add_node(index);
    for (const onnx::ValueInfoProto& output : graph.output()) {
      if (!is_known(output.name())) fail("output '" + output.name() + "' is computed by no node");
      result_.outputs.push_back(output.name());
    }
    return std::move(result_);
  }

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
    const std::string note = note_of_opset(result_.opset);
    if (!note.empty()) result_.notes.push_back(note);
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
    if (!input.type().has_tensor_type()) {
      fail("input '" + input.name() + "'" + reader_of(*graph_, input.name()) +
           " is no tensor but a sequence, a map or optional");
    }
    const onnx::TypeProto::Tensor& type = input.type().tensor_type();
    const std::optional<DType> dtype = dtype_of(type.elem_type());
    if (!dtype) {
      fail("input '" + input.name() + "'" + reader_of(*graph_, input.name()) +
           " has element type " + std::to_string(type.elem_type()) +
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
    const OnnxDimension known = onnx_dimension(input, axis, dimension);
    if (known.size) return *known.size;
    const std::string& name = known.name;
    open_.push_back(name);
    const auto given = sizes_.find(name);
    if (given != sizes_.end()) return given->second;
    const auto bound = sizes_.find(known.is_batch ? "batch" : "seq");
    if ((known.is_batch || known.is_sequence) && bound != sizes_.end()) return bound->second;
    fail("dimension '" + name + "' (axis " + std::to_string(axis) + " of input '" + input +
         "') is left open: give --dim " + name + "=SIZE");
  }

  // Nodes in an order in which each comes after those it reads from.
  std::vector<int> ordered_nodes() const {
    const onnx::GraphProto& graph = *graph_;
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
      for (const std::string& name : captured_names(graph.node(i))) {
        const auto found = producer.find(name);
        if (found == producer.end() || found->second == i) continue;
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
           "' is part of a cycle, or after one");
    }
    return order;
  }

  // The body of a branch or a loop sees the tensors around it; `given` are its inputs.
  OnnxGraph read_body(const OnnxNode& node, const char* attribute, std::vector<OnnxTensor> given,
                      onnx::NodeProto& proto) const {
    onnx::GraphProto* body = nullptr;
    for (onnx::AttributeProto& each : *proto.mutable_attribute()) {
      if (each.name() == attribute && each.has_g()) body = each.mutable_g();
    }
    if (body == nullptr) fail(node, std::string("it has no ") + attribute);
    if (static_cast<std::size_t>(body->input_size()) != given.size()) {
      fail(node, "its body has " + std::to_string(body->input_size()) + " inputs, needs " +
                     std::to_string(given.size()));
    }
    if (depth_ >= kDeepestBody) fail(node, "branches and loops are nested too deeply");
    Loader inner(*this);
    inner.graph_ = body;
    inner.depth_ = depth_ + 1;
    inner.result_ = {};
    inner.result_.opset = result_.opset;
    inner.result_.tensors = result_.tensors;
    for (const onnx::TensorProto& tensor : body->initializer()) inner.add_initializer(tensor);
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i].is_weight = false;
      given[i].constant.reset();
      inner.define(body->input(static_cast<int>(i)).name(), given[i], element_of(given[i].dtype));
      inner.result_.inputs.push_back(body->input(static_cast<int>(i)).name());
    }
    return inner.read_nodes();
  }

  void define_control_results(const OnnxNode& node, const std::vector<OnnxTensor>& results) {
    if (results.size() < node.outputs.size()) fail(node, "its body has too few outputs");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      OnnxTensor tensor;
      tensor.shape = results[i].shape;
      tensor.dtype = results[i].dtype;
      if (!node.outputs[i].empty())
        define(node.outputs[i], std::move(tensor), element_of(results[i].dtype));
    }
  }

  void add_branch(const OnnxNode& node, onnx::NodeProto& proto) {
    OnnxControl control{node.name, node.type, {}, {}};
    const OnnxTensor& condition = result_.tensor(node.inputs.at(0));
    if (condition.is_number()) control.known = condition.constant->values.front() != 0 ? 1 : 0;
    control.bodies.push_back(read_body(node, "then_branch", {}, proto));
    control.bodies.push_back(read_body(node, "else_branch", {}, proto));
    const std::vector<OnnxTensor> results = results_of(control.bodies[0]);
    const std::vector<OnnxTensor> others = results_of(control.bodies[1]);
    if (results.size() != others.size()) fail(node, "its branches differ in their outputs");
    define_control_results(node, larger_of(results, others));  // which holds either
    result_.controls.push_back(std::move(control));
  }

  // Values that go from trip to trip, then one of each trip one after another.
  void add_loop(const OnnxNode& node, onnx::NodeProto& proto) {
    OnnxControl control{node.name, node.type, {}, {}};
    std::vector<OnnxTensor> given(2);
    given[0].dtype = DType::kInt64;
    given[1].dtype = DType::kBool;
    for (std::size_t i = 2; i < node.inputs.size(); ++i)
      given.push_back(result_.tensor(node.inputs[i]));
    const std::size_t carried = given.size() - 2;
    control.bodies.push_back(read_body(node, "body", std::move(given), proto));
    const OnnxGraph& body = control.bodies.front();
    if (body.outputs.empty()) fail(node, "its body has no condition");
    if (never_stops(body) && node.has_input(0) && result_.tensor(node.inputs[0]).is_number()) {
      control.known =
          static_cast<std::int64_t>(result_.tensor(node.inputs[0]).constant->values.front());
    }
    const auto given_trips = sizes_.find(trips_of_loop(node.name));
    const std::int64_t trips =
        given_trips != sizes_.end() ? given_trips->second : control.known.value_or(1);
    std::vector<OnnxTensor> results = results_of(body);
    results.erase(results.begin());
    for (std::size_t i = carried; i < results.size(); ++i)
      results[i].shape.insert(results[i].shape.begin(), std::max<std::int64_t>(1, trips));
    define_control_results(node, results);
    result_.controls.push_back(std::move(control));
  }

  // A loop over the first axis of some of its inputs.
  void add_scan(const OnnxNode& node, onnx::NodeProto& proto) {
    if (result_.opset < 9) fail(node, "Scan of opset 8 is not supported; export with 9 or later");
    OnnxControl control{node.name, node.type, {}, {}};
    const std::int64_t scanned = node.integer("num_scan_inputs", 0);
    const auto inputs = static_cast<std::int64_t>(node.inputs.size());
    if (scanned < 1 || scanned > inputs) fail(node, "it scans none of its inputs");
    const auto states = static_cast<std::size_t>(inputs - scanned);
    std::vector<OnnxTensor> given;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      given.push_back(result_.tensor(node.inputs[i]));
      Shape& shape = given.back().shape;
      if (i < states) continue;
      if (shape.empty()) fail(node, "it scans a number");
      control.known = shape.front();
      shape.erase(shape.begin());
    }
    if (node.attributes.count("scan_input_axes") + node.attributes.count("scan_output_axes") > 0)
      fail(node, "Scan along another than the first axis is not supported");
    control.bodies.push_back(read_body(node, "body", std::move(given), proto));
    std::vector<OnnxTensor> results = results_of(control.bodies.front());
    for (std::size_t i = states; i < results.size(); ++i)
      results[i].shape.insert(results[i].shape.begin(), *control.known);
    define_control_results(node, results);
    result_.controls.push_back(std::move(control));
  }

  // In a body, a slice whose ends are computed takes one row: that of the trip.
  void bound_slice(onnx::NodeProto& proto) {
    if (proto.op_type() != "Slice" || proto.input_size() < 3) return;
    const Shape shape = result_.tensor(proto.input(1)).shape;
    if (result_.tensor(proto.input(1)).constant && result_.tensor(proto.input(2)).constant) return;
    for (const int input : {1, 2}) {
      const std::string name = proto.input(input) + ".of_trip";
      const std::vector<long double> ends(static_cast<std::size_t>(element_count(shape)),
                                          input - 1);
      define_folded(name, {shape, ends, true});
      proto.set_input(input, name);
    }
  }

  void add_node(int index) {
    onnx::NodeProto& proto = *graph_->mutable_node(index);
    if (depth_ > 0) bound_slice(proto);
    OnnxNode node = neutral(proto, static_cast<std::size_t>(index));
    if (!is_known_domain(proto.domain())) {
      fail(node, "operators of domain '" + proto.domain() +
                     "' are not known; export the network with those of ai.onnx alone");
    }
    if (node.type == "Constant") return add_constant(node, proto);
    if (node.type == "If") return add_branch(node, proto);
    if (node.type == "Loop") return add_loop(node, proto);
    if (node.type == "Scan") return add_scan(node, proto);
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

  // What a rule about the node says; its mistakes get the name of the node.
  template <typename Rule>
  auto checked(const OnnxNode& node, const Rule& rule) const {
    try {
      return rule();
    } catch (const UserError& error) {
      fail(node, error.what());
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
    if (const auto shape = checked(node, [&] { return own_shape(node, result_); })) {
      const bool like_first = node.type != "OneHot";
      return {
          type_of(*shape, like_first ? types_.at(node.inputs[0]).tensor_type().elem_type() : 0)};
    }
    if (schema == nullptr || !schema->has_type_and_shape_inference_function()) return {};
    for (const std::string& mistake : {wrong_divisor(node), wrong_axes(node, result_)}) {
      if (!mistake.empty()) fail(node, mistake);
    }
    if (proto.input_size() < schema->min_input() || proto.output_size() < schema->min_output())
      fail(node, "has fewer inputs or results than the operator");
    const auto axes = proto.input_size() > 1 ? data_.find(proto.input(1)) : data_.end();
    onnx::NodeProto adapted =
        adapted_node(proto, result_.opset, axes == data_.end() ? nullptr : axes->second);
    onnx::shape_inference::InferenceContextImpl context(adapted, type_pointers_, data_, {});
    try {
      schema->GetTypeAndShapeInferenceFunction()(context);
    } catch (const std::exception& error) {
      fail(node, std::string("its shapes do not fit: ") + error.what());
    }
    return context.allOutputTypes_;
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
    const Shape shape = checked(node, [&] { return merged_shape(name, inferred, declared); });
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

  std::string path_;
  const DimensionSizes& sizes_;
  std::shared_ptr<onnx::ModelProto> model_;
  onnx::GraphProto* graph_;  // of the model, or the body of a node
  int depth_ = 0;
  std::unordered_map<std::string, int> opsets_;
  std::unordered_map<std::string, const onnx::ValueInfoProto*> declared_;
  std::unordered_map<std::string, onnx::TypeProto> types_;
  std::unordered_map<std::string, onnx::TypeProto*> type_pointers_;
  std::unordered_map<std::string, onnx::TensorProto> protos_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_;
  std::vector<std::string> open_;  // dimensions that the file leaves open
  OnnxGraph result_;
};

}  // namespace

OnnxGraph load_onnx(const std::string& path, const DimensionSizes& sizes) {
  return Loader(path, sizes).run();
}

}  // namespace foretell
