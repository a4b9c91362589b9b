#include "model/app/tables/kinds/attention_block_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/kinds/kernel_batch.hpp"
#include "reports/record/testing/message_of.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

const CsvRow& header() {
  static const CsvRow kHeader = {"gpu",       "framework", "kind",          "phase",
                                 "model",     "kv_dtype",  "product_dtype", "batch",
                                 "query_len", "kv_len",    "heads"};
  return kHeader;
}

CsvRow row_with(const std::map<std::string, std::string>& other) {
  std::map<std::string, std::string> cells = {
      {"gpu", "h200_sxm"},       {"framework", "trtllm"},  {"kind", "mla"},
      {"phase", "generation"},   {"model", "DeepSeek-R1"}, {"kv_dtype", "bf16"},
      {"product_dtype", "bf16"}, {"batch", "4"},           {"query_len", "1"},
      {"kv_len", "1024"},        {"heads", "16"}};
  for (const auto& [name, value] : other) cells[name] = value;
  CsvRow row;
  for (const std::string& name : header()) row.push_back(cells.at(name));
  return row;
}

RowTime time_of(const std::map<std::string, std::string>& other,
                const KernelOptions& options = {}) {
  const TableLayout layout = recognise_table(header(), "blocks.csv");
  return kernel_answer(layout, header(), options, {})({row_with(other)}).front();
}

Graph graph_of(const std::map<std::string, std::string>& other) {
  const AttentionBlockRow row = read_attention_block_row(NamedCells(header()), row_with(other));
  return attention_block_graph(WorkloadLibrary().load(row.model), row, find_precision("bf16"),
                               AttentionBlockFacts(), "hopper");
}

double weight_elements(const Graph& graph) {
  double elements = 0;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight) {
      elements += static_cast<double>(element_count(tensor.shape));
    }
  }
  return elements;
}

std::ptrdiff_t count_ops(const Graph& graph, const std::string& kind) {
  return std::count_if(graph.ops().begin(), graph.ops().end(),
                       [&](const Op& op) { return op.kind == kind; });
}

// Projections of DeepSeek-R1's attention: down and up for queries, down for latents, the matrices
// of each head that make keys and values, output; and the two norms of the ranks.
TEST(AttentionBlockRows, AGraphHasTheWeightsOfOneLayerOfTheHeadsOfAGpu) {
  for (const double heads : {1.0, 16.0, 128.0}) {
    const double expected = 7168.0 * (1536 + 576) + 1536 * heads * 192 + 512 * heads * 256 +
                            heads * 128 * 7168 + 1536 + 512;
    const std::string text = std::to_string(static_cast<int>(heads));
    EXPECT_EQ(weight_elements(graph_of({{"heads", text}})), expected) << heads;
    EXPECT_EQ(
        weight_elements(graph_of({{"heads", text}, {"phase", "context"}, {"query_len", "1024"}})),
        expected);
  }
}

TEST(AttentionBlockRows, AnIndexerReadsOnlyWhatItChose) {
  const auto kinds = [](const Graph& graph) {
    std::map<std::string, int> count;
    for (const Op& op : graph.ops()) ++count[op.kind];
    return count;
  };
  std::map<std::string, std::string> dsa = {
      {"kind", "dsa"}, {"model", "DeepSeek-V3.2"}, {"framework", "sglang"}};
  std::map<std::string, std::string> far = dsa;
  far["kv_len"] = "8192";
  EXPECT_EQ(kinds(graph_of(dsa))["Indexer"], 0) << "1024 keys are fewer than it chooses";
  EXPECT_EQ(kinds(graph_of(far))["Indexer"], 1);
  EXPECT_EQ(kinds(graph_of({}))["Indexer"], 0);
  dsa["framework"] = "vllm";
  EXPECT_EQ(kinds(graph_of(dsa))["Indexer"], 1) << "this library always chooses";
}

double columns_made(const Graph& graph, const std::string& of) {
  double elements = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind != "MatMul" || op.name.find(of) == std::string::npos) continue;
    elements += static_cast<double>(element_count(graph.tensor(op.outputs.front()).shape));
  }
  return elements;
}

// Keys and values of 16 heads from the latents: 4 sequences of 256 tokens after 512 others.
TEST(AttentionBlockRows, ShortPromptsMultiplyTheLatentsOfTheCacheOutToo) {
  std::map<std::string, std::string> prompt = {{"kind", "dsa"},         {"model", "DeepSeek-V3.2"},
                                               {"framework", "sglang"}, {"phase", "context"},
                                               {"query_len", "256"},    {"kv_len", "768"}};
  EXPECT_EQ(columns_made(graph_of(prompt), "attention.key_value"),
            4 * 768 * 16 * 256.0 + 4 * 256 * 576.0);
  prompt["batch"] = "256";
  EXPECT_EQ(columns_made(graph_of(prompt), "attention.key_value"), 256 * 256 * 576.0)
      << "196,608 keys are more than it multiplies out";
  prompt["framework"] = "trtllm";
  prompt["batch"] = "4";
  EXPECT_EQ(columns_made(graph_of(prompt), "attention.key_value"), 4 * 256 * 576.0);
}

// Times of MiniMax-M3 in TensorRT-LLM grow with queries times keys on Hopper, where operators of a
// framework attend, and by far less in a library with a kernel.
TEST(AttentionBlockRows, AttentionByOperatorsGrowsWithAllPairsOfQueriesAndKeys) {
  std::map<std::string, std::string> prompt = {{"kind", "msa"},      {"model", "MiniMax-M3"},
                                               {"phase", "context"}, {"query_len", "4096"},
                                               {"kv_len", "4096"},   {"heads", "2"}};
  const auto growth = [&] {
    prompt["query_len"] = prompt["kv_len"] = "4096";
    const Seconds once = time_of(prompt).time;
    prompt["query_len"] = prompt["kv_len"] = "16384";
    return time_of(prompt).time / once;
  };
  EXPECT_NEAR(growth(), 16, 3);
  prompt["framework"] = "vllm";
  EXPECT_LT(growth(), 8);
}

// Products whose kernels quantise by blocks are none of those with a scale for a tensor.
TEST(AttentionBlockRows, BlocksOfScalesHaveProductsOfTheirOwn) {
  const std::map<std::string, std::string> prompt = {
      {"phase", "context"}, {"query_len", "4096"}, {"kv_len", "4096"}, {"heads", "2"}};
  std::map<std::string, std::string> narrow = prompt;
  narrow["product_dtype"] = "fp8_block";
  const double ratio = time_of(narrow).time / time_of(prompt).time;
  EXPECT_GT(ratio, 0.85) << "what the products gain, the passes that quantise take";
  EXPECT_LT(ratio, 1.15);
}

TEST(AttentionBlockRows, TimesGrowWithHeadsSequencesAndKeys) {
  const RowTime base = time_of({});
  ASSERT_EQ(base.error, "");
  EXPECT_GT(base.time, Seconds(10e-6));
  EXPECT_LE(base.low, base.time);
  EXPECT_GE(base.high, base.time);
  EXPECT_GT(time_of({{"heads", "128"}}).time, base.time);
  EXPECT_GT(time_of({{"batch", "256"}}).time, base.time);
  EXPECT_GT(time_of({{"kv_len", "131072"}, {"batch", "64"}}).time,
            time_of({{"kv_len", "65536"}, {"batch", "64"}}).time);
}

// The published names of a network are names of its config.json.
TEST(AttentionBlockRows, ATableNamesNetworksAsTheyArePublished) {
  EXPECT_EQ(time_of({{"model", "deepseek-ai/DeepSeek-V3"}}).time, time_of({}).time);
  EXPECT_EQ(time_of({{"kind", "dsa"}, {"model", "zai-org/GLM-5-FP8"}}).error, "");
}

// 57 of GLM-5.2's 78 layers read what an earlier one chose; it is GLM-5 else.
TEST(AttentionBlockRows, MostLayersOfANetworkMayReadAnEarlierChoice) {
  const std::map<std::string, std::string> glm5 = {
      {"kind", "dsa"}, {"model", "zai-org/GLM-5"}, {"kv_len", "65536"}};
  std::map<std::string, std::string> shares = glm5;
  shares["model"] = "zai-org/GLM-5.2";
  EXPECT_EQ(count_ops(graph_of(glm5), "Indexer"), 1);
  EXPECT_EQ(count_ops(graph_of(shares), "Indexer"), 0);
  EXPECT_LT(weight_elements(graph_of(shares)), weight_elements(graph_of(glm5)));
  EXPECT_LT(time_of(shares).time, time_of(glm5).time);
  // Both read as many keys: longer contexts cost the layer without an indexer nothing more.
  std::map<std::string, std::string> longer = shares;
  longer["kv_len"] = "131072";
  EXPECT_NEAR(time_of(longer).time / time_of(shares).time, 1, 0.05);
}

// SGLang's rows that are fitted to are of DeepSeek-V3.2 alone.
TEST(AttentionBlockRows, ANetworkThatNoRowIsFittedToIsLessCertain) {
  const auto width = [](const std::string& framework, const std::string& model) {
    const RowTime time = time_of({{"framework", framework}, {"kind", "dsa"}, {"model", model}});
    return time.high / time.low;
  };
  EXPECT_NEAR(width("sglang", "GLM-5"), std::pow(width("sglang", "DeepSeek-V3.2"), 2), 1e-9);
  EXPECT_NEAR(width("vllm", "GLM-5"), width("vllm", "DeepSeek-V3.2"), 1e-9);
}

TEST(AttentionBlockRows, WithoutFactorsOfAChipThoseOfOthersCount) {
  KernelOptions options;
  options.factors.held_out_device = "h200_sxm";
  const RowTime without = time_of({}, options);
  ASSERT_EQ(without.error, "");
  EXPECT_NE(without.time, time_of({}).time);
  EXPECT_THAT(without.note, testing::HasSubstr("on "));
}

// SGLang's prompts of MiniMax-M3 are no rows that anything was fitted to: another library's kernels
// stand in, and its own host, which calls layers one kernel at a time.
TEST(AttentionBlockRows, AnUnmeasuredLayerTakesAnotherLibrarysAndItsOwnHost) {
  std::map<std::string, std::string> prompt = {
      {"kind", "msa"}, {"model", "MiniMax-M3"}, {"phase", "context"}, {"framework", "sglang"}};
  const RowTime own = time_of(prompt);
  EXPECT_THAT(own.note, testing::HasSubstr("factors of vllm msa context"));
  prompt["framework"] = "vllm";
  const RowTime lender = time_of(prompt);
  EXPECT_GT(own.time, 5 * lender.time) << "the host shows in short prompts";
  EXPECT_LT(own.low / own.time, lender.low / lender.time) << "and the interval is wider";
}

// Short prompts take what the host takes for layers of latents that do not choose, and for three
// launches of kernels in Triton.
TEST(AttentionBlockRows, ALayerThatNothingPlansForHasAShortHost) {
  std::map<std::string, std::string> prompt = {
      {"kind", "msa"}, {"model", "MiniMax-M3"}, {"phase", "context"}, {"framework", "sglang"}};
  for (const char* keys : {"64", "1024"}) {
    prompt["query_len"] = prompt["kv_len"] = keys;
    EXPECT_NEAR(time_of(prompt).time.value(), 662e-6, 10e-6) << keys;
  }
}

// Kernels of SGLang for MiniMax-M3 alone, published stage by stage (SGLMSABENCH).
TEST(AttentionBlockRows, ChosenBlocksAreReadAsFastAsPublished) {
  const auto parts_of = [](const std::map<std::string, std::string>& other) {
    std::map<std::string, std::string> cells = {
        {"kind", "msa"}, {"model", "MiniMax-M3"}, {"framework", "sglang"}, {"heads", "64"}};
    for (const auto& [name, value] : other) cells[name] = value;
    AttentionBlockPredictor predictor({}, {});
    const CsvRow row = row_with(cells);
    return predictor.parts(read_attention_block_row(NamedCells(header()), row)).work;
  };
  struct Published {
    const char* keys;
    double attention;
    double indexer;
  };
  for (const Published& known :
       {Published{"32768", 3.10e-3, 0.78e-3}, Published{"131072", 3.59e-3, 3.10e-3},
        Published{"524288", 3.96e-3, 11.9e-3}}) {
    const AttentionBlockWork prompt = parts_of(
        {{"phase", "context"}, {"batch", "1"}, {"query_len", "4096"}, {"kv_len", known.keys}});
    EXPECT_NEAR(prompt.attention.value() / known.attention, 1, 0.15) << known.keys;
    EXPECT_NEAR(prompt.indexer.value() / known.indexer, 1, 0.3)
        << known.keys << ": its tile is not known";
  }
  const AttentionBlockWork tokens = parts_of({{"batch", "32"}, {"kv_len", "32768"}});
  EXPECT_NEAR(tokens.attention.value(), 41.3e-6, 3e-6);
  EXPECT_NEAR(tokens.indexer.value(), 73.5e-6, 3e-6);
}

// A thread block walks all keys of its queries: few queries after many keys take as long as many.
TEST(AttentionBlockRows, AnIndexerThatDoesNotDivideKeysTakesThemOneAfterAnother) {
  std::map<std::string, std::string> prompt = {
      {"kind", "msa"},      {"model", "MiniMax-M3"}, {"phase", "context"}, {"framework", "sglang"},
      {"kv_len", "524288"}, {"batch", "1"},          {"heads", "4"}};
  const auto time = [&](const char* queries) {
    prompt["query_len"] = queries;
    return time_of(prompt).time;
  };
  EXPECT_NEAR(time("64") / time("16"), 1, 0.05);
  EXPECT_GT(time("16"), Seconds(524288 * 33 / 2e9)) << "33 cycles for each";
}

// Heads of MiniMax-M3 that choose blocks choose each for a group of its own: there are queries and
// keys of the indexer, and no weights that would sum up its heads.
TEST(AttentionBlockRows, HeadsThatChooseBlocksAreNotSummedUp) {
  const auto products = [](const std::string& kind, const std::string& model) {
    const Graph graph = graph_of({{"kind", kind}, {"model", model}, {"kv_len", "8192"}});
    return std::count_if(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
      return op.kind == "MatMul" && op.name.find("indexer.") != std::string::npos;
    });
  };
  EXPECT_EQ(products("msa", "MiniMax-M3"), 2);
  EXPECT_EQ(products("dsa", "DeepSeek-V3.2"), 3);
}

struct BadCell {
  const char* column;
  const char* text;
  const char* said;
};

class AttentionBlockBadInput : public ::testing::TestWithParam<BadCell> {};

TEST_P(AttentionBlockBadInput, SaysWhatIsWrongAndWhatIsKnown) {
  const RowTime time = time_of({{GetParam().column, GetParam().text}});
  EXPECT_THAT(time.error, testing::HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, AttentionBlockBadInput,
    ::testing::Values(BadCell{"kind", "dsv4", "unknown kind"}, BadCell{"phase", "prefill", "phase"},
                      BadCell{"heads", "0", "heads"}, BadCell{"batch", "many", "batch"},
                      BadCell{"kv_len", "0", "kv_len"}, BadCell{"model", "DeepSeek-R9", "workload"},
                      BadCell{"kind", "dsa", "has no attention of kind 'dsa'"},
                      BadCell{"product_dtype", "int3", "product_dtype"},
                      BadCell{"kv_dtype", "fp3", "kv_dtype"}, BadCell{"gpu", "", "gpu: is empty"},
                      BadCell{"kv_len", "16777217", "kv_len"},
                      BadCell{"framework", "vlmm", "vllm"}));

}  // namespace
}  // namespace foretell
