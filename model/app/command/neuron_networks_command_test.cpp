// Linear recurrences and chosen keys on NeuronCores, from the command line to the result.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/app/command/application.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

struct Latencies {
  double first = 0;
  double token = 0;
};

class NeuronNetworks : public testing::Test {
 protected:
  Latencies run(const std::string& workload, int input_len,
                const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run",
                                          "--on",
                                          "trn2.48xlarge",
                                          "--workload",
                                          workload,
                                          "--dtype",
                                          "bf16",
                                          "--dp",
                                          "1",
                                          "--input-len",
                                          std::to_string(input_len),
                                          "--output-len",
                                          "8",
                                          "--format",
                                          "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::ostringstream messages;
    Session session;
    session.predict = predict;
    session.messages = &messages;
    testing::internal::CaptureStdout();
    const int code = run_application(arguments, session);
    const std::string result = testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, kSuccess) << messages.str();
    if (code != kSuccess) return {};
    const auto summary = nlohmann::json::parse(result).at("summary");
    return {summary.at("ttft_s").get<double>(), summary.at("tpot_s").get<double>()};
  }
  std::string file(const std::string& config) { return folder_.write("net.json", config); }

  TemporaryFolder folder_;
};

// Nothing of Mamba grows with the context: a token costs the same, and prompts grow in proportion.
TEST_F(NeuronNetworks, ATokenOfARecurrenceCostsTheSameAfterAnyContext) {
  const std::string mamba2 = file(
      R"({"model_type": "mamba2", "hidden_size": 1024, "num_hidden_layers": 4, "num_heads": 32,
          "head_dim": 64, "state_size": 128, "n_groups": 1, "expand": 2, "conv_kernel": 4,
          "chunk_size": 256, "vocab_size": 50288, "tie_word_embeddings": true})");
  const Latencies brief = run(mamba2, 1024, {"--context", "16384"});
  const Latencies longer = run(mamba2, 8192, {"--context", "16384"});
  EXPECT_DOUBLE_EQ(brief.token, longer.token);
  EXPECT_GT(longer.first, 4 * brief.first);
  EXPECT_LT(longer.first, 8.5 * brief.first);
}

// Mamba of the first kind, the delta rule with attention in between, and gated convolutions.
TEST_F(NeuronNetworks, EveryKindOfRecurrenceRuns) {
  const std::vector<std::string> configs = {
      R"({"model_type": "falcon_mamba", "hidden_size": 1024, "intermediate_size": 2048,
          "num_hidden_layers": 2, "state_size": 16, "conv_kernel": 4, "time_step_rank": 64,
          "vocab_size": 65024, "hidden_act": "silu"})",
      R"({"model_type": "qwen3_next", "hidden_size": 1024, "intermediate_size": 2048,
          "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 2,
          "head_dim": 64, "num_experts": 16, "num_experts_per_tok": 4,
          "moe_intermediate_size": 256, "shared_expert_intermediate_size": 256,
          "linear_num_key_heads": 8, "linear_num_value_heads": 16, "linear_key_head_dim": 128,
          "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "vocab_size": 151936,
          "max_position_embeddings": 32768, "hidden_act": "silu"})",
      R"({"model_type": "falcon_h1", "hidden_size": 1024, "intermediate_size": 2048,
          "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 2,
          "head_dim": 64, "mamba_d_ssm": 1536, "mamba_n_heads": 24, "mamba_d_head": 64,
          "mamba_d_state": 128, "mamba_n_groups": 1, "mamba_d_conv": 4, "mamba_expand": 2,
          "vocab_size": 32784, "max_position_embeddings": 16384, "hidden_act": "silu"})",
      R"({"model_type": "lfm2", "hidden_size": 1024, "intermediate_size": 6656,
          "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 8,
          "conv_L_cache": 3, "layer_types": ["conv", "conv", "full_attention", "conv"],
          "vocab_size": 65536, "max_position_embeddings": 128000})"};
  for (const std::string& config : configs) {
    const Latencies result = run(file(config), 512, {"--tp", "4"});
    EXPECT_GT(result.first, result.token) << config;
    EXPECT_GT(result.token, 0) << config;
  }
}

// Beyond the keys that it may choose a longer cache costs its scores alone.
TEST_F(NeuronNetworks, ChosenKeysOfALongCacheCostLessThanAllOfThem) {
  const auto token = [this](const std::string& workload, int keys) {
    return run(workload, keys, {"--tp", "16", "--set", "workload.layers=4", "--kv", "exact"}).token;
  };
  const double chosen = token("DeepSeek-V3.2", 16384) - token("DeepSeek-V3.2", 4096);
  const double all = token("DeepSeek-V3", 16384) - token("DeepSeek-V3", 4096);
  EXPECT_GT(chosen, 0);
  EXPECT_LT(chosen, all);
}

}  // namespace
}  // namespace foretell
