// The report command: forms, two results, folders, scenarios, and what is wrong with its input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/json_lines.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string records_file(const TemporaryFolder& folder, const std::string& name, double factor) {
  RunRecord record = example_record();
  record.summary.latency_s *= factor;
  const std::string path = folder.file(name);
  write(path, to_json_lines({record}));
  return path;
}

constexpr const char* kScenario =
    "title: A question\n"
    "runs:\n"
    "  - {on: [inf2.xlarge, inf2.8xlarge], workload: bert-base-uncased, dtype: bf16, seq: 128}\n"
    "claims:\n"
    "  - {says: it runs, metric: throughput, at_least: 1e-9}\n"
    "  - {says: the other chip is slower, open: not modelled}\n";

TEST(ReportCommand, TheFormatOfStandardOutputAndTheEndingOfAFileSayWhatIsWritten) {
  const TemporaryFolder folder;
  const std::string runs = records_file(folder, "a.jsonl", 1);
  EXPECT_EQ(run_command({"report", runs, "--format", "json"}).result, read(runs));
  EXPECT_THAT(run_command({"report", runs, "--format", "csv"}).result, HasSubstr("latency_s"));
  EXPECT_EQ(run_command({"report", runs, "-o", folder.file("b.jsonl")}).code, kSuccess);
  EXPECT_EQ(read(folder.file("b.jsonl")), read(runs));
  EXPECT_THAT(run_command({"report", runs, "--format", "xml"}).messages, HasSubstr("table"));
}

TEST(ReportCommand, WhereNothingCanBeWrittenNothingIsPredicted) {
  const TemporaryFolder folder;
  const std::string scenario = folder.write("s.yaml", kScenario);
  const std::string called = folder.file("called");
  const auto predictor = [&called](const Request& request) {
    std::ofstream(called) << "x";
    return fake_predict(request);
  };
  std::vector<std::string> outputs = {folder.file("missing/s.md")};
  if (report_page().empty()) outputs.push_back(folder.file("s.html"));
  for (const std::string& output : outputs) {
    EXPECT_EQ(run_command({"report", scenario, "-o", output}, predictor).code, kUserMistake);
    EXPECT_FALSE(std::filesystem::exists(called)) << output;
  }
  EXPECT_EQ(run_command({"report", scenario, "-o", folder.file("s.md")}, predictor).code, kSuccess);
  EXPECT_TRUE(std::filesystem::exists(called));
}

TEST(ReportCommand, TwoResultsAreComparedWithinTolerances) {
  const TemporaryFolder folder;
  const std::string before = records_file(folder, "a.jsonl", 1);
  const std::string after = records_file(folder, "b.jsonl", 1.02);
  const CommandResult moved = run_command({"report", before, after});
  EXPECT_EQ(moved.code, kOutsideTolerance);
  EXPECT_THAT(moved.result, HasSubstr("latency_s"));
  EXPECT_THAT(moved.result, HasSubstr("+2.0 %"));
  const CommandResult tolerated = run_command({"report", before, after, "--tolerance", "3%"});
  EXPECT_EQ(tolerated.code, kSuccess);
  EXPECT_EQ(tolerated.result, "");
  EXPECT_EQ(run_command({"report", before, "--tolerance", "3%"}).code, kUserMistake);
  EXPECT_EQ(run_command({"report", before, after, before}).code, kUserMistake);
}

TEST(ReportCommand, AScenarioIsPredictedAndItsClaimsAreJudged) {
  const TemporaryFolder folder;
  const std::string scenario = folder.file("q.yaml");
  write(scenario, kScenario);
  const CommandResult result = run_command({"report", scenario, "--jobs", "1"});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("it runs"));
  EXPECT_THAT(result.result, HasSubstr("supported"));
  EXPECT_THAT(result.result, HasSubstr("cannot be judged"));
  EXPECT_THAT(result.result, HasSubstr("inf2.8xlarge"));
}

TEST(ReportCommand, AScenarioThatMeansNothingIsRefusedWithItsLine) {
  const TemporaryFolder folder;
  const std::string scenario = folder.file("q.yaml");
  const auto message = [&scenario](const std::string& text) {
    write(scenario, text);
    const CommandResult result = run_command({"report", scenario});
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(message("title: x\n"), HasSubstr("runs"));
  EXPECT_THAT(message("runs: []\n"), HasSubstr("q.yaml:1"));
  EXPECT_THAT(message("run: []\n"), HasSubstr("runs"));
  EXPECT_THAT(message("runs:\n  - {on: inf2.xlarge, network: gpt2}\n"), HasSubstr("q.yaml:2"));
  EXPECT_THAT(message("runs:\n  - {on: inf3.xlarge, workload: gpt2}\n"), HasSubstr("inf2.xlarge"));
  const std::string good = "runs:\n  - {on: inf2.xlarge, workload: gpt2}\nclaims:\n";
  EXPECT_THAT(message(good + "  - {says: x, metric: speed, at_least: 1}\n"),
              HasSubstr("throughput"));
  EXPECT_THAT(message(good + "  - {says: x, metric: throughput}\n"), HasSubstr("at_least"));
  EXPECT_THAT(message(good + "  - {says: x, metric: throughput, at_least: many}\n"),
              HasSubstr("not a number"));
  // It was judged of nothing, without a word.
  EXPECT_THAT(
      message(good + "  - {says: x, metric: throughput, at_least: 1, of: {system: h900}}\n"),
      AllOf(HasSubstr("q.yaml:4"), HasSubstr("no run predicts system 'h900'"),
            HasSubstr("the runs have: inf2.xlarge")));
}

TEST(ReportCommand, AFolderBecomesPagesWithAnIndex) {
  if (report_page().empty()) GTEST_SKIP() << "skipped, built without the page";
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("in"));
  records_file(folder, "in/a.jsonl", 1);
  write(folder.file("in/b.yaml"), kScenario);
  write(folder.file("in/damaged.jsonl"), "{\"schema\":");
  write(folder.file("in/notes.txt"), "not a result");
  const std::string out = folder.file("new/out");
  const CommandResult result = run_command({"report", "--batch", folder.file("in"), "-o", out});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.messages, HasSubstr("damaged.jsonl"));
  EXPECT_THAT(result.messages, HasSubstr("2 reports"));
  EXPECT_TRUE(std::filesystem::exists(out + "/a.html"));
  EXPECT_FALSE(std::filesystem::exists(out + "/damaged.html"));
  EXPECT_THAT(read(out + "/b.html"), HasSubstr("A question"));
  const std::string index = read(out + "/index.html");
  EXPECT_THAT(index, HasSubstr(R"("title":"A question","file":"b.html","records":2)"));
  EXPECT_THAT(index, HasSubstr("1 of 2 supported"));
}

TEST(ReportCommand, BadInputIsNamed) {
  const TemporaryFolder folder;
  const auto message = [](const std::vector<std::string>& words) {
    const CommandResult result = run_command(words);
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(message({"report"}), HasSubstr("--batch"));
  EXPECT_THAT(message({"report", "--batch", folder.file("none")}), HasSubstr("none"));
  std::filesystem::create_directory(folder.file("empty"));
  EXPECT_THAT(message({"report", "--batch", folder.file("empty")}), HasSubstr("nothing to report"));
  write(folder.file("empty.jsonl"), "");
  EXPECT_THAT(message({"report", folder.file("empty.jsonl")}), HasSubstr("holds no records"));
  std::string newer = to_json_lines({example_record()});
  newer.replace(newer.find("foretell.run/1"), 14, "foretell.run/2");
  write(folder.file("newer.jsonl"), newer);
  EXPECT_THAT(message({"report", folder.file("newer.jsonl")}), HasSubstr("foretell.run/2"));
  const std::string whole = to_json_lines({example_record()});
  write(folder.file("cut.jsonl"), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(message({"report", folder.file("cut.jsonl")}), HasSubstr("cut.jsonl:1"));
  write(folder.file("cut.json"), R"({"schema":"foretell.accuracy/1","by":[)");
  EXPECT_THAT(message({"report", folder.file("cut.json")}), HasSubstr("not whole"));
  write(folder.file("new.json"), R"({"schema":"foretell.accuracy/2","by":[]})");
  EXPECT_THAT(message({"report", folder.file("new.json")}), HasSubstr("foretell.accuracy/1"));
  write(folder.file("cut.study.jsonl"), R"({"study":"s","number":0,"values":{"ba)");
  EXPECT_THAT(message({"report", folder.file("cut.study.jsonl")}),
              HasSubstr("cut.study.jsonl:1: a point of a study, but not whole"));
  const std::string runs = records_file(folder, "a.jsonl", 1);
  EXPECT_THAT(message({"report", runs, "-o", folder.file("no/such/folder.md")}),
              HasSubstr("no/such/folder.md"));
}

TEST(ReportCommand, AStudyIsPredictedFirst) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.yaml");
  write(path,
        "study: s\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128, batch: 4}\n"
        "vary: {batch: [1, 2]}\n");
  const CommandResult result = run_command({"report", path, "-o", folder.file("s.csv")});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.messages, HasSubstr("2 records"));
  write(path, "study: s\nbase: {on: inf2.xlarge}\nvary: {batch: []}\n");
  EXPECT_EQ(run_command({"report", path, "-o", folder.file("s.csv")}).code, kUserMistake);
}

// Rows of which nothing can be predicted.
constexpr const char* kFailingStudy =
    "study: <b>nothing</b>\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n"
    "vary: {batch: [1313], dtype: [bf16, fp32]}\n";

TEST(ReportCommand, AStudyOfFailuresSaysWhyInEveryForm) {
  const TemporaryFolder folder;
  write(folder.file("s.yaml"), kFailingStudy);
  const std::string store = folder.file("s.sqlite");
  const CommandResult swept = run_command({"sweep", folder.file("s.yaml"), "--store", store});
  EXPECT_EQ(swept.code, kOutsideTolerance) << swept.messages;
  EXPECT_THAT(swept.result, HasSubstr("Not predicted:"));
  EXPECT_THAT(swept.result, HasSubstr("2 points: needs 40.0 GiB"));
  EXPECT_THAT(run_command({"report", store}).result, HasSubstr("Not predicted:"));
  EXPECT_THAT(run_command({"report", store, "-o", folder.file("s.md")}).messages,
              Not(HasSubstr("0 r")));
  EXPECT_THAT(read(folder.file("s.md")), HasSubstr("Not predicted, 2 points: needs 40.0 GiB"));
  EXPECT_THAT(read(folder.file("s.md")), HasSubstr("\\<b>nothing"));
  const CommandResult lines = run_command({"sweep", folder.file("s.yaml"), "--format", "json"});
  write(folder.file("s.jsonl"), lines.result);
  EXPECT_THAT(run_command({"report", folder.file("s.jsonl")}).result,
              HasSubstr("Nothing could be predicted"));
  if (report_page().empty()) GTEST_SKIP() << "skipped, built without the page";
  const CommandResult page = run_command({"report", store, "-o", folder.file("s.html")});
  EXPECT_THAT(page.messages, HasSubstr("reason"));
  EXPECT_THAT(read(folder.file("s.html")), HasSubstr("Nothing could be predicted, for "));
}

TEST(ReportCommand, TheLinesOfASweepAreReadLikeItsStore) {
  const TemporaryFolder folder;
  write(folder.file("s.yaml"),
        "study: s\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128, batch: 4}\n"
        "vary: {batch: [1, 2]}\n");
  const std::string lines = folder.file("s.jsonl");
  run_command({"sweep", folder.file("s.yaml"), "--format", "json", "-o", lines});
  const CommandResult result = run_command({"report", lines});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, HasSubstr("batch 2"));
  EXPECT_EQ(run_command({"report", lines, lines}).code, kSuccess);
}

TEST(ReportCommand, AStoreOfBothSaysThatItHoldsStudies) {
  const TemporaryFolder folder;
  write(folder.file("s.yaml"),
        "study: my study\nbase: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n"
        "vary: {batch: [1, 2]}\n");
  const std::string store = folder.file("s.sqlite");
  run_command({"sweep", folder.file("s.yaml"), "--store", store});
  run_command({"run", "--on", "inf2.xlarge", "--workload", "gpt2", "--store", store});
  const CommandResult result = run_command({"report", store});
  EXPECT_THAT(result.messages, HasSubstr("also holds a study: my study (--study NAME)"));
  EXPECT_THAT(run_command({"report", store, "--study", "my study"}).messages,
              Not(HasSubstr("also")));
}

TEST(ReportCommand, AValidationIsAPage) {
  const TemporaryFolder folder;
  const std::string path = folder.file("v.json");
  write(path, R"({"schema":"foretell.accuracy/1","by":[],"rows":0,"failed":0,"refused":0,)"
              R"("overall":[],"parts":[],"groups":[],"worst":[],"samples":[],"notes":[]})"
              "\n");
  EXPECT_THAT(run_command({"report", path}).result, HasSubstr("0 rows, 0 without a prediction"));
  EXPECT_THAT(run_command({"report", path, "--format", "csv"}).result,
              HasSubstr("measured,n,mape"));
  EXPECT_EQ(run_command({"report", path, "--format", "json"}).result, read(path));
  EXPECT_EQ(run_command({"report", path, "-o", folder.file("v.md")}).code, kSuccess);
  EXPECT_THAT(read(folder.file("v.md")), HasSubstr("# v\n\n| measured |"));
  if (report_page().empty()) GTEST_SKIP() << "skipped, built without the page";
  EXPECT_EQ(run_command({"report", path, "-o", folder.file("v.html")}).code, kSuccess);
  EXPECT_THAT(read(folder.file("v.html")), HasSubstr(R"("accuracy":{"schema")"));
}

}  // namespace
}  // namespace foretell
