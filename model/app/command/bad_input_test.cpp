// What a user can get wrong about token generation, from the command line to the message and the
// exit code: nothing is simulated, every message says what to type instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <sstream>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/application.hpp"
#include "model/app/command/testing/scoped_variable.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The message of a command that has to fail by the user's fault and print no result.
std::string mistake(const std::vector<std::string>& arguments) {
  std::ostringstream messages;
  Session session;
  session.predict = predict;
  session.messages = &messages;
  testing::internal::CaptureStdout();
  const int code = run_application(arguments, session);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(code, kUserMistake) << messages.str();
  return messages.str();
}

std::string run_mistake(const std::string& system, const std::string& workload,
                        const std::vector<std::string>& more) {
  std::vector<std::string> line = {"run",    "--on",    system, "--workload",
                                   workload, "--dtype", "bf16"};
  line.insert(line.end(), more.begin(), more.end());
  return mistake(line);
}

std::vector<std::string> generation(const std::vector<std::string>& more = {}) {
  std::vector<std::string> options = {"--input-len", "128", "--output-len", "32"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

// Five gigabytes that are not on the disk: refused by their size, not read into memory.
TEST(BadInput, FilesThatAreTooLargeForWhatTheyAreAreRefused) {
  const TemporaryFolder folder;
  const auto large = [&folder](const std::string& name) {
    std::string path = folder.write(name, "");
    std::error_code error;
    std::filesystem::resize_file(path, std::uintmax_t{5} << 30, error);
    if (error) path.clear();
    return path;
  };
  const std::string config = large("config.json");
  const std::string yaml = large("large.yaml");
  if (config.empty() || yaml.empty()) GTEST_SKIP() << "no large files here";
  const auto refused = HasSubstr("is larger than 16 MiB");
  EXPECT_THAT(run_mistake("inf2.xlarge", config, {"--seq", "128"}), refused);
  EXPECT_THAT(run_mistake(yaml, "gpt2", {"--seq", "128"}), refused);
  EXPECT_THAT(mistake({"sweep", yaml}), refused);
  EXPECT_THAT(mistake({"report", yaml, "-o", folder.file("x.md")}), refused);
  EXPECT_THAT(mistake({"import", config}), refused);
  EXPECT_THAT(mistake({"serve", "--on", "h100-sxm", "--workload", "Llama-3.1-8B", "--trace", yaml}),
              HasSubstr("zero byte"));
}

TEST(BadInput, AGroupSizeThatTheRuntimeDoesNotOfferListsTheOthers) {
  const std::string five = run_mistake("inf2.48xlarge", "llama-3-8b", generation({"--tp", "5"}));
  EXPECT_THAT(five, AllOf(HasSubstr("tensor parallel degree 5 is not possible on inf2.48xlarge"),
                          HasSubstr("1, 2, 4, 8, 12, 24")));
  // Allowed by the runtime, but not on so few cores.
  EXPECT_THAT(run_mistake("inf2.xlarge", "llama-3-8b", generation({"--tp", "24"})),
              HasSubstr("possible are 1, 2"));
}

TEST(BadInput, MoreCoresThanHeadsCannotShareAttention) {
  EXPECT_THAT(run_mistake("inf2.48xlarge", "gpt2", generation({"--tp", "24"})),
              AllOf(HasSubstr("24 cores cannot share its 12 attention heads"),
                    HasSubstr("--tp must be from 1 to 12")));
}

TEST(BadInput, AContextBeyondWhatTheNetworkTakes) {
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", {"--input-len", "1000", "--output-len", "25"}),
              AllOf(HasSubstr("1025 positions, but the longest context is 1024"),
                    HasSubstr("lower one of them")));
  EXPECT_THAT(run_mistake("inf2.48xlarge", "llama-3-8b",
                          {"--input-len", "8192", "--output-len", "1", "--tp", "8"}),
              AllOf(HasSubstr("8193 positions, but the longest context is 8192"),
                    HasSubstr("raise --context")));
}

// The decoder of an encoder-decoder has a context of its own.
TEST(BadInput, TheContextOfAnEncoderDecoderIsThatOfItsDecoder) {
  EXPECT_THAT(
      run_mistake("inf2.24xlarge", "t5-3b",
                  {"--input-len", "100", "--output-len", "129", "--tp", "8", "--context", "128"}),
      HasSubstr("output-len = 129 positions, but the longest context is 128; lower it, or raise "
                "--context"));
}

TEST(BadInput, AContextThatIsTooShortForTheTokensAskedFor) {
  EXPECT_THAT(
      run_mistake("inf2.48xlarge", "llama-3-8b", generation({"--tp", "8", "--context", "159"})),
      AllOf(HasSubstr("160 positions, but the longest context is 159"),
            HasSubstr("raise --context")));
}

TEST(BadInput, LengthsOfZeroOrLeftOut) {
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", {"--input-len", "8", "--output-len", "0"}),
              HasSubstr("--output-len: '0' is not allowed; it must be a whole number from 1"));
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", {"--input-len", "8"}),
              HasSubstr("add --output-len"));
}

TEST(BadInput, TokensAreSpreadOverTheCoresOfADecoder) {
  const std::string asks = "add --input-len, --output-len and --tp above 1";
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", generation({"--sequence-parallel"})),
              HasSubstr(asks));
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", {"--seq", "128", "--sequence-parallel"}),
              HasSubstr(asks));
  EXPECT_THAT(
      run_mistake("inf2.24xlarge", "t5-3b", generation({"--tp", "8", "--sequence-parallel"})),
      HasSubstr("in decoders only; leave --sequence-parallel out"));
}

TEST(BadInput, StagesThatTheNetworkDoesNotMakeUp) {
  EXPECT_THAT(run_mistake("inf2.48xlarge", "gpt2", generation({"--pp", "13"})),
              HasSubstr("its 12 layers make no 13 pipeline stages; lower --pp"));
  EXPECT_THAT(run_mistake("inf2.48xlarge", "gpt2", generation({"--tp", "8", "--pp", "4"})),
              AllOf(HasSubstr("1 copy of 32 cores needs 32 cores, but inf2.48xlarge has 24"),
                    HasSubstr("lower --dp or --tp or --pp")));
  EXPECT_THAT(run_mistake("inf2.48xlarge", "gpt2", {"--seq", "128", "--pp", "2"}),
              HasSubstr("give --input-len and --output-len, or leave --pp out"));
  EXPECT_THAT(run_mistake("inf2.24xlarge", "t5-3b", generation({"--pp", "2"})),
              HasSubstr("only decoders are cut into pipeline stages; leave --pp out"));
}

TEST(BadInput, AModelThatDoesNotFitSaysByHowMuchAndWhatHoldsIt) {
  const std::string message =
      run_mistake("inf2.24xlarge", "llama-3-70b", generation({"--tp", "2"}));
  EXPECT_THAT(message, AllOf(HasSubstr("GiB more than its 32.0 GiB; --tp 12 holds it here; "),
                             HasSubstr("the smallest system that holds it: --on inf2.24xlarge --tp "
                                       "12; all that do, with --tp: inf2.24xlarge 12;"),
                             HasSubstr("inf2.48xlarge 12, 24"), HasSubstr("trn1.32xlarge 32")));
}

TEST(BadInput, AnEncoderHasNoShardsAndMakesNoTokens) {
  EXPECT_THAT(run_mistake("inf2.xlarge", "bert-large-uncased", {"--tp", "2"}),
              AllOf(HasSubstr("encoders run on one core per copy"), HasSubstr("leave --tp out")));
  EXPECT_THAT(run_mistake("inf2.xlarge", "bert-large-uncased", generation()),
              AllOf(HasSubstr("generates no tokens"), HasSubstr("give --seq")));
}

TEST(BadInput, CoresOfACopyDoNotOverflow) {
  EXPECT_THAT(
      run_mistake("inf2.48xlarge", "llama-3-8b", generation({"--tp", "2", "--dp", "100000"})),
      HasSubstr("100000 copies of 2 cores need 200000 cores, but inf2.48xlarge has 24"));
}

TEST(BadInput, ATypeThatTheCacheCannotHave) {
  EXPECT_THAT(run_mistake("inf2.xlarge", "gpt2", generation({"--kv-dtype", "int4"})),
              AllOf(HasSubstr("unknown kv-dtype 'int4'"), HasSubstr("int8, fp8, fp16")));
}

class BadConfigTest : public testing::Test {
 protected:
  // The message about a small Llama whose config.json has `part` replaced.
  std::string message(const std::string& part, const std::string& by) const {
    std::string text = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
      "hidden_act": "silu", "hidden_size": 256, "intermediate_size": 512,
      "max_position_embeddings": 1024, "num_attention_heads": 4, "num_hidden_layers": 2,
      "num_key_value_heads": 2, "tie_word_embeddings": false, "vocab_size": 1000})";
    EXPECT_NE(text.find(part), std::string::npos) << part;
    text.replace(text.find(part), part.size(), by);
    return run_mistake("inf2.xlarge", folder_.write("config.json", text), generation());
  }
  const TemporaryFolder folder_;
};

TEST_F(BadConfigTest, HeadsThatDoNotMakeUpTheHiddenSize) {
  EXPECT_THAT(message("\"hidden_size\": 256", "\"hidden_size\": 250"),
              AllOf(HasSubstr("250 is no multiple of 4 heads"), HasSubstr("no head_dim")));
}

TEST_F(BadConfigTest, MissingNegativeAndWrongFieldsAreAllNamed) {
  EXPECT_THAT(message("\"hidden_size\": 256, ", ""), HasSubstr("hidden_size"));
  EXPECT_THAT(message("\"num_hidden_layers\": 2", "\"num_hidden_layers\": -2"),
              HasSubstr("num_hidden_layers"));
  EXPECT_THAT(message("\"vocab_size\": 1000", "\"vocab_size\": \"many\""), HasSubstr("vocab_size"));
  EXPECT_THAT(message("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3"),
              HasSubstr("4 query heads cannot share 3 key and value heads"));
}

// What a run says where a file of hw holds `to` in place of `from`.
std::string mistake_of(const char* file, const std::string& from, const std::string& to,
                       const char* workload) {
  const TemporaryFolder folder;
  std::filesystem::copy(hw_folder(), folder.file("hw"), std::filesystem::copy_options::recursive);
  const std::string path = std::string("hw/") + file;
  std::string text = folder.read(path);
  text.replace(text.find(from), from.size(), to);
  folder.write(path, text);
  const ScopedVariable hw("FORETELL_HW", folder.file("hw"));
  return run_mistake("h100-sxm", workload, {"--seq", "128"});
}

// Tables that a misspelt key leaves unread are not missing.
TEST(BadInput, AMisspeltKeyOfALibraryIsAllThatIsSaid) {
  EXPECT_THAT(mistake_of("kernels/trtllm.yaml", "head_widths", "head_width", "gpt2"),
              AllOf(HasSubstr("nearest is 'head_widths'"), Not(HasSubstr("table of tiles"))));
}

// A name that fits nothing would leave its rule out without a word.
TEST(BadInput, WhatKernelsOfExpertsAreChosenByIsChecked) {
  const char* file = "kernels/layers/choice.yaml";
  EXPECT_THAT(mistake_of(file, "libraries: [trtllm, sglang]", "libraries: [trtlm]", "gpt-oss-20b"),
              HasSubstr("unknown libraries 'trtlm'; nearest is 'trtllm'"));
  EXPECT_THAT(mistake_of(file, "pipe: fp4", "pipe: nvfp4", "gpt-oss-20b"),
              HasSubstr("unknown pipe 'nvfp4'; there are: fp32"));
}

}  // namespace
}  // namespace foretell
