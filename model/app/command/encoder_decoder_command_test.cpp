// Networks of an encoder and a decoder, from the command line to the result, on every family.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CommandResult reply_to(const std::vector<std::string>& arguments) {
  return run_command(arguments, predict);
}

// Whisper base, of two layers each.
constexpr const char* kSmallWhisper =
    R"({"model_type": "whisper", "d_model": 512, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048,
        "decoder_ffn_dim": 2048, "vocab_size": 51865, "num_mel_bins": 80,
        "max_source_positions": 1500, "max_target_positions": 448,
        "activation_function": "gelu"})";

constexpr const char* kSmallGemmas =
    R"({"model_type": "t5gemma",
        "encoder": {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
                    "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64,
                    "vocab_size": 256000, "max_position_embeddings": 8192},
        "decoder": {"hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 2,
                    "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 64,
                    "vocab_size": 256000, "max_position_embeddings": 8192}})";

class EncoderDecoderCommand : public testing::Test {
 protected:
  nlohmann::json summary(const std::string& system, const std::string& config,
                         const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"run",        "--on",     system, "--workload",
                                          file(config), "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult reply = reply_to(arguments);
    EXPECT_EQ(reply.code, kSuccess) << system << ": " << reply.messages;
    return nlohmann::json::parse(reply.result).at("summary");
  }
  std::string file(const std::string& config) { return folder_.write("net.json", config); }

  TemporaryFolder folder_;
};

// The window is encoded whole, so that what is stated of it changes nothing.
TEST_F(EncoderDecoderCommand, WhisperRunsOnEveryFamilyWithAWindowOfThirtySeconds) {
  for (const char* system : {"h100-sxm", "inf2.xlarge", "trn2.48xlarge", "c6i.32xlarge"}) {
    const auto all = summary(system, kSmallWhisper, {"--output-len", "32"});
    const auto part = summary(system, kSmallWhisper, {"--input-len", "300", "--output-len", "32"});
    EXPECT_GT(all.at("ttft_s").get<double>(), all.at("tpot_s").get<double>()) << system;
    EXPECT_EQ(all.at("ttft_s"), part.at("ttft_s")) << system;
    EXPECT_EQ(all.at("tpot_s"), part.at("tpot_s")) << system;
  }
}

TEST_F(EncoderDecoderCommand, T5GemmaRunsOnEveryFamilyAndLongerInputsTakeLonger) {
  for (const char* system : {"h100-sxm", "inf2.xlarge", "c6i.32xlarge"}) {
    const auto brief = summary(system, kSmallGemmas, {"--input-len", "128", "--output-len", "16"});
    const auto longer =
        summary(system, kSmallGemmas, {"--input-len", "2048", "--output-len", "16"});
    EXPECT_GT(longer.at("ttft_s").get<double>(), brief.at("ttft_s").get<double>()) << system;
    EXPECT_GE(longer.at("tpot_s").get<double>(), brief.at("tpot_s").get<double>()) << system;
  }
}

TEST_F(EncoderDecoderCommand, LengthsThatItDoesNotTakeSayWhatToTypeInstead) {
  const auto run = [this](const std::string& input, const std::string& output) {
    return reply_to({"run", "--on", "h100-sxm", "--workload", file(kSmallWhisper), "--input-len",
                     input, "--output-len", output});
  };
  EXPECT_THAT(run("2000", "10").messages, AllOf(HasSubstr("window of 30 s"), HasSubstr("--batch")));
  EXPECT_THAT(run("1500", "449").messages, HasSubstr("the longest context is 448; lower it"));
  EXPECT_EQ(run("1500", "449").code, kUserMistake);
  const CommandResult text =
      reply_to({"run", "--on", "h100-sxm", "--workload", "gpt2", "--output-len", "10"});
  EXPECT_EQ(text.code, kUserMistake);
  EXPECT_THAT(text.messages, HasSubstr("add --input-len"));
}

TEST_F(EncoderDecoderCommand, ImportAndShowHaveBothPartsAndWhatTheyShare) {
  const CommandResult shown = reply_to({"show", file(kSmallWhisper)});
  EXPECT_THAT(shown.result, AllOf(HasSubstr("encoder: 1500 positions, 30 s of sound"),
                                  HasSubstr("decoder: one token after 448")));
  const CommandResult imported = reply_to({"import", file(kSmallWhisper), "--format", "json"});
  ASSERT_EQ(imported.code, kSuccess) << imported.messages;
  const auto json = nlohmann::json::parse(imported.result);
  const double encoder = json.at("encoder").at("parameters").get<double>();
  const double decoder = json.at("decoder").at("parameters").get<double>();
  EXPECT_EQ(json.at("parameters").get<double>(), encoder + decoder) << "they share no weight";
  EXPECT_THAT(reply_to({"import", "t5-3b"}).result, HasSubstr("2851598336 parameters"));
  EXPECT_THAT(reply_to({"import", "t5-3b", "--format", "csv"}).result,
              AllOf(HasSubstr("part,kind,count,flops\n"), HasSubstr("\ndecoder,MatMul,")));
}

TEST_F(EncoderDecoderCommand, ServiceOfAnEncoderIsRefusedWithTheCommandThatAnswers) {
  for (const char* system : {"h100-sxm", "inf2.xlarge"}) {
    const CommandResult reply =
        reply_to({"serve", "--on", system, "--workload", file(kSmallWhisper), "--input-len", "1500",
                  "--output-len", "50", "--rate", "1"});
    EXPECT_EQ(reply.code, kUserMistake);
    EXPECT_THAT(reply.messages, HasSubstr("`foretell run`")) << system;
  }
}

}  // namespace
}  // namespace foretell
