// A new kind of device in every command: the four folders beside this file, a family, and one line
// that adds it.
#include "model/testing/toy_npu/toy_family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "model/app/command/application.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// As main() runs it, with the simulator.
CommandResult run_toy_command(const std::vector<std::string>& arguments) {
  static const bool kAdded = (add_device_family(toy_family()), true);
  EXPECT_TRUE(kAdded);
  return run_command(arguments, predict);
}

std::string result_of(const std::vector<std::string>& arguments) {
  const CommandResult outcome = run_toy_command(arguments);
  EXPECT_EQ(outcome.code, kSuccess) << outcome.messages;
  return outcome.result;
}

std::string mistake_in(const std::vector<std::string>& arguments) {
  const CommandResult outcome = run_toy_command(arguments);
  EXPECT_EQ(outcome.code, kUserMistake) << outcome.result;
  return outcome.messages;
}

RunSummary summary_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  return run_record_from_json(result_of(arguments), "toy").summary;
}

const std::vector<std::string> kRun = {
    "run", "--on", "toy-npu", "--workload", "bert-base-uncased", "--seq", "64", "--dtype", "bf16"};

std::vector<std::string> with(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ToyFamily, IsListedAndShown) {
  EXPECT_THAT(result_of({"list", "systems"}), HasSubstr("toy-npu"));
  EXPECT_THAT(result_of({"list", "devices"}), HasSubstr("toy-npu"));
  EXPECT_THAT(result_of({"show", "toy-npu"}),
              AllOf(HasSubstr("device.npu_array.clock"), HasSubstr("device.hbm.bandwidth")));
}

// Weights of 217 MB pass a memory of 100 GB/s: no call is faster, and more of it is.
TEST(ToyFamily, RunsANetworkAsItsMemoryAllows) {
  const RunSummary summary = summary_of(kRun);
  const double weights = summary.memory->weights_bytes;
  EXPECT_GT(summary.call_s, 0.7 * weights / 100e9);  // of embeddings, the rows that are looked up
  EXPECT_EQ(summary.bottleneck, "dma");
  const double faster = summary_of(with(kRun, {"--set", "device.hbm.bandwidth=1 TB/s"})).call_s;
  EXPECT_LT(faster, summary.call_s);
  // Then the array is slower: bytes hide.
  const double slow = summary_of(with(kRun, {"--set", "device.npu_array.clock=10 MHz"})).call_s;
  EXPECT_GT(slow, 10 * summary.call_s);
}

TEST(ToyFamily, GeneratesTokensAndTrains) {
  const RunSummary generation =
      summary_of({"run", "--on", "toy-npu", "--workload", "gpt2", "--input-len", "32",
                  "--output-len", "8", "--dtype", "bf16"});
  EXPECT_GT(*generation.ttft_s, *generation.tpot_s * 0.5);
  EXPECT_GT(generation.call_s, 7 * *generation.tpot_s);
  EXPECT_EQ(
      summary_of({"run", "--on", "toy-npu", "--workload", "resnet50", "--phase", "train-step"})
          .throughput_unit,
      "samples/s");
}

TEST(ToyFamily, HasATimeline) {
  const TemporaryFolder folder;
  result_of(with(kRun, {"--trace", folder.file("t.json")}));
  const std::string trace = folder.read("t.json");
  EXPECT_THAT(trace,
              AllOf(HasSubstr("\"multiply_moving\""), HasSubstr("dma dma"), HasSubstr("HBM GB/s")));
}

TEST(ToyFamily, IsComparedWithOthers) {
  const std::string table = result_of({"compare", "--on", "toy-npu,inf2.xlarge,t4", "--workload",
                                       "bert-base-uncased", "--seq", "64", "--dtype", "fp32"});
  EXPECT_THAT(table, AllOf(HasSubstr("toy-npu"), HasSubstr("inf2.xlarge"), HasSubstr("t4")));
}

TEST(ToyFamily, IsExplained) {
  std::vector<std::string> explain = kRun;
  explain.front() = "explain";
  EXPECT_THAT(result_of(explain), AllOf(HasSubstr("HBM bandwidth x 2"), HasSubstr("npu0.array")));
  EXPECT_THAT(result_of(with(explain, {"--sensitivity"})), HasSubstr("device.npu_array.rows"));
}

TEST(ToyFamily, IsStudied) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("s.yaml"))
      << "study: toy\n"
         "base: {on: toy-npu, workload: bert-base-uncased, seq: 64}\n"
         "vary: {device.hbm.bandwidth: [50 GB/s, 100 GB/s, 200 GB/s], batch: [1, 2]}\n";
  const std::string table = result_of(
      {"sweep", folder.file("s.yaml"), "--store", folder.file("s.sqlite"), "--format", "csv"});
  EXPECT_THAT(table, HasSubstr("200 GB/s"));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 7) << table;
}

TEST(ToyFamily, AFileDescribesOne) {
  const TemporaryFolder folder;
  const std::string file = folder.file("mine.yaml");
  std::ofstream(file) << "id: mine\n"
                         "npu_array: {clock: 2 GHz, rows: 64, columns: 64}\n"
                         "sram: 2 MiB\n"
                         "hbm: {capacity: 4 GiB, bandwidth: 200 GB/s, latency: 100 ns}\n";
  std::vector<std::string> run = kRun;
  run[2] = file;
  EXPECT_LT(summary_of(run).call_s, summary_of(kRun).call_s);
}

TEST(ToyFamily, MistakesAreReported) {
  EXPECT_THAT(mistake_in(with(kRun, {"--tp", "2"})), HasSubstr("leave --tp out"));
  EXPECT_THAT(mistake_in(with(kRun, {"--dp", "2"})), HasSubstr("toy-npu has 1"));
  EXPECT_THAT(mistake_in(with(kRun, {"--set", "device.npu_array.clok=1 GHz"})), HasSubstr("clock"));
  EXPECT_THAT(mistake_in(with(kRun, {"--set", "device.hbm.capacity=10 MB"})),
              AllOf(HasSubstr("GiB more than its"), HasSubstr("lower --batch")));
  std::vector<std::string> run = kRun;
  run[2] = "toy-npx";
  EXPECT_THAT(mistake_in(run), HasSubstr("toy-npu"));
}

}  // namespace
}  // namespace foretell
