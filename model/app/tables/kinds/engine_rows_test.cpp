#include "model/app/tables/kinds/engine_rows.hpp"

#include <gtest/gtest.h>

#include "model/app/serving/request/worker_machine.hpp"

namespace foretell {
namespace {

Request generation(std::int64_t batch, std::int64_t output) {
  Request request;
  request.system = "h100-sxm";
  request.workload = "Llama-3-8B";
  request.dtype = "bf16";
  request.batch = batch;
  request.input_len = 128;
  request.output_len = output;
  return request;
}

RowPrediction served(const Request& request, ServeSummary& summary) {
  const ServeRequest service = generation_by("vllm@0.3", request);
  MachinePool pool(predict);
  summary = serve(pool, service).record.summary;
  return generation_prediction(service, summary);
}

TEST(EngineRows, AGenerationIsAServiceThatAllRequestsEnterAtOnce) {
  ServeSummary summary;
  const RowPrediction row = served(generation(4, 32), summary);
  EXPECT_EQ(summary.requests, 4);
  EXPECT_NEAR(row.values.at("pred_call_ms"), summary.duration_s * 1e3, 1e-3);
  EXPECT_NEAR(row.values.at("pred_throughput"), 4 * 32 / summary.duration_s, 1);
  EXPECT_LT(row.values.at("pred_ttft_ms") + 31 * row.values.at("pred_tpot_ms"),
            1.01 * row.values.at("pred_call_ms"));
  EXPECT_LT(row.intervals.at("call_ms").low, row.values.at("pred_call_ms"));
  EXPECT_GT(row.intervals.at("call_ms").high, row.values.at("pred_call_ms"));
}

TEST(EngineRows, TheHostOfTheEngineCountsAndNoMachineIsFasterThanItsMemory) {
  ServeSummary summary;
  const RowPrediction row = served(generation(1, 32), summary);
  const double without_host = predict(generation(1, 32)).summary.call_s * 1e3;
  EXPECT_GT(row.values.at("pred_call_ms"), without_host + 32 * 2.0);  // 2.2 ms a step
  EXPECT_GT(row.least_call_ms, 0.5 * without_host);
  EXPECT_LT(row.least_call_ms, without_host);
}

TEST(EngineRows, AFirstTokenAloneHasNoFurtherOnes) {
  ServeSummary summary;
  const RowPrediction row = served(generation(1, 1), summary);
  EXPECT_EQ(row.values.count("pred_tpot_ms"), 0U);
  EXPECT_EQ(row.values.at("pred_lo_ms"), row.values.at("pred_ttft_lo_ms"));
}

}  // namespace
}  // namespace foretell
