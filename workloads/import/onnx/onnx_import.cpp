#include "workloads/import/onnx/onnx_import.hpp"

#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/onnx/onnx_fuse.hpp"
#include "workloads/import/onnx/onnx_translator.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

const OnnxRules& all_rules() {
  static const OnnxRules kRules = [] {
    OnnxRules rules;
    add_elementwise_rules(rules);
    add_product_rules(rules);
    add_layout_rules(rules);
    add_row_rules(rules);
    add_recurrent_rules(rules);
    return rules;
  }();
  return kRules;
}

}  // namespace

TensorId OnnxTranslator::id(const std::string& name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const OnnxTensor& known = source_.tensor(name);
  const bool is_real = known.dtype == DType::kFp32 || known.dtype == DType::kFp16 ||
                       known.dtype == DType::kBf16 || known.dtype == DType::kInt8;
  const TensorId id = known.is_weight && is_real ? graph_.add_weight(name, known.shape, known.dtype)
                                                 : graph_.add_input(name, known.shape, known.dtype);
  ids_[name] = id;
  return id;
}

TensorId OnnxTranslator::add(const OnnxNode& node, std::string_view kind,
                             std::vector<TensorId> inputs,
                             std::map<std::string, Attribute> attributes, const std::string& part) {
  const std::string name = part.empty() ? node.name : node.name + "." + part;
  return graph_.add_op(name, kind, std::move(inputs), std::move(attributes));
}

void OnnxTranslator::give(const OnnxNode& node, std::string_view kind, std::vector<TensorId> inputs,
                          std::map<std::string, Attribute> attributes) {
  set(node.outputs.at(0), add(node, kind, std::move(inputs), std::move(attributes)));
}

TensorId OnnxTranslator::weight(const std::string& name, Shape shape) {
  return graph_.add_weight(name, std::move(shape), DType::kFp32);
}

TensorId OnnxTranslator::reshape(const OnnxNode& node, TensorId x, Shape shape,
                                 const std::string& part) {
  if (this->shape(x) == shape) return x;
  return add(node, "Reshape", {x}, {{"shape", std::move(shape)}}, part);
}

TensorId OnnxTranslator::transpose(const OnnxNode& node, TensorId x, std::vector<std::int64_t> perm,
                                   const std::string& part) {
  bool changes = false;
  for (std::size_t i = 0; i < perm.size(); ++i)
    changes = changes || perm[i] != static_cast<std::int64_t>(i);
  return changes ? add(node, "Transpose", {x}, {{"perm", std::move(perm)}}, part) : x;
}

std::vector<std::int64_t> OnnxTranslator::integers(
    const OnnxNode& node, const std::string& attribute, std::size_t input,
    const std::vector<std::int64_t>& otherwise) const {
  if (!node.has_input(input)) return node.integers(attribute, otherwise);
  const OnnxTensor& given = tensor(node.inputs[input]);
  if (!given.constant) {
    fail(node, "'" + attribute + "' depends on data, and with it the shape of the result");
  }
  std::vector<std::int64_t> values;
  for (const long double value : given.constant->values)
    values.push_back(static_cast<std::int64_t>(value));
  return values;
}

std::int64_t OnnxTranslator::axis(const OnnxNode& node, std::int64_t axis, std::size_t rank) const {
  const auto dimensions = static_cast<std::int64_t>(rank);
  const std::int64_t counted = axis < 0 ? axis + dimensions : axis;
  if (counted < 0 || counted >= std::max<std::int64_t>(1, dimensions)) {
    fail(node, "axis " + std::to_string(axis) + " of a tensor of " + std::to_string(rank) +
                   " dimensions");
  }
  return counted;
}

void OnnxTranslator::fail(const OnnxNode& node, const std::string& message) const {
  throw UserError("node '" + node.name + "' (" + node.type + "): " + message);
}

std::string onnx_part(const std::string& around, const OnnxControl& control, std::size_t body) {
  const char* which = control.type != "If" ? "body" : body == 0 ? "then" : "else";
  return (around == kMainPart ? "" : around + "/") + control.name + "/" + which;
}

namespace {

// The part of that name inside of `graph`, which is called `around`.
OnnxGraph* find_part(OnnxGraph& graph, const std::string& around, const std::string& part) {
  if (around == part) return &graph;
  for (OnnxControl& control : graph.controls) {
    for (std::size_t body = 0; body < control.bodies.size(); ++body) {
      OnnxGraph* found = find_part(control.bodies[body], onnx_part(around, control, body), part);
      if (found != nullptr) return found;
    }
  }
  return nullptr;
}

}  // namespace

ImportedOnnx import_onnx(const std::string& path, const DimensionSizes& sizes,
                         const std::string& part) {
  OnnxGraph whole = load_onnx(path, sizes);
  OnnxGraph* found = part.empty() ? &whole : find_part(whole, kMainPart, part);
  FORETELL_CHECK(found != nullptr, "no part '" + part + "' in " + path);
  OnnxGraph& source = *found;
  drop_unread_nodes(&source);
  fuse_onnx_patterns(&source);
  OnnxTranslator translator(source);
  try {
    for (const std::string& input : source.inputs) {
      // Lists of axes that are empty are known; they are read while operators are translated.
      if (!source.tensor(input).constant) translator.id(input);
    }
    for (const OnnxNode& node : source.nodes) {
      const auto rule = all_rules().find(node.type);
      if (rule == all_rules().end()) {
        translator.fail(node, "operator '" + node.type +
                                  "' is not supported; to add it: a rule beside the others in "
                                  "workloads/import/onnx/");
      }
      rule->second(translator, node);
    }
    for (const std::string& output : source.outputs) {
      const TensorId id = translator.id(output);
      if (translator.graph().tensor(id).producer != kNoId) translator.graph().mark_output(id);
    }
  } catch (const UserError& error) {
    throw UserError(path + ": " + error.what());
  }
  return {std::move(translator.graph()), source.opset, std::move(source.notes)};
}

}  // namespace foretell
