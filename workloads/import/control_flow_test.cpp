// Branches, loops and exits as steps and parts.
#include "workloads/import/control_flow.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kBert =
    R"({"architectures": ["BertForSequenceClassification"], "model_type": "bert",
        "hidden_act": "gelu", "hidden_size": 64, "intermediate_size": 128,
        "max_position_embeddings": 32, "num_attention_heads": 4, "num_hidden_layers": 3,
        "type_vocab_size": 2, "vocab_size": 100, "exit_probabilities": [0.25, 0.5]})";

TEST(EarlyExits, AreBranchesInAChain) {
  const ModelConfig config = parse_model_config(kBert, "tiny", "tiny.json");
  const std::vector<ControlStep> steps = control_flow(config, {1, 8});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].name, "layer.0");
  EXPECT_EQ(steps[1].name, "exit.0");
  EXPECT_EQ(steps[1].stated, 0.25);
  EXPECT_TRUE(steps[1].body.empty());
  EXPECT_EQ(steps[1].instead.at(1).name, "exit.1");
  EXPECT_THAT(part_names(steps), ElementsAre("layer.0", "layer.1", "layer.2"));
}

TEST(EarlyExits, PartsTogetherAreTheWholeNetwork) {
  const ModelConfig config = parse_model_config(kBert, "tiny", "tiny.json");
  const Graph whole = build_graph(config, {2, 8});
  Flops flops;
  std::int64_t parameters = 0;
  for (const std::string& part : part_names(control_flow(config, {2, 8}))) {
    Binding binding{2, 8};
    binding.part = part;
    const Graph graph = build_graph(config, binding);
    flops += graph.total_flops();
    parameters += graph.parameter_count();
  }
  EXPECT_DOUBLE_EQ(flops.value(), whole.total_flops().value());
  EXPECT_EQ(parameters, whole.parameter_count());
}

TEST(EarlyExits, ProbabilitiesAreOnePerLayerButTheLast) {
  const std::string text = kBert;
  for (const char* wrong : {"[0.25]", "[0.25, 1.5]", "[0.25, -0.1]", "0.5", "[0.1, \"a\"]"}) {
    std::string changed = text;
    changed.replace(changed.find("[0.25, 0.5]"), 11, wrong);
    EXPECT_THROW(parse_model_config(changed, "tiny", "tiny.json"), UserError) << wrong;
  }
}

TEST(EarlyExits, OtherNetworksHaveNoControlFlow) {
  EXPECT_TRUE(control_flow(WorkloadLibrary().load("bert-base-uncased"), {1, 8}).empty());
}

constexpr const char* kFloat4 =
    "type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } }";

class OnnxControlFlow : public ::testing::Test {
 protected:
  ModelConfig load(const std::string& graph) const {
    onnx::ModelProto model;
    const std::string text =
        "ir_version: 8 opset_import { version: 13 } graph { name: 'g'\n" + graph + "}";
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &model)) << text;
    const std::string path = folder_.write("net.onnx", model.SerializeAsString());
    return WorkloadLibrary().load(path);
  }

  // y = c ? exp(exp(x)) : x + x, where the branches see x from outside.
  static std::string branch(const std::string& condition) {
    const std::string output = std::string("output { name: 'r' ") + kFloat4 + " }";
    return std::string("input { name: 'x' ") + kFloat4 + " } " + condition +
           " output { name: 'y' " + kFloat4 + " } node { op_type: 'Tanh' input: 'x' output: 'h' }" +
           "node { name: 'choose' op_type: 'If' input: 'c' output: 'y'" +
           " attribute { name: 'then_branch' type: GRAPH g { name: 't'" +
           " node { op_type: 'Exp' input: 'h' output: 'e' }" +
           " node { op_type: 'Exp' input: 'e' output: 'r' } " + output + " } }" +
           " attribute { name: 'else_branch' type: GRAPH g { name: 'e'" +
           " node { op_type: 'Add' input: 'h' input: 'h' output: 'r' } " + output + " } } }";
  }

  static std::string loop(const std::string& trips) {
    return std::string("input { name: 'x' ") + kFloat4 + " } " + trips + " output { name: 'y' " +
           kFloat4 + " } node { name: 'repeat' op_type: 'Loop' input: 'm' input: '' input: 'x'" +
           " output: 'y' attribute { name: 'body' type: GRAPH g { name: 'b'" +
           " input { name: 'i' type { tensor_type { elem_type: 7 shape {} } } }" +
           " input { name: 'go' type { tensor_type { elem_type: 9 shape {} } } }" +
           " input { name: 'v' " + kFloat4 + " }" +
           " node { op_type: 'Exp' input: 'v' output: 'w' }" +
           " output { name: 'go' type { tensor_type { elem_type: 9 shape {} } } }" +
           " output { name: 'w' " + kFloat4 + " } } } }";
  }

  const TemporaryFolder folder_;
};

TEST_F(OnnxControlFlow, ABranchIsTwoPartsAfterTheRest) {
  const ModelConfig config =
      load(branch("input { name: 'c' type { tensor_type { elem_type: 9 shape {} } } }"));
  const std::vector<ControlStep> steps = control_flow(config, {1, 0});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[1].name, "choose");
  EXPECT_FALSE(steps[1].stated);
  EXPECT_THAT(part_names(steps), ElementsAre("main", "choose/then", "choose/else"));
  Binding binding{1, 0};
  binding.part = "choose/then";
  const Graph part = build_graph(config, binding);
  EXPECT_EQ(part.ops().size(), 2U);
  ASSERT_EQ(part.inputs().size(), 1U);  // of what it sees, what it reads
  EXPECT_EQ(part.tensor(part.inputs().front()).name, "h");
  EXPECT_EQ(build_graph(config, {1, 0}).ops().size(), 1U);
}

TEST_F(OnnxControlFlow, AKnownConditionDecidesBeforehand) {
  const ModelConfig config = load(branch("initializer { name: 'c' data_type: 9 int32_data: 1 }"));
  const std::vector<ControlStep> steps = control_flow(config, {1, 0});
  EXPECT_EQ(steps.at(1).stated, 1.0);
  EXPECT_TRUE(steps.at(1).is_constant);
}

TEST_F(OnnxControlFlow, TripsAreKnownWhereTheFileSaysThem) {
  const ModelConfig open =
      load(loop("input { name: 'm' type { tensor_type { elem_type: 7 shape {} } } }"));
  EXPECT_FALSE(control_flow(open, {1, 0}).at(0).stated);
  const ModelConfig known = load(loop("initializer { name: 'm' data_type: 7 int64_data: 5 }"));
  const ControlStep step = control_flow(known, {1, 0}).at(0);
  EXPECT_EQ(step.kind, ControlStep::Kind::kLoop);
  EXPECT_EQ(step.stated, 5.0);
  EXPECT_THAT(part_names(step.body), ElementsAre("repeat/body"));
}

TEST_F(OnnxControlFlow, ABodyThatDoesNotFitIsRefused) {
  std::string text = loop("initializer { name: 'm' data_type: 7 int64_data: 5 }");
  text.replace(text.find("input: 'x' output: 'y'"), 22, "output: 'y'");
  try {
    control_flow(load(text), {1, 0});
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("its body has 3 inputs, needs 2"));
  }
}

// For the conformance models; those with sequences and optional values are refused by name.
TEST(OnnxConformanceOfControlFlow, BranchesLoopsAndScansAreImported) {
  const std::string folder = "/usr/share/libonnx-testdata/data/node/";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "skipped, no libonnx-testdata";
  for (const char* name : {"test_if", "test_loop11", "test_scan9_sum"}) {
    const ModelConfig config = WorkloadLibrary().load(folder + name + "/model.onnx");
    Binding binding{1, 0};
    const std::vector<ControlStep> steps = control_flow(config, binding);
    ASSERT_FALSE(steps.empty()) << name;
    for (const std::string& part : part_names(steps)) {
      binding.part = part;
      EXPECT_FALSE(build_graph(config, binding).ops().empty()) << name << " " << part;
    }
  }
}

}  // namespace
}  // namespace foretell
