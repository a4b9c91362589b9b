// Measured operators of shape families that no factor was fitted to, and of a GPU that is left out
// altogether, against thresholds. Skipped without the published tables.
#include <gtest/gtest.h>

#include <ostream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"

namespace foretell {
namespace {

constexpr const char* kOperators = "gpu_operators_fp32.csv.gz";

struct Limit {
  const char* table;
  const char* gpu;
  const char* ops;
  double mape;  // per cent
};

void PrintTo(const Limit& limit, std::ostream* stream) { *stream << limit.gpu << ' ' << limit.ops; }

CommandResult validate(const std::string& table, const Limit& limit,
                       const std::vector<std::string>& options) {
  std::vector<std::string> line = {"validate",
                                   table,
                                   "--held-out",
                                   "--worst",
                                   "0",
                                   "--max-mape",
                                   std::to_string(limit.mape),
                                   "--where",
                                   std::string("gpu=") + limit.gpu,
                                   "--where",
                                   std::string("op=") + limit.ops};
  line.insert(line.end(), options.begin(), options.end());
  return run_command(line);
}

class OperatorAccuracy : public ::testing::TestWithParam<Limit> {};

TEST_P(OperatorAccuracy, HeldOutFamiliesAreWithinTheLimit) {
  const std::string table = published_table(GetParam().table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result = validate(table, GetParam(), {});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

class OperatorTransfer : public ::testing::TestWithParam<Limit> {};

TEST_P(OperatorTransfer, AGpuThatWasNeverMeasuredIsWithinTheLimit) {
  const std::string table = published_table(GetParam().table);
  if (table.empty()) GTEST_SKIP() << "skipped, no data";
  const CommandResult result =
      validate(table, GetParam(), {"--without-factors-of", GetParam().gpu});
  EXPECT_EQ(result.code, kSuccess) << result.result << result.messages;
}

constexpr const char* kLayers = "gpu_layers_fp16.csv.gz";
constexpr const char* kQuantise = "gpu_quantise.csv.gz";
constexpr const char* kElementWise = "add,div,mul,pow,addu,divu,mulu,powu,relu,gelu,tanh";

INSTANTIATE_TEST_SUITE_P(Tables, OperatorAccuracy,
                         ::testing::Values(Limit{kOperators, "a100_pcie_40gb", "linear", 7.6},
                                           Limit{kOperators, "v100_pcie_32gb", "linear", 6.5},
                                           Limit{kOperators, "t4", "linear", 12.3},
                                           Limit{kOperators, "p100_pcie_16gb", "linear", 11.6},
                                           Limit{kOperators, "a100_pcie_40gb", "bmm", 3.6},
                                           Limit{kOperators, "v100_pcie_32gb", "bmm", 8.6},
                                           Limit{kOperators, "p100_pcie_16gb", "bmm", 3.3},
                                           Limit{kOperators, "v100_pcie_32gb", "conv", 15.8},
                                           Limit{kOperators, "t4", "conv", 15.9},
                                           Limit{kOperators, "p100_pcie_16gb", "conv", 19.8},
                                           Limit{kOperators, "a100_pcie_40gb", kElementWise, 2.9},
                                           Limit{kOperators, "v100_pcie_32gb", kElementWise, 1.1},
                                           Limit{kOperators, "t4", kElementWise, 4},
                                           Limit{kOperators, "p100_pcie_16gb", kElementWise, 2.3},
                                           Limit{kOperators, "t4", "softmax,ln", 9},
                                           Limit{kLayers, "a100", "mlp_up_proj,mlp_down_proj", 6.5},
                                           Limit{kLayers, "a100", "mlp_act", 5.7},
                                           Limit{kLayers, "a100", "attn_rope", 11.5},
                                           Limit{kQuantise, "h100_sxm", "scale_matrix", 6.8}));

INSTANTIATE_TEST_SUITE_P(Gpus, OperatorTransfer,
                         ::testing::Values(Limit{kOperators, "a100_pcie_40gb", "linear", 10},
                                           Limit{kOperators, "v100_pcie_32gb", "linear", 9},
                                           Limit{kOperators, "a100_pcie_40gb", "bmm", 9.5},
                                           Limit{kOperators, "a100_pcie_40gb", kElementWise, 4.2},
                                           Limit{kOperators, "v100_pcie_32gb", kElementWise, 3.6},
                                           Limit{kOperators, "v100_pcie_32gb", "softmax,ln", 9},
                                           Limit{kOperators, "t4", kElementWise, 12.5}));

}  // namespace
}  // namespace foretell
