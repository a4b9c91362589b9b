// What docs/accuracy.md says is what `validate --all` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/command/testing/published_table.hpp"
#include "model/base/data_root.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

// Words with one space between them.
std::string words_of(const std::string& line) {
  std::istringstream stream(line);
  std::string all;
  for (std::string word; stream >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

// docs/accuracy.md holds what the command prints: its quick classes are asked again.
TEST(AccuracyPage, SaysWhatTheCommandPrints) {
  if (published_table("gpu_collectives.csv.gz").empty()) GTEST_SKIP() << "skipped, no data";
  std::istringstream page(read_text_file(data_root() / "docs" / "accuracy.md"));
  std::string text = "\n";
  for (std::string line; std::getline(page, line);) text += words_of(line) + "\n";
  const CommandResult result = run_command({"validate", "--all",
                                            "--worst",  "0",
                                            "--class",  "encoders on Neuron",
                                            "--class",  "language models on Neuron",
                                            "--class",  "convolutional networks on Neuron",
                                            "--class",  "vision transformers on Neuron",
                                            "--class",  "networks on Trainium2",
                                            "--class",  "networks on CPUs never measured",
                                            "--class",  "GPU collectives",
                                            "--class",  "products of latent attention"},
                                           predict);
  ASSERT_EQ(result.code, kSuccess) << result.messages;
  std::istringstream lines(result.result);
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(": ") == std::string::npos || line.find('%') == std::string::npos) continue;
    ++rows;
    EXPECT_THAT(text, HasSubstr("\n" + words_of(line) + "\n"))
        << "model/cmake/pages_test.sh build/release/foretell --fix --slow docs/accuracy.md";
  }
  EXPECT_GE(rows, 8);
}

}  // namespace
}  // namespace foretell
