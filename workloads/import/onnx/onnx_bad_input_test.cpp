// ONNX files that are wrong, open or large, and what is said about them; patterns that are fused.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "workloads/import/onnx/onnx_file.hpp"
#include "workloads/import/onnx/onnx_import.hpp"
#include "workloads/import/onnx/onnx_inputs.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

// "x": a tensor of these dimensions; a word leaves one open.
std::string value(const std::string& role, const std::string& name,
                  const std::vector<std::string>& dimensions) {
  std::string text = role + " { name: '" + name + "' type { tensor_type { elem_type: 1 shape {";
  for (const std::string& d : dimensions) {
    const bool number = std::isdigit(static_cast<unsigned char>(d[0])) != 0;
    text += " dim { " + (number ? "dim_value: " + d : "dim_param: '" + d + "'") + " }";
  }
  return text + " } } } }\n";
}

std::string node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::string& more = "") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "'";
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + " " + more + " }\n";
}

std::string number(const std::string& name, const std::string& what) {
  return "initializer { name: '" + name + "' data_type: 1 float_data: " + what + " }\n";
}

class OnnxFile : public ::testing::Test {
 protected:
  static std::string bytes(const std::string& graph, const std::string& beside = "",
                           int opset = 13) {
    onnx::ModelProto model;
    const std::string text = "ir_version: 8 opset_import { version: " + std::to_string(opset) +
                             " } " + beside + " graph { name: 'g'\n" + graph + "}";
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
    return model.SerializeAsString();
  }

  std::string write(const std::string& content) const { return folder_.write("net.onnx", content); }

  std::string message(const std::string& content, const DimensionSizes& sizes = {}) const {
    try {
      import_onnx(write(content), sizes);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  std::vector<std::string> kinds(const std::string& graph) const {
    const ImportedOnnx model = import_onnx(write(bytes(graph)), {});
    std::vector<std::string> result;
    for (const Op& op : model.graph.ops()) result.push_back(op.kind);
    return result;
  }

  const TemporaryFolder folder_;
};

TEST_F(OnnxFile, WhatIsNoModelIsSaidToBeNone) {
  EXPECT_THAT(message("this is text, and quite some of it"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(message(""), HasSubstr("is not an ONNX model"));
  const std::string whole =
      bytes(value("input", "x", {"2"}) + node("Relu", {"x"}, "y") + value("output", "y", {"2"}));
  EXPECT_EQ(message(whole), "no error");
  EXPECT_THAT(message(whole.substr(0, whole.size() - 5)), HasSubstr("truncated or damaged"));
}

TEST_F(OnnxFile, TensorsThatNothingDefinesAndCycles) {
  const std::string ends = value("input", "x", {"2"}) + value("output", "y", {"2"});
  EXPECT_THAT(message(bytes(ends + node("Add", {"x", "z"}, "y"))),
              AllOf(HasSubstr("reads tensor 'z'"), HasSubstr("nothing defines")));
  EXPECT_THAT(message(bytes(ends + node("Add", {"x", "b"}, "a") + node("Add", {"x", "a"}, "b") +
                            node("Add", {"a", "b"}, "y"))),
              HasSubstr("cycle"));
  EXPECT_THAT(message(bytes(ends + node("Relu", {"x"}, "y") + node("Tanh", {"x"}, "y"))),
              HasSubstr("more than once"));
  EXPECT_THAT(message(bytes(ends + value("input", "x", {"3"}) + node("Relu", {"x"}, "y"))),
              HasSubstr("input 'x' is defined more than once"));
}

TEST_F(OnnxFile, ShapesThatContradictEachOther) {
  EXPECT_THAT(message(bytes(value("input", "x", {"2", "3"}) + value("output", "y", {"2", "4"}) +
                            node("Relu", {"x"}, "y"))),
              AllOf(HasSubstr("is 3 by its inputs"), HasSubstr("4 as the file declares")));
  EXPECT_THAT(message(bytes(value("input", "x", {"2", "3"}) + value("input", "z", {"4", "5"}) +
                            value("output", "y", {"2", "5"}) + node("MatMul", {"x", "z"}, "y"))),
              HasSubstr("MatMul"));
}

TEST_F(OnnxFile, NothingIsDividedByZero) {
  const std::string graph =
      value("input", "x", {"1", "1", "4", "4"}) + value("output", "y", {"1", "1", "2", "2"});
  const std::string kernel = "attribute { name: 'kernel_shape' type: INTS ints: 2 ints: 2 }";
  const std::string strides = "attribute { name: 'strides' type: INTS ints: 0 ints: 0 }";
  EXPECT_THAT(message(bytes(graph + node("MaxPool", {"x"}, "y", kernel + strides))),
              HasSubstr("strides must be at least 1"));
}

TEST_F(OnnxFile, OperatorsThatAreNotKnownAreNamed) {
  const std::string ends = value("input", "x", {"2"}) + value("output", "y", {"2"});
  EXPECT_THAT(message(bytes(ends + node("Magic", {"x"}, "y", "domain: 'org.example'"))),
              AllOf(HasSubstr("Magic"), HasSubstr("domain 'org.example'")));
  EXPECT_THAT(message(bytes(ends + node("NonZero", {"x"}, "y"))), HasSubstr("NonZero"));
}

// Squares its input, through another function; `slope` is the call's.
const char* const kFunctions =
    "functions { name: 'Inner' domain: 'local' input: 'a' output: 'c' attribute: 'slope'"
    "  node { op_type: 'LeakyRelu' input: 'a' output: 'b'"
    "         attribute { name: 'alpha' ref_attr_name: 'slope' type: FLOAT } }"
    "  node { op_type: 'Mul' input: 'b' input: 'b' output: 'c' } }"
    "functions { name: 'Outer' domain: 'local' input: 'x' output: 'y'"
    "  node { op_type: 'Inner' domain: 'local' input: 'x' output: 'b'"
    "         attribute { name: 'slope' type: FLOAT f: 0.5 } }"
    "  node { op_type: 'Tanh' input: 'b' output: 'y' } }";

TEST_F(OnnxFile, FunctionsOfTheFileBecomeTheirOperators) {
  const std::string ends = value("input", "x", {"2"}) + value("output", "y", {"2"});
  const std::string calls =
      node("Outer", {"x"}, "b", "domain: 'local'") + node("Outer", {"b"}, "y", "domain: 'local'");
  const ImportedOnnx model = import_onnx(write(bytes(ends + calls, kFunctions)), {});
  std::vector<std::string> names;
  for (const Op& op : model.graph.ops()) names.push_back(op.name);
  ASSERT_EQ(names.size(), 6U);
  EXPECT_EQ(names[0], "Outer/Inner/LeakyRelu");
  EXPECT_EQ(names[5], "Outer.1/Tanh");
}

TEST_F(OnnxFile, FunctionsThatCallThemselvesOrGrowAreRefused) {
  const std::string ends = value("input", "x", {"2"}) + value("output", "y", {"2"});
  const std::string itself =
      "functions { name: 'F' domain: 'local' input: 'x' output: 'y'"
      " node { op_type: 'F' domain: 'local' input: 'x' output: 'y' } }";
  EXPECT_THAT(message(bytes(ends + node("F", {"x"}, "y", "domain: 'local'"), itself)),
              HasSubstr("calls itself"));
  std::string doubles =  // of the one before, 2^20 in all
      "functions { name: 'F0' domain: 'd' input: 'x' output: 'y'"
      " node { op_type: 'Relu' input: 'x' output: 'y' } }";
  for (int i = 1; i <= 20; ++i) {
    const std::string before = "op_type: 'F" + std::to_string(i - 1) + "' domain: 'd'";
    doubles += "functions { name: 'F" + std::to_string(i) +
               "' domain: 'd' input: 'x' output: 'y'"
               " node { " +
               before + " input: 'x' output: 'm' } node { " + before +
               " input: 'm' output: 'y' } }";
  }
  EXPECT_THAT(message(bytes(ends + node("F20", {"x"}, "y", "domain: 'd'"), doubles)),
              HasSubstr("more than 200000 nodes"));
}

TEST_F(OnnxFile, ShapesThatTheLibraryLeavesOpen) {
  const std::string inputs = value("input", "x", {"2", "3"}) + value("input", "w", {"3", "5"});
  const auto einsum = [&](const std::string& equation) {
    return bytes(inputs + value("output", "y", {"2", "5"}) +
                 node("Einsum", {"x", "w"}, "m",
                      "attribute { name: 'equation' type: STRING s: '" + equation + "' }") +
                 node("Relu", {"m"}, "y"));
  };
  EXPECT_EQ(message(einsum("ab,bc->ac")), "no error");
  EXPECT_EQ(message(einsum("ab, bc")), "no error");
  EXPECT_THAT(message(einsum("ab,ac->bc")),
              AllOf(HasSubstr("Einsum"), HasSubstr("axis 'a' is 2 and 3")));
  EXPECT_THAT(message(einsum("ab,bcd->ac")), HasSubstr("'w' has 2 axes"));
  EXPECT_THAT(message(einsum("ab->ac")), HasSubstr("needs 1 inputs"));
  const std::string depth = "initializer { name: 'd' data_type: 7 int64_data: 7 }\n";
  const std::string values =
      "initializer { name: 'v' data_type: 1 dims: 2 float_data: 0 float_data: 1 }\n";
  EXPECT_EQ(message(bytes(value("input", "x", {"2", "3"}) + depth + values +
                          value("output", "y", {"2", "3", "7"}) +
                          node("OneHot", {"x", "d", "v"}, "m") + node("Relu", {"m"}, "y"))),
            "no error");
}

TEST_F(OnnxFile, OpsetsThatWereNotLookedAtAreNoted) {
  const std::string net =
      value("input", "x", {"2"}) + value("output", "y", {"2"}) + node("Relu", {"x"}, "y");
  EXPECT_TRUE(import_onnx(write(bytes(net, "", 20)), {}).notes.empty());
  EXPECT_THAT(import_onnx(write(bytes(net, "", 99)), {}).notes.front(),
              HasSubstr("opset 99 is newer than 20"));
  EXPECT_THAT(import_onnx(write(bytes(net, "", 6)), {}).notes.front(),
              HasSubstr("opset 6 is older than 7"));
}

TEST_F(OnnxFile, OpenDimensionsAreBoundByNameOrByTheRun) {
  const std::string net =
      bytes(value("input", "x", {"batch_size", "width"}) +
            value("output", "y", {"batch_size", "width"}) + node("Relu", {"x"}, "y"));
  EXPECT_THAT(message(net, {{"batch", 4}}), HasSubstr("--dim width=SIZE"));
  EXPECT_THAT(message(net, {{"batch", 4}, {"width", 7}, {"depth", 2}}),
              AllOf(HasSubstr("--dim depth"), HasSubstr("they are: batch_size, width")));
  const ImportedOnnx model = import_onnx(write(net), {{"batch", 4}, {"width", 7}});
  EXPECT_EQ(model.graph.tensor(model.graph.outputs().front()).shape, (Shape{4, 7}));
}

TEST_F(OnnxFile, LargeWeightsAreCountedNotRead) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes(value("input", "x", {"2", "512"}) +
                                          value("output", "y", {"2", "1024"}) +
                                          node("MatMul", {"x", "w"}, "y"))));
  onnx::TensorProto* weight = model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(1);
  weight->add_dims(512);
  weight->add_dims(1024);
  const std::string without = write(model.SerializeAsString());
  EXPECT_EQ(import_onnx(without, {}).graph.parameter_count(), 512 * 1024);
  weight->set_raw_data(std::string(512 * 1024 * 4, 'x'));
  EXPECT_EQ(import_onnx(write(model.SerializeAsString()), {}).graph.parameter_count(), 512 * 1024);
}

TEST_F(OnnxFile, ExportedPatternsBecomeOneOperator) {
  const std::string ends = value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"});
  EXPECT_THAT(kinds(ends + number("root", "1.4142135") + number("one", "1") +
                    number("half", "0.5") + node("Div", {"x", "root"}, "a") +
                    node("Erf", {"a"}, "b") + node("Add", {"b", "one"}, "c") +
                    node("Mul", {"x", "c"}, "d") + node("Mul", {"d", "half"}, "y")),
              ::testing::ElementsAre("Gelu"));
  EXPECT_THAT(kinds(ends + node("Sigmoid", {"x"}, "a") + node("Mul", {"x", "a"}, "y")),
              ::testing::ElementsAre("Silu"));
  const std::string axes = "attribute { name: 'axes' type: INTS ints: -1 }";
  const std::string parameters =
      "initializer { name: 'gamma' dims: 8 data_type: 1 }"
      "initializer { name: 'beta' dims: 8 data_type: 1 }\n" +
      number("two", "2") + number("epsilon", "0.00001");
  const std::string root = node("Pow", {"d", "two"}, "s") + node("ReduceMean", {"s"}, "v", axes) +
                           node("Add", {"v", "epsilon"}, "e") + node("Sqrt", {"e"}, "r") +
                           node("Div", {"d", "r"}, "n") + node("Mul", {"n", "gamma"}, "g");
  EXPECT_THAT(kinds(ends + parameters + node("ReduceMean", {"x"}, "m", axes) +
                    node("Sub", {"x", "m"}, "d") + root + node("Add", {"g", "beta"}, "y")),
              ::testing::ElementsAre("LayerNorm"));
  EXPECT_THAT(kinds(ends + parameters + node("Pow", {"x", "two"}, "s") +
                    node("ReduceMean", {"s"}, "v", axes) + node("Add", {"v", "epsilon"}, "e") +
                    node("Sqrt", {"e"}, "r") + node("Div", {"x", "r"}, "n") +
                    node("Mul", {"n", "gamma"}, "y")),
              ::testing::ElementsAre("RmsNorm"));
}

// Runtimes leave out what no output needs.
TEST_F(OnnxFile, WhatNoOutputNeedsIsLeftOut) {
  const std::string ends = value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"});
  EXPECT_THAT(kinds(ends + node("Relu", {"x"}, "y") + node("Sigmoid", {"x"}, "unread")),
              ::testing::ElementsAre("Relu"));
}

TEST_F(OnnxFile, QuantisedProductsSayInWhichTypeTheyRun) {
  const std::string ends = value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"}) +
                           number("s", "0.1") +
                           "initializer { name: 'w' dims: 8 dims: 8 data_type: 1 }"
                           "initializer { name: 'q' dims: 8 dims: 8 data_type: 3 }\n";
  const auto stored = [&](const std::string& nodes) {
    return onnx_stored_dtype(write(bytes(ends + nodes)));
  };
  const std::string weights = node("DequantizeLinear", {"q", "s"}, "d");
  EXPECT_EQ(stored(node("MatMul", {"x", "w"}, "y")), "");
  EXPECT_EQ(stored(weights + node("MatMul", {"x", "d"}, "y")), "int8-weights");
  EXPECT_EQ(stored(weights + node("QuantizeLinear", {"x", "s"}, "a") +
                   node("DequantizeLinear", {"a", "s"}, "b") + node("MatMul", {"b", "d"}, "y")),
            "int8");
  EXPECT_EQ(stored(node("MatMulInteger", {"x", "q"}, "y")), "int8");
  // A pair around something else quantises no product.
  EXPECT_EQ(stored(node("QuantizeLinear", {"x", "s"}, "a") +
                   node("DequantizeLinear", {"a", "s"}, "b") + node("Relu", {"b"}, "y")),
            "");
}

// Keys that are transposed for the scores alone are read as they were, so that the mappings see
// attention as they know it.
TEST_F(OnnxFile, TransposedKeysBelongToTheirProduct) {
  const std::string perm = "attribute { name: 'perm' type: INTS ints: 0 ints: 2 ints: 1 }";
  const std::string graph = value("input", "x", {"2", "6", "8"}) +
                            value("output", "y", {"2", "6", "8"}) +
                            node("Transpose", {"x"}, "k", perm) + node("MatMul", {"x", "k"}, "s") +
                            node("Softmax", {"s"}, "p") + node("MatMul", {"p", "x"}, "y");
  EXPECT_THAT(kinds(graph), ::testing::ElementsAre("MatMul", "Softmax", "MatMul"));
}

// As exporters of PyTorch write attention with a mask: scaled keys, a large negative number in the
// place of hidden scores, zeros where nothing is left.
TEST_F(OnnxFile, MaskedAndGuardedAttentionIsThatOfTheMappings) {
  const std::string perm = "attribute { name: 'perm' type: INTS ints: 0 ints: 2 ints: 1 }";
  const std::string ends = value("input", "x", {"2", "6", "8"}) +
                           value("output", "y", {"2", "6", "8"}) + number("scale", "0.5") +
                           number("zero", "0") + number("hidden", "-1e9") +
                           "input { name: 'mask' type { tensor_type { elem_type: 9 shape { dim { "
                           "dim_value: 6 } dim { dim_value: 6 } } } } }\n" +
                           node("Transpose", {"x"}, "t", perm) + node("Mul", {"t", "scale"}, "k") +
                           node("MatMul", {"x", "k"}, "s");
  const std::string after = node("Softmax", {"m"}, "p") + node("IsNaN", {"p"}, "n") +
                            node("Where", {"n", "zero", "p"}, "q") +
                            node("MatMul", {"q", "x"}, "y");
  const auto expected = ::testing::ElementsAre("Mul", "MatMul", "Add", "Softmax", "MatMul");
  EXPECT_THAT(kinds(ends + node("Where", {"mask", "s", "hidden"}, "m") + after), expected);
  EXPECT_THAT(kinds(ends + node("Where", {"mask", "hidden", "s"}, "m") + after), expected);
  // A number that hides nothing is no mask.
  EXPECT_THAT(kinds(ends + node("Where", {"mask", "zero", "s"}, "m") + after),
              ::testing::ElementsAre("Mul", "MatMul", "Elementwise", "Softmax", "MatMul"));
}

TEST_F(OnnxFile, GroupNormsAndNormsWithoutFactorsBecomeOneOperator) {
  const std::string ends = value("input", "x", {"2", "8", "4", "4"}) +
                           value("output", "y", {"2", "8", "4", "4"}) +
                           "initializer { name: 'split' dims: 3 data_type: 7 int64_data: 0 "
                           "int64_data: 2 int64_data: -1 }"
                           "initializer { name: 'back' dims: 4 data_type: 7 int64_data: 2 "
                           "int64_data: 8 int64_data: 4 int64_data: 4 }"
                           "initializer { name: 'one' dims: 2 data_type: 1 float_data: 1 "
                           "float_data: 1 }"
                           "initializer { name: 'gamma' dims: 8 dims: 1 dims: 1 data_type: 1 }"
                           "initializer { name: 'beta' dims: 8 dims: 1 dims: 1 data_type: 1 }\n";
  const std::string graph = ends + node("Reshape", {"x", "split"}, "g") +
                            node("InstanceNormalization", {"g", "one", "one"}, "n") +
                            node("Reshape", {"n", "back"}, "b") + node("Mul", {"b", "gamma"}, "m") +
                            node("Add", {"m", "beta"}, "y");
  EXPECT_THAT(kinds(graph), ::testing::ElementsAre("Reshape", "Reshape", "GroupNorm"));
  const ImportedOnnx model = import_onnx(write(bytes(graph)), {});
  EXPECT_EQ(std::get<std::int64_t>(model.graph.ops().back().attributes.at("groups")), 2);
  EXPECT_EQ(model.graph.parameter_count(), 16);
  const std::string axes = "attribute { name: 'axes' type: INTS ints: -1 }";
  EXPECT_THAT(kinds(value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"}) +
                    number("two", "2") + number("epsilon", "0.00001") +
                    node("ReduceMean", {"x"}, "m", axes) + node("Sub", {"x", "m"}, "d") +
                    node("Pow", {"d", "two"}, "s") + node("ReduceMean", {"s"}, "v", axes) +
                    node("Add", {"v", "epsilon"}, "e") + node("Sqrt", {"e"}, "r") +
                    node("Div", {"d", "r"}, "y")),
              ::testing::ElementsAre("AlongAxis"));
}

// The ends of a pad as PyTorch works them out: pairs, the last axis first, turned around.
TEST_F(OnnxFile, PadsThatAreComputedAreFolded) {
  const auto integers = [](const std::string& name, const std::vector<int>& dims,
                           const std::vector<int>& values) {
    std::string text = "initializer { name: '" + name + "' data_type: 7";
    for (const int d : dims) text += " dims: " + std::to_string(d);
    for (const int v : values) text += " int64_data: " + std::to_string(v);
    return text + " }\n";
  };
  const std::string graph = value("input", "x", {"1", "5"}) + value("output", "y", {"4", "12"}) +
                            integers("pairs", {2, 2}, {3, 4, 1, 2}) + integers("last", {1}, {-1}) +
                            integers("first", {1}, {-1000}) + integers("axis", {1}, {0}) +
                            integers("back", {1}, {-1}) + integers("flat", {1}, {-1}) +
                            node("Slice", {"pairs", "last", "first", "axis", "back"}, "turned") +
                            node("Transpose", {"turned"}, "ends",
                                 "attribute { name: 'perm' type: INTS ints: 1 ints: 0 }") +
                            node("Reshape", {"ends", "flat"}, "pads") +
                            node("Pad", {"x", "pads"}, "y");
  EXPECT_THAT(kinds(graph), ::testing::ElementsAre("Pad"));
}

TEST_F(OnnxFile, TextAndSequencesAreRefusedWithTheOperatorThatReadsThem) {
  const std::string text =
      "input { name: 'x' type { tensor_type { elem_type: 8 shape { dim { dim_value: 2 } } } } }\n";
  EXPECT_THAT(message(bytes(text + value("output", "y", {"2"}) +
                            node("Cast", {"x"}, "y", "attribute { name: 'to' type: INT i: 1 }"))),
              HasSubstr("input 'x' of node 'y' (Cast) has element type 8"));
}

// Counted before anything is kept: in the graph, and in the body of a loop.
TEST_F(OnnxFile, TooManyNodesAreRefusedAtOnce) {
  std::string nodes;
  for (int i = 0; i <= kMaxOnnxNodes; ++i) nodes += std::string("\x0a\x02\x22\x00", 4);
  const auto field = [](int number, const std::string& content) {
    std::string text(1, static_cast<char>(number << 3 | 2));
    std::size_t length = content.size();
    for (; length >= 0x80; length >>= 7) text += static_cast<char>(0x80 | (length & 0x7f));
    return text + static_cast<char>(length) + content;
  };
  const std::string version = "\x08\x08";
  const std::string body = field(1, field(5, field(6, nodes)));  // node, attribute, graph
  for (const std::string& graph : {nodes, body}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(message(version + field(7, graph)), HasSubstr("has more than"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
}

// Two products, one of them between quantise and dequantise: its weight alone is stored in INT8.
TEST_F(OnnxFile, QuantisedProductsKeepTheirWeightsInInt8) {
  const std::string graph = value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"}) +
                            number("scale", "0.1") +
                            "initializer { name: 'zero' data_type: 3 int32_data: 0 }"
                            "initializer { name: 'w8' dims: 8 dims: 8 data_type: 3 }"
                            "initializer { name: 'w' dims: 8 dims: 8 data_type: 1 }\n" +
                            node("DequantizeLinear", {"w8", "scale", "zero"}, "v") +
                            node("QuantizeLinear", {"x", "scale", "zero"}, "q") +
                            node("DequantizeLinear", {"q", "scale", "zero"}, "d") +
                            node("MatMul", {"d", "v"}, "h") + node("MatMul", {"h", "w"}, "y");
  Graph network = import_onnx(write(bytes(graph)), {}).graph;
  const auto types = [&network](const char* policy) {
    Graph copy = network;
    apply_precision(find_precision(policy), &copy);
    std::vector<DType> result;
    for (const Op& op : copy.ops()) result.push_back(copy.tensor(op.inputs.at(1)).dtype);
    return result;
  };
  EXPECT_THAT(types("int8-datasheet"), ::testing::ElementsAre(DType::kInt8, DType::kBf16));
  EXPECT_THAT(types("int8"), ::testing::ElementsAre(DType::kInt8, DType::kBf16));
  EXPECT_THAT(types("fp8"), ::testing::ElementsAre(DType::kFp8, DType::kFp8));
  EXPECT_THAT(types("bf16"), ::testing::ElementsAre(DType::kBf16, DType::kBf16));
}

TEST_F(OnnxFile, PairsOfQuantiseAndDequantiseGo) {
  const std::string ends = value("input", "x", {"2", "8"}) + value("output", "y", {"2", "8"});
  const std::string scale =
      number("scale", "0.1") + "initializer { name: 'zero' data_type: 3 int32_data: 0 }\n";
  EXPECT_THAT(
      kinds(ends + scale + node("QuantizeLinear", {"x", "scale", "zero"}, "q") +
            node("DequantizeLinear", {"q", "scale", "zero"}, "d") + node("Relu", {"d"}, "y")),
      ::testing::ElementsAre("Relu"));
}

// The data of a weight is a hole in the file: what is skipped takes no time, however large it is.
TEST_F(OnnxFile, AGigabyteOfWeightsIsSkipped) {
  constexpr std::int64_t kRows = 1 << 18;
  constexpr std::int64_t kColumns = 1 << 10;
  const auto varint = [](std::uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7) text += static_cast<char>(0x80 | (value & 0x7f));
    return text + static_cast<char>(value);
  };
  const std::uint64_t data = kRows * kColumns * 4;
  onnx::TensorProto weight;
  weight.set_name("w");
  weight.set_data_type(1);
  weight.add_dims(kRows);
  weight.add_dims(kColumns);
  const std::string tensor = weight.SerializeAsString() + "\x4a" + varint(data);
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(bytes(value("input", "x", {"2", std::to_string(kRows)}) +
                                          value("output", "y", {"2", std::to_string(kColumns)}) +
                                          node("MatMul", {"x", "w"}, "y"))));
  const std::string graph =
      model.graph().SerializeAsString() + "\x2a" + varint(tensor.size() + data) + tensor;
  model.clear_graph();
  const std::string head = model.SerializeAsString() + "\x3a" + varint(graph.size() + data) + graph;
  const std::string path = write(head);
  fs::resize_file(path, head.size() + data);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(import_onnx(path, {}).graph.parameter_count(), kRows * kColumns);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace foretell
