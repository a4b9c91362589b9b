// Every command of the program gives its result as JSON and as CSV, or stands below with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/base/text.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// Commands without these formats, and why.
const std::map<std::string, std::string>& exceptions() {
  static const std::map<std::string, std::string> kExceptions = {
      {"calibrate measure", "its result is a file of JSON lines, whatever is asked for"},
      {"calibrate intervals", "its result is a file of the intervals, as YAML"},
      {"completion", "its result is a script for a shell"},
      {"explore", "its result is a page in a browser"},
  };
  return kExceptions;
}

// Names of all commands that do something: "calibrate fit", "run".
void collect_commands(const CLI::App& app, const std::string& before,
                      std::set<std::string>& names) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = before + command->get_name();
    const auto inner = command->get_subcommands([](const CLI::App*) { return true; });
    if (inner.empty()) names.insert(name);
    collect_commands(*command, name + " ", names);
  }
}

std::set<std::string> all_commands() {
  Session session;
  CLI::App app("", "foretell");
  add_commands(app, session);
  std::set<std::string> names;
  collect_commands(app, "", names);
  return names;
}

class EveryFormat : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("models.csv",
                 "system,workload,batch,seq_len,compute_dtype,call_ms\n"
                 "inf2.xlarge,bert-base-uncased,8,128,bf16,3.5\ninf9,bert,1,1,bf16,1\n");
    folder.write("study.yaml",
                 "study: s\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n"
                 "vary: {batch: [1, 2]}\n");
    folder.write("a.jsonl", run_command(prediction({"--format", "json"})).result);
    folder.write("b.jsonl", run_command(prediction({"--batch", "2", "--format", "json"})).result);
    folder.write("measured.csv", gemm_rows());
    // What is fitted already is judged again: the folder of the program is not written to.
    fs::create_directories(folder.file("factors/gpu/gemm"));
    fs::copy(factors_folder() / "gpu" / "gemm" / "h100-sxm.yaml",
             folder.file("factors/gpu/gemm/h100-sxm.yaml"));
    commands = {
        {"run", prediction({})},
        {"compare",
         {"compare", "--on", "inf2.xlarge", "--workload", "gpt2", "--dtype", "bf16,fp32"}},
        {"explain", {"explain", "--on", "inf2.xlarge", "--workload", "gpt2", "--jobs", "1"}},
        {"plan",
         {"plan", "--on", "g6e.xlarge", "--workload", "Llama-3.1-8B", "--rate", "1", "--input-len",
          "64", "--output-len", "8", "--slo", "ttft.mean<=1s", "--dtype", "fp8", "--requests", "50",
          "--jobs", "1"}},
        {"predict", {"predict", folder.file("models.csv"), "--jobs", "1"}},
        {"validate", {"validate", folder.file("models.csv"), "--jobs", "1", "--by", "workload"}},
        {"sweep", {"sweep", folder.file("study.yaml"), "--jobs", "1"}},
        {"report", {"report", folder.file("a.jsonl")}},
        {"diff", {"diff", folder.file("a.jsonl"), folder.file("b.jsonl")}},
        {"calibrate fit",
         {"calibrate", "fit", "--device", "h100-sxm", "--table", folder.file("measured.csv"),
          "--keep-factors", "-o", folder.file("factors")}},
        {"calibrate import",
         {"calibrate", "import", folder.file("measured.csv"), "-o", "-", "--source", "me",
          "--machine", "mine", "--date", "2026-01-31", "--tolerance", "900"}},
        {"calibrate area", {"calibrate", "area"}},
        {"calibrate transfer",
         {"calibrate", "transfer", "--table", folder.file("measured.csv"), "--jobs", "1", "-o",
          folder.file("transfer.yaml")}},
        {"serve",
         {"serve", "--on", "h100-sxm", "--workload", "gpt2", "--concurrency", "2", "--requests",
          "4", "--input-len", "64", "--output-len", "8"}},
        {"list", {"list", "systems"}},
        {"show", {"show", "inf2.xlarge"}},
        {"import", {"import", "resnet18"}},
    };
  }

  static std::vector<std::string> prediction(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "--on", "inf2.xlarge", "--workload", "gpt2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  // Enough families for both sides of the split.
  static std::string gemm_rows() {
    std::string text = "gpu,framework,version,dtype,m,n,k,latency_us\n";
    for (int i = 1; i <= 24; ++i) {
      text += "h100-sxm,trtllm,1.3.0rc20,bf16,64," + std::to_string(256 * i) + ",4096," +
              std::to_string(5 + i) + "\n";
    }
    return text;
  }

  CommandResult result_of(const std::string& name, const std::string& format) const {
    std::vector<std::string> words = commands.at(name);
    words.insert(words.end(), {"--format", format});
    const CommandResult result = run_command(words);
    EXPECT_THAT(result.code, testing::AnyOf(kSuccess, kOutsideTolerance))
        << name << ": " << result.messages;
    return result;
  }

  TemporaryFolder folder;
  std::map<std::string, std::vector<std::string>> commands;
};

TEST_F(EveryFormat, NoCommandIsForgotten) {
  for (const std::string& name : all_commands()) {
    EXPECT_EQ(commands.count(name) + exceptions().count(name), 1U)
        << name << " needs a line here, and --format json and csv";
  }
  EXPECT_EQ(all_commands().size(), commands.size() + exceptions().size());
}

TEST_F(EveryFormat, JsonIsOneDocumentOrOnePerLine) {
  for (const auto& entry : commands) {
    const std::string& name = entry.first;
    const std::string text = result_of(name, "json").result;
    EXPECT_FALSE(text.empty()) << name;
    if (nlohmann::json::accept(text)) continue;
    for (const std::string& line : split(text, '\n')) {
      EXPECT_TRUE(line.empty() || nlohmann::json::accept(line)) << name << ": " << line;
    }
  }
}

TEST_F(EveryFormat, CsvHasAHeaderAndRowsOfItsLength) {
  for (const auto& entry : commands) {
    const std::string& name = entry.first;
    const CommandResult result = result_of(name, "csv");
    CsvReader table(folder.write("t.csv", result.result));
    EXPECT_GE(table.header().size(), 2U) << name;
    CsvRow row;
    std::string problem;
    int rows = 0;
    for (; table.next(row, problem); ++rows)
      EXPECT_EQ(problem, "") << name << ", line " << table.line();
    EXPECT_GE(rows, 1) << name;
  }
}

TEST_F(EveryFormat, AnUnknownFormatIsRefusedByAll) {
  for (const auto& [name, words] : commands) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--format", "jsn"});
    const CommandResult result = run_command(asked);
    EXPECT_EQ(result.code, kUserMistake) << name;
    EXPECT_THAT(result.messages, testing::HasSubstr("nearest is 'json'")) << name;
  }
}

TEST(FormOfAFile, TheEndingSaysItWhereNothingElseDoes) {
  const TemporaryFolder folder;
  const std::vector<std::string> run = {
      "run", "--on", "inf2.xlarge", "--workload", "bert-base-uncased", "--seq", "128"};
  const auto written = [&](std::vector<std::string> line, const std::string& name) {
    line.insert(line.end(), {"-o", folder.file(name)});
    const CommandResult result = run_command(line);
    return result.code == kSuccess ? folder.read(name) : result.messages;
  };
  const std::string csv = written(run, "r.csv");
  EXPECT_THAT(csv, testing::StartsWith("system,workload,"));
  for (const char* end : {"latency_lo_s,", "throughput_hi,", "tpot_lo_s,", "wall_watts_hi,"})
    EXPECT_THAT(csv, testing::HasSubstr(end));
  EXPECT_THAT(written(run, "r.jsonl"), testing::StartsWith("{\"schema\""));
  EXPECT_THAT(written(run, "r.txt"), testing::StartsWith("bert-base-uncased on"));
  EXPECT_THAT(written(run, "r.html"), testing::HasSubstr("pages are made by `foretell report`"));
  const std::string records = folder.file("r.jsonl");
  EXPECT_THAT(written({"report", records}, "s.md"), testing::StartsWith("#"));
  EXPECT_THAT(written({"report", records, "--format", "md"}, "s.csv"),
              testing::HasSubstr("--format md: the ending of "));
  EXPECT_THAT(run_command({"report", folder.file("r.csv")}).messages,
              testing::HasSubstr(
                  "a table is shown by `foretell predict TABLE -o page.html`, or --format md"));
  const std::string row = folder.write("t.json", "{\"status\":\"ok\"}\n");
  EXPECT_THAT(run_command({"diff", row, row}).messages,
              testing::HasSubstr("is a row of a table, not a record"));
}

TEST(CsvOfStudies, TheEndsOfIntervalsAreTheLastColumns) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("study.yaml",
                   "study: s\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n"
                   "vary: {batch: [2, 4], sdk: [a, fail]}\n");
  run_command({"sweep", path, "--format", "csv", "-o", folder.file("out.csv")});
  CsvReader table(folder.file("out.csv"));
  const std::size_t last = *table.column("message");
  EXPECT_EQ(table.header().at(last + 1), "latency_lo_s");
  for (const char* known : {"latency_s", "throughput", "call_s", "watts", "joules_per_token"})
    EXPECT_LT(*table.column(known), last);
  CsvRow row;
  const auto cell = [&](const char* name) { return row.at(*table.column(name)); };
  ASSERT_TRUE(table.next(row));
  EXPECT_EQ(cell("call_lo_s"), "0.00175");
  EXPECT_EQ(cell("call_hi_s"), "0.002375");
  EXPECT_LT(std::stod(cell("throughput_lo")), std::stod(cell("throughput")));
  EXPECT_GT(std::stod(cell("throughput_hi")), std::stod(cell("throughput")));
  EXPECT_EQ(cell("tpot_lo_s"), "");
  ASSERT_TRUE(table.next(row));
  EXPECT_EQ(cell("call_lo_s"), "");
  EXPECT_THAT(cell("message"), testing::HasSubstr("'fail' is not allowed"));
}

}  // namespace
}  // namespace foretell
