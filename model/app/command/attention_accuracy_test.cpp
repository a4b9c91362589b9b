// Measured attention of head configurations, and collectives of numbers of GPUs, that no factor was
// fitted to, against thresholds. Skipped without the published tables.
#include <gtest/gtest.h>

#include <ostream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"

namespace foretell {
namespace {

struct Limit {
  const char* where;
  double mape;  // per cent
};

void PrintTo(const Limit& limit, std::ostream* stream) { *stream << limit.where; }

CommandResult validate(const std::string& table, const Limit& limit,
                       const std::vector<std::string>& options) {
  std::vector<std::string> line = {"validate", table,        "--worst",
                                   "0",        "--max-mape", std::to_string(limit.mape)};
  std::string conditions = limit.where;
  for (std::size_t begin = 0; begin < conditions.size();) {
    const std::size_t end = std::min(conditions.find(' ', begin), conditions.size());
    line.insert(line.end(), {"--where", conditions.substr(begin, end - begin)});
    begin = end + 1;
  }
  line.insert(line.end(), options.begin(), options.end());
  return run_command(line);
}

class AttentionAccuracy : public ::testing::TestWithParam<Limit> {};

TEST_P(AttentionAccuracy, HeldOutConfigurationsAreWithinTheLimit) {
  const std::string table = published_table("gpu_attention.csv.gz");
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result = validate(table, GetParam(), {"--held-out"});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

// Nine limits are 0.1 to 0.6 higher than before sets shared more of their values.
INSTANTIATE_TEST_SUITE_P(
    Tables, AttentionAccuracy,
    ::testing::Values(
        Limit{"gpu=h200_sxm framework=trtllm phase=context dtype=bf16", 4},
        Limit{"gpu=h100_sxm framework=trtllm phase=context dtype=bf16", 4.2},
        Limit{"gpu=h200_sxm framework=trtllm phase=context dtype=fp8", 4.6},
        Limit{"gpu=h100_sxm framework=trtllm phase=context dtype=fp8", 4.8},
        Limit{"gpu=h200_sxm framework=sglang phase=context dtype=bf16 kv_dtype=bf16", 8.5},
        Limit{"gpu=h100_sxm framework=sglang phase=context dtype=bf16 kv_dtype=bf16", 8.5},
        Limit{"gpu=h200_sxm framework=vllm phase=context dtype=bf16 kv_dtype=bf16", 8.7},
        Limit{"gpu=h100_sxm framework=vllm phase=context dtype=bf16 kv_dtype=bf16", 8.5},
        Limit{"gpu=a100_sxm framework=vllm phase=context", 8.5},
        Limit{"gpu=a100_sxm framework=trtllm phase=context", 6.9},
        Limit{"gpu=a100_sxm framework=sglang phase=context", 8.5},
        Limit{"gpu=b200_sxm framework=trtllm phase=context dtype=bf16 kv_dtype=bf16", 7.7},
        Limit{"gpu=b200_sxm framework=trtllm phase=context dtype=fp8", 6.9},
        Limit{"gpu=b200_sxm framework=sglang phase=context dtype=bf16 kv_dtype=bf16", 9.2},
        Limit{"gpu=b200_sxm framework=sglang phase=context dtype=bf16 kv_dtype=fp8", 6.2},
        Limit{"gpu=b200_sxm framework=vllm phase=context dtype=bf16 kv_dtype=bf16", 6.8},
        Limit{"gpu=h100_sxm framework=vllm phase=encoder", 7},
        Limit{"gpu=h200_sxm framework=vllm phase=encoder", 6.6},
        Limit{"gpu=h100_sxm framework=sglang phase=encoder", 7.9},
        Limit{"gpu=h200_sxm framework=sglang phase=encoder", 8.2},
        Limit{"gpu=h100_sxm framework=trtllm phase=encoder", 5.5},
        Limit{"gpu=h200_sxm framework=trtllm phase=encoder", 5.3},
        Limit{"gpu=b200_sxm framework=trtllm phase=generation kv_dtype=fp8", 6.3},
        Limit{"gpu=h100_sxm framework=sglang phase=generation kv_dtype=bf16", 8.5},
        Limit{"gpu=h200_sxm framework=sglang phase=generation kv_dtype=bf16", 8.5},
        Limit{"gpu=h200_sxm framework=trtllm phase=generation kv_dtype=bf16", 12},
        Limit{"gpu=h200_sxm framework=vllm phase=generation kv_dtype=bf16", 12},
        Limit{"gpu=h200_sxm framework=trtllm phase=generation kv_dtype=fp8", 12},
        Limit{"gpu=h200_sxm framework=vllm phase=generation kv_dtype=fp8", 12},
        Limit{"gpu=a100_sxm framework=vllm phase=generation", 8.5},
        Limit{"gpu=a100_sxm framework=sglang phase=generation", 12},
        Limit{"gpu=b200_sxm framework=vllm phase=generation kv_dtype=bf16", 8.5},
        Limit{"gpu=b200_sxm framework=trtllm phase=generation kv_dtype=bf16", 7.3}));

class AttentionTransfer : public ::testing::TestWithParam<std::pair<const char*, Limit>> {};

TEST_P(AttentionTransfer, AGpuThatWasNeverMeasuredIsWithinTheLimit) {
  const std::string table = published_table("gpu_attention.csv.gz");
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result =
      validate(table, GetParam().second, {"--held-out", "--without-factors-of", GetParam().first});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

// H200 shares numbers with H100, so without H100 both are predicted from another generation.
INSTANTIATE_TEST_SUITE_P(Gpus, AttentionTransfer,
                         ::testing::Values(std::pair{"h200_sxm", Limit{"gpu=h200_sxm", 9.2}},
                                           std::pair{"h100_sxm", Limit{"gpu=h100_sxm", 28}},
                                           std::pair{"a100_sxm", Limit{"gpu=a100_sxm", 25}},
                                           std::pair{"b200_sxm", Limit{"gpu=b200_sxm", 25}}));

class CollectiveAccuracy : public ::testing::TestWithParam<Limit> {};

TEST_P(CollectiveAccuracy, HeldOutNumbersOfGpusAreWithinTheLimit) {
  const std::string table = published_table("gpu_collectives.csv.gz");
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result = validate(table, GetParam(), {"--held-out"});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, CollectiveAccuracy,
    ::testing::Values(Limit{"gpu=a100_sxm backend=nccl", 8}, Limit{"gpu=h100_sxm backend=nccl", 8},
                      Limit{"gpu=h100_sxm backend=nccl version=2.29.2 op=alltoall", 11},
                      Limit{"gpu=a100_sxm backend=vllm_custom mode=graph", 10},
                      Limit{"gpu=h100_sxm backend=vllm_custom mode=graph", 10},
                      Limit{"gpu=h100_sxm backend=sglang_custom version=0.5.14 mode=graph", 10},
                      Limit{"gpu=a100_sxm backend=trtllm_custom", 10},
                      Limit{"gpu=h100_sxm backend=trtllm_custom version=1.3.0rc20", 10}));

}  // namespace
}  // namespace foretell
