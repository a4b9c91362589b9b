#include "model/app/serving/request/recipes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "model/app/request/resolve/distribution_text.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

ServedCells point(const char* measured, const char* clients, const char* prompt) {
  return {{"gpu", "b200_sxm"},
          {"framework", "trtllm"},
          {"model", "DeepSeek-R1"},
          {"precision", "fp4"},
          {"mode", "agg"},
          {"measured", measured},
          {"concurrency", clients},
          {"isl", prompt},
          {"osl", "1024"},
          {"tp", "8"},
          {"gpus", "8"}};
}

TEST(Recipes, ARowWithoutAPrecisionTakesThatOfTheNetwork) {
  ServedCells cells = point("2025-11-02", "16", "1024");
  cells.erase("precision");
  EXPECT_EQ(Recipes::load().request_of(cells).machine.dtype, "");
  EXPECT_EQ(Recipes::load().request_of(cells).machine.kv_dtype, "");
  cells["precision"] = "fp5";
  EXPECT_THAT(message_of<UserError>([&] { Recipes::load().request_of(cells); }),
              testing::HasSubstr("unknown precision 'fp5'"));
}

TEST(Recipes, ARowThatContradictsItselfIsRefused) {
  const auto refused = [](const char* column, const char* text) {
    ServedCells cells = point("2025-11-02", "16", "1024");
    cells[column] = text;
    return message_of<UserError>([&] { Recipes::load().request_of(cells); });
  };
  EXPECT_THAT(refused("mode", "foo"), testing::HasSubstr("unknown mode 'foo'"));
  EXPECT_THAT(refused("gpus", "4"), testing::HasSubstr("4 are fewer than a copy of tp 8"));
  EXPECT_THAT(refused("engine", "vllm@0.8"),
              testing::HasSubstr("'vllm@0.8' is none of framework trtllm"));
  EXPECT_THAT(refused("input_len", "9"), testing::HasSubstr("isl states it here"));
}

TEST(Recipes, AStepHasRoomForAPromptAndATokenOfEveryClient) {
  const Recipes recipes = Recipes::load();
  const auto tokens = [&](const ServedCells& cells) {
    return recipes.request_of(cells).max_tokens;
  };
  EXPECT_EQ(tokens(point("2025-11-02", "16", "1024")), 1152);   // 1,104 in whole 64
  EXPECT_EQ(tokens(point("2025-11-02", "128", "8192")), 8384);  // as it is
  EXPECT_EQ(tokens(point("2026-02-03", "16", "1024")), 8192);   // at least
  EXPECT_EQ(tokens(point("2026-02-03", "129", "8192")), 8448);
}

TEST(Recipes, ConditionsOfALimitAreAllMet) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2025-10-29", "16", "1024");
  cells["model"] = "Llama-3.1-70B";
  cells["precision"] = "fp8";
  const std::size_t without = recipes.request_of(cells).machine.set.size();
  cells["gpus"] = cells["tp"] = "2";  // scripts hold prompts back on fewer than eight GPUs
  EXPECT_GT(recipes.request_of(cells).machine.set.size(), without);
  EXPECT_EQ(recipes.request_of(cells).max_tokens, 16384);
}

// Rows before a date are of cold servers, and the release follows from the date, whatever the
// network.
TEST(Recipes, OldServersAreCold) {
  const Recipes recipes = Recipes::load();
  const auto request = [&](const char* measured, const char* network, const char* dump) {
    ServedCells cells = point(measured, "32", "8192");
    cells["framework"] = "sglang";
    cells["model"] = network;
    cells["dump"] = dump;
    return recipes.request_of(cells);
  };
  const auto is_cold = [](const ServeRequest& one) {
    const std::vector<std::string>& set = one.machine.set;
    return std::find(set.begin(), set.end(), "engine.host.cold=yes") != set.end();
  };
  for (const char* network : {"DeepSeek-R1", "Qwen3.5-397B-A17B"}) {
    EXPECT_TRUE(is_cold(request("2025-11-02", network, "")));
    EXPECT_TRUE(is_cold(request("2025-11-10", network, "")));
    EXPECT_FALSE(is_cold(request("2026-03-25", network, "")));
    EXPECT_FALSE(is_cold(request("2025-11-10", network, "lab")));
    EXPECT_EQ(request("2025-11-02", network, "").engine, "sglang@0.4");
    EXPECT_EQ(request("2025-11-10", network, "").engine, "sglang@0.5.5");
    EXPECT_EQ(request("2026-03-25", network, "").engine, "sglang@0.5.6");
  }
}

// What a context is too long for is said of the network, however long it is.
TEST(Recipes, LongPromptsAreDrawnInSteps) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2026-02-03", "8", "200000");
  const ServeRequest request = recipes.request_of(cells);
  const Load load = load_of(request);
  EXPECT_LE(load.input_len->points().size(), kMaxLengths);
  EXPECT_EQ(load.input_len->points().back().value, 200000);
  EXPECT_EQ(load.input_len->points().front().value, 160000);
}

// Ranks that have attention of their own divide the experts, whatever the row says; others are
// taken at its word.
TEST(Recipes, RanksOfSeparateWorkersDivideTheExperts) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2025-12-21", "2048", "8192");
  cells["framework"] = "sglang";
  cells["gpu"] = "gb200";
  cells["mode"] = "disagg";
  cells["prefill_tp"] = "8";
  cells["prefill_moe_ep"] = "1";
  cells["decode_tp"] = "1";
  cells["decode_attention_dp"] = "32";
  cells["decode_moe_ep"] = "1";
  const ServeRequest request = recipes.request_of(cells);
  EXPECT_EQ(request.prefill, "tp=8,pp=1,workers=1,attention-dp=1,ep=1");
  EXPECT_EQ(request.decode, "tp=1,pp=1,workers=1,attention-dp=32,ep=32");
  EXPECT_EQ(request.max_tokens, 131072);
  cells["concurrency"] = "8";
  EXPECT_EQ(recipes.request_of(cells).max_tokens, 16384);
}

// Scripts of 2025 chose how GPUs divide a network by clients and lengths, which rows do not say.
TEST(Recipes, ScriptsDivideWhatRowsDoNotState) {
  const Recipes recipes = Recipes::load();
  const auto division = [&](const ServedCells& cells) {
    const ServeRequest request = recipes.request_of(cells);
    return std::tuple{request.machine.tp, request.attention_dp, request.machine.ep};
  };
  const int as_before = ServeRequest().machine.ep;
  EXPECT_EQ(division(point("2025-11-02", "8", "1024")), (std::tuple{8, 1, as_before}));
  EXPECT_EQ(division(point("2025-11-02", "16", "1024")), (std::tuple{8, 1, 8}));
  EXPECT_EQ(division(point("2025-11-02", "255", "1024")), (std::tuple{8, 1, 8}));
  EXPECT_EQ(division(point("2025-11-02", "256", "1024")), (std::tuple{1, 8, 8}));
  EXPECT_EQ(division(point("2025-11-02", "33", "8192")), (std::tuple{1, 8, 8}));
  EXPECT_EQ(division(point("2026-02-03", "256", "1024")), (std::tuple{8, 1, as_before}))
      << "rows of later workflows are right";
  ServedCells four = point("2025-11-02", "32", "1024");
  four["tp"] = four["gpus"] = "4";
  EXPECT_EQ(division(four), (std::tuple{4, 1, as_before}));
  four["concurrency"] = "64";
  EXPECT_EQ(division(four), (std::tuple{4, 1, 4}));
  four["dump"] = "lab";
  EXPECT_EQ(division(four), (std::tuple{4, 1, as_before})) << "not of these scripts";
}

TEST(Recipes, CorrectedRowsOfPromptWorkersCount) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2026-02-12", "128", "8192");
  cells["precision"] = "fp8";
  cells["mode"] = "disagg";
  cells["prefill_tp"] = "1";
  cells["prefill_attention_dp"] = cells["prefill_moe_ep"] = "8";
  cells["decode_tp"] = "8";
  cells["decode_moe_ep"] = "1";
  const ServeRequest request = recipes.request_of(cells);
  EXPECT_EQ(request.prefill, "tp=1,pp=1,workers=1,attention-dp=8,ep=1");
  EXPECT_EQ(request.decode, "tp=8,pp=1,workers=1,attention-dp=1,ep=1");
  cells["isl"] = "1024";
  EXPECT_EQ(recipes.request_of(cells).prefill, "tp=1,pp=1,workers=1,attention-dp=8,ep=8");
}

TEST(Recipes, TheCommandLineCountsInPlaceOfTheRecipe) {
  ServeRequest request;
  request.machine.set = {"engine.host.cold=yes", "engine.host.stream_interval=50"};
  add_settings({" engine.host.cold = no", "device.hbm.bandwidth=2 TB/s"}, request);
  EXPECT_EQ(request.machine.set,
            (std::vector<std::string>{"engine.host.stream_interval=50", " engine.host.cold = no",
                                      "device.hbm.bandwidth=2 TB/s"}));
  // For two on the command line none is dropped: they are refused.
  add_settings({"engine.host.overlap=no", "engine.host.overlap=yes"}, request);
  EXPECT_EQ(request.machine.set.size(), 5U);
}

TEST(Recipes, TheLaboratorySendsItsOwnLoad) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2026-02-03", "16", "1024");
  EXPECT_EQ(recipes.request_of(cells).requests, 160);
  cells["dump"] = "lab";
  EXPECT_EQ(recipes.request_of(cells).requests, 320);
  EXPECT_EQ(recipes.request_of(cells).input_len, "1024");
}

// Graphs of prompts are turned on by the ranks of the experts or the number of clients.
TEST(Recipes, GraphsOfPromptsAreWhereScriptsTurnThemOn) {
  const Recipes recipes = Recipes::load();
  const auto has_graphs = [&recipes](ServedCells cells) {
    cells["framework"] = "trtllm";
    const std::vector<std::string> set = recipes.request_of(cells).machine.set;
    return std::find(set.begin(), set.end(), "engine.graphs.mixed=yes") != set.end();
  };
  ServedCells cells = point("2026-02-03", "64", "1024");
  EXPECT_FALSE(has_graphs(cells));
  cells["moe_ep"] = "8";
  EXPECT_TRUE(has_graphs(cells));
  cells["osl"] = "8192";
  EXPECT_FALSE(has_graphs(cells));
  cells["precision"] = "fp8";
  EXPECT_FALSE(has_graphs(cells));
  cells["concurrency"] = "128";
  EXPECT_TRUE(has_graphs(cells));
  cells["gpu"] = "h200_sxm";
  EXPECT_FALSE(has_graphs(cells));
}

TEST(Recipes, TheNetworkIsTheFileThatIsServed) {
  const Recipes recipes = Recipes::load();
  ServedCells cells = point("2026-02-03", "16", "1024");
  EXPECT_EQ(recipes.request_of(cells).machine.workload, "DeepSeek-R1-0528-NVFP4-v2");
  cells["model"] = "Qwen3.5-397B-A17B";
  EXPECT_EQ(recipes.request_of(cells).machine.workload, "Qwen3.5-397B-A17B-NVFP4");
  cells["precision"] = "fp8";
  EXPECT_EQ(recipes.request_of(cells).machine.workload, "Qwen3.5-397B-A17B-FP8");
  cells["precision"] = "bf16";
  EXPECT_EQ(recipes.request_of(cells).machine.workload, "Qwen3.5-397B-A17B");
}

// As the tables write GPUs, and as `run` takes them.
TEST(Recipes, EveryGpuAndSystemIsTaken) {
  const Recipes recipes = Recipes::load();
  const auto system = [&](const std::string& gpu) {
    ServedCells cells = point("2025-11-02", "16", "1024");
    cells["gpu"] = gpu;
    return recipes.request_of(cells).machine.system;
  };
  EXPECT_EQ(system("h200_sxm"), "h200-sxm-x8");
  EXPECT_EQ(system("A100-SXM"), "a100-sxm-x8");
  EXPECT_EQ(system("gb300-nvl72"), "gb300-nvl72");
  EXPECT_EQ(system("h100-sxm-x4"), "h100-sxm-x4");
  const TemporaryFolder folder;
  const std::string file = folder.write("mine.yaml", "id: mine\ninterconnect: nvlink\n");
  EXPECT_EQ(system(file), file);
  EXPECT_THAT(message_of<UserError>([&] { system("h100_smx"); }),
              testing::HasSubstr("unknown gpu 'h100_smx'; nearest is 'h100_sxm'"));
  EXPECT_THAT(message_of<UserError>([&] { system("mi300y"); }), testing::HasSubstr("mi300x"));
}

}  // namespace
}  // namespace foretell
