#include "workloads/import/workload.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

// A folder of workloads of its own, gone after the test.
class WorkloadFolder : public ::testing::Test {
 protected:
  ~WorkloadFolder() override { unsetenv("FORETELL_WORKLOADS"); }

  std::string write(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }

  const TemporaryFolder folder_;
  const fs::path root_ = folder_.path();
};

std::string message_of(const WorkloadLibrary& library, const std::string& name) {
  try {
    library.load(name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string tiny() {
  return R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 32,
             "vocab_size": 100, "activation_function": "gelu_new"})";
}

TEST(WorkloadLibrary, NamesIgnoreCaseAndOrganisation) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load("BERT-Large-Uncased").name, "bert-large-uncased");
  EXPECT_EQ(library.load("google/electra-base-discriminator").name,
            "google/electra-base-discriminator");
  EXPECT_EQ(library.load("Electra-base-discriminator").name, "google/electra-base-discriminator");
  EXPECT_EQ(library.load("openai-community/gpt2").name, "gpt2");
}

TEST(WorkloadLibrary, WhatStandsBetweenLettersAndDigitsMayBeSpeltOtherwise) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load("Llama3.1 8B").name, "Llama-3.1-8B");
  EXPECT_EQ(library.load("meta_llama/Llama3.1 8b Instruct").name, "Llama-3.1-8B");
  EXPECT_EQ(library.load("mixtral_8x7b").name, "Mixtral-8x7B-v0.1");
  EXPECT_EQ(library.listed_name("Llama-318B"), "");
}

TEST(WorkloadLibrary, NetworksThatDifferInTheValuesOfWeightsAloneAreOne) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load("meta-llama/Llama-3.1-8B-Instruct").name, "Llama-3.1-8B");
  EXPECT_EQ(library.load("qwq-32b").name, "Qwen2.5-32B");
  EXPECT_EQ(library.listed_name("BAAI/bge-large-en-v1.5"), "bert-large-uncased");
  EXPECT_EQ(library.listed_name("someone/bge-large-en-v1.5"), "");
}

// A name in two files would mean whichever is read first.
TEST(WorkloadLibrary, NoNameIsThatOfTwoNetworks) {
  const WorkloadLibrary library;
  std::map<std::string, std::string> owners;
  for (const std::string& listed : library.names()) {
    const ModelConfig config = library.load(listed);
    std::vector<std::string> names = config.also_called;
    if (!config.published_as.empty()) names.push_back(config.published_as);
    for (const std::string& name : names) {
      const auto [owner, is_new] = owners.emplace(to_lower(name), listed);
      EXPECT_TRUE(is_new || owner->second == listed)
          << name << " is " << owner->second << " and " << listed;
    }
  }
}

TEST(WorkloadLibrary, AnotherOrganisationIsAnotherNetwork) {
  EXPECT_THAT(message_of(WorkloadLibrary(), "someone/gpt2"),
              HasSubstr("unknown workload 'someone/gpt2'"));
}

TEST(WorkloadLibrary, UnknownNamesTeachTheNearest) {
  EXPECT_THAT(
      message_of(WorkloadLibrary(), "bert-large-uncasd"),
      AllOf(HasSubstr("nearest is 'bert-large-uncased'"), HasSubstr("path of its config.json")));
  EXPECT_THAT(message_of(WorkloadLibrary(), ""), HasSubstr("unknown workload ''"));
}

TEST(WorkloadLibrary, FurtherNamesAreAmongTheNearest) {
  EXPECT_THAT(message_of(WorkloadLibrary(), "QwQ-33B"), HasSubstr("nearest is 'QwQ-32B'"));
  EXPECT_THAT(message_of(WorkloadLibrary(), "Qwen/QwQ-33B"),
              HasSubstr("nearest is 'Qwen/QwQ-32B'"));
}

TEST(WorkloadLibrary, EveryShippedNetworkLoadsAndSaysWhereItComesFrom) {
  const WorkloadLibrary library;
  ASSERT_GE(library.names().size(), 19u);
  for (const std::string& name : library.names()) {
    const ModelConfig config = library.load(name);
    EXPECT_EQ(config.name, name);
    EXPECT_FALSE(config.published_as.empty()) << name;
    for (const PipelinePart& part : config.parts) EXPECT_NO_THROW(library.load(part.workload));
    if (config.family == Family::kPipeline) continue;
    const bool forward = config.family != Family::kEncoderDecoder;
    const std::int64_t positions = encoded_positions(config, 16);
    const Binding binding{1, positions, forward ? Phase::kForward : Phase::kPrefill};
    EXPECT_GT(build_graph(config, binding).ops().size(), 0u) << name;
  }
}

TEST(WorkloadLibrary, ANetworkMayHaveSeveralNames) {
  const WorkloadLibrary library;
  for (const char* name : {"Stable Diffusion XL", "stable diffusion xl base"})
    EXPECT_EQ(library.load(name).name, "stable-diffusion-xl");
  EXPECT_EQ(library.load("PixArt Alpha").parts.size(), 3u);
}

TEST_F(WorkloadFolder, AFileOfTheUsersOwn) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load(write("my-net/config.json", tiny())).name, "my-net");
  EXPECT_EQ(library.load(write("other.json", tiny())).name, "other");
  EXPECT_THAT(message_of(library, (root_ / "none.json").string()),
              HasSubstr("none.json: cannot be read"));
  EXPECT_EQ(library.load((root_ / "my-net").string()).name, "my-net") << "the folder of a network";
  EXPECT_THAT(message_of(library, root_.string()), HasSubstr("is a folder without a config.json"));
  fs::create_directories(root_ / "folder.json");
  EXPECT_THAT(message_of(library, (root_ / "folder.json").string()), HasSubstr("is a folder"));
}

TEST_F(WorkloadFolder, TheSameFieldsAsYaml) {
  const std::string text =
      "model_type: gpt2  # a comment\nn_embd: 64\nn_layer: 2\nn_head: 4\nn_positions: 32\n"
      "vocab_size: 100\nactivation_function: gelu_new\n";
  const WorkloadLibrary library;
  const ModelConfig from_yaml = library.load(write("net.yaml", text));
  const ModelConfig from_json = library.load(write("net.json", tiny()));
  EXPECT_EQ(from_yaml.name, "net");
  EXPECT_EQ(build_graph(from_yaml, {1, 8}).parameter_count(),
            build_graph(from_json, {1, 8}).parameter_count());
  EXPECT_THAT(message_of(library, write("bad.yaml", text + "n_inner: -4\n")),
              HasSubstr("bad.yaml:8: n_inner: is -4; it must be an integer from 1 to"));
}

TEST_F(WorkloadFolder, AFolderOfTheUsersOwn) {
  write("org/net.json", tiny());
  write("readme.txt", "no network");
  ASSERT_EQ(setenv("FORETELL_WORKLOADS", root_.c_str(), 1), 0);
  const WorkloadLibrary library;
  EXPECT_THAT(library.names(), ::testing::ElementsAre("org/net"));
  EXPECT_EQ(library.load("net").name, "org/net");
  EXPECT_THAT(message_of(library, "bert-large-uncased"), HasSubstr("there are: org/net"));
}

TEST_F(WorkloadFolder, ADownloadedNetworkIsItsFolder) {
  write("org/net/config.json", tiny());
  write("org/net/generation_config.json", "{}");
  const WorkloadLibrary library(root_.string());
  EXPECT_THAT(library.names(), ::testing::ElementsAre("org/net"));
  EXPECT_EQ(library.load("net").name, "org/net");
}

TEST_F(WorkloadFolder, FilesBesideANetworkSayHowItIsStored) {
  write("net/config.json", tiny());
  write("net/adapter_config.json", "{}");
  const std::string path = (root_ / "net").string();
  EXPECT_EQ(WorkloadLibrary().load(path).checkpoint.dtype, "");
  EXPECT_THAT(WorkloadLibrary().load(path).notes, Contains(HasSubstr("adapter (LoRA)")));
  write("other/config.json", tiny());
  write("other/quantize_config.json", R"({"bits": 4, "group_size": 128})");
  EXPECT_EQ(WorkloadLibrary().load((root_ / "other").string()).checkpoint.dtype, "int4-weights");
  write("third/config.json", tiny());
  write("third/quantize_config.json", R"({"bits": 3})");
  EXPECT_THAT(message_of(WorkloadLibrary(), (root_ / "third").string()),
              HasSubstr("weights of 3 bits cannot be imported"));
}

TEST_F(WorkloadFolder, OneThatCannotBeReadHidesNoOther) {
  write("a/broken.json", "{\"model_type\": \"unheard_of\"}");
  write("my-net.json", tiny());
  const WorkloadLibrary library(root_.string());
  EXPECT_EQ(library.load("My Net").name, "my-net");
  EXPECT_THAT(message_of(library, "broken"), HasSubstr("unheard_of"));
}

TEST_F(WorkloadFolder, AnObjectThatIsNoneIsSaid) {
  const std::string text = R"({"model_type": "llava", "text_config": {"model_type": "llama",
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
    "vocab_size": 100}, "vision_config": 7})";
  const WorkloadLibrary library;
  EXPECT_THAT(message_of(library, write("net.json", text)),
              HasSubstr("vision_config: is 7; it must be an object of fields"));
}

TEST_F(WorkloadFolder, AmbiguousNamesAreRefused) {
  write("a/net.json", tiny());
  write("b/net.json", tiny());
  const WorkloadLibrary library(root_.string());
  EXPECT_THAT(message_of(library, "net"), HasSubstr("ambiguous: a/net, b/net"));
  EXPECT_EQ(library.load("b/net").name, "b/net");
}

TEST(WorkloadLibrary, AMissingFolderIsNamed) {
  try {
    WorkloadLibrary library("/nowhere/at/all");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("FORETELL_WORKLOADS")));
  }
}

}  // namespace
}  // namespace foretell
