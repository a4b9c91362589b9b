#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/import/check_measurements.hpp"
#include "calib/import/contradictions.hpp"
#include "calib/import/read_measurements.hpp"
#include "calib/measurements/testing/example_measurement.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

const MeasurementProvenance kGiven = {"Jane Doe", "one H100", "2026-01-31", ""};
constexpr const char* kHeader = "gpu,framework,version,dtype,m,n,k,latency_us\n";

// 55 us at the peak of the chip.
std::string good_row(int m = 1024) {
  return "h100_sxm,mine,1,bf16," + std::to_string(m) + ",4096,4096,60\n";
}

class Import : public testing::Test {
 protected:
  std::vector<MeasuredTable> read(const std::string& text,
                                  const MeasurementProvenance& given = kGiven) const {
    std::vector<std::string> problems;
    const auto tables = read_measurements(folder.write("t.csv", text), given, problems);
    if (!problems.empty()) throw UserError(join(problems, "\n"));
    return tables;
  }
  std::vector<std::string> problems(const std::string& text, std::size_t least_rows = 1) const {
    std::vector<std::string> all;
    for (const MeasuredTable& table : read(text)) {
      for (std::string& problem : measurement_problems(table, "t.csv", {0.25, least_rows})) {
        all.push_back(std::move(problem));
      }
    }
    return all;
  }
  void expect_unreadable(const std::string& text, const std::string& message) const {
    EXPECT_THAT([&] { read(text); }, ThrowsMessage<UserError>(HasSubstr(message)));
  }

  TemporaryFolder folder;
};

TEST_F(Import, NamesOfDevicesAndProvenanceAreFilledIn) {
  const std::vector<MeasuredTable> tables = read(kHeader + good_row());
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].name, "gemm");
  EXPECT_EQ(tables[0].cell(0, "gpu"), "h100-sxm");
  EXPECT_EQ(tables[0].cell(0, "measured_by"), "Jane Doe");
  EXPECT_EQ(tables[0].cell(0, "measured_on"), "one H100");
  EXPECT_EQ(tables[0].cell(0, "measured_date"), "2026-01-31");
  EXPECT_THAT(problems(kHeader + good_row()), IsEmpty());
}

TEST_F(Import, WhatWasImportedIsReadBackWithItsOwnProvenance) {
  const MeasuredTable table = read(kHeader + good_row()).front();
  const MeasuredTable again = read(measured_table_text(table), {}).front();
  EXPECT_EQ(again.header, table.header);
  EXPECT_EQ(again.rows, table.rows);
}

TEST_F(Import, OtherUnitsOfTimeBecomeMicroseconds) {
  const std::string shape = "h100-sxm,bf16,1024,4096,4096,";
  const auto latency = [&](const std::string& column, const std::string& cell) {
    return read("gpu,dtype,m,n,k," + column + "\n" + shape + cell + "\n")[0].cell(0, "latency_us");
  };
  EXPECT_EQ(latency("latency_ms", "0.06"), "60");
  EXPECT_EQ(latency("latency_s", "6e-5"), "60");
  EXPECT_EQ(latency("latency_ns", "60000"), "60");
  expect_unreadable("gpu,dtype,m,n,k,latency_us,latency_ms\n" + shape + "60,0.06\n",
                    "t.csv:1: two columns of times");
  expect_unreadable(
      "gpu,dtype,m,n,k,latency_ms\n" + shape + "fast\n",
      "t.csv:2: latency_ms: 'fast' is no measurement; expected a number above 0 in ms");
}

TEST_F(Import, NoProvenanceIsRefusedByWhatIsMissing) {
  EXPECT_THAT([&] { read(kHeader + good_row(), {}); },
              ThrowsMessage<UserError>(HasSubstr("no provenance; give --source (who measured), "
                                                 "--machine (on what), --date (when), or a YAML")));
  EXPECT_THAT(
      [&] {
        read(kHeader + good_row(), {"me", "mine", "", ""});
      },
      ThrowsMessage<UserError>(HasSubstr("no provenance; give --date (when), or")));
  EXPECT_THAT(
      [&] {
        read(kHeader + good_row(), {"me", "mine", "yesterday", ""});
      },
      ThrowsMessage<UserError>(HasSubstr("t.csv:2: 'yesterday' is no date")));
  EXPECT_THAT(
      [&] {
        read(kHeader + good_row(), {"me", "mine", "2126-01-01", ""});
      },
      ThrowsMessage<UserError>(HasSubstr("t.csv:2: 2126-01-01 is not over yet")));
}

TEST_F(Import, ProvenanceFromAFile) {
  const std::string path = folder.write("p.yaml", "source: me\nmachine: it\ndate: 2026-02-01\n");
  EXPECT_EQ(load_provenance(path).machine, "it");
  EXPECT_THAT([&] { load_provenance(folder.write("q.yaml", "source: me\nmachin: it\n")); },
              ThrowsMessage<UserError>(HasSubstr("nearest is 'machine'")));
}

TEST_F(Import, TablesWithoutAKindOrAMeasurementAreRefused) {
  expect_unreadable("a,b\n1,2\n", "the header fits no kind of table");
  expect_unreadable("gpu,dtype,m,n,k\nh100-sxm,bf16,1,2,3\n",
                    "nothing is measured; expected a column latency_us");
  expect_unreadable(kHeader + good_row() + "h100-sxm,mine,1,bf16,1,4096,4096,\n",
                    "t.csv:3: the row has no measurement");
}

TEST_F(Import, TimesThatAreNotAboveZeroAreNamed) {
  const std::string shape = "h100-sxm,mine,1,bf16,1,4096,4096,";
  EXPECT_THAT(problems(kHeader + good_row() + shape + "0\n" + shape + "-3\n" + shape + "nan\n"),
              ElementsAre("t.csv:3: latency_us: '0' is no measurement; expected a number above 0 "
                          "in us, without the unit",
                          "t.csv:4: latency_us: '-3' is no measurement; expected a number above 0 "
                          "in us, without the unit",
                          "t.csv:5: latency_us: 'nan' is no measurement; expected a number above "
                          "0 in us, without the "
                          "unit"));
}

// One look at a file is enough: what is wrong with reading it, with single rows, with pairs of rows
// and with all of them together.
TEST_F(Import, AllProblemsAreNamedAtOnce) {
  const std::string shape = "h100-sxm,mine,1,bf16,1024,4096,4096,";
  const std::string path =
      folder.write("t.csv", kHeader + shape + "60\n" + shape + "abc\n" + shape + "0.06\n" + shape +
                                "99\n" + shape + "\n" + shape + "60,7\n");
  std::vector<std::string> all;
  for (const MeasuredTable& table : read_measurements(path, {"me", "mine", "", ""}, all)) {
    for (std::string& problem : measurement_problems(table, "t.csv", {0.25, 12})) {
      all.push_back(std::move(problem));
    }
  }
  EXPECT_THAT(all, ElementsAre(HasSubstr("t.csv:6: the row has no measurement"),
                               HasSubstr("t.csv:7: 9 cells, but the header has 8"),
                               HasSubstr("no provenance; give --date (when)"),
                               HasSubstr("t.csv:3: latency_us: 'abc' is no measurement"),
                               HasSubstr("t.csv:4: latency_us: 0.06 us cannot be"),
                               HasSubstr("t.csv:4: latency_us: 0.06 contradicts line 2"),
                               HasSubstr("t.csv:5: latency_us: 99 contradicts line 2"),
                               HasSubstr("gemm has 4 rows; fewer than 12")));
}

TEST_F(Import, TimesBelowThePeakOfTheChipAreImpossible) {
  // Milliseconds in the column of microseconds.
  EXPECT_THAT(problems(kHeader + std::string("h100-sxm,mine,1,bf16,1024,4096,4096,0.06\n")),
              ElementsAre(HasSubstr("t.csv:2: latency_us: 0.06 us cannot be: at its peak the chip "
                                    "takes 34.7 us; expected microseconds")));
  EXPECT_THAT(problems(kHeader + std::string("h100-sxm,mine,1,bf16,1,64,64,0.001\n")),
              ElementsAre(HasSubstr("no kernel is that short")));
  // A chip that nothing is known of is not judged.
  EXPECT_THAT(problems(kHeader + std::string("abacus,mine,1,bf16,1024,4096,4096,0.06\n")),
              IsEmpty());
}

TEST_F(Import, SingleTimesOfAnotherUnitAreFoundOut) {
  EXPECT_THAT(problems(kHeader + std::string("h100-sxm,mine,1,bf16,16,4096,4096,15000\n")),
              ElementsAre(HasSubstr("15000 us cannot be: the chip needs 10 us")));
  EXPECT_THAT(problems("gpu,op,dtype,rows,cols,latency_us\nh100-sxm,softmax,bf16,16384,16384,1\n"),
              ElementsAre(HasSubstr("1 us cannot be: at its peak the chip takes")));
  EXPECT_THAT(problems("system,workload,batch,call_ms\ninf2.xlarge,bert-base-uncased,1,0.0001\n"),
              ElementsAre(HasSubstr("0.0001 ms cannot be: no network is that fast")));
}

TEST_F(Import, AWholeTableOfNanosecondsIsFoundOut) {
  std::string rows;
  for (const int m : {512, 1024, 2048}) {
    rows +=
        "h100-sxm,mine,1,bf16," + std::to_string(m) + ",4096,4096," + std::to_string(60 * m) + "\n";
  }
  EXPECT_THAT(problems(kHeader + rows), ElementsAre(HasSubstr("are these nanoseconds?")));
}

TEST_F(Import, OtherKindsHavePeaksToo) {
  EXPECT_THAT(problems("gpu,phase,dtype,kv_dtype,batch,isl,kv_len,heads,kv_heads,head_dim,window,"
                       "latency_us\n"
                       "h100-sxm,context,bf16,bf16,8,4096,4096,32,8,128,0,10\n"),
              ElementsAre(HasSubstr("10 us cannot be")));
  EXPECT_THAT(problems("gpu,op,n_ranks,bytes,dtype,latency_us\n"
                       "h100-sxm,all_reduce,8,1000000000,fp16,10\n"),
              ElementsAre(HasSubstr("10 us cannot be")));
}

TEST_F(Import, ContradictionsAreNamedWithBothLines) {
  EXPECT_THAT(
      problems(kHeader + good_row(1) + good_row(2) + "h100-sxm,mine,1,bf16,1,4096,4096,80\n"),
      ElementsAre("t.csv:4: latency_us: 80 contradicts line 2, which has 60 for the same"));
  // Within the tolerance, or of another library, they do not contradict each other.
  EXPECT_THAT(problems(kHeader + good_row(1) + "h100-sxm,mine,1,bf16,1,4096,4096,70\n" +
                       "h100-sxm,theirs,1,bf16,1,4096,4096,80\n"),
              IsEmpty());
}

TEST_F(Import, TooFewRows) {
  EXPECT_THAT(
      problems(kHeader + good_row(), 3),
      ElementsAre(
          "t.csv: gemm has 1 row; fewer than 3 determine no factor; --min-rows 1 takes it"));
}

TEST_F(Import, RecordsAreDividedByKindAndCondition) {
  Measurement warm = example_measurement();
  warm.states["weights"] = "warm";
  Measurement batched = example_measurement();
  batched.op = "batched_gemm";
  batched.shape = {{"b", 2}, {"m", 4}, {"n", 8}, {"k", 16}};
  Measurement conv = example_measurement();
  conv.op = "conv";
  conv.shape = {{"batch", 8},  {"channels", 3}, {"height", 224}, {"width", 224}, {"filters", 64},
                {"kernel", 7}, {"stride", 2},   {"padding", 3},  {"groups", 1}};
  Measurement stream = example_measurement();
  stream.op = "stream_read";
  stream.shape = {{"bytes", 1024}};
  std::string lines;
  for (const Measurement& record : {example_measurement(), warm, batched, conv, stream}) {
    lines += to_line(record) + "\n";
  }
  const std::vector<MeasuredTable> tables = read(lines, {});
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[0].name, "gemm");
  EXPECT_EQ(tables[0].cell(0, "gpu"), "h200-sxm");
  EXPECT_EQ(tables[0].cell(0, "framework"), "cublaslt");
  EXPECT_EQ(tables[0].cell(0, "version"), "13.0");
  EXPECT_EQ(tables[0].cell(0, "k"), "128");
  EXPECT_EQ(tables[0].cell(0, "latency_us"), "12.5");
  EXPECT_EQ(tables[0].cell(0, "measured_on"), "NVIDIA H200");
  EXPECT_EQ(tables[1].name, "gemm.warm");
  EXPECT_EQ(tables[2].name, "operator");
  EXPECT_EQ(tables[2].cell(0, "op"), "bmm");
  EXPECT_EQ(tables[2].cell(0, "b"), "2");
  EXPECT_EQ(tables[2].cell(1, "conv"), "ci3 co64 k7 s224 st2 p3");
  EXPECT_EQ(tables[2].cell(1, "b"), "8");
  EXPECT_EQ(tables[3].name, "operator.other");
  EXPECT_EQ(tables[3].cell(0, "bytes"), "1024");
  EXPECT_EQ(tables[3].kind, TableKind::kOperator);
}

TEST_F(Import, ABrokenRecordIsNamedWithItsLine) {
  expect_unreadable(to_line(example_measurement()) + "\n{\"schema\":1}\n",
                    "t.csv:2: schema: expected a text");
}

TEST(Contradictions, NotesOfTablesByChipSayWhatWasRun) {
  const CsvRow header = {"chip",    "model", "instance_or_system", "phase_or_scenario",
                         "ttft_ms", "notes"};
  Contradictions contradictions(recognise_table(header, "t.csv"), header, 0.1);
  const auto row = [](const char* ttft, const char* notes) {
    return CsvRow{"one", "gpt2", "box", "serving", ttft, notes};
  };
  EXPECT_TRUE(contradictions.add(row("10", ""), 2).empty());
  EXPECT_TRUE(contradictions.add(row("5", "prefix cache"), 3).empty());
  EXPECT_EQ(contradictions.add(row("20", ""), 4).size(), 1U);
}

}  // namespace
}  // namespace foretell
