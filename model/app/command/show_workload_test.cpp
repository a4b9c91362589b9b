// `foretell show WORKLOAD`, from the command line to the sums that publishers state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "model/app/command/testing/command_runner.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/summary.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json shown(const std::string& workload) {
  const CommandResult result = run_command({"show", workload, "--format", "json"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  return json::parse(result.result);
}

struct Totals {
  const char* workload;
  double giga_macs;
  double mega_parameters;
};

class ShowTotals : public testing::TestWithParam<Totals> {};

// torchvision's table of models; BERT's and ViT's publishers. To the digits that they state.
TEST_P(ShowTotals, AreThoseThatAreWellKnown) {
  const json network = shown(GetParam().workload);
  EXPECT_NEAR(network.at("macs").get<double>() / 1e9, GetParam().giga_macs,
              0.01 * GetParam().giga_macs);
  EXPECT_NEAR(network.at("parameters").get<double>() / 1e6, GetParam().mega_parameters,
              0.005 * GetParam().mega_parameters);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, ShowTotals,
    testing::Values(Totals{"resnet50", 4.09, 25.6}, Totals{"vgg16", 15.47, 138.4},
                    Totals{"google/vit-base-patch16-224", 17.56, 86.6},
                    Totals{"mobilenet_v2", 0.30, 3.5}, Totals{"densenet121", 2.83, 7.98},
                    Totals{"inception_v3", 5.71, 23.8}, Totals{"bert-base-uncased", 11.17, 109.5}),
    [](const auto& totals) {
      std::string name = totals.param.workload;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(ShowWorkload, SumsAreThoseOfTheOperators) {
  const json network = shown("resnet18");
  double flops = 0;
  double bytes = 0;
  for (const json& op : network.at("operators")) {
    flops += op.at("flops").get<double>();
    bytes += op.at("bytes").get<double>();
  }
  EXPECT_EQ(network.at("flops"), flops);
  EXPECT_EQ(network.at("bytes"), bytes);
  EXPECT_DOUBLE_EQ(network.at("flops_per_byte"), flops / bytes);
  EXPECT_EQ(network.at("memory_bytes").at("weights").at("fp32"),
            4 * network.at("parameters").get<double>());
}

TEST(ShowWorkload, MemoryFollowsTheDataType) {
  const json network =
      json::parse(run_command({"show", "vgg16", "--dtype", "bf16", "--format", "json"}).result);
  EXPECT_EQ(network.at("memory_bytes").at("weights").at("bf16"),
            2 * network.at("parameters").get<double>());
}

TEST(ShowWorkload, DecodersAreShownAsTheyAreServed) {
  EXPECT_EQ(shown("Llama-3.1-8B").at("dtype"), "bf16");
  EXPECT_EQ(shown("Llama-3.1-8B").at("network").at("kv_bytes_per_token"), 2 * 32 * 8 * 128 * 2);
  EXPECT_EQ(shown("DeepSeek-R1").at("dtype"), "fp8-block");
  EXPECT_EQ(shown("DeepSeek-R1").at("network").at("kv_bytes_per_token"), 61 * 576 * 2);
  EXPECT_EQ(shown("vgg16").at("dtype"), "fp32");
}

TEST(ShowWorkload, ATokenTakesRowsOfWindowsUntilTheyAreFull) {
  const json network = shown("gpt-oss-20b").at("network");
  EXPECT_EQ(network.at("kv_bytes_per_token"), 2 * 12 * 8 * 64 * 2);
  EXPECT_EQ(network.at("kv_bytes_per_first_token"), 2 * 24 * 8 * 64 * 2);
  EXPECT_EQ(network.at("window_bytes"), 128 * 2 * 12 * 8 * 64 * 2);
}

TEST(ShowWorkload, TablesEndWithTheSums) {
  EXPECT_THAT(run_command({"show", "resnet50"}).result,
              AllOf(HasSubstr("25,557,032 parameters"), HasSubstr("4.09 GMAC"),
                    HasSubstr("flops/byte"), HasSubstr("\ntotal ")));
  EXPECT_THAT(run_command({"show", "resnet50", "--format", "csv"}).result,
              HasSubstr("\ntotal,,,,4089184256,"));
}

TEST(ShowWorkload, APipelineIsItsNetworks) {
  const json network = shown("Stable Diffusion 1.5");
  ASSERT_EQ(network.at("parts").size(), 3u);
  const json& unet = network.at("parts").at(1);
  EXPECT_EQ(unet.at("calls"), 51);
  EXPECT_EQ(unet.at("parameters"), 859'520'964);
  EXPECT_NEAR(unet.at("macs").get<double>() / 2e9, 401.6, 0.5) << "with and without the text";
  EXPECT_THAT(run_command({"show", "stable-diffusion-1.5"}).result, HasSubstr("all calls"));
}

TEST(Show, OptionsThatSayNothingAreRefused) {
  const auto message = [](std::vector<std::string> words) {
    words.insert(words.begin(), "show");
    const CommandResult result = run_command(words);
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(message({"bert-base-uncased", "--set", "foo.bar=4"}),
              HasSubstr("--set says nothing of a workload"));
  EXPECT_THAT(message({"inf2.xlarge", "--seq", "5"}), HasSubstr("--seq says nothing of a system"));
  EXPECT_THAT(message({"inferentia2"}), HasSubstr("show a system that has it: inf2.24xlarge"));
  EXPECT_THAT(message({"qqqqqqqq"}), HasSubstr("no system and no workload"));
}

TEST(List, OptionsAndMetricsAreThoseOfTheLists) {
  const std::string options = run_command({"list", "options"}).result;
  EXPECT_THAT(options, AllOf(HasSubstr("--input-len"), HasSubstr("input_len")));
  const json metrics = json::parse(run_command({"list", "metrics", "--format", "json"}).result);
  EXPECT_EQ(metrics.size(), summary_metrics().size());
  EXPECT_EQ(metrics.at(0).at("field"), "latency_s");
}

TEST(List, ArchitecturesAreThoseThatCanBeImported) {
  const json types = json::parse(run_command({"list", "architectures", "--format", "json"}).result);
  EXPECT_EQ(types.size(), supported_model_types().size());
  EXPECT_THAT(types.dump(), AllOf(HasSubstr("modernbert"), HasSubstr("siglip")));
  EXPECT_THAT(types.dump(), HasSubstr("architectures/mixtral.yaml")) << "a file to start from";
  const std::string keys = run_command({"list", "architecture-keys"}).result;
  EXPECT_THAT(keys, AllOf(HasSubstr("sizes.hidden"), HasSubstr("experts.fields.count"),
                          HasSubstr("num_experts_per_tok")));
}

TEST(Show, ANetworkThatAFileBesideItDescribes) {
  const std::string folder = std::string(FORETELL_SOURCE_DIR) + "/workloads/examples/";
  const CommandResult result = run_command({"show", folder + "own-architecture"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("(foo)"));
  EXPECT_THAT(result.result, HasSubstr("decoder.2.ffn"));
}

TEST(List, FactorsAreThoseOfAllFamilies) {
  const std::string text = run_command({"list", "factors"}).result;
  for (const char* of : {"inferentia2", "gpu/experts", "amd-epyc", "energy"})
    EXPECT_THAT(text, HasSubstr(of));
}

TEST(List, EveryListSaysWhatItIs) {
  const json lists = json::parse(run_command({"list", "--format", "json"}).result);
  EXPECT_GE(lists.size(), 11);
  for (const json& list : lists) {
    const CommandResult result = run_command({"list", list.at("list").get<std::string>()});
    EXPECT_EQ(result.code, kSuccess) << list;
    EXPECT_THAT(result.result, HasSubstr("\n-")) << list;
  }
  EXPECT_THAT(run_command({"list", "engine"}).messages, HasSubstr("nearest is 'engines'"));
}

TEST(ShowWorkload, PartsOfANetworkThatDecidesAreShownWithWhatDecides) {
  const std::string path =
      std::string(FORETELL_SOURCE_DIR) + "/workloads/examples/bert-base-early-exit.json";
  EXPECT_THAT(run_command({"show", path}).result,
              AllOf(HasSubstr("3 parts"), HasSubstr("exit.0: taken with probability 0.02"),
                    HasSubstr("layer.3: as layer.1"), HasSubstr("\nlayer.11 ")));
  const json network = shown(path);
  ASSERT_EQ(network.at("parts").size(), 3U);
  double parameters = 0;
  const std::vector<double> times = {1, 10, 1};  // the layers between the first and the last
  for (std::size_t i = 0; i < times.size(); ++i)
    parameters += times[i] * network.at("parts")[i].at("parameters").get<double>();
  EXPECT_GT(parameters, 109e6);  // those of the network without exits
  EXPECT_EQ(network.at("control")[1].at("kind"), "branch");
}

TEST(ShowWorkload, BranchesOfAnOnnxFileAreParts) {
  const std::string model = "/usr/share/libonnx-testdata/data/node/test_if/model.onnx";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "skipped, no libonnx-testdata";
  const json network = shown(model);
  ASSERT_EQ(network.at("control").size(), 1U);
  EXPECT_EQ(network.at("control")[0].at("kind"), "branch");
}

TEST(ShowWorkload, AnEncoderAndADecoderAreTwoParts) {
  const json network = shown("flan-t5-xl");
  ASSERT_EQ(network.at("parts").size(), 2U);
  const json& encoder = network.at("parts")[0];
  const json& decoder = network.at("parts")[1];
  EXPECT_EQ(encoder.at("name"), "encoder");
  EXPECT_EQ(decoder.at("name"), "decoder");
  EXPECT_GT(encoder.at("macs"), 50 * decoder.at("macs").get<double>()) << "128 tokens against one";
  const double embedding = 32128.0 * 2048;  // both have it; published: 2.85 B parameters
  EXPECT_NEAR(encoder.at("parameters").get<double>() + decoder.at("parameters").get<double>(),
              2.85e9 + embedding, 0.01e9);
  EXPECT_THAT(run_command({"show", "t5-3b", "--seq", "64"}).result,
              HasSubstr("encoder: 64 tokens; decoder: one token after 64"));
}

}  // namespace
}  // namespace foretell
