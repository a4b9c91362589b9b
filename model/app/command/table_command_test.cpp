// predict, validate and compare, from the command line to the bytes that come out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHeader =
    "id,system,workload,phase,batch,dp,inflight,compute_dtype,sdk,remark,call_ms\n";

std::string row(const std::string& id, const std::string& batch, const std::string& sdk = "",
                const std::string& dtype = "bf16") {
  return id + ",inf2.xlarge,bert-base-uncased,forward," + batch + ",2,4," + dtype + "," + sdk +
         ",\"a, b\"," + "8\n";
}

TEST(Predict, AddsColumnsAndPassesTheOthersThrough) {
  const TemporaryFolder folder;
  const CommandResult result =
      run_command({"predict", folder.write("t.csv", kHeader + row("A", "8"))});
  EXPECT_EQ(result.code, kSuccess);
  EXPECT_EQ(result.messages, "");
  EXPECT_EQ(result.result,
            "id,system,workload,phase,batch,dp,inflight,compute_dtype,sdk,remark,call_ms,"
            "pred_call_ms,pred_ttft_ms,pred_tpot_ms,pred_throughput,pred_lo_ms,pred_hi_ms,"
            "pred_call_lo_ms,pred_call_hi_ms,pred_ttft_lo_ms,pred_ttft_hi_ms,pred_tpot_lo_ms,"
            "pred_tpot_hi_ms,pred_throughput_lo,pred_throughput_hi,pred_usd_per_million,"
            "pred_memory_bytes,pred_bottleneck,status,message\n"
            "A,inf2.xlarge,bert-base-uncased,forward,8,2,4,bf16,,\"a, b\",8,8,,,2000,7,9.5,"
            "7,9.5,,,,,1684.2105263157894,2285.714285714286,0.23,1.4e+09,tensor engine,ok,\n");
}

TEST(Predict, ReadsHeadersWhateverTheirCapitalsAndPassesThemThrough) {
  const TemporaryFolder folder;
  const std::string rows = "inf2.xlarge,bert-base-uncased,8,x\n";
  const CommandResult result =
      run_command({"predict", folder.write("t.csv", "System,Workload,BATCH,Team\n" + rows)});
  EXPECT_EQ(result.code, kSuccess) << result.messages;
  EXPECT_THAT(result.result, AllOf(StartsWith("System,Workload,BATCH,Team,pred_call_ms,"),
                                   HasSubstr("\ninf2.xlarge,bert-base-uncased,8,x,8,")));
  const std::string measured =
      folder.write("m.csv", "System,Workload,Batch,Call_ms\ninf2.xlarge,bert-base-uncased,8,8\n");
  const CommandResult validated = run_command({"validate", measured, "--by", "Workload"});
  EXPECT_EQ(validated.code, kSuccess) << validated.messages;
  EXPECT_THAT(validated.result, HasSubstr("bert-base-uncased"));
  const CommandResult twice =
      run_command({"predict", folder.write("c.csv", "system,workload,Batch,batch\n" + rows)});
  EXPECT_EQ(twice.code, kUserMistake);
  EXPECT_THAT(twice.messages,
              HasSubstr("c.csv:1: columns 'Batch' and 'batch' differ in capitals alone; rename"));
}

TEST(Predict, RowsAreJsonLinesToo) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", kHeader + row("A", "8"));
  const CommandResult result = run_command({"predict", table, "--format", "json"});
  EXPECT_EQ(result.code, kSuccess);
  EXPECT_THAT(result.result, AllOf(StartsWith("{\"id\":\"A\","), HasSubstr("\"remark\":\"a, b\""),
                                   HasSubstr("\"pred_call_ms\":8,"),
                                   HasSubstr("\"pred_bottleneck\":\"tensor engine\"")));
  EXPECT_THAT(run_command({"predict", table, "--format", "table"}).result,
              HasSubstr("pred_call_ms"));
}

TEST(Predict, TheEndingOfTheOutputSaysTheFormAndPeopleReadRoundedNumbers) {
  const TemporaryFolder folder;
  const std::string table = folder.write("t.csv", kHeader + row("A", "8"));
  const auto written = [&](const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {"predict", table, "-o", folder.file(name)};
    line.insert(line.end(), more.begin(), more.end());
    const CommandResult result = run_command(line);
    return result.code == kSuccess ? folder.read(name) : result.messages;
  };
  EXPECT_THAT(written("o.md"), AllOf(StartsWith("| id |"), HasSubstr("| 1684 | 2286 |")));
  EXPECT_THAT(written("o.tsv"), HasSubstr("\t1684.2105263157894\t"));
  EXPECT_THAT(written("o.JSON"), StartsWith("{\"id\":\"A\""));
  EXPECT_THAT(written("o.txt"), StartsWith("id,system"));
  EXPECT_THAT(written("p.md", {"--format", "csv"}), StartsWith("id,system"));
  EXPECT_THAT(written("o.html"),
              testing::AnyOf(HasSubstr("built without the HTML page"), StartsWith("<!DOCTYPE")));
}

TEST(Predict, RowsThatFailKeepTheirPlace) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("t.csv", kHeader + row("A", "8") + row("B", "0") + row("C", "8", "fail") +
                                row("D", "8", "bug") + row("E", "8", "crash") + "F,short\n" +
                                row("G", "8", "", "") + row("H", "4"));
  const CommandResult result = run_command({"predict", path, "-o", folder.file("out.csv")});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.messages, HasSubstr("5 of 8 rows failed"));
  CsvReader out(folder.file("out.csv"));
  std::vector<std::string> lines;
  CsvRow cells;
  while (out.next(cells))
    lines.push_back(cells[0] + " " + cells[cells.size() - 2] + " " + cells.back());
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0], "A ok ");
  EXPECT_THAT(lines[1], StartsWith("B error batch: '0' is not allowed; it must be a whole number"));
  EXPECT_EQ(lines[2], "C error sdk: 'fail' is not allowed");
  EXPECT_EQ(lines[3], "D error internal error: a table has no end");
  EXPECT_EQ(lines[4], "E error internal error: its process was ended: Killed (out of memory?)");
  EXPECT_THAT(lines[5], HasSubstr("F error "));
  EXPECT_THAT(lines[5], HasSubstr("t.csv:7: 2 cells, but the header has 11"));
  EXPECT_EQ(lines[6], "G ok ");  // an empty cell: the type that is taken where none is stated
  EXPECT_EQ(lines[7], "H ok ");
}

TEST(Predict, TheNumberOfWorkersDoesNotShow) {
  const TemporaryFolder folder;
  std::string table = kHeader;
  for (int i = 0; i < 300; ++i) {
    table += row("R" + std::to_string(i), std::to_string(1 + i % 37), i % 50 == 7 ? "fail" : "");
  }
  const std::string path = folder.write("t.csv", table);
  const std::string one = run_command({"predict", path, "--jobs", "1"}).result;
  EXPECT_EQ(run_command({"predict", path, "--jobs", "5"}).result, one);
  EXPECT_THAT(one, HasSubstr("R299"));
}

TEST(Predict, ReadsGzipAndItsOwnOutput) {
  const TemporaryFolder folder;
  const std::string plain = folder.write("t.csv", kHeader + row("A", "8"));
  ASSERT_EQ(std::system(("gzip " + plain).c_str()), 0);
  const std::string path = plain + ".gz";
  const std::string once = run_command({"predict", path}).result;
  EXPECT_THAT(once, HasSubstr(",ok,"));
  EXPECT_EQ(run_command({"predict", folder.write("again.csv", once)}).result, once);
}

TEST(Predict, ManyEqualRowsAreQuickAndInOrder) {
  const TemporaryFolder folder;
  constexpr int kRows = 20000;
  std::string table = kHeader;
  for (int i = 0; i < kRows; ++i) table += row(std::to_string(i), std::to_string(1 + i % 3));
  const CommandResult result =
      run_command({"predict", folder.write("t.csv", table), "-o", folder.file("o.csv")});
  EXPECT_EQ(result.code, kSuccess);
  CsvReader out(folder.file("o.csv"));
  CsvRow cells;
  int count = 0;
  while (out.next(cells)) ASSERT_EQ(cells[0], std::to_string(count++));
  EXPECT_EQ(count, kRows);
}

TEST(Predict, RowsOfKernelsWithoutAGpuKeepTheirPlace) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("t.csv", "op,rows,dtype,latency_us\nsoftmax,1024,fp32,2.4\n");
  const CommandResult result = run_command({"predict", path});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.result, HasSubstr("softmax,1024,fp32,2.4,,,,error,"));
  EXPECT_THAT(result.result, HasSubstr("gpu: is empty"));
}

TEST(Predict, BadTablesAndPaths) {
  const TemporaryFolder folder;
  const std::string good = folder.write("t.csv", kHeader + row("A", "8"));
  const auto error = [](const std::vector<std::string>& line) {
    const CommandResult result = run_command(line);
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(error({"predict", "/no/such.csv"}), HasSubstr("/no/such.csv: cannot be read"));
  EXPECT_THAT(error({"predict", folder.write("empty.csv", "")}),
              HasSubstr("expected a header row"));
  EXPECT_THAT(error({"predict", folder.write("x.csv", "a,b\n1,2\n")}),
              HasSubstr("fits no kind of table"));
  EXPECT_THAT(error({"predict", good, "-o", good}), HasSubstr("is the input itself"));
  EXPECT_THAT(error({"predict", good, "-o", "/dev/full"}), HasSubstr("No space left on device"));
  EXPECT_THAT(error({"predict", good, "--jobs", "0"}), HasSubstr("--jobs: '0' is not allowed"));
  EXPECT_EQ(folder.read("t.csv"), kHeader + row("A", "8"));
}

TEST(Predict, APowerLimitIsThatOfTablesOfModels) {
  const TemporaryFolder folder;
  const std::string models = folder.write("t.csv", kHeader + row("A", "8"));
  EXPECT_EQ(run_command({"predict", models, "--power-limit", "300W"}).code, kSuccess);
  const std::string kernels = folder.write("k.csv", "gpu,dtype,m,n,k\nh100-sxm,bf16,64,64,64\n");
  const CommandResult refused = run_command({"predict", kernels, "--power-limit", "300W"});
  EXPECT_EQ(refused.code, kUserMistake);
  EXPECT_THAT(refused.messages, HasSubstr("--power-limit: is that of the boards"));
}

TEST(Predict, TypesOfKernelsHaveTheNamesOfOthers) {
  const TemporaryFolder folder;
  const auto times = [&folder](const char* type) {
    const std::string rows = std::string("\nh100-sxm,") + type + ",512,512,512\n";
    const std::string table = folder.write("k.csv", "gpu,dtype,m,n,k" + rows);
    const CommandResult result = run_command({"predict", table, "--format", "csv"});
    EXPECT_EQ(result.code, kSuccess) << result.messages;
    return result.result.substr(result.result.rfind("512,512,512,"));
  };
  EXPECT_EQ(times("torch.bfloat16"), times("bf16"));
  EXPECT_NE(times("bf16"), times("fp8"));
}

TEST(Predict, CellsAreReadAsTablesWriteThem) {
  const TemporaryFolder folder;
  const std::string header =
      "system,workload,phase,batch,image_size,weight_dtype,compute_dtype,tp\n";
  const std::string start = "inf2.xlarge,bert-base-uncased,";
  const std::string path = folder.write(
      "t.csv", header + start + "forward,8.0,224x224,fp32,bf16-matmul,\n" + start +
                   "forward,8,224x448,fp32,bf16,\n" + start + "forwrd,8,,fp32,bf16,\n" + start +
                   "diffusion,8,,fp32,bf16,\n" + start + "decode,8,,int8,bf16-matmul,24\n");
  const std::string out = run_command({"predict", path}).result;
  EXPECT_THAT(out, HasSubstr("8.0,224x224,fp32,bf16-matmul,,8,"));
  EXPECT_THAT(out, HasSubstr("as 224x224"));
  EXPECT_THAT(out, HasSubstr("unknown phase 'forwrd'; nearest is 'forward'"));
  EXPECT_THAT(out, HasSubstr("diffusion,8,,fp32,bf16,,8,"));
  EXPECT_THAT(out, HasSubstr("decode needs input_len and output_len"));
}

class ValidateTest : public testing::Test {
 protected:
  // Predictions are 8 ms for batch 8 and 4 ms for batch 4.
  const std::string header_ =
      "id,system,workload,phase,batch,compute_dtype,use,latest,call_ms,throughput\n";
  static std::string line(const std::string& id, const std::string& batch, const std::string& use,
                          const std::string& call, const std::string& latest = "1") {
    return id + ",inf2.xlarge,bert-base-uncased,forward," + batch + ",bf16," + use + "," + latest +
           "," + call + ",\n";
  }
  const TemporaryFolder folder_;
};

TEST_F(ValidateTest, ConditionsThatNoRowMeetsNameTheValues) {
  std::string table = header_;
  for (int i = 0; i < 13; ++i)
    table += line("net" + std::to_string(i), i % 2 == 0 ? "4" : "8", "yes", "4");
  const std::string path = folder_.write("t.csv", table);
  const auto error = [&path](const std::string& condition) {
    const CommandResult result = run_command({"validate", path, "--where", condition});
    EXPECT_EQ(result.code, kUserMistake);
    return result.messages;
  };
  EXPECT_THAT(error("batch=16"), HasSubstr("no row has batch=16: its values are 4, 8"));
  EXPECT_THAT(error("batch=4,id=net13"), HasSubstr("no row has id=net13: its values are net1, "));
  EXPECT_THAT(error("id=net13"), HasSubstr(" and 3 more"));
  EXPECT_THAT(error("batch=8,throughput=1"), HasSubstr("its values are no value"));
  EXPECT_THAT(error("batch=8,id=net2"), Not(HasSubstr("no row has")));  // each is met, not both
  EXPECT_THAT(error("bath=4"),
              HasSubstr("--where bath=4: unknown column 'bath'; there are: batch, "));
}

TEST_F(ValidateTest, MeasuredEnergyCountsWhereItIsAskedFor) {
  const std::string plain = folder_.write("t.csv", header_ + line("A", "8", "yes", "10"));
  const CommandResult none = run_command({"validate", plain, "--energy"});
  EXPECT_EQ(none.code, kUserMistake);
  EXPECT_THAT(none.messages, HasSubstr("watts, wall_watts, joules_per_token, joules_per_request"));
  EXPECT_EQ(run_command({"validate", plain, "--power-limit", "300W"}).code, kSuccess);
  EXPECT_THAT(run_command({"validate", "--all", "--power-limit", "300W"}).messages,
              HasSubstr("are of one table"));
}

TEST_F(ValidateTest, ComparesTrustedRowsAndSaysSo) {
  const std::string path = folder_.write(
      "t.csv", header_ + line("A", "8", "yes", "10") + line("B", "4", "yes", "4", "0") +
                   line("C", "2", "no", "80") + line("D", "8", "yes", ""));
  const CommandResult result = run_command({"validate", path});
  EXPECT_EQ(result.code, kSuccess);
  EXPECT_THAT(result.result, HasSubstr("call_ms   2  10.0 %  10.0 %  18.0 %  -10.0 %"));
  EXPECT_THAT(result.result, HasSubstr("50.0 %"));  // 10 is outside 7 to 9.5, 4 inside 3.5 to 4.75
  EXPECT_THAT(result.result, HasSubstr("2 of 4 rows count: use=yes"));
  EXPECT_THAT(run_command({"validate", path, "--all-rows"}).result, HasSubstr("3 of 4 rows count"));
  EXPECT_THAT(run_command({"validate", path, "--latest"}).result,
              HasSubstr("1 of 4 rows count: use=yes, latest=1"));
  EXPECT_THAT(run_command({"validate", path, "--where", "id=B,C"}).result,
              HasSubstr("1 of 4 rows count: use=yes, id=B,C"));
  EXPECT_THAT(run_command({"validate", path, "--where", "id=A,B,C,latest=1"}).result,
              HasSubstr("1 of 4 rows count: use=yes, id=A,B,C, latest=1"));
}

TEST_F(ValidateTest, GroupsAndForms) {
  const std::string path =
      folder_.write("t.csv", header_ + line("A", "8", "yes", "10") + line("B", "4", "yes", "4"));
  EXPECT_THAT(run_command({"validate", path, "--by", "workload,batch"}).result,
              HasSubstr("bert-base-uncased  8      call_ms   1  20.0 %"));
  EXPECT_THAT(run_command({"validate", path, "--by", "batch", "--format", "csv"}).result,
              HasSubstr("\n8,call_ms,1,0.19999999999999996,"));
  EXPECT_THAT(run_command({"validate", path, "--format", "json"}).result,
              StartsWith(R"({"schema":"foretell.accuracy/1","by":[],"rows":2,"failed":0)"));
  EXPECT_THAT(run_command({"validate", path, "--worst", "0"}).result, Not(HasSubstr("Largest")));
}

TEST_F(ValidateTest, ToleranceIsTestedOnBothSides) {
  const std::string path = folder_.write("t.csv", header_ + line("A", "8", "yes", "10"));
  EXPECT_EQ(run_command({"validate", path, "--max-mape", "20.1"}).code, kSuccess);
  const CommandResult outside = run_command({"validate", path, "--max-mape", "19.9"});
  EXPECT_EQ(outside.code, kOutsideTolerance);
  EXPECT_THAT(outside.messages, HasSubstr("call_ms: MAPE 20.00 % is above 19.9 %"));
  EXPECT_EQ(run_command({"validate", path, "--max-bias", "19.9"}).code, kOutsideTolerance);
  EXPECT_EQ(run_command({"validate", path, "--max-p90", "x"}).code, kUserMistake);
}

TEST_F(ValidateTest, ThroughputHasAnIntervalToo) {
  // Predicted are 1000 per second for any batch, 842 to 1143 in 80 % of all cases.
  const auto row = [this](const std::string& throughput) {
    const std::string path = folder_.write(
        "t.csv", header_ + "A,inf2.xlarge,bert-base-uncased,forward,8,bf16,yes,1,," + throughput);
    return run_command({"validate", path, "--format", "csv"}).result;
  };
  EXPECT_THAT(row("843\n"), testing::EndsWith(",1\n"));
  EXPECT_THAT(row("841\n"), testing::EndsWith(",0\n"));
}

TEST_F(ValidateTest, FailedRowsAreCountedWithTheirReason) {
  std::string broken = line("A", "0", "yes", "10");
  const CommandResult result = run_command(
      {"validate", folder_.write("t.csv", header_ + broken + line("B", "8", "yes", "8"))});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.result, HasSubstr("2 rows, 1 without a prediction"));
  EXPECT_THAT(result.result, HasSubstr("without a prediction: line 2: batch: '0' is not allowed"));
}

// A measurement that cannot be is named with its line and is part of no mean.
TEST_F(ValidateTest, MeasurementsThatCannotBeAreNamedAndDoNotCount) {
  std::string text = header_ + line("A", "8", "yes", "8");
  for (const char* call : {"0", "-4", "nan", "abc", "0.96 ms", "1e999", "0"}) {
    text += line("B", "8", "yes", call);
  }
  const CommandResult result = run_command({"validate", folder_.write("t.csv", text)});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.result, HasSubstr("1 rows, 0 without a prediction; 7 more were refused"));
  EXPECT_THAT(result.result, HasSubstr("1 of 8 rows count"));
  EXPECT_THAT(result.result, HasSubstr("does not count: lines 3 and 9: call_ms: '0' is no "
                                       "measurement; expected a number above 0 in ms"));
  EXPECT_THAT(result.result, HasSubstr("line 7: call_ms: '0.96 ms' is no measurement"));
  EXPECT_THAT(run_command({"validate", folder_.file("t.csv"), "--format", "json"}).result,
              HasSubstr(R"("rows":1,"failed":0,"refused":7)"));
  EXPECT_THAT(run_command({"validate", folder_.file("t.csv"), "--format", "csv"}).messages,
              HasSubstr("line 6: call_ms: 'abc'"));
}

TEST_F(ValidateTest, RowsThatContradictEachOtherDoNotCount) {
  const std::string path =
      folder_.write("t.csv", header_ + line("A", "8", "yes", "8") + line("B", "4", "yes", "4") +
                                 line("C", "8", "yes", "11") + line("D", "4", "yes", "4.5"));
  const CommandResult result = run_command({"validate", path});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.result, HasSubstr("line 4: call_ms: 11 contradicts line 2, which has 8 for "
                                       "the same; neither counts"));
  EXPECT_THAT(result.result, HasSubstr("2 rows, 0 without a prediction; 2 more were refused"));
}

TEST_F(ValidateTest, WhenNothingIsLeftTheReasonIsGiven) {
  const std::string path =
      folder_.write("t.csv", header_ + line("A", "8", "yes", "-1") + line("B", "8", "yes", ""));
  const std::string messages = run_command({"validate", path}).messages;
  EXPECT_THAT(messages, HasSubstr("no row counts; 1 without a measurement; 1 with a measurement "
                                  "that cannot be\nline 2: call_ms: '-1' is no measurement"));
  EXPECT_THAT(messages, Not(HasSubstr("--all-rows")));
}

TEST_F(ValidateTest, TheWorstRowsHaveTheirLines) {
  const std::string path =
      folder_.write("t.csv", header_ + line("A", "8", "yes", "8") + line("B", "4", "yes", "5"));
  EXPECT_THAT(run_command({"validate", path, "--worst", "1"}).result,
              testing::ContainsRegex("\n *3  B "));
  EXPECT_THAT(run_command({"validate", path, "--format", "json", "--worst", "1"}).result,
              HasSubstr(R"("worst":[{"line":3,"row":"B )"));
}

TEST_F(ValidateTest, MistakesInTheCommand) {
  EXPECT_THAT(run_command({"validate"}).messages, HasSubstr("give a table, or --all"));
  EXPECT_THAT(run_command({"validate", "t.csv", "--all"}).messages, HasSubstr("not both"));
  EXPECT_THAT(run_command({"validate", "--all", "--by", "gpu"}).messages,
              HasSubstr("--all groups by device, data type and class"));

  const std::string path = folder_.write("t.csv", header_ + line("A", "8", "no", "10"));
  EXPECT_THAT(run_command({"validate", path}).messages,
              HasSubstr("--all-rows takes rows of any use"));
  EXPECT_THAT(run_command({"validate", path, "--by", "famly"}).messages,
              HasSubstr("unknown column 'famly'; there are: batch, "));
  EXPECT_THAT(run_command({"validate", path, "--where", "use"}).messages,
              HasSubstr("write COLUMN=VALUE"));
  EXPECT_THAT(run_command({"validate", path, "--where", "use=no,,batch=8"}).messages,
              HasSubstr("has a value that is empty"));
  EXPECT_THAT(run_command({"validate", path, "--where", "use=no,famly=A"}).messages,
              HasSubstr("unknown column 'famly'"));
  EXPECT_THAT(run_command({"validate", folder_.write("n.csv", "system,workload\na,b\n")}).messages,
              HasSubstr("none of the measured columns"));
}

TEST(Compare, OneRowPerCombination) {
  const CommandResult result =
      run_command({"compare", "--on", "inf2.xlarge,inf2.8xlarge", "--workload", "bert-base-uncased",
                   "--dtype", "bf16,fp32", "--batch", "1,8", "--format", "csv"});
  EXPECT_EQ(result.code, kSuccess);
  EXPECT_EQ(std::count(result.result.begin(), result.result.end(), '\n'), 1 + 8);
  EXPECT_LT(result.result.find("inf2.xlarge,bert-base-uncased,fp32"),
            result.result.find("inf2.8xlarge,bert-base-uncased,bf16"));
}

TEST(Compare, AMisspeltNameIsAMistakeOfTheWholeCommand) {
  const CommandResult result = run_command({"compare", "--on", "inf2.xlarge", "--workload",
                                            "bert-base-uncased", "--dtype", "bf16,fp31"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("fp32"));
  EXPECT_EQ(result.result, "");
}

TEST(Compare, ACombinationWithoutAPredictionKeepsItsRow) {
  const std::vector<std::string> line = {
      "compare", "--on", "inf2.xlarge", "--workload", "bert-base-uncased",
      "--dtype", "bf16", "--batch",     "8,1313"};
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.result, HasSubstr("8.00 ms"));
  EXPECT_THAT(result.result, testing::ContainsRegex("batch 1313 .*needs 40.0 GiB\n"));
  EXPECT_THAT(result.messages, HasSubstr("1 of 2 combinations have no prediction; the table says"));
}

// Where no table has them, the reasons are said.
TEST(Compare, OtherFormsLeaveTheReasonsToTheMessages) {
  const CommandResult result =
      run_command({"compare", "--on", "inf2.xlarge", "--workload", "bert-base-uncased", "--dtype",
                   "bf16", "--batch", "8,1313", "--format", "csv"});
  EXPECT_EQ(result.code, kOutsideTolerance);
  EXPECT_THAT(result.messages, HasSubstr("batch 1313: needs 40.0 GiB"));
}

TEST(Compare, CostsAreThoseOfThePrice) {
  std::vector<std::string> line = {"compare",           "--on",    "inf2.xlarge", "--workload",
                                   "bert-base-uncased", "--dtype", "bf16",        "--price"};
  line.emplace_back("reserved_1y");
  EXPECT_THAT(run_command(line).result, HasSubstr("0.140"));
  line.back() = "reserved_1";
  const CommandResult unknown = run_command(line);
  EXPECT_EQ(unknown.code, kUserMistake);
  EXPECT_THAT(unknown.messages, HasSubstr("unknown price 'reserved_1'; nearest is 'reserved_1y'"));
}

TEST(Compare, NothingPredictedIsAnError) {
  const CommandResult result =
      run_command({"compare", "--on", "inf2.xlarge", "--workload", "bert-base-uncased", "--dtype",
                   "bf16", "--sdk", "fail"});
  EXPECT_EQ(result.code, kUserMistake);
  EXPECT_THAT(result.messages, HasSubstr("nothing could be predicted:"));
  EXPECT_THAT(result.messages, HasSubstr("sdk: 'fail' is not allowed"));
}

}  // namespace
}  // namespace foretell
