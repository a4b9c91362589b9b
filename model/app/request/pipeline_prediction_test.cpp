#include "model/app/request/pipeline_prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/request/testing/fake_predictor.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;

Request images(const std::string& system, std::int64_t batch = 1) {
  Request request;
  request.system = system;
  request.workload = "Stable Diffusion 1.5";
  request.batch = batch;
  return request;
}

RunRecord predict_part(const Request& request) {
  RunRecord record = fake_predict(request);
  record.summary.memory = example_generation().summary.memory;
  return record;
}

// A text, 51 steps and the decoder, at 1 ms per sample.
TEST(PipelinePrediction, NeuronCoresPaintWithAndWithoutTheTextSideBySide) {
  const RunRecord record = predict_pipeline(images("inf2.xlarge"), predict_part);
  EXPECT_NEAR(record.summary.call_s, 0.053, 1e-12);
  EXPECT_EQ(record.context.scenario.dp, 1);
  EXPECT_EQ(record.context.scenario.cores, 2);
  EXPECT_NEAR(record.summary.throughput, 1 / 0.053, 1e-9);
  EXPECT_EQ(record.summary.throughput_unit, "images/s");
  EXPECT_EQ(record.context.workload, "stable-diffusion-1.5");
  EXPECT_THAT(record.context.notes, Contains(HasSubstr("unet: 51 x")));
}

TEST(PipelinePrediction, OperatorsAreThoseOfAllCalls) {
  const auto with_operator = [](const Request& request) {
    RunRecord record = predict_part(request);
    record.operators = {{"all", "MatMul", "tensor", 0, record.summary.call_s, 2, 3, "tensor"}};
    return record;
  };
  const RunRecord record = predict_pipeline(images("inf2.xlarge"), with_operator);
  double sum = 0;
  for (const OperatorRecord& op : record.operators) {
    EXPECT_NEAR(op.start_s, sum, 1e-12) << op.name;
    sum += op.duration_s;
    if (op.name == "unet.all") {
      EXPECT_EQ(op.flops, 51 * 2);
      EXPECT_EQ(op.bytes, 51 * 3);
    }
  }
  EXPECT_NEAR(sum, record.summary.call_s, 1e-12);
}

// An image takes the joules of the watts over its time, and its band is around these.
TEST(PipelinePrediction, TheBandOfJoulesIsAroundThem) {
  const RunSummary summary = predict_pipeline(images("h100-sxm"), [](const Request& request) {
                               RunRecord record = predict_part(request);
                               record.summary.watts = 400;
                               record.summary.wall_watts = 500;
                               record.summary.joules_per_request = 2;
                               record.summary.energy = EnergyRecord();
                               record.summary.energy->interval80 = {0.5, 2};
                               return record;
                             }).summary;
  ASSERT_TRUE(summary.joules_per_request.has_value());
  const double joules = *summary.joules_per_request;
  EXPECT_NEAR(joules, *summary.watts / summary.throughput, 1e-9 * joules);
  EXPECT_NEAR(summary.interval80.at("joules_per_request").low, 0.5 * joules, 1e-9 * joules);
  EXPECT_NEAR(summary.interval80.at("joules_per_request").high, 2 * joules, 1e-9 * joules);
}

TEST(PipelinePrediction, OtherMachinesTakeTwiceTheBatch) {
  const RunRecord record = predict_pipeline(images("h100-sxm"), predict_part);
  EXPECT_NEAR(record.summary.call_s, 0.001 + 51 * 0.002 + 0.001, 1e-12);
}

TEST(PipelinePrediction, MoreCoresMakeMoreImages) {
  const RunRecord one = predict_pipeline(images("inf2.xlarge", 2), predict_part);
  const RunRecord many = predict_pipeline(images("inf2.48xlarge", 2), predict_part);
  EXPECT_EQ(many.context.scenario.dp, 12);
  EXPECT_NEAR(many.summary.throughput, 12 * one.summary.throughput, 1e-9);
  EXPECT_EQ(many.summary.call_s, one.summary.call_s);
}

TEST(PipelinePrediction, OptionsOfSingleNetworksAreRefused) {
  Request request = images("inf2.xlarge");
  request.tp = 2;
  EXPECT_THROW(predict_pipeline(request, predict_part), UserError);
  request = images("inf2.xlarge");
  request.input_len = 8;
  EXPECT_THROW(predict_pipeline(request, predict_part), UserError);
  request = images("inf2.xlarge");
  request.frames = 5;  // of a pipeline that makes images
  EXPECT_THROW(predict_pipeline(request, predict_part), UserError);
  EXPECT_TRUE(is_pipeline(request));
  request.workload = "resnet50";
  EXPECT_FALSE(is_pipeline(request));
}

}  // namespace
}  // namespace foretell
