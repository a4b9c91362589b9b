#include "workloads/import/onnx/onnx_functions.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/onnx/onnx_file.hpp"

namespace foretell {
namespace {

constexpr int kDeepestCall = 32;
constexpr std::size_t kMaxBodyBytes = 1 << 28;  // of all bodies together, as often as called

using FunctionKey = std::pair<std::string, std::string>;  // domain, name
using NewNames = std::unordered_map<std::string, std::string>;

class Inliner {
 public:
  Inliner(const std::string& path, onnx::ModelProto* model) : path_(path), model_(model) {
    for (const onnx::FunctionProto& function : model->functions())
      functions_.emplace(FunctionKey{function.domain(), function.name()}, &function);
  }

  void run() {
    if (functions_.empty()) return;
    expand(model_->mutable_graph(), 0);
    for (const onnx::FunctionProto& function : model_->functions()) {
      for (const onnx::OperatorSetIdProto& opset : function.opset_import()) import(opset);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(path_ + ": " + message);
  }

  // Bodies may need operators of a domain that the graph itself does not.
  void import(const onnx::OperatorSetIdProto& opset) {
    for (const onnx::OperatorSetIdProto& known : model_->opset_import()) {
      if (known.domain() == opset.domain()) return;
    }
    *model_->add_opset_import() = opset;
  }

  void expand(onnx::GraphProto* graph, int depth) {
    onnx::GraphProto expanded;
    for (onnx::NodeProto& node : *graph->mutable_node()) add(std::move(node), depth, &expanded);
    graph->mutable_node()->Swap(expanded.mutable_node());
  }

  void add(onnx::NodeProto node, int depth, onnx::GraphProto* to) {
    const auto found = functions_.find({node.domain(), node.op_type()});
    if (found == functions_.end()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) expand(attribute.mutable_g(), depth);
      }
      *to->add_node() = std::move(node);
      return;
    }
    const onnx::FunctionProto& function = *found->second;
    if (depth >= kDeepestCall) {
      fail("function '" + function.name() + "' calls itself, or functions are more than " +
           std::to_string(kDeepestCall) + " deep in each other");
    }
    const std::string call = name_of(node);
    const NewNames names = names_of(function, node);
    for (const onnx::NodeProto& inner : function.node()) {
      count(inner);
      onnx::NodeProto copy = inner;
      take_attributes(node, &copy);
      rename(names, call, &copy);
      add(std::move(copy), depth + 1, to);
    }
  }

  void count(const onnx::NodeProto& node) {
    bytes_ += node.ByteSizeLong();
    if (++nodes_ <= kMaxOnnxNodes && bytes_ <= kMaxBodyBytes) return;
    fail("its functions are called so often that they make more than " +
         std::to_string(kMaxOnnxNodes) + " nodes, or " + std::to_string(kMaxBodyBytes >> 20) +
         " MiB of them; export the network with loops or layer by layer");
  }

  // The name of a call: no two calls share it.
  std::string name_of(const onnx::NodeProto& node) {
    const std::string name = node.name().empty() ? node.op_type() : node.name();
    const int earlier = calls_[name]++;
    return earlier == 0 ? name : name + "." + std::to_string(earlier);
  }

  static NewNames names_of(const onnx::FunctionProto& function, const onnx::NodeProto& node) {
    NewNames names = {{"", ""}};
    for (int i = 0; i < function.input_size(); ++i)
      names.emplace(function.input(i), i < node.input_size() ? node.input(i) : "");
    for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
      if (!node.output(i).empty()) names.emplace(function.output(i), node.output(i));
    }
    return names;
  }

  // Attributes of a body that stand for those of the call; without one, the operator's default.
  static void take_attributes(const onnx::NodeProto& call, onnx::NodeProto* node) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> kept;
    for (const onnx::AttributeProto& attribute : node->attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *kept.Add() = attribute;
        continue;
      }
      for (const onnx::AttributeProto& given : call.attribute()) {
        if (given.name() != attribute.ref_attr_name()) continue;
        *kept.Add() = given;
        kept.rbegin()->set_name(attribute.name());
      }
    }
    node->mutable_attribute()->Swap(&kept);
    for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
      if (!attribute.has_g()) continue;
      for (onnx::NodeProto& inner : *attribute.mutable_g()->mutable_node())
        take_attributes(call, &inner);
    }
  }

  static void rename(const NewNames& names, const std::string& call, std::string* name) {
    const auto found = names.find(*name);
    *name = found == names.end() ? call + "/" + *name : found->second;
  }

  static void rename(const NewNames& names, const std::string& call, onnx::NodeProto* node) {
    node->set_name(call + "/" + (node->name().empty() ? node->op_type() : node->name()));
    for (std::string& input : *node->mutable_input()) rename(names, call, &input);
    for (std::string& output : *node->mutable_output()) rename(names, call, &output);
    for (onnx::AttributeProto& attribute : *node->mutable_attribute()) {
      if (attribute.has_g()) rename(names, call, attribute.mutable_g());
    }
  }

  static void rename(const NewNames& names, const std::string& call, onnx::GraphProto* body) {
    for (onnx::NodeProto& node : *body->mutable_node()) rename(names, call, &node);
    for (auto* values :
         {body->mutable_input(), body->mutable_output(), body->mutable_value_info()}) {
      for (onnx::ValueInfoProto& value : *values) rename(names, call, value.mutable_name());
    }
    for (onnx::TensorProto& tensor : *body->mutable_initializer())
      rename(names, call, tensor.mutable_name());
  }

  const std::string& path_;
  onnx::ModelProto* model_;
  std::map<FunctionKey, const onnx::FunctionProto*> functions_;
  std::unordered_map<std::string, int> calls_;
  std::size_t bytes_ = 0;
  int nodes_ = 0;
};

}  // namespace

void inline_functions(const std::string& path, onnx::ModelProto* model) {
  Inliner(path, model).run();
}

}  // namespace foretell
