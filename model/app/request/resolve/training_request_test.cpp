// Steps of training on devices of every family: what a request gives, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

Request training_on(const std::string& system, const std::string& workload = "bert-base-uncased") {
  Request request;
  request.system = system;
  request.workload = workload;
  request.phase = "train-step";
  request.dtype = system == "c6i.xlarge" ? "fp32" : "bf16";
  request.dp = 1;
  request.set = {"workload.layers=2"};
  if (workload == "bert-base-uncased") request.seq_len = 32;
  return request;
}

TEST(TrainingOnDevices, AStepTakesMoreThanTwiceTheForwardPass) {
  for (const char* system : {"trn1.2xlarge", "h100-sxm", "c6i.xlarge"}) {
    Request request = training_on(system);
    request.batch = 8;
    const RunRecord step = predict(request);
    request.phase = "";
    const RunRecord forward = predict(request);
    EXPECT_GT(step.summary.call_s, 2 * forward.summary.call_s) << system;
    EXPECT_EQ(step.summary.throughput_unit, "samples/s");
    ASSERT_TRUE(step.summary.training) << system;
    EXPECT_GT(step.summary.training->forward_s, 0) << system;
    EXPECT_LT(step.summary.training->forward_s, step.summary.call_s) << system;
    EXPECT_EQ(to_json(run_record_from_json(to_json(step), "test")), to_json(step));
  }
}

TEST(TrainingOnDevices, MemoryHoldsTheStateOfTheOptimiserExactly) {
  const auto training_bytes = [](const char* optimizer) {
    Request request = training_on("h100-sxm");
    request.optimizer = optimizer;
    return predict(request).summary;
  };
  const RunSummary sgd = training_bytes("sgd");
  const RunSummary momentum = training_bytes("momentum");
  const RunSummary adam = training_bytes("adam");
  const double parameters = adam.training->parameters;
  EXPECT_DOUBLE_EQ(adam.memory->weights_bytes, 2 * parameters);
  EXPECT_DOUBLE_EQ(sgd.memory->training_bytes, 6 * parameters);  // gradients and FP32 weights
  EXPECT_DOUBLE_EQ(momentum.memory->training_bytes, 10 * parameters);
  EXPECT_DOUBLE_EQ(adam.memory->training_bytes, 14 * parameters);
  EXPECT_LE(sgd.call_s, momentum.call_s);
  EXPECT_LE(momentum.call_s, adam.call_s);
}

struct PublishedStep {
  const char* system;
  const char* workload;
  const char* dtype;
  const char* optimizer;
  std::int64_t batch;
  double lowest, highest;  // samples/s
};

// What makers publish, input pipeline included, with a quarter around it: NVIDIA's MXNet example of
// ResNet-50 v1.5 (containers 20.12 and 22.10), the trn1 page of the AWS Neuron documentation
// (releases 2.18 to 2.23, an update after 32 batches).
TEST(TrainingOnDevices, StepsAreNearThosePublished) {
  constexpr double kMargin = 1.25;
  for (const PublishedStep& published :
       {PublishedStep{"v100-sxm-16gb", "resnet50", "fp16", "momentum", 192, 1376, 1376},
        PublishedStep{"a100-sxm", "resnet50", "fp16", "momentum", 256, 2180, 3660},
        PublishedStep{"trn1.2xlarge", "bert-large-uncased", "bf16", "sgd", 16, 103, 124}}) {
    Request request;
    request.system = published.system;
    request.workload = published.workload;
    request.dtype = published.dtype;
    request.optimizer = published.optimizer;
    request.phase = "train-step";
    request.batch = published.batch;
    request.dp = 1;
    if (request.workload != "resnet50") request.seq_len = 128;
    const double throughput = predict(request).summary.throughput;
    EXPECT_GT(throughput, published.lowest / kMargin) << published.system;
    EXPECT_LT(throughput, published.highest * kMargin) << published.system;
  }
}

TEST(TrainingOnDevices, CopiesSumTheirGradients) {
  for (const char* system : {"trn1.2xlarge", "h100-sxm-x8"}) {
    Request request = training_on(system);
    const RunSummary one = predict(request).summary;
    request.dp = 2;
    const RunSummary two = predict(request).summary;
    EXPECT_DOUBLE_EQ(one.training->all_reduce_bytes, 0) << system;
    EXPECT_DOUBLE_EQ(two.training->all_reduce_bytes, two.training->gradients_bytes) << system;
    EXPECT_GT(two.call_s, one.call_s) << system;
    EXPECT_LT(two.call_s, 2 * one.call_s) << system;
  }
}

TEST(TrainingOnDevices, DecodersAreTrainedEverywhereAndPipelinesNowhere) {
  for (const char* system : {"trn1.2xlarge", "h100-sxm"}) {
    Request request = training_on(system, "gpt2");
    request.seq_len = 32;
    const RunRecord step = predict(request);
    request.phase = "";
    EXPECT_GT(step.summary.call_s, 2 * predict(request).summary.call_s) << system;
    Request pipeline = training_on(system, "stable-diffusion-1.5");
    pipeline.set = {};
    EXPECT_THAT(message_of<UserError>([&] { predict(pipeline); }), HasSubstr("is a pipeline"));
  }
}

TEST(TrainingOnDevices, CopiesThatMakeNoGroupAreRefusedByTheirOption) {
  Request request = training_on("trn1.32xlarge");
  request.dp = 5;
  EXPECT_THAT(message_of<UserError>([&] { predict(request); }),
              HasSubstr("a sum of gradients over --dp 5 is not possible on trn1.32xlarge; possible "
                        "are 1, 2, 8, 32"));
}

TEST(TrainingOnDevices, ReplayedLayersTakeWhatExecutedOnesTake) {
  Request request = training_on("trn1.2xlarge");
  request.set = {"workload.layers=12"};
  const double replayed = predict(request).summary.call_s;
  request.exact = true;
  EXPECT_NEAR(replayed / predict(request).summary.call_s, 1, 1e-3);
}

TEST(TrainingOnDevices, ConvolutionsAreTrained) {
  for (const char* system : {"trn1.2xlarge", "h100-sxm", "c6i.xlarge"}) {
    Request request = training_on(system, "resnet18");
    request.set = {};
    request.image_size = 64;
    const RunSummary step = predict(request).summary;
    EXPECT_DOUBLE_EQ(step.training->parameters, 11'689'512) << system;
  }
}

TEST(TrainingOnDevices, WhatDoesNotFitIsRefusedWithTheNumbers) {
  for (const char* system : {"trn1.2xlarge", "l4"}) {
    Request request = training_on(system, "llama-3-8b");
    request.set = {};
    request.seq_len = 128;
    EXPECT_THAT(message_of<UserError>([&] { predict(request); }),
                testing::AllOf(HasSubstr("a training step needs"),
                               HasSubstr("gradients and optimiser state")))
        << system;
  }
}

TEST(TrainingOnDevices, WhatCannotBeTrainedSaysWhy) {
  const auto message = [](const Request& request) {
    return message_of<UserError>([&] { predict(request); });
  };
  Request generation = training_on("trn1.2xlarge", "gpt2");
  generation.input_len = generation.output_len = 8;
  EXPECT_THAT(message(generation), HasSubstr("a training step has no KV cache"));
  Request narrow = training_on("trn1.2xlarge");
  narrow.dtype = "int8";
  EXPECT_THAT(message(narrow), HasSubstr("weights of type int8 are not trained"));
  Request unknown = training_on("trn1.2xlarge");
  unknown.optimizer = "adamw";
  EXPECT_THAT(message(unknown), HasSubstr("unknown optimizer 'adamw'; nearest is 'adam'"));
  Request forward = training_on("trn1.2xlarge");
  forward.phase = "forward";
  forward.optimizer = "sgd";
  EXPECT_THAT(message(forward), HasSubstr("add --phase train-step"));
  forward.phase = "train";
  EXPECT_THAT(message(forward), HasSubstr("unknown phase 'train'"));
  Request translation = training_on("trn1.2xlarge", "t5-3b");
  translation.set = {};
  EXPECT_THAT(message(translation), HasSubstr("t5"));
}

}  // namespace
}  // namespace foretell
