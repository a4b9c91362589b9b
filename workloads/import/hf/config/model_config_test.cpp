#include "workloads/import/hf/config/model_config.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kTiny = R"({
  "model_type": "bert",
  "architectures": ["BertModel"],
  "hidden_act": "gelu",
  "hidden_size": 64,
  "intermediate_size": 256,
  "max_position_embeddings": 128,
  "num_attention_heads": 4,
  "num_hidden_layers": 2,
  "type_vocab_size": 2,
  "vocab_size": 1000
})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string config_message(const std::string& text) {
  try {
    parse_model_config(text, "tiny", "tiny/config.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string message_with(const std::string& from, const std::string& to) {
  return config_message(replaced(kTiny, from, to));
}

TEST(ModelConfig, ReadsWhatShapesTheNetwork) {
  const ModelConfig config = parse_model_config(kTiny, "tiny", "tiny/config.json");
  EXPECT_EQ(config.family, Family::kEncoder);
  EXPECT_EQ(config.head, Head::kPooler);
  EXPECT_EQ(config.layers, 2);
  EXPECT_EQ(config.head_dim, 16);
  EXPECT_EQ(config.embedding, 64);
  EXPECT_EQ(config.max_seq_len, 128);
}

TEST(ModelConfig, FieldsThatAreNotReadAreNoted) {
  const std::string text =
      replaced(kTiny, "\"hidden_size\"",
               "\"bos_token_id\": 1, \"layer_norm_eps\": 1e-5, \"use_loops\": 3, \"hidden_size\"");
  const ModelConfig config = parse_model_config(text, "tiny", "tiny/config.json");
  EXPECT_THAT(config.notes, ::testing::ElementsAre(HasSubstr("may depend on it: use_loops")));
  EXPECT_THAT(parse_model_config(kTiny, "tiny", "f").notes, ::testing::IsEmpty());
}

TEST(ModelConfig, ATowerForImagesThatIsNotReadIsNoted) {
  const std::string text =
      replaced(kTiny, "\"hidden_size\"", "\"vision_config\": {\"depth\": 3}, \"hidden_size\"");
  EXPECT_THAT(parse_model_config(text, "tiny", "f").notes,
              ::testing::ElementsAre(HasSubstr("vision_config is not read")));
}

TEST(ModelConfig, ArchitectureChoosesTheHead) {
  const auto head_of = [](const std::string& architecture) {
    return parse_model_config(replaced(kTiny, "BertModel", architecture), "tiny", "f").head;
  };
  EXPECT_EQ(head_of("BertForMaskedLM"), Head::kMaskedLm);
  EXPECT_EQ(head_of("BertForQuestionAnswering"), Head::kQuestion);
  EXPECT_EQ(
      parse_model_config(replaced(kTiny, "\"architectures\": [\"BertModel\"],", ""), "tiny", "f")
          .head,
      Head::kPooler);
}

TEST(ModelConfig, AMissingModelTypeFollowsFromTheArchitecture) {
  const std::string text = replaced(kTiny, "\"model_type\": \"bert\",", "");
  EXPECT_EQ(parse_model_config(text, "tiny", "f").model_type, "bert");
  EXPECT_THAT(
      config_message(replaced(text, "BertModel", "MysteryModel")),
      AllOf(HasSubstr("model_type: is missing"), HasSubstr("`foretell list architectures`")));
}

TEST(ModelConfig, FilesThatAreNoConfig) {
  EXPECT_THAT(config_message(""), HasSubstr("tiny/config.json: the file is empty"));
  EXPECT_THAT(config_message(" \n"), HasSubstr("the file is empty"));
  EXPECT_THAT(config_message(std::string(kTiny).substr(0, 150)),
              AllOf(HasSubstr("no valid JSON (truncated?)"), HasSubstr("line 7")));
  EXPECT_THAT(config_message("[1, 2]"), HasSubstr("holds no object"));
  EXPECT_THAT(config_message("{}"), HasSubstr("model_type: is missing"));
  EXPECT_THAT(config_message(R"({"model_type": 3})"), HasSubstr("it must be text"));
}

TEST(ModelConfig, DuplicateKeysAreRefused) {
  EXPECT_THAT(message_with("\"vocab_size\": 1000", "\"vocab_size\": 1000, \"vocab_size\": 2000"),
              HasSubstr("'vocab_size' stands twice"));
  EXPECT_EQ(message_with("\"vocab_size\": 1000",
                         "\"vocab_size\": 1000, \"a\": {\"b\": 1}, \"c\": {\"b\": 1}"),
            "no error");
}

TEST(ModelConfig, UnsupportedArchitecturesNameTheNearestAndTheListOfAll) {
  const std::string message = message_with("\"bert\"", "\"robreta\"");
  EXPECT_THAT(message,
              AllOf(HasSubstr("'robreta' cannot be imported"), HasSubstr("nearest is 'roberta'"),
                    HasSubstr("`foretell list architectures`")));
  EXPECT_LT(message.size(), 250u) << "not all names in one line";
  EXPECT_THAT(message_with("BertModel", "BertForNextSentencePrediction"),
              AllOf(HasSubstr("config.json:3: architectures"), HasSubstr("BertForMaskedLM")));
}

TEST(ModelConfig, SizesOutOfRangeNameFileLineAndRange) {
  EXPECT_THAT(
      message_with("64,", "-64,"),
      HasSubstr(
          "tiny/config.json:5: hidden_size: is -64; it must be an integer from 1 to 1048576"));
  EXPECT_THAT(message_with("64,", "1000000000000,"), HasSubstr("hidden_size: is 1000000000000;"));
  EXPECT_THAT(message_with("64,", "0,"), HasSubstr("hidden_size: is 0;"));
  EXPECT_THAT(message_with("64,", "64.5,"), HasSubstr("hidden_size: is 64.5;"));
  EXPECT_THAT(message_with("64,", "\"64\","), HasSubstr("hidden_size: is \"64\";"));
  EXPECT_THAT(message_with("64,", "null,"), HasSubstr("hidden_size: has no value (null"));
}

TEST(ModelConfig, AllProblemsComeAtOnce) {
  const std::string text = replaced(replaced(kTiny, "\"vocab_size\": 1000", "\"vocab_size\": -5"),
                                    "\"num_hidden_layers\": 2,", "");
  EXPECT_THAT(config_message(text),
              AllOf(HasSubstr("vocab_size: is -5"), HasSubstr("num_hidden_layers: is missing")));
}

TEST(ModelConfig, HeadsMustDivideTheWidth) {
  EXPECT_THAT(message_with("heads\": 4", "heads\": 5"), HasSubstr("64 is no multiple of 5 heads"));
  EXPECT_THAT(
      message_with("heads\": 4", "heads\": 4, \"head_dim\": 8"),
      AllOf(HasSubstr("head_dim: contradiction"), HasSubstr("4 heads of 8"), HasSubstr("64")));
  EXPECT_EQ(message_with("heads\": 4", "heads\": 4, \"head_dim\": 16"), "no error");
}

TEST(ModelConfig, WhatIsNotModelledIsRefused) {
  EXPECT_THAT(message_with("\"gelu\"", "\"gelo\""),
              AllOf(HasSubstr("hidden_act"), HasSubstr("nearest is 'gelu'")));
  EXPECT_THAT(message_with("\"vocab_size\"",
                           "\"position_embedding_type\": \"relative_key\", \"vocab_size\""),
              HasSubstr("only 'absolute'"));
  EXPECT_THAT(message_with("\"vocab_size\"", "\"is_decoder\": true, \"vocab_size\""),
              HasSubstr("is_decoder"));
}

TEST(ModelConfig, RobertaReservesPositionsForPadding) {
  const std::string roberta =
      replaced(replaced(kTiny, "\"bert\"", "\"roberta\""), "BertModel", "RobertaModel");
  EXPECT_EQ(parse_model_config(roberta, "tiny", "f").max_seq_len, 126);
  EXPECT_THAT(config_message(replaced(roberta, "128", "2")), HasSubstr("must be above 2"));
}

TEST(ModelConfig, AlbertGroupsAreRefused) {
  const std::string albert =
      replaced(replaced(kTiny, "\"bert\"", "\"albert\", \"embedding_size\": 16"), "BertModel",
               "AlbertModel");
  EXPECT_TRUE(parse_model_config(albert, "tiny", "f").shared_layers);
  EXPECT_THAT(config_message(
                  replaced(albert, "\"vocab_size\"", "\"num_hidden_groups\": 2, \"vocab_size\"")),
              HasSubstr("num_hidden_groups: only 1"));
}

TEST(ModelConfig, LabelsAreCountedFromTheirNames) {
  const std::string three = replaced(kTiny, "\"vocab_size\"",
                                     R"("id2label": {"0": "a", "1": "b", "2": "c"}, "vocab_size")");
  EXPECT_EQ(parse_model_config(three, "tiny", "f").labels, 3);
}

}  // namespace
}  // namespace foretell
