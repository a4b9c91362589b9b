// `foretell serve` as it is typed: what comes out, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"
#include "reports/render/page/report_page.hpp"

namespace foretell {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

CommandResult serve_with(std::vector<std::string> more) {
  std::vector<std::string> line = {"serve", "--on", "h100-sxm-x8", "--workload", "Llama-3.1-8B"};
  line.insert(line.end(), more.begin(), more.end());
  return run_command(line);
}

const std::vector<std::string> kSmall = {"--concurrency", "4",  "--requests",   "12",
                                         "--input-len",   "64", "--output-len", "8"};

std::vector<std::string> small_and(std::vector<std::string> more) {
  more.insert(more.begin(), kSmall.begin(), kSmall.end());
  return more;
}

TEST(ServeCommand, GivesARecordOfItsSchema) {
  const CommandResult outcome =
      serve_with(small_and({"--format", "json", "--slo", "ttft.p99<=10s,tpot.p99<=1us"}));
  ASSERT_EQ(outcome.code, 0) << outcome.messages;
  const auto record = nlohmann::json::parse(outcome.result);
  EXPECT_EQ(record["schema"], "foretell.serve/1");
  EXPECT_EQ(record["context"]["scenario"]["concurrency"], "4");
  const auto& summary = record["summary"];
  for (const char* name : {"ttft_s", "tpot_s", "itl_s", "e2e_s"}) {
    EXPECT_GT(summary[name]["mean"], 0) << name;
    EXPECT_LE(summary[name]["p50"], summary[name]["p90"]) << name;
    EXPECT_LE(summary[name]["p90"], summary[name]["p95"]) << name;
    EXPECT_LE(summary[name]["p95"], summary[name]["p99"]) << name;
    for (const char* statistic : {"mean", "p50", "p90", "p95", "p99"}) {
      const auto& band = summary["interval80"][std::string(name) + "." + statistic];
      EXPECT_LT(band[0], summary[name][statistic]) << name;
      EXPECT_GT(band[1], summary[name][statistic]) << name;
    }
  }
  EXPECT_EQ(summary["requests"], 12);
  EXPECT_EQ(summary["goodput_per_s"], 0);  // no token takes a microsecond
  EXPECT_EQ(summary["keeps_slo"], false);
  EXPECT_FALSE(record["timeline"].empty());
  EXPECT_LT(summary["interval80"]["tpot_s.mean"][0], summary["tpot_s"]["mean"]);
  EXPECT_EQ(
      serve_with(small_and({"--format", "json", "--slo", "ttft.p99<=10s,tpot.p99<=1us"})).result,
      outcome.result);
}

// Every option stands under a heading, and the headings of both commands in one order.
TEST(ServeCommand, HelpIsGroupedLikeThatOfPlan) {
  const std::string completion = run_command({"completion", "bash"}).result;
  for (const std::string command : {"serve", "plan"}) {
    const std::string help = run_command({command, "--help"}).result;
    const std::size_t begin = completion.find("    " + command + ") ");
    ASSERT_NE(begin, std::string::npos);
    std::istringstream words(completion.substr(begin, completion.find("--quiet", begin) - begin));
    int options = 0;
    for (std::string word; words >> word;) {
      const std::size_t dashes = word.find("--");
      if (dashes == std::string::npos || word == "--") continue;
      EXPECT_THAT(help, ContainsRegex("(  |,)" + word.substr(dashes) + "[ \n]"));
      ++options;
    }
    EXPECT_GT(options, 40) << command;
    std::size_t last = 0;
    for (const char* heading :
         {"Options:", "Load:", "Lengths:", "Promise:",
          command == "plan" ? "Searched, where it is not stated:" : "Deployment:", "Engine:",
          "Memory:", "Hardware:", "Output:"}) {
      const std::size_t at = help.find("\n" + std::string(heading) + "\n");
      ASSERT_NE(at, std::string::npos) << heading;
      EXPECT_GT(at, last) << heading;
      last = at;
    }
  }
}

TEST(ServeCommand, WritesALinePerRequestAndATimeline) {
  const TemporaryFolder folder;
  const CommandResult lines =
      serve_with(small_and({"--format", "jsonl", "--trace-out", folder.file("t.json")}));
  ASSERT_EQ(lines.code, 0) << lines.messages;
  EXPECT_EQ(std::count(lines.result.begin(), lines.result.end(), '\n'), 12);
  std::ifstream file(folder.file("t.json"));
  const auto trace = nlohmann::json::parse(file);
  EXPECT_GT(trace["traceEvents"].size(), 12U);
}

TEST(ServeCommand, ReadsTraces) {
  const TemporaryFolder folder;
  const std::string trace =
      folder.write("t.csv", "arrival_s,input_len,output_len\n0,100,5\n0.5,200,3\n");
  const CommandResult outcome = serve_with({"--trace", trace});
  EXPECT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("2 requests answered"));
}

TEST(ServeCommand, MoreBandwidthIsFaster) {
  const auto tokens = [](const std::vector<std::string>& more) {
    const CommandResult outcome = serve_with(small_and(more));
    const auto record = nlohmann::json::parse(outcome.result);
    return record["summary"]["output_tokens_per_s"].get<double>();
  };
  EXPECT_GT(tokens({"--format", "json", "--set", "device.hbm.bandwidth=6.7 TB/s"}),
            1.1 * tokens({"--format", "json"}));
}

TEST(ServeCommand, SeparateWorkersAreJoinedByALink) {
  const CommandResult outcome =
      serve_with(small_and({"--prefill", "tp=1,workers=2", "--decode", "tp=2,workers=1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("12 requests answered"));
}

// As many devices as two copies need, and memory for each of two batches; one request alone takes
// what it takes without stages, and what activations need from one to the next.
TEST(ServeCommand, StagesAreAPipeline) {
  const auto record_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> line = {"--concurrency", "1",   "--requests",   "3",
                                     "--input-len",   "200", "--output-len", "8",
                                     "--format",      "json"};
    line.insert(line.end(), more.begin(), more.end());
    const CommandResult outcome = serve_with(line);
    EXPECT_EQ(outcome.code, 0) << outcome.messages;
    return nlohmann::json::parse(outcome.result);
  };
  const auto whole = record_of({"--tp", "2"});
  const auto cut = record_of({"--tp", "2", "--pp", "2"});
  EXPECT_FALSE(whole["context"]["scenario"].contains("pp"));
  EXPECT_EQ(cut["context"]["scenario"]["pp"], "2");
  EXPECT_EQ(cut["context"]["scenario"]["tp"], "2");
  EXPECT_THAT(cut["context"]["notes"].dump(), HasSubstr("no measured service had stages"));
  const double longer = cut["summary"]["e2e_s"]["mean"].get<double>() /
                        whole["summary"]["e2e_s"]["mean"].get<double>();
  EXPECT_GT(longer, 1);
  EXPECT_LT(longer, 1.02);
  EXPECT_NEAR(cut["summary"]["memory_bytes"]["weights"].get<double>() /
                  whole["summary"]["memory_bytes"]["weights"].get<double>(),
              0.5, 0.05);
  EXPECT_EQ(record_of({"--tp", "2", "--pp", "1"}), whole);
  EXPECT_EQ(serve_with(small_and({"--prefill", "tp=1,pp=2", "--decode", "tp=1,pp=4"})).code, 0);
}

TEST(ServeCommand, RanksWithAttentionOfTheirOwnShareExperts) {
  const auto record_of = [](std::vector<std::string> more) {
    std::vector<std::string> line = {"serve", "--on", "h200-sxm-x8", "--workload", "Qwen3-30B-A3B",
                                     "--ep",  "4",    "--format",    "json"};
    more = small_and(more);
    line.insert(line.end(), more.begin(), more.end());
    const CommandResult outcome = run_command(line);
    EXPECT_EQ(outcome.code, 0) << outcome.messages;
    return nlohmann::json::parse(outcome.result);
  };
  const auto ranks = record_of({"--attention-dp", "4"});
  const auto shared = record_of({"--tp", "4"});
  EXPECT_EQ(ranks["summary"]["requests"], 12);
  EXPECT_EQ(ranks["context"]["scenario"]["tp"], "1");
  EXPECT_EQ(ranks["context"]["scenario"]["attention_dp"], "4");
  // Every rank has all of the attention, and as many of the experts.
  EXPECT_GT(ranks["summary"]["memory_bytes"]["weights"],
            shared["summary"]["memory_bytes"]["weights"]);
}

TEST(ServeCommand, AQueueThatGrowsIsNamedWithTheRateThatIsStable) {
  const CommandResult outcome = serve_with(
      {"--rate", "1e9", "--requests", "400", "--input-len", "2000", "--output-len", "20"});
  EXPECT_EQ(outcome.code, 0) << outcome.messages;
  EXPECT_THAT(outcome.result, HasSubstr("largest rate that is stable is about"));
}

struct Refusal {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(ServeCommand, SaysWhatIsWrongAndWhatWouldBeRight) {
  const TemporaryFolder folder;
  const std::string head = "arrival_s,input_len,output_len\n";
  const std::vector<Refusal> refusals = {
      {{"--input-len", "64", "--output-len", "8"}, "no load: give one of --concurrency"},
      {small_and({"--rate", "1"}), "several loads"},
      {{"--concurrency", "4"}, "--input-len and --output-len"},
      {small_and({"--engine", "vlm"}), "nearest is 'vllm'"},
      {small_and({"--slo", "ttfb.p99<=1s"}), "nearest is 'ttft'"},
      {small_and({"--tp", "16"}), "16"},
      {small_and({"--tp", "4", "--dp", "4"}), "lower --dp or --tp"},
      {small_and({"--pp", "2", "--dp", "8"}), "lower --dp or --tp or --pp"},
      {small_and({"--pp", "0"}), "--pp"},
      {small_and({"--pp", "33"}), "its 32 layers make no 33 pipeline stages"},
      {small_and({"--prefill", "tp=1", "--decode", "tp=1", "--pp", "2"}),
       "--pp: separate workers state it in --prefill and --decode"},
      {small_and({"--prefill", "tp=1"}), "belong together"},
      {small_and({"--prefill", "tp=1", "--decode", "tpp=1"}), "nearest is 'tp'"},
      {small_and({"--prefill", "tp=1", "--decode", "tp=1", "--decode-on", "h200-sxm-x8"}),
       "state the rate of the link"},
      {small_and({"--router", "random"}), "round-robin"},
      {small_and({"--speculate", "3"}), "acceptance=0.7"},
      {small_and({"--arrivals", "x", "--kv-fraction", "2"}), "--kv-fraction"},
      {{"--concurrency", "1", "--input-len", "200000", "--output-len", "8"},
       "longer than the context"},
      {{"--rate", "1", "--arrivals", "sometimes", "--input-len", "1", "--output-len", "1"},
       "poisson, uniform, gamma:CV"},
      {{"--trace", folder.write("a.csv", head + "1,5,5\n0,5,5\n")}, "a.csv:3: arrival 0 is before"},
      {{"--trace", folder.write("b.csv", head + "0,0,5\n")}, "b.csv:2: input_len 0"},
      {{"--trace", folder.write("c.csv", head + "0,5,1000000000\n")}, "output_len 1000000000"},
      {{"--trace", folder.write("d.csv", head + "0,300000,5\n")}, "request 1 of the trace"},
      {small_and({"--warm-up", "12"}), "leaves none of 12"},
      {small_and({"--format", "yaml"}), "unknown format 'yaml'"},
      {small_and({"--set", "engine.host.perstep=1 ms"}), "per_step"},
      {small_and({"--set", "engine.schedule.receive_interval=0"}), "receive_interval"},
      {small_and({"--ep", "2"}), "layers of experts"},
      {small_and({"--ep", "0"}), "--ep"},
      {small_and({"--moe-tp", "many"}), "--moe-tp"},
      {small_and({"--attention-dp", "2"}), "layers of experts"},
      {small_and({"--library", "vlm"}), "nearest is 'vllm'"},
      {small_and({"--library-release", "newest"}), "--library-release"},
      {small_and({"--prefill", "tp=1", "--decode", "tp=1,attention-dpp=2"}), "attention-dp"},
      {small_and({"--prefill", "tp=1", "--decode", "tp=1", "--attention-dp", "2"}),
       "state it in --prefill and --decode"},
  };
  for (const Refusal& refusal : refusals) {
    const CommandResult outcome = serve_with(refusal.arguments);
    EXPECT_EQ(outcome.code, 2) << refusal.message;
    EXPECT_THAT(outcome.messages, HasSubstr(refusal.message));
  }
  EXPECT_THAT(run_command({"serve", "--on", "h100-sxm", "--workload", "Llama-3.1-70B",
                           "--concurrency", "1", "--input-len", "1", "--output-len", "1"})
                  .messages,
              HasSubstr("leave no room for KV blocks"));
  EXPECT_THAT(
      run_command({"serve", "--on", "trn1.32xlarge", "--workload", "Llama-2-7b", "--tp", "8",
                   "--pp", "2", "--concurrency", "1", "--input-len", "1", "--output-len", "1"})
          .messages,
      HasSubstr("pipeline stages of a service are simulated on GPUs"));
  EXPECT_THAT(run_command({"serve", "--on", "h100-sxm", "--workload", "bert-base-uncased",
                           "--concurrency", "1", "--input-len", "1", "--output-len", "1"})
                  .code,
              2);
}

TEST(ServeCommand, TablesOfServedPointsArePredictedRowByRow) {
  const TemporaryFolder folder;
  const std::string table =
      folder.write("t.csv",
                   "model,gpu,framework,precision,mode,isl,osl,concurrency,tp,ttft_ms,tpot_ms\n"
                   "Llama-3.1-8B,h100_sxm,vllm,bf16,agg,256,16,2,1,30,7\n"
                   "Llama-3.1-8B,h100_smx,vllm,bf16,agg,256,16,2,1,30,7\n"
                   "Llama-3.1-8B,h100_sxm,vllm,bf16,agg,256,16,,1,30,7\n");
  const std::string stages =
      folder.write("p.csv",
                   "model,gpu,framework,precision,mode,isl,osl,concurrency,tp,pp\n"
                   "Llama-3.1-8B,h100_sxm,vllm,bf16,agg,256,16,2,2,1\n"
                   "Llama-3.1-8B,h100_sxm,vllm,bf16,agg,256,16,2,2,2\n");
  EXPECT_EQ(run_command({"predict", stages, "-o", folder.file("q.csv")}).code, 0);
  const CommandResult outcome = run_command({"predict", table, "-o", folder.file("o.csv")});
  EXPECT_EQ(outcome.code, 1);
  CsvReader out(folder.file("o.csv"));
  CsvRow row;
  ASSERT_TRUE(out.next(row));
  EXPECT_EQ(row[*out.column("status")], "ok") << row[*out.column("message")];
  EXPECT_NEAR(std::stod(row[*out.column("pred_tpot_ms")]), 7, 2);
  EXPECT_LT(std::stod(row[*out.column("pred_ttft_ms_lo")]),
            std::stod(row[*out.column("pred_ttft_ms")]));
  ASSERT_TRUE(out.next(row));
  EXPECT_THAT(row[*out.column("message")], HasSubstr("nearest is 'h100_sxm'"));
  ASSERT_TRUE(out.next(row));
  EXPECT_THAT(row[*out.column("message")], HasSubstr("concurrency: is empty"));
}

// A column that is called as an option of `serve` is read as it.
TEST(ServeCommand, ColumnsOfServedPointsAreOptions) {
  const TemporaryFolder folder;
  const std::string row = "Llama-3.1-8B,h100_sxm,vllm,bf16,agg,256,16,2,1,";
  const std::string path = folder.write(
      "t.csv", "model,gpu,framework,precision,mode,isl,osl,concurrency,tp,power_limit,chunk\n" +
                   row + ",\n" + row + "300W,\n" + row + "300W,x\n");
  run_command({"predict", path, "--energy", "-o", folder.file("o.csv")});
  run_command({"predict", path, "--power-limit", "300W", "-o", folder.file("limit.csv")});
  const auto column = [&folder](const char* file, const char* name) {
    CsvReader out(folder.file(file));
    std::vector<std::string> cells;
    for (CsvRow cell; out.next(cell);) cells.push_back(cell[*out.column(name)]);
    return cells;
  };
  const std::vector<std::string> times = column("o.csv", "pred_tpot_ms");
  EXPECT_GT(std::stod(times[1]), std::stod(times[0]));
  EXPECT_LT(std::stod(column("o.csv", "pred_watts")[1]),
            std::stod(column("o.csv", "pred_watts")[0]));
  EXPECT_THAT(column("o.csv", "message")[2], HasSubstr("chunk: 'x' is not allowed"));
  EXPECT_EQ(column("limit.csv", "pred_tpot_ms")[0], times[1]);
}

TEST(ServeCommand, SeveralLoadsAreALineEach) {
  const auto loads = [](const std::string& format, const std::string& rates) {
    return serve_with({"--rate", rates, "--input-len", "64", "--output-len", "8", "--requests",
                       "20", "--format", format});
  };
  const CommandResult all = loads("json", "2,8");
  EXPECT_EQ(all.code, 0) << all.messages;
  EXPECT_EQ(all.result, loads("json", "2").result + loads("json", "8").result);
  EXPECT_THAT(loads("csv", "2,8").result, HasSubstr("\n"));
  EXPECT_THAT(loads("md", "2,8").result, HasSubstr("| 8 requests/s |"));
  EXPECT_THAT(loads("table", "2,8").result, HasSubstr("Most tokens"));
}

TEST(ServeCommand, CsvHasTheEndsOfIntervals) {
  const TemporaryFolder folder;
  const std::string out = folder.file("s.csv");
  serve_with(small_and({"--format", "csv", "-o", out}));
  const auto json = nlohmann::json::parse(serve_with(small_and({"--format", "json"})).result);
  const auto& ends = json.at("summary").at("interval80");
  CsvReader table(out);
  CsvRow row;
  ASSERT_TRUE(table.next(row));
  const std::vector<std::pair<const char*, const char*>> columns = {
      {"ttft_p99_lo_s", "ttft_s.p99"},
      {"e2e_mean_lo_s", "e2e_s.mean"},
      {"output_tokens_per_s_lo", "output_tokens_per_s"},
      {"requests_per_s_lo", "requests_per_s"},
      {"joules_per_token_lo", "joules_per_token"}};
  for (const auto& [column, key] : columns) {
    ASSERT_TRUE(table.column(column)) << column;
    EXPECT_DOUBLE_EQ(std::stod(row.at(*table.column(column))), ends.at(key).at(0).get<double>());
    EXPECT_GT(*table.column(column), *table.column("joules_per_request"));
  }
  EXPECT_DOUBLE_EQ(std::stod(row.at(*table.column("ttft_p99_hi_s"))),
                   ends.at("ttft_s.p99").at(1).get<double>());
}

TEST(ServeCommand, ReportsAreReadBack) {
  const TemporaryFolder folder;
  const std::string json = folder.file("s.json");
  serve_with(small_and({"--format", "json", "-o", json, "--report", folder.file("s.md")}));
  const std::string written = read_text_file(folder.file("s.md"));
  EXPECT_THAT(written, HasSubstr("## How times are distributed"));
  EXPECT_THAT(written, HasSubstr("## Over time"));
  run_command({"report", json, "-o", folder.file("again.md"), "-q"});
  EXPECT_EQ(read_text_file(folder.file("again.md")), written);
}

TEST(ServeCommand, TwoServicesAreComparedAsRecordsAre) {
  const TemporaryFolder folder;
  const auto kept = [&](const char* name, std::vector<std::string> more) {
    more.insert(more.end(), {"--format", "json", "-o", folder.file(name)});
    EXPECT_EQ(serve_with(small_and(more)).code, kSuccess);
    return folder.file(name);
  };
  const std::string before = kept("before.jsonl", {});
  const std::string after = kept("after.jsonl", {"--set", "device.hbm.bandwidth=5 TB/s"});
  EXPECT_EQ(run_command({"diff", before, before}).code, kSuccess);
  const CommandResult moved = run_command({"diff", before, after});
  EXPECT_EQ(moved.code, kOutsideTolerance);
  EXPECT_THAT(moved.result, HasSubstr("tpot_s"));
}

TEST(ServeCommand, APageThatThisProgramLacksIsSaidBeforeItServes) {
  if (!report_page().empty()) GTEST_SKIP() << "skipped, built with the page";
  const TemporaryFolder folder;
  const std::string json = folder.file("s.json");
  const CommandResult outcome =
      serve_with(small_and({"--format", "json", "-o", json, "--report", folder.file("s.html")}));
  EXPECT_EQ(outcome.code, kUserMistake);
  EXPECT_THAT(outcome.messages, HasSubstr("built without the HTML page"));
  EXPECT_FALSE(std::filesystem::exists(json));
}

TEST(ServeCommand, RefusesListsThatAreNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refusals = {
      {{"--rate", "2,2"}, "stands twice"},
      {{"--rate", "2,,4"}, "a value is missing"},
      {{"--rate", "2,4", "--concurrency", "1,2"}, "not both"},
      {{"--rate", "2,4", "--format", "jsonl"}, "a line per request of one load"},
      {{"--rate", "2,4", "--trace-out", "t.json"}, "of one load"},
      {{"--rate", "2", "--report", "x.doc"}, "x.doc"},
      {{"--rate", "2", "--report", "-"}, "the name has to end in"},
      {{"--concurrency", "2,x"}, "'x' is not allowed"}};
  for (const auto& [more, reason] : refusals) {
    std::vector<std::string> line = {"--input-len", "64", "--output-len", "8", "--requests", "4"};
    line.insert(line.end(), more.begin(), more.end());
    const CommandResult outcome = serve_with(line);
    EXPECT_EQ(outcome.code, 2) << reason;
    EXPECT_THAT(outcome.messages, HasSubstr(reason));
  }
}

// A board that was changed draws what it needs; the step that draws most is said once.
TEST(ServeCommand, ABoardThatWasChangedAndDrawsMoreThanTheSoldOneIsNoted) {
  const auto text = [](std::vector<std::string> more) {
    std::vector<std::string> line = {"--rate",      "200",  "--requests",   "40",
                                     "--input-len", "2048", "--output-len", "4",
                                     "--dtype",     "bf16"};
    line.insert(line.end(), more.begin(), more.end());
    return serve_with(line).result;
  };
  const std::string note = "note: a board that was changed takes the power that it needs: ";
  const std::string changed = text({"--set", "device.sms=264"});
  const std::size_t first = changed.find(note);
  ASSERT_NE(first, std::string::npos) << changed;
  EXPECT_EQ(changed.find(note, first + 1), std::string::npos);
  EXPECT_GT(std::stod(changed.substr(first + note.size())), 700);  // W that the sold one has
  EXPECT_THAT(changed, HasSubstr("  rate 200 requests/s, "));
  EXPECT_THAT(changed, HasSubstr("input_len 2048 tokens, output_len 4 tokens"));
  EXPECT_THAT(text({}), testing::Not(HasSubstr(note)));
  EXPECT_THAT(text({"--set", "device.sms=264", "--power-limit", "700W"}),
              testing::Not(HasSubstr(note)));
  EXPECT_THAT(text({"--set", "device.sms=16"}), testing::Not(HasSubstr(note)));
}

}  // namespace
}  // namespace foretell
