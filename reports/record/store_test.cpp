#include "reports/record/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/json_lines.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"
#include "reports/record/wide_row.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Access = RecordStore::Access;

RunRecord record_with_batch(std::int64_t batch) {
  RunRecord record = example_record();
  record.context.scenario.batch = batch;
  return record;
}

void run_sql(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

TEST(RecordStore, GivesBackWhatWasAddedInOrder) {
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.sqlite");
  RecordStore(path, Access::kWrite).add({record_with_batch(8), record_with_batch(1)});
  RecordStore(path, Access::kWrite).add(record_with_batch(4));
  const auto records = RecordStore(path, Access::kRead).records();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(to_json(records[0]), to_json(record_with_batch(8)));
  EXPECT_EQ(records[1].context.scenario.batch, 1);
  EXPECT_EQ(records[2].context.scenario.batch, 4);
  EXPECT_TRUE(is_record_store(path));
}

TEST(RecordStore, TheSameRecordIsKeptOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.sqlite");
  RecordStore store(path, Access::kWrite);
  store.add(example_record());
  store.add(example_record());
  EXPECT_EQ(store.records().size(), 1U);
}

TEST(RecordStore, TwoWritersShareAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.sqlite");
  RecordStore first(path, Access::kWrite);
  RecordStore second(path, Access::kWrite);
  first.add(record_with_batch(1));
  second.add(record_with_batch(2));
  EXPECT_EQ(first.records().size(), 2U);
}

TEST(RecordStore, AllRecordsOfACallOrNone) {
  const TemporaryFolder folder;
  RecordStore store(folder.file("runs.sqlite"), Access::kWrite);
  RunRecord broken = record_with_batch(2);
  broken.summary.latency_s = -1;
  EXPECT_THROW(store.add({record_with_batch(1), broken}), InternalError);
  EXPECT_TRUE(store.records().empty());
}

TEST(RecordStore, RefusesWhatItCannotReadAndSaysWhy) {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path, Access access) {
    return message_of<UserError>([&] { RecordStore(path, access); });
  };
  EXPECT_THAT(error(folder.file("none.sqlite"), Access::kRead),
              HasSubstr("none.sqlite: no such file"));
  EXPECT_THAT(error("/no/such/folder/a.sqlite", Access::kWrite),
              HasSubstr("cannot be opened: unable to open"));
  const std::string text = folder.write("notes.txt", std::string(5000, 'x'));
  EXPECT_THAT(error(text, Access::kWrite), HasSubstr("it is not a SQLite database"));
  EXPECT_FALSE(is_record_store(text));

  const std::string foreign = folder.file("foreign.sqlite");
  run_sql(foreign, "CREATE TABLE song (id INTEGER)");
  EXPECT_THAT(error(foreign, Access::kWrite), HasSubstr("not one of foretell records"));

  const std::string newer = folder.file("newer.sqlite");
  RecordStore(newer, Access::kWrite).add(example_record());
  run_sql(newer, "PRAGMA user_version = 99");
  EXPECT_THAT(error(newer, Access::kRead),
              HasSubstr("written by a newer foretell (schema 99, this one knows 2)"));
}

TEST(JsonLines, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  const std::vector<RunRecord> records = {record_with_batch(1), record_with_batch(2)};
  const std::string path = folder.write("runs.jsonl", to_json_lines(records) + "\n");
  EXPECT_EQ(to_json_lines(read_json_lines(path)), to_json_lines(records));
}

TEST(JsonLines, ErrorsNameTheLine) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("runs.jsonl", to_json(example_record()) + "\n\n{\"schema\":\n");
  EXPECT_THAT(message_of<UserError>([&] { read_json_lines(path); }),
              HasSubstr("runs.jsonl:3: not JSON"));
  EXPECT_THAT(message_of<UserError>([&] { read_json_lines(folder.write("empty.jsonl", "\n")); }),
              HasSubstr("empty.jsonl: holds no records"));
}

TEST(WideRow, HasACellForEveryColumnAndLeavesOutWhatDoesNotApply) {
  const CsvRow row = wide_row(example_record());
  ASSERT_EQ(row.size(), wide_header().size());
  EXPECT_THAT(wide_header(), Contains("throughput"));
  const auto cell = [&](const std::string& name) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (wide_header()[i] == name) return row[i];
    }
    return std::string("no such column");
  };
  EXPECT_EQ(cell("system"), "inf2.xlarge");
  EXPECT_EQ(cell("latency_s"), "0.0169");
  EXPECT_EQ(cell("latency_lo_s"), "0.0152");
  const RunRecord whole = example_record();
  for (const auto& [field, interval] : whole.summary.interval80) {
    ASSERT_NE(find_metric(field), nullptr) << field;
    EXPECT_EQ(cell(interval_column(field, "lo")), to_text(interval.low));
    EXPECT_EQ(cell(interval_column(field, "hi")), to_text(interval.high));
  }
  EXPECT_EQ(cell("tpot_hi_s"), "");
  EXPECT_EQ(cell("batch"), "8");
  EXPECT_EQ(cell("tp"), "");
  EXPECT_EQ(cell("ttft_s"), "");
}

}  // namespace
}  // namespace foretell
