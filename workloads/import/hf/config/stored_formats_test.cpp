// Formats of weights by module: what files of libraries say, and the bytes that follow.
#include "workloads/import/hf/config/stored_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Four layers, the first dense, the others of experts with a shared one beside them.
std::string network_with(const std::string& quantization) {
  return R"({"model_type": "dots1", "hidden_size": 256, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 512,
    "vocab_size": 1000, "moe_intermediate_size": 128, "n_routed_experts": 8,
    "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1,
    "max_position_embeddings": 1024, "tie_word_embeddings": false, "quantization_config": )" +
         quantization + "}";
}

std::string dense_network_with(const std::string& quantization) {
  return R"({"model_type": "llama", "hidden_size": 256, "hidden_act": "silu", "num_hidden_layers":
    12, "intermediate_size": 512, "num_attention_heads": 4, "vocab_size": 1000,
    "max_position_embeddings": 1024, "tie_word_embeddings": false, "quantization_config": )" +
         quantization + "}";
}

ModelConfig stored_network(const std::string& text) {
  return parse_model_config(text, "net", "config.json");
}

Graph stored_graph(const ModelConfig& config, const std::string& dtype) {
  Binding binding;
  binding.seq_len = 16;
  Graph graph = build_graph(config, binding);
  apply_precision(find_precision(dtype), &graph);
  return graph;
}

// The types of the weights by name, in the format of the file.
std::map<std::string, std::string> types_of(const std::string& text) {
  const ModelConfig config = stored_network(text);
  std::map<std::string, std::string> types;
  const Graph graph = stored_graph(config, config.checkpoint.dtype);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight) types[tensor.name] = to_string(tensor.dtype);
  }
  return types;
}

std::string error_of(const std::string& text) {
  try {
    stored_network(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

const std::string kTwoGroups = R"({"quant_method": "compressed-tensors", "config_groups": {
  "group_0": {"targets": ["re:.*self_attn\\..*", "re:.*shared_experts.*"], "weights":
    {"num_bits": 8, "type": "float"}, "input_activations": {"num_bits": 8}},
  "group_1": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size":
    16}, "input_activations": {"num_bits": 4}}}, "ignore": ["lm_head", "re:.*mlp\\.gate$",
    "model.layers.0.mlp", "model.layers.3.self_attn.o_proj"]})";

TEST(StoredFormats, GroupsOfModulesHaveTheirOwn) {
  auto types = types_of(network_with(kTwoGroups));
  EXPECT_EQ(types["decoder.1.ffn.experts.first.weight"], "nvfp4");
  EXPECT_EQ(types["decoder.1.ffn.experts.second.weight"], "nvfp4");
  EXPECT_EQ(types["decoder.1.ffn.shared.gate.weight"], "fp8");
  EXPECT_EQ(types["decoder.1.attention.query.weight"], "fp8");
  EXPECT_EQ(types["decoder.1.attention.output.weight"], "fp8");
  EXPECT_EQ(types["decoder.3.attention.output.weight"], "bf16");
  EXPECT_EQ(types["decoder.3.attention.value.weight"], "fp8");
  EXPECT_EQ(types["decoder.0.ffn.gate.weight"], "bf16");
  EXPECT_EQ(types["decoder.1.ffn.router.weight"], "bf16");
  EXPECT_EQ(types["head.decoder.weight"], "bf16");
  EXPECT_EQ(types["embeddings.word.weight"], "bf16");
}

TEST(StoredFormats, AreSaidByGroup) {
  const std::string text = stored_text(stored_network(network_with(kTwoGroups)).checkpoint);
  EXPECT_EQ(
      text,
      "NVFP4 in routed experts; 16 bits in dense networks; FP8 in attention, attention outputs "
      "(16 bits in layer 3), shared experts");
  EXPECT_EQ(stored_text(stored_network(network_with(R"({"quant_method": "fp8"})")).checkpoint), "");
}

TEST(StoredFormats, OneOfTwoBytesHasNoneNarrow) {
  const ModelConfig config = stored_network(network_with(kTwoGroups));
  const Graph graph = stored_graph(config, "bf16");
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kWeight) continue;
    EXPECT_EQ(tensor.dtype, DType::kBf16) << tensor.name;
  }
}

// Of layers; the head stays in its 16 bits.
TEST(StoredFormats, AnotherNarrowTypeIsOfAllMatrices) {
  const auto types = [](const char* dtype) {
    ModelConfig config = stored_network(network_with(kTwoGroups));
    EXPECT_EQ(takes_all_as(find_precision(dtype).weight_storage, &config.checkpoint),
              std::string(dtype) == "int4-weights" || std::string(dtype) == "fp8");
    std::map<std::string, std::string> names;
    const Graph graph = stored_graph(config, dtype);
    for (const Tensor& tensor : graph.tensors()) names[tensor.name] = to_string(tensor.dtype);
    return names;
  };
  for (const char* dtype : {"int4-weights", "fp8"}) {
    auto all = types(dtype);
    const std::string name(to_string(find_precision(dtype).weight_storage));
    for (const char* matrix : {"1.ffn.experts.first", "1.attention.query", "3.attention.output",
                               "0.ffn.gate", "1.ffn.shared.up"}) {
      EXPECT_EQ(all["decoder." + std::string(matrix) + ".weight"], name) << matrix;
    }
    EXPECT_EQ(all["head.decoder.weight"], "bf16");
    EXPECT_EQ(all["decoder.1.ffn.router.weight"], "bf16");
  }
  EXPECT_EQ(types("nvfp4")["decoder.1.attention.query.weight"], "fp8") << "the file's own";
  EXPECT_EQ(types("nvfp4-weights")["decoder.1.attention.query.weight"], "fp8");
  EXPECT_EQ(types("bf16")["decoder.1.attention.query.weight"], "bf16");
}

TEST(StoredFormats, TablesOfModulesAreReadByName) {
  const std::string mixed = R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
    "quantized_layers": {"model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
      "model.layers.1.mlp.experts.0.up_proj": {"quant_algo": "NVFP4"},
      "model.layers.1.mlp.experts.1.up_proj": {"quant_algo": "NVFP4"},
      "model.layers.1.mlp.experts.0.down_proj": {"quant_algo": "NVFP4"},
      "model.layers.3.mlp.experts": {"quant_algo": "NVFP4"},
      "backbone.layers.2.mlp.experts": {"quant_algo": "FP8_BLOCK_SCALES"},
      "lm_head": {"quant_algo": "FP8"}, "mtp.layers.0.mlp": {"quant_algo": "NVFP4"}}})";
  auto types = types_of(network_with(mixed));
  EXPECT_EQ(types["decoder.0.attention.query.weight"], "fp8");
  EXPECT_EQ(types["decoder.0.attention.key.weight"], "bf16");
  EXPECT_EQ(types["decoder.0.ffn.gate.weight"], "bf16");
  EXPECT_EQ(types["decoder.1.ffn.experts.second.weight"], "nvfp4");
  EXPECT_EQ(types["decoder.2.ffn.experts.first.weight"], "fp8_block");
  EXPECT_EQ(types["decoder.3.ffn.experts.first.weight"], "nvfp4");
  EXPECT_EQ(types["decoder.3.ffn.shared.up.weight"], "bf16");
  EXPECT_EQ(types["head.decoder.weight"], "fp8");
  EXPECT_THAT(error_of(network_with(R"({"quant_algo": "MIXED_PRECISION"})")),
              HasSubstr("quantized_layers: is missing"));
  EXPECT_THAT(error_of(network_with(R"({"quant_algo": "MIXED_PRECISION", "quantized_layers":
                {"lm_head": {"quant_algo": "FP7"}}})")),
              HasSubstr("unknown quantisation 'FP7'"));
  const ModelConfig unlike = stored_network(network_with(
      R"({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.1.mlp.experts.0.up_proj":
      {"quant_algo": "NVFP4"}, "model.layers.1.mlp.experts.1.up_proj": {"quant_algo": "FP8"}}})"));
  EXPECT_THAT(unlike.notes, Contains(HasSubstr("experts of one layer have several formats")));
}

TEST(StoredFormats, ExpressionsOfGptqChangeBits) {
  const std::string dynamic = R"({"quant_method": "gptq", "bits": 4, "dynamic":
    {"-:model\\.layers\\.([2-9]|1[01])\\..*": {}, ".*\\.1\\..*": {"bits": 8}}})";
  auto types = types_of(dense_network_with(dynamic));
  EXPECT_EQ(types["decoder.0.ffn.gate.weight"], "int4");
  EXPECT_EQ(types["decoder.1.attention.query.weight"], "int8");
  EXPECT_EQ(types["decoder.2.ffn.gate.weight"], "bf16");
  EXPECT_EQ(types["decoder.11.attention.output.weight"], "bf16");
  EXPECT_EQ(types["head.decoder.weight"], "bf16");
  EXPECT_THAT(error_of(dense_network_with(
                  R"({"quant_method": "gptq", "bits": 4, "dynamic": {".*": {"bits": 3}}})")),
              HasSubstr("weights of 3 bits cannot be imported"));
}

TEST(StoredFormats, SwitchesOfBitsAndBytesAreOneOrNone) {
  const auto type = [](const std::string& switches) {
    return types_of(dense_network_with(R"({"quant_method": "bitsandbytes")" + switches +
                                       "}"))["decoder.0.ffn.gate.weight"];
  };
  EXPECT_EQ(type(R"(, "load_in_8bit": true, "load_in_4bit": false)"), "int8");
  EXPECT_EQ(type(R"(, "load_in_8bit": false, "load_in_4bit": true)"), "int4");
  EXPECT_EQ(stored_network(dense_network_with(R"({"quant_method": "bitsandbytes",
              "load_in_8bit": false, "load_in_4bit": false})"))
                .checkpoint.dtype,
            "");
  EXPECT_THAT(
      error_of(dense_network_with(
          R"({"quant_method": "bitsandbytes", "load_in_8bit": true, "load_in_4bit": true})")),
      HasSubstr("load_in_4bit: contradiction"));
}

TEST(StoredFormats, GroupsHaveSizesThatKernelsTake) {
  const auto of_group = [](const char* size) {
    return dense_network_with(R"({"quant_method": "awq", "bits": 4, "group_size": )" +
                              std::string(size) + "}");
  };
  for (const char* size : {"-1", "32", "128"})
    EXPECT_EQ(types_of(of_group(size))["decoder.0.ffn.gate.weight"], "int4") << size;
  for (const char* size : {"0", "7", "-2"})
    EXPECT_THAT(error_of(of_group(size)), HasSubstr("group_size: is ")) << size;
}

TEST(StoredFormats, NumbersOfLayersAreWhole) {
  auto types = types_of(dense_network_with(
      R"({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.1",
        "vision_model.model.layers.2.self_attn.q_proj", "model.visual.blocks.3.mlp"]})"));
  EXPECT_EQ(types["decoder.1.ffn.gate.weight"], "bf16");
  for (const char* layer : {"2", "3", "10", "11"})
    EXPECT_EQ(types["decoder." + std::string(layer) + ".attention.query.weight"], "fp8") << layer;
  types = types_of(dense_network_with(
      R"({"quant_method": "modelopt", "quant_algo": "FP8", "exclude_modules": ["model.layers.1*"]})"));
  EXPECT_EQ(types["decoder.10.ffn.gate.weight"], "bf16");
  EXPECT_EQ(types["decoder.2.ffn.gate.weight"], "fp8");
}

TEST(StoredFormats, WhatCannotBeReadIsSaid) {
  const auto notes = [](const std::string& pattern) {
    return stored_network(dense_network_with(R"({"quant_method": "fp8", "ignored_layers": [")" +
                                             pattern + R"("]})"))
        .notes;
  };
  EXPECT_THAT(notes("re:(?<=layers).*"), Contains(HasSubstr("cannot be read and is left out")));
  EXPECT_THAT(notes("re:(a{99}){99}"), Contains(HasSubstr("cannot be read and is left out")));
  EXPECT_THAT(notes("re:.*lm_head"), IsEmpty());
  EXPECT_THAT(notes("re:.*"), Contains(HasSubstr("no matrix of the decoder has its format")));
}

// As Python's re.match, in time that grows with the length of the pattern alone.
TEST(StoredFormats, ExpressionsAreMatchedFromTheStart) {
  const auto type_of_gate = [](const std::string& pattern) {
    auto types = types_of(dense_network_with(R"({"quant_method": "fp8", "ignored_layers": ["re:)" +
                                             pattern + R"("]})"));
    return types["decoder.0.ffn.gate.weight"];
  };
  EXPECT_EQ(type_of_gate("model.layers.0"), "bf16") << "with any text after it";
  EXPECT_EQ(type_of_gate("mlp"), "fp8") << "not within a name";
  EXPECT_EQ(type_of_gate(R"(.*layers\\.\\d{1,2}\\.mlp)"), "bf16");
  EXPECT_EQ(type_of_gate(R"(^(?!.*self_attn).*)"), "bf16");
  EXPECT_EQ(type_of_gate(R"(^(?!.*mlp\\.(gate|up)_proj$).*)"), "fp8");
  EXPECT_EQ(type_of_gate(R"((?!.*self_attn)(?!.*mlp).*)"), "fp8");
  std::string hostile;
  for (int i = 0; i < 60; ++i) hostile += "(a*)*";
  EXPECT_EQ(type_of_gate(hostile + "b"), "fp8");
  EXPECT_EQ(type_of_gate(".*" + hostile + "layers.0"), "bf16");
}

// AutoRound searches names for its expressions; other names are whole or parts of them.
TEST(StoredFormats, ExpressionsOfAutoRoundAreSearchedFor) {
  auto types = types_of(dense_network_with(
      R"({"quant_method": "auto-round", "bits": 4, "extra_config": {"mlp\\.(gate|up)_proj$":
        {"bits": 16}, "model.layers.1.self_attn.q_proj": {"bits": 8}, ".*down_proj.*": {"bits": 8}}})"));
  EXPECT_EQ(types["decoder.0.ffn.gate.weight"], "bf16");
  EXPECT_EQ(types["decoder.0.ffn.output.weight"], "int8");
  EXPECT_EQ(types["decoder.1.attention.query.weight"], "int8");
  EXPECT_EQ(types["decoder.1.attention.key.weight"], "int4");
}

// Experts of DeepSeek-V4 are in FP4, the others in FP8.
TEST(StoredFormats, ExpertsHaveATypeOfTheirOwn) {
  std::string text = network_with(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
  text.insert(1, R"("expert_dtype": "fp4", )");
  auto types = types_of(text);
  EXPECT_EQ(types["decoder.1.ffn.experts.first.weight"], "mxfp4");
  EXPECT_EQ(types["decoder.1.ffn.shared.up.weight"], "fp8_block");
  EXPECT_EQ(types["decoder.0.attention.query.weight"], "fp8_block");
  EXPECT_EQ(types["decoder.1.ffn.router.weight"], "bf16");
}

TEST(StoredFormats, OperandsFollowTheTypeOfTheWeight) {
  const ModelConfig config = stored_network(network_with(kTwoGroups));
  PrecisionPolicy policy = find_precision("nvfp4");
  Tensor weight;
  weight.kind = TensorKind::kWeight;
  weight.dtype = DType::kFp8;
  EXPECT_EQ(own_operands(policy, weight), std::nullopt);
  weight.is_kept = true;
  EXPECT_EQ(own_operands(policy, weight), DType::kBf16) << "weights alone";
  policy.multiplied = {DType::kFp8};
  EXPECT_EQ(own_operands(policy, weight), DType::kFp8);
  weight.dtype = DType::kBf16;
  EXPECT_EQ(own_operands(policy, weight), std::nullopt);
}

// Sizes of checkpoints as published: arXiv 2508.10925, table 1.
TEST(StoredFormats, CheckpointsHaveTheirSizes) {
  const WorkloadLibrary library;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  const std::string mxfp4 = R"({"quant_method": "mxfp4", "modules_to_not_convert":
    ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})";
  const auto size = [&](const std::string& name) {
    ModelConfig config = library.load(name);
    read_format_file(R"({"quantization_config": )" + mxfp4 + "}", "config.json", &config);
    return stored_graph(config, config.checkpoint.dtype).weight_bytes().value() / kGib;
  };
  EXPECT_NEAR(size("gpt-oss-120b"), 60.8, 0.005 * 60.8);
  EXPECT_NEAR(size("gpt-oss-20b"), 12.8, 0.005 * 12.8);
}

}  // namespace
}  // namespace foretell
