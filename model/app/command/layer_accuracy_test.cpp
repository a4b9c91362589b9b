// Layers of attention as the sum of their parts on shape families that judge, and kernels of
// latent attention and experts on a GPU that is left out altogether, against thresholds. Skipped
// without the published tables.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"

namespace foretell {
namespace {

constexpr const char* kBlocks = "gpu_attention_blocks.csv.gz";
constexpr const char* kLatent = "gpu_mla.csv.gz";

struct LayerLimit {
  const char* table;
  const char* gpu;
  std::vector<std::string> conditions;
  double mape;  // per cent
};

void PrintTo(const LayerLimit& limit, std::ostream* stream) {
  *stream << limit.table << ' ' << limit.gpu;
  for (const std::string& one : limit.conditions) *stream << ' ' << one;
}

CommandResult validate_layers(const std::string& table, const LayerLimit& limit,
                              const std::vector<std::string>& options) {
  std::vector<std::string> line = {"validate",
                                   table,
                                   "--held-out",
                                   "--worst",
                                   "0",
                                   "--max-mape",
                                   std::to_string(limit.mape),
                                   "--where",
                                   std::string("gpu=") + limit.gpu};
  for (const std::string& one : limit.conditions) {
    line.emplace_back("--where");
    line.push_back(one);
  }
  line.insert(line.end(), options.begin(), options.end());
  return run_command(line);
}

class LayerAccuracy : public ::testing::TestWithParam<LayerLimit> {};

TEST_P(LayerAccuracy, FamiliesThatJudgeAreWithinTheLimit) {
  const std::string table = published_table(GetParam().table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result = validate_layers(table, GetParam(), {});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

class LayerTransfer : public ::testing::TestWithParam<LayerLimit> {};

TEST_P(LayerTransfer, AGpuThatWasNeverMeasuredIsWithinTheLimit) {
  const std::string table = published_table(GetParam().table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result =
      validate_layers(table, GetParam(), {"--without-factors-of", GetParam().gpu});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, LayerAccuracy,
    ::testing::Values(
        LayerLimit{kBlocks, "h200_sxm", {"kind=mla", "framework=trtllm", "phase=generation"}, 6.5},
        LayerLimit{kBlocks, "b200_sxm", {"kind=mla", "framework=trtllm", "phase=context"}, 8.5},
        LayerLimit{kBlocks, "b200_sxm", {"kind=mla", "framework=vllm", "phase=context"}, 9},
        LayerLimit{kBlocks, "h200_sxm", {"kind=mla", "framework=vllm", "phase=generation"}, 12},
        LayerLimit{kBlocks, "h200_sxm", {"kind=dsa", "framework=trtllm", "phase=generation"}, 9},
        LayerLimit{kBlocks, "h200_sxm", {"kind=dsa", "framework=trtllm", "phase=context"}, 5},
        LayerLimit{kBlocks, "h200_sxm", {"kind=msa", "framework=vllm", "phase=context"}, 9},
        LayerLimit{kBlocks, "h200_sxm", {"kind=msa", "framework=trtllm", "phase=generation"}, 15},
        LayerLimit{kBlocks, "h200_sxm", {"kind=msa", "framework=vllm", "phase=generation"}, 14}));

INSTANTIATE_TEST_SUITE_P(
    Tables, LayerTransfer,
    ::testing::Values(LayerLimit{kLatent, "h200_sxm", {"framework=trtllm", "phase=context"}, 10},
                      LayerLimit{kLatent, "h200_sxm", {"framework=trtllm", "phase=generation"}, 20},
                      LayerLimit{kLatent, "b200_sxm", {"framework=trtllm", "phase=context"}, 14}));

}  // namespace
}  // namespace foretell
