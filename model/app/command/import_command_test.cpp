// `foretell import` and networks from ONNX files, from the command line to the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CommandResult ask(const std::vector<std::string>& arguments) {
  return run_command(arguments, predict);
}

TEST(ImportCommand, SummarisesANetworkOnStandardOutput) {
  const CommandResult answer = ask({"import", "resnet50"});
  EXPECT_EQ(answer.code, kSuccess) << answer.messages;
  EXPECT_THAT(answer.result,
              AllOf(HasSubstr("25557032 parameters"), HasSubstr("inputs:"), HasSubstr("Conv")));
}

TEST(ImportCommand, TheSummaryIsJsonOrCsvToo) {
  EXPECT_THAT(ask({"import", "resnet50", "--format", "json"}).result,
              AllOf(HasSubstr("\"parameters\":25557032"), HasSubstr("\"kind\":\"Conv\"")));
  EXPECT_THAT(ask({"import", "resnet50", "--format", "csv"}).result,
              AllOf(HasSubstr("kind,count,flops\n"), HasSubstr("\nConv,53,")));
  EXPECT_EQ(ask({"import", "resnet50", "--format", "xml"}).code, kUserMistake);
}

TEST(ImportCommand, AnOnnxFileIsSummarisedAndRunsOnEveryFamilyOfDevices) {
  const std::string model =
      "/usr/share/libonnx-testdata/data/node/test_basic_conv_with_padding/model.onnx";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "skipped, no libonnx-testdata";
  EXPECT_THAT(ask({"import", model}).result, HasSubstr("1 Conv"));
  for (const char* system : {"inf2.xlarge", "g6.xlarge", "c7i.2xlarge"}) {
    const CommandResult answer =
        ask({"run", "--on", system, "--workload", model, "--dtype", "fp32"});
    EXPECT_EQ(answer.code, kSuccess) << system << ": " << answer.messages;
    EXPECT_THAT(answer.result, HasSubstr("latency")) << system;
  }
}

std::string exported(const std::string& name) {
  return std::string(FORETELL_SOURCE_DIR) + "/workloads/import/onnx/exported/" + name + ".onnx";
}

// The same network exported with its 20 batch norms and with these in the weights.
TEST(ImportCommand, ABatchNormAfterAConvolutionIsPartOfIt) {
  for (const char* system : {"inf2.xlarge", "h100-sxm", "c7i.2xlarge"}) {
    const auto call = [&](const std::string& name) {
      const CommandResult answer = ask({"run", "--on", system, "--workload", exported(name),
                                        "--dtype", "fp32", "--format", "json"});
      EXPECT_EQ(answer.code, kSuccess) << answer.messages;
      return nlohmann::json::parse(answer.result).at("summary").at("call_s").get<double>();
    };
    EXPECT_NEAR(call("resnet18_unfolded") / call("resnet18"), 1, 1e-3) << system;
  }
}

// Channels last between the layers, channels first in the convolutions.
TEST(ImportCommand, ConvNextRunsOnEveryFamilyOfDevices) {
  for (const char* system : {"inf2.xlarge", "h100-sxm", "c7i.2xlarge"}) {
    const CommandResult answer =
        ask({"run", "--on", system, "--workload", exported("convnext_tiny"), "--dtype", "bf16"});
    EXPECT_EQ(answer.code, kSuccess) << system << ": " << answer.messages;
  }
}

TEST(ImportCommand, WhatItWritesIsAWorkload) {
  const TemporaryFolder folder;
  const std::string model =
      std::string(FORETELL_SOURCE_DIR) + "/workloads/import/onnx/exported/resnet18.onnx";
  const std::string from_onnx = folder.file("net.yaml");
  EXPECT_EQ(ask({"import", model, "-o", from_onnx}).code, kSuccess);
  EXPECT_THAT(folder.read("net.yaml"), HasSubstr("resnet18.onnx"));
  const std::string from_config = folder.file("net.json");
  EXPECT_EQ(ask({"import", "resnet18", "-o", from_config}).code, kSuccess);
  for (const std::string& written : {from_onnx, from_config})
    EXPECT_THAT(ask({"import", written}).result, HasSubstr("11689512 parameters")) << written;
  EXPECT_THAT(ask({"import", model, "-o", folder.file("net.txt")}).messages,
              HasSubstr(".yaml or .json"));
}

TEST(ImportCommand, AnArchitectureOfTheUsersGoesBesideWhatIsWritten) {
  const TemporaryFolder folder;
  const std::string config =
      std::string(FORETELL_SOURCE_DIR) + "/workloads/examples/own-architecture/config.json";
  const CommandResult own = ask({"import", config});
  for (const char* name : {"net.json", "net.yaml"}) {
    const CommandResult written = ask({"import", config, "-o", folder.file(name)});
    EXPECT_THAT(written.messages, HasSubstr("architecture.yaml describes its architecture"));
    const CommandResult read = ask({"import", folder.file(name)});
    EXPECT_EQ(read.code, kSuccess) << read.messages;
    EXPECT_EQ(read.result.substr(read.result.find('\n')), own.result.substr(own.result.find('\n')));
  }
  folder.write("architecture.yaml", "model_type: other\n");
  const CommandResult refused = ask({"import", config, "-o", folder.file("more.json")});
  EXPECT_EQ(refused.code, kUserMistake);
  EXPECT_THAT(refused.messages, HasSubstr("is another one; write to another folder"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("more.json")));
  EXPECT_EQ(folder.read("architecture.yaml"), "model_type: other\n");
}

TEST(ImportCommand, AGraphOfViewsAloneTakesNoTimeOnADevice) {
  const std::string model = "/usr/share/libonnx-testdata/data/node/test_identity/model.onnx";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "skipped, no libonnx-testdata";
  for (const char* system : {"h100-sxm", "inf2.xlarge", "c7i.2xlarge"}) {
    const CommandResult answer =
        ask({"run", "--on", system, "--workload", model, "--dtype", "fp32"});
    EXPECT_EQ(answer.code, kUserMistake) << system;
    EXPECT_THAT(answer.messages, HasSubstr("only rename or reshape their inputs")) << system;
  }
}

TEST(ImportCommand, ImportingTablesIsAnotherCommandAndItsMistakesNameThatOne) {
  EXPECT_THAT(ask({"calibrate", "import"}).messages,
              HasSubstr("`foretell calibrate import --help`"));
  EXPECT_THAT(ask({"import"}).messages, HasSubstr("`foretell import --help`"));
}

TEST(ImportCommand, AFileThatIsNoOnnxFileIsSaidToBeNone) {
  const TemporaryFolder folder;
  const CommandResult answer = ask({"import", folder.write("net.onnx", "this is no protobuf")});
  EXPECT_EQ(answer.code, kUserMistake);
  EXPECT_THAT(answer.messages, HasSubstr("net.onnx"));
}

}  // namespace
}  // namespace foretell
