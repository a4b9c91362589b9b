// Steps of training of whole networks against rules that are known for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"
#include "workloads/ir/training/training_step.hpp"

namespace foretell {
namespace {

Graph forward_of(const char* name, std::int64_t batch, std::int64_t seq,
                 const char* dtype = "bf16") {
  Graph graph = build_graph(WorkloadLibrary().load(name), {batch, seq});
  apply_precision(find_precision(dtype), &graph);
  return graph;
}

double flops_of(const TrainingStep& step, const std::vector<std::string>& kinds, bool backward) {
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(step.graph.ops().size()); ++id) {
    const bool counts =
        std::find(kinds.begin(), kinds.end(), step.graph.op(id).kind) != kinds.end();
    if (counts && (id >= step.first_backward) == backward) sum += step.graph.flops(id).value();
  }
  return sum;
}

TEST(TrainingOfNetworks, ProductsTakeExactlyTwiceAsMuchBackwards) {
  for (const char* name : {"bert-base-uncased", "albert-base-v2", "gpt2", "distilbert-base-uncased",
                           "xlm-roberta-base"}) {
    const TrainingStep step = derive_training_step(forward_of(name, 2, 64), Optimizer::kAdam, 1);
    EXPECT_DOUBLE_EQ(flops_of(step, {"MatMul"}, true), 2 * flops_of(step, {"MatMul"}, false))
        << name;
  }
}

TEST(TrainingOfNetworks, TheFirstConvolutionHasNoGradientOfItsImage) {
  for (const char* name : {"resnet18", "resnet50", "vgg16"}) {
    const Graph forward = forward_of(name, 1, 1);
    const auto is_conv = [](const Op& op) { return op.kind == "Conv"; };
    const auto& ops = forward.ops();
    const auto first = std::find_if(ops.begin(), ops.end(), is_conv) - ops.begin();
    const double image = forward.flops(static_cast<OpId>(first)).value();
    const TrainingStep step = derive_training_step(forward, Optimizer::kSgd, 1);
    const double conv = flops_of(step, {"Conv"}, false);
    const double back = flops_of(step, {"ConvTranspose", "ConvWeightGradient"}, true);
    // Biases are added to the results forwards; their gradients are sums of their own.
    EXPECT_NEAR(back, 2 * conv - image, 0.01 * conv) << name;
  }
}

// Kaplan et al. 2020: 6 flops per parameter and token, of parameters in products.
TEST(TrainingOfNetworks, BertTakesSixFlopsPerParameterAndToken) {
  const Graph forward = forward_of("bert-base-uncased", 8, 128);
  const TrainingStep step = derive_training_step(forward, Optimizer::kAdam, 1);
  double embeddings = 0;
  for (const Tensor& tensor : forward.tensors()) {
    const bool is_table = tensor.kind == TensorKind::kWeight && tensor.name.rfind("emb", 0) == 0;
    if (is_table) embeddings += static_cast<double>(element_count(tensor.shape));
  }
  const double tokens = 8.0 * 128;
  const double rule = 6 * (static_cast<double>(step.parameters) - embeddings) * tokens;
  const double all = (step.forward + step.backward).value();
  EXPECT_NEAR(all / rule, 1, 0.05);
}

TEST(TrainingOfNetworks, ResNet50TakesThreeTimesItsForwardPass) {
  const TrainingStep step =
      derive_training_step(forward_of("resnet50", 4, 1), Optimizer::kMomentum, 1);
  EXPECT_NEAR((step.forward + step.backward) / step.forward, 3, 0.09);
  EXPECT_NEAR(step.forward.value() / 4, 2 * 4.1e9, 0.02 * 8.2e9);
}

TEST(TrainingOfNetworks, MemoryAndAllReduceFollowTheParameters) {
  for (const char* dtype : {"bf16", "fp32", "bf16-matmul"}) {
    const Graph forward = forward_of("bert-base-uncased", 1, 16, dtype);
    const auto parameters = static_cast<double>(forward.parameter_count());
    const TrainingStep step = derive_training_step(forward, Optimizer::kAdam, 8);
    EXPECT_EQ(step.parameters, forward.parameter_count()) << dtype;
    EXPECT_EQ(step.weights, forward.weight_bytes()) << dtype;
    EXPECT_EQ(step.gradients, forward.weight_bytes()) << dtype;
    EXPECT_EQ(step.all_reduce, forward.weight_bytes()) << dtype;
    double copies = 0;  // FP32 ones of what is narrower
    for (const Tensor& tensor : forward.tensors()) {
      if (tensor.kind == TensorKind::kWeight && size_of(tensor.dtype) < Bytes(4))
        copies += static_cast<double>(element_count(tensor.shape));
    }
    EXPECT_DOUBLE_EQ(step.optimizer_state.value(), 8 * parameters + 4 * copies) << dtype;
  }
}

TEST(TrainingOfNetworks, LongerSequencesAndLargerBatchesKeepMore) {
  const auto saved = [](std::int64_t batch, std::int64_t seq) {
    return derive_training_step(forward_of("distilbert-base-uncased", batch, seq), Optimizer::kSgd,
                                1)
        .saved_activations.value();
  };
  EXPECT_DOUBLE_EQ(saved(4, 32), 4 * saved(1, 32));
  EXPECT_GT(saved(1, 64), 2 * saved(1, 32));  // probabilities of attention grow with the square
}

TEST(TrainingOfNetworks, NetworksOfOneForwardPassAreTrainedOrRefusedByOperator) {
  const WorkloadLibrary library;
  for (const std::string& name : library.names()) {
    const ModelConfig config = library.load(name);
    if (config.family == Family::kEncoderDecoder || config.family == Family::kPipeline) continue;
    if (config.layers > 12) continue;
    Graph forward = build_graph(config, {1, 16});
    apply_precision(find_precision("bf16"), &forward);
    try {
      const TrainingStep step = derive_training_step(forward, Optimizer::kSgd, 1);
      EXPECT_GT(step.backward, step.forward) << name;
      EXPECT_EQ(step.parameters, forward.parameter_count()) << name;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("has no derivative")) << name;
      EXPECT_GT(config.experts, 0) << name;
    }
  }
}

}  // namespace
}  // namespace foretell
