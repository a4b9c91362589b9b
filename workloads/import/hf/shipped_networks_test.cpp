// Parameters of the networks of today that workloads/models holds, without towers for images and
// heads that predict several tokens, against what their publishers count.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/import/hf/config/network_facts.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

struct ShippedNetwork {
  std::string name;
  double parameters;
};

const std::vector<ShippedNetwork>& shipped_networks() {
  static const std::vector<ShippedNetwork> kRows = {
      {"c4ai-command-r-v01", 34980831232},
      {"DeepSeek-V2-Lite", 15706484224},
      {"DeepSeek-V3", 671026419200},
      {"gemma-2-27b", 27227128320},
      {"gemma-2-2b", 2614341888},
      {"gemma-2-9b", 9241705984},
      {"gemma-3-12b", 11766034176},
      {"gemma-3-1b", 999885952},
      {"gemma-3-27b", 27009346304},
      {"gemma-3-4b", 3880263168},
      {"GLM-4.5-Air", 106852251264},
      {"GLM-4.6", 352797829024},
      {"Kimi-K2", 1026408232448},
      {"Llama-3.2-1B", 1235814400},
      {"Llama-3.2-3B", 3212749824},
      {"MiniMax-M2", 228689764864},
      {"Llama-4-Maverick", 400711848960},
      {"Mistral-7B-Instruct-v0.3", 7248023552},
      {"Mistral-Large-123B", 122610069504},
      {"Mistral-Nemo-12B", 12247782400},
      {"Mistral-Small-24B", 23572403200},
      {"Mixtral-8x22B-v0.1", 140620634112},
      {"OLMo-2-13B", 13716198400},
      {"OLMo-2-32B", 32234279936},
      {"OLMo-2-7B", 7298617344},
      {"Phi-3-mini-4k-instruct", 3821079552},
      {"phi-4", 14659507200},
      {"Qwen2.5-0.5B", 494032768},
      {"Qwen2.5-1.5B", 1543714304},
      {"Qwen2.5-14B", 14770033664},
      {"Qwen2.5-32B", 32763876352},
      {"Qwen2.5-3B", 3085938688},
      {"Qwen2.5-72B", 72706203648},
      {"Qwen3-0.6B", 596049920},
      {"Qwen3-1.7B", 1720574976},
      {"Qwen3-235B-A22B", 235093634560},
      {"Qwen3-4B", 4022468096},
      {"Qwen3-8B", 8190735360},
      {"SmolLM2-1.7B", 1711376384},
      {"TinyLlama-1.1B", 1100048384},
      {"Yi-34B", 34388917248},
  };
  return kRows;
}

// The norms of Command R have no bias, those of the graph do: 0.001 % more.
TEST(ShippedNetworks, HaveThePublishedParameters) {
  const WorkloadLibrary library;
  for (const ShippedNetwork& row : shipped_networks()) {
    const double parameters = facts_of(library.load(row.name), find_precision("bf16")).parameters;
    EXPECT_NEAR(parameters, row.parameters, 2e-5 * row.parameters) << row.name;
  }
}

TEST(ShippedNetworks, OfTwoStacksHaveThePublishedParameters) {
  const std::vector<ShippedNetwork> rows = {
      {"bart-base", 139420416},         {"bart-large", 406291456},
      {"bart-large-cnn", 406290432},    {"mbart-large-50", 610879488},
      {"whisper-large-v3", 1543490560}, {"whisper-large-v3-turbo", 808878080},
      {"whisper-small", 241734912}};
  for (const ShippedNetwork& row : rows) {
    const double parameters = parameters_of(encoded_parts(WorkloadLibrary().load(row.name), {}, 1));
    EXPECT_NEAR(parameters, row.parameters, 2e-5 * row.parameters) << row.name;
  }
}

}  // namespace
}  // namespace foretell
