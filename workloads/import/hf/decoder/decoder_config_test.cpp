#include <gmock/gmock.h>

#include "model/base/errors.hpp"
#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string llama_with(const std::string& type, const std::string& more) {
  return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 2, "max_position_embeddings": 1024,
    "hidden_act": "silu", "vocab_size": 100)" +
         (more.empty() ? "" : ", " + more) + "}";
}

ModelConfig parse(const std::string& text) {
  return parse_model_config(text, "tiny", "config.json");
}

std::string message_of(const std::string& text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(DecoderConfig, WithoutGroupsEveryQueryHeadHasItsKeys) {
  EXPECT_EQ(parse(llama_with("llama", "")).kv_heads, 4);
  EXPECT_EQ(parse(llama_with("llama", R"("num_key_value_heads": 2)")).kv_heads, 2);
  EXPECT_THAT(message_of(llama_with("llama", R"("num_key_value_heads": 3)")),
              HasSubstr("4 query heads cannot share 3 key and value heads evenly"));
}

TEST(DecoderConfig, AStatedHeadWidthIsTheNetworksChoice) {
  EXPECT_EQ(parse(llama_with("qwen3", R"("head_dim": 32)")).head_dim, 32);
  const std::string uneven = R"({"model_type": "llama", "hidden_size": 66, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 2, "max_position_embeddings": 1024,
    "hidden_act": "silu", "vocab_size": 100})";
  EXPECT_THAT(message_of(uneven),
              AllOf(HasSubstr("66 is no multiple of 4 heads"), HasSubstr("no head_dim is stated")));
}

TEST(DecoderConfig, TablesAreTiedOnlyWhereTheFamilyDoesSo) {
  EXPECT_FALSE(parse(llama_with("llama", "")).tied_embeddings);
  EXPECT_TRUE(parse(llama_with("llama", R"("tie_word_embeddings": true)")).tied_embeddings);
  EXPECT_TRUE(WorkloadLibrary().load("opt-13b").tied_embeddings);
  EXPECT_THAT(message_of(llama_with("llama", R"("tie_word_embeddings": "yes")")),
              HasSubstr("must be true or false"));
}

TEST(DecoderConfig, BiasesOfTheFamilies) {
  EXPECT_FALSE(parse(llama_with("llama", "")).qkv_bias);
  EXPECT_TRUE(parse(llama_with("qwen2", "")).qkv_bias);
  EXPECT_FALSE(parse(llama_with("qwen2", "")).attention_bias);
  EXPECT_TRUE(parse(llama_with("qwen3", "")).qk_norm);
}

TEST(DecoderConfig, ASlidingWindowCountsWhereTheContextIsLonger) {
  EXPECT_EQ(parse(llama_with("mistral", R"("sliding_window": 256)")).window, 256);
  EXPECT_EQ(parse(llama_with("mistral", R"("sliding_window": 4096)")).window, 0);
  EXPECT_EQ(parse(llama_with("mistral", R"("sliding_window": null)")).window, 0);
  EXPECT_EQ(
      parse(llama_with("qwen2", R"("sliding_window": 256, "use_sliding_window": false)")).window,
      0);
}

TEST(DecoderConfig, KindsOfLayersAreOneForEach) {
  const auto with_types = [](const std::string& types) {
    return llama_with("qwen3", R"("use_sliding_window": true, "sliding_window": 64,
      "layer_types": [)" + types + "]");
  };
  const std::string full = R"("full_attention")";
  const std::string sliding = R"("sliding_attention")";
  const ModelConfig all = parse(with_types(sliding + "," + sliding));
  EXPECT_EQ(all.window, 64);
  EXPECT_TRUE(all.notes.empty());
  EXPECT_EQ(parse(with_types(full + "," + full)).window, 0);
  const ModelConfig some = parse(with_types(full + "," + sliding));
  EXPECT_EQ(some.window, 0);
  EXPECT_THAT(some.notes, testing::ElementsAre(HasSubstr("1 of 2 layers see a window")));
  EXPECT_THAT(message_of(with_types(full)),
              HasSubstr("contradiction: names 1 layers, but num_hidden_layers is 2"));
  EXPECT_THAT(message_of(with_types(full + R"(, "mamba")")),
              HasSubstr("'mamba' cannot be imported here"));
}

TEST(DecoderConfig, ExpertsAreChosenFromThoseThereAre) {
  const ModelConfig config = parse(llama_with(
      "mixtral", R"("num_key_value_heads": 2, "num_local_experts": 8, "num_experts_per_tok": 2)"));
  EXPECT_EQ(config.experts, 8);
  EXPECT_THAT(message_of(llama_with(
                  "mixtral",
                  R"("num_key_value_heads": 2, "num_local_experts": 8, "num_experts_per_tok": 9)")),
              HasSubstr("num_experts_per_tok: is more than the 8 experts"));
  EXPECT_THAT(message_of(llama_with("mixtral", R"("num_key_value_heads": 2)")),
              HasSubstr("num_local_experts: is missing"));
}

TEST(DecoderConfig, ShareOfRotatedColumnsIsAShare) {
  EXPECT_EQ(parse(llama_with("gpt_neox", R"("rotary_pct": 0.25)")).rotary_dim, 4);
  EXPECT_THAT(message_of(llama_with("gpt_neox", R"("rotary_pct": 1.5)")),
              HasSubstr("rotary_pct: is 1.5; it must be a number above 0 and at most 1"));
}

TEST(DecoderConfig, UnknownRotationsAreRefused) {
  EXPECT_THAT(message_of(llama_with("llama", R"("rope_scaling": {"rope_type": "spiral"})")),
              HasSubstr("unknown kind of rotary positions 'spiral'"));
  EXPECT_EQ(message_of(llama_with("llama", R"("rope_scaling": {"rope_type": "llama3"})")),
            "no error");
}

TEST(DecoderConfig, OptHasNormsAfterAndWordsOfAnotherWidth) {
  const std::string opt =
      R"({"model_type": "opt", "hidden_size": 64, "ffn_dim": 128, "vocab_size": 100,
    "num_attention_heads": 4, "num_hidden_layers": 2, "max_position_embeddings": 1024,
    "activation_function": "relu", )";
  EXPECT_EQ(message_of(opt + R"("do_layer_norm_before": true})"), "no error");
  EXPECT_TRUE(parse(opt + R"("do_layer_norm_before": true})").parts_of_decoder.empty());
  const ModelConfig after =
      parse(opt + R"("do_layer_norm_before": false, "word_embed_proj_dim": 32})");
  EXPECT_EQ(after.embedding, 32);
  EXPECT_EQ(after.parts_of_decoder.layers.front().form, LayerForm::kLastNorm);
  EXPECT_THAT(message_of(opt + R"("word_embed_proj_dim": 0})"),
              HasSubstr("word_embed_proj_dim: is 0"));
}

TEST(DecoderConfig, BloomSpellsItsSizesInTwoWays) {
  const std::string rest = R"(, "n_layer": 2, "vocab_size": 100})";
  const std::string start = R"({"model_type": "bloom", )";
  const ModelConfig old_names = parse(start + R"("n_embed": 64, "num_attention_heads": 4)" + rest);
  const ModelConfig new_names = parse(start + R"("hidden_size": 64, "n_head": 4)" + rest);
  EXPECT_EQ(old_names.hidden, new_names.hidden);
  EXPECT_EQ(old_names.heads, new_names.heads);
  EXPECT_THAT(message_of(start + R"("n_head": 4)" + rest), HasSubstr("hidden_size: is missing"));
}

TEST(T5Config, FeedForwardNetworksThatAreKnown) {
  const auto t5 = [](const std::string& projection) {
    return R"({"model_type": "t5", "d_model": 64, "d_kv": 32, "d_ff": 128, "num_heads": 4, "num_layers": 2,
      "relative_attention_num_buckets": 32, "vocab_size": 100, "feed_forward_proj": ")" +
           projection + "\"}";
  };
  EXPECT_FALSE(parse(t5("relu")).gated_ffn);
  EXPECT_TRUE(parse(t5("gated-gelu")).gated_ffn);
  EXPECT_EQ(parse(t5("relu")).head_dim, 32)
      << "4 heads of 32 feed a width of 64: the network's choice";
  EXPECT_THAT(message_of(t5("gated-silu")), HasSubstr("'relu' and 'gated-gelu' can be imported"));
}

}  // namespace
}  // namespace foretell
