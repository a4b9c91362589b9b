#include "reports/record/study_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/store.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void query(const std::string& path, const std::string& sql) {
  SQLite::Database(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
}

StudyHead head_of(const std::string& hash) {
  StudyHead head;
  head.name = "s";
  head.hash = hash;
  head.version = "1";
  head.points = 3;
  head.keys = {"batch"};
  head.definition = "study: s\n";
  return head;
}

PointResult result_of(const std::string& hash, const std::string& status) {
  PointResult result;
  result.hash = hash;
  result.status = status;
  result.context = R"({"batch":8})";
  if (status == kPointGood) {
    result.record = example_generation();
  } else {
    result.message = "because";
  }
  return result;
}

StudyPointRow row_of(std::uint64_t number, const std::string& hash) {
  StudyPointRow row;
  row.number = number;
  row.hash = hash;
  if (hash.empty()) row.skipped_by = "1 > 2";
  row.values = R"({"batch":"8"})";
  return row;
}

std::vector<StudyRow> rows_of(const StudyStore& store, const StudyHead& head) {
  std::vector<StudyRow> rows;
  store.read(head, [&rows](const StudyRow& row) { rows.push_back(row); });
  return rows;
}

TEST(StudyStore, GivesBackRowsInOrder) {
  const TemporaryFolder folder;
  StudyStore store(folder.file("s.sqlite"), StoreAccess::kWrite);
  bool is_new = false;
  const StudyHead head = store.begin(head_of("h"), is_new);
  EXPECT_TRUE(is_new);
  store.add(head, {row_of(2, "b"), row_of(1, "")}, {result_of("b", kPointRefused)});
  store.add(head, {row_of(0, "a")}, {result_of("a", kPointGood)});
  const auto rows = rows_of(store, head);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(to_json(*rows[0].result.record), to_json(example_generation()));
  EXPECT_EQ(rows[1].result.status, "skipped");
  EXPECT_EQ(rows[1].point.skipped_by, "1 > 2");
  EXPECT_EQ(rows[2].result.message, "because");
  EXPECT_FALSE(rows[2].result.record.has_value());
  EXPECT_THAT(store.finished(head), ElementsAre(0, 1, 2));

  const StudyHead again = store.begin(head_of("h"), is_new);
  EXPECT_FALSE(is_new);
  EXPECT_EQ(again.id, head.id);
  EXPECT_THAT(again.keys, ElementsAre("batch"));
}

TEST(StudyStore, WhatCrashedIsTriedAgainAndWhatIsGoodIsKept) {
  const TemporaryFolder folder;
  StudyStore store(folder.file("s.sqlite"), StoreAccess::kWrite);
  bool is_new = false;
  const StudyHead head = store.begin(head_of("h"), is_new);
  store.add(head, {row_of(0, "a")}, {result_of("a", kPointCrashed)});
  EXPECT_THAT(store.finished(head), IsEmpty());
  EXPECT_FALSE(store.find("a").has_value());
  store.add(head, {row_of(0, "a")}, {result_of("a", kPointGood)});
  ASSERT_TRUE(store.find("a").has_value());
  store.add(head, {row_of(0, "a")}, {result_of("a", kPointTimeout)});
  EXPECT_EQ(store.find("a")->status, kPointGood);
  EXPECT_EQ(store.find("a")->message, "");
}

TEST(StudyStore, StudiesShareTheirPoints) {
  const TemporaryFolder folder;
  StudyStore store(folder.file("s.sqlite"), StoreAccess::kWrite);
  StudyStore other(folder.file("s.sqlite"), StoreAccess::kWrite);
  bool is_new = false;
  const StudyHead first = store.begin(head_of("h"), is_new);
  const StudyHead second = other.begin(head_of("g"), is_new);
  store.add(first, {row_of(0, "a")}, {result_of("a", kPointGood)});
  other.add(second, {row_of(1, "a")}, {});
  EXPECT_EQ(rows_of(other, second)[0].result.status, kPointGood);
  EXPECT_EQ(store.studies().size(), 2U);
}

// A file of the first schema holds records; opened to write it gets the tables of studies.
TEST(StudyStore, AnOlderStoreIsBroughtUp) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.sqlite");
  RecordStore(path, StoreAccess::kWrite).add(example_record());
  query(path,
        "DROP VIEW study_row; DROP TABLE study; DROP TABLE point; DROP TABLE study_point; "
        "PRAGMA user_version = 1");
  EXPECT_THAT(StudyStore(path, StoreAccess::kRead).studies(), IsEmpty());
  EXPECT_EQ(RecordStore(path, StoreAccess::kRead).records().size(), 1U);
  bool is_new = false;
  StudyStore(path, StoreAccess::kWrite).begin(head_of("h"), is_new);
  EXPECT_EQ(StudyStore(path, StoreAccess::kRead).studies().size(), 1U);
  EXPECT_EQ(RecordStore(path, StoreAccess::kRead).records().size(), 1U);
}

TEST(StudyStore, ANewerStoreIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("new.sqlite");
  StudyStore(path, StoreAccess::kWrite);
  query(path, "PRAGMA user_version = 99");
  for (const StoreAccess access : {StoreAccess::kRead, StoreAccess::kWrite})
    EXPECT_THAT(message_of<UserError>([&] { StudyStore(path, access); }),
                HasSubstr("newer foretell"));
}

TEST(StudyStore, AFullDiskLosesNothingThatIsStored) {
  const TemporaryFolder folder;
  const std::string path = folder.file("full.sqlite");
  StudyStore store(path, StoreAccess::kWrite);
  bool is_new = false;
  const StudyHead head = store.begin(head_of("h"), is_new);
  store.add(head, {row_of(0, "a")}, {result_of("a", kPointGood)});
  store.limit_pages(20);
  const std::string none = message_of<UserError>([] {});
  std::string message = none;
  for (std::uint64_t i = 1; i < 1000 && message == none; ++i) {
    const std::string hash = "p" + std::to_string(i);
    message = message_of<UserError>(
        [&] { store.add(head, {row_of(i, hash)}, {result_of(hash, kPointGood)}); });
  }
  EXPECT_THAT(message, HasSubstr("full.sqlite: cannot be written: database or disk is full"));
  const auto rows = rows_of(StudyStore(path, StoreAccess::kRead), head);
  EXPECT_GE(rows.size(), 2U);
  for (const StudyRow& row : rows) EXPECT_TRUE(row.result.record.has_value());
}

TEST(StudyStore, TheViewIsForSqlAndPandas) {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.sqlite");
  StudyStore store(path, StoreAccess::kWrite);
  bool is_new = false;
  const StudyHead head = store.begin(head_of("h"), is_new);
  store.add(head, {row_of(0, "a"), row_of(1, "")}, {result_of("a", kPointGood)});
  const Database database(path, StoreAccess::kRead);
  SQLite::Statement select = database.prepare(
      "SELECT study, number, \"values\" ->> '$.batch', status, tpot_s FROM study_row");
  ASSERT_TRUE(database.next(select));
  EXPECT_EQ(select.getColumn(0).getString(), "s");
  EXPECT_EQ(select.getColumn(2).getString(), "8");
  EXPECT_DOUBLE_EQ(select.getColumn(4).getDouble(), 0.033);
  ASSERT_TRUE(database.next(select));
  EXPECT_EQ(select.getColumn(3).getString(), "skipped");
}

}  // namespace
}  // namespace foretell
