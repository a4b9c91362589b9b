// Watts of networks and jobs under power caps: how a row is read, and what is refused.
#include "model/app/tables/kinds/energy_run_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::HasSubstr;

const CsvRow kRowsHeader = {"what",
                            "device",
                            "n_devices",
                            "model",
                            "dtype",
                            "tp",
                            "osl",
                            "scenario",
                            "batch_or_concurrency",
                            "watts_per_device",
                            "latency_ms",
                            "power_limit_w"};

CsvRow capped(const std::string& device, const std::string& limit, const std::string& latency,
              const std::string& watts) {
  return {"network/training epoch under power cap",
          device,
          "1",
          "a job",
          "",
          "",
          "",
          "adam",
          "64",
          watts,
          latency,
          limit};
}

std::vector<RowPrediction> predictions_of(const std::vector<CsvRow>& rows) {
  std::vector<RowPrediction> predictions;
  EnergyRunBatch batch(
      kRowsHeader, predict, Request{}, 1,
      [&](const CsvRow&, const RowPrediction& one) { predictions.push_back(one); });
  for (const CsvRow& row : rows) batch.add(row, "");
  batch.finish();
  return predictions;
}

TEST(EnergyRunRows, ACapThatDoesNotBindChangesNothing) {
  const auto all =
      predictions_of({capped("V100", "200", "1200", "120"), capped("V100", "250", "1000", "120")});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].values.at("pred_latency_ms"), 1000);
  EXPECT_TRUE(all[1].values.empty());  // the time that the other is compared with
  EXPECT_EQ(all[1].error, "");
}

TEST(EnergyRunRows, LowerCapsTakeLonger) {
  const auto all =
      predictions_of({capped("V100", "250", "1000", "245"), capped("V100", "200", "0.001", "190"),
                      capped("V100", "150", "0.001", "145"), capped("V100", "100", "0.001", "99")});
  EXPECT_GT(all[1].values.at("pred_latency_ms"), 1000);
  EXPECT_GT(all[2].values.at("pred_latency_ms"), all[1].values.at("pred_latency_ms"));
  EXPECT_GT(all[3].values.at("pred_latency_ms"), 1.2 * all[2].values.at("pred_latency_ms"));
}

TEST(EnergyRunRows, ASystemAtTheWallDrawsLessWhereItsClockWasLowered) {
  const CsvRow header = {
      "what",  "device",     "n_devices", "model",           "batch_or_concurrency",
      "watts", "throughput", "watts_of",  "watts_per_device"};
  const auto at_throughput = [](const char* throughput, const char* device) {
    return CsvRow{"network/serving",          device, "8", "resnet50", "", "3000", throughput,
                  "whole system at the wall", ""};
  };
  const char* const board = "NVIDIA A100-SXM-80GB";
  std::vector<RowPrediction> all;
  EnergyRunBatch batch(header, predict, Request{}, 1,
                       [&](const CsvRow&, const RowPrediction& one) { all.push_back(one); });
  for (const char* throughput : {"200000", "100000", "1"})
    batch.add(at_throughput(throughput, board), "");
  batch.add(at_throughput("1000", "NVIDIA A101"), "");
  batch.add(at_throughput("", board), "");
  batch.finish();
  ASSERT_EQ(all.size(), 5U);
  const auto watts = [&](std::size_t row) { return all[row].values.at("pred_wall_watts"); };
  // Beyond what idles, half the samples take less than half: each costs less at the lower voltage.
  EXPECT_LT(watts(1) - watts(2), 0.5 * (watts(0) - watts(2)));
  EXPECT_GT(watts(2), 0);
  EXPECT_THAT(all[3].error, HasSubstr("NVIDIA A100"));
  EXPECT_THAT(all[4].error, HasSubstr("throughput: is empty"));
}

TEST(EnergyRunRows, WhatIsWrongIsSaid) {
  CsvRow other = capped("V100", "250", "1000", "245");
  other[0] = "kernel";
  CsvRow served = {"serving",
                   "H100",
                   "1",
                   "Qwen/Qwen3-15B",
                   "bfloat16",
                   "tp1 ep1 dp1",
                   "100",
                   "gpqa",
                   "avg 8.0 (max_num_seqs 8)",
                   "400",
                   "",
                   ""};
  CsvRow unknown_prompt = served;
  unknown_prompt[3] = "Qwen/Qwen3-14B";
  unknown_prompt[7] = "audio-chat";
  CsvRow no_clients = unknown_prompt;
  no_clients[7] = "gpqa";
  no_clients[8] = "avg none";
  CsvRow uneven = served;
  uneven[3] = "Qwen/Qwen3-14B";
  uneven[2] = "4";
  uneven[5] = "tp1 ep4 dp3";
  const auto all = predictions_of({other, capped("V200", "250", "1000", "245"),
                                   capped("V100", "", "1000", "245"), served, unknown_prompt,
                                   no_clients, uneven});
  EXPECT_THAT(all[0].error,
              HasSubstr("serving, network/diffusion, and jobs under a power cap, are"));
  EXPECT_THAT(all[1].error, HasSubstr("V100"));
  EXPECT_THAT(all[2].error, HasSubstr("power_limit_w: is empty"));
  EXPECT_THAT(all[3].error, HasSubstr("Qwen/Qwen3-14B"));
  EXPECT_THAT(all[4].error, HasSubstr("gpqa"));
  EXPECT_THAT(all[5].error, HasSubstr("'avg none' is not allowed"));
  EXPECT_THAT(all[6].error, HasSubstr("'tp1 ep4 dp3' does not divide 4 devices"));
}

}  // namespace
}  // namespace foretell
