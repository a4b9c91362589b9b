#include "reports/record/store.hpp"

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Raise it with every change of the table; a file with a higher one is refused.
constexpr int kSchemaVersion = 1;
constexpr int kApplicationId = 0x46544C31;  // "FTL1" tells our files from other databases
constexpr int kPatienceMs = 5000;
constexpr std::string_view kFileStart = "SQLite format 3";

constexpr const char* kCreateTable = R"(
CREATE TABLE IF NOT EXISTS run (
  id INTEGER PRIMARY KEY,
  system TEXT NOT NULL,
  workload TEXT NOT NULL,
  dtype TEXT NOT NULL,
  batch INTEGER NOT NULL,
  latency_s REAL NOT NULL,
  throughput REAL NOT NULL,
  cost_usd_per_million REAL,
  record TEXT NOT NULL UNIQUE
);
CREATE INDEX IF NOT EXISTS run_key ON run (system, workload, dtype, batch);
)";

constexpr const char* kInsert =
    "INSERT OR IGNORE INTO run (system, workload, dtype, batch, latency_s, throughput, "
    "cost_usd_per_million, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

Statement prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  return {statement, &sqlite3_finalize};
}

void bind(const Statement& statement, int index, const std::string& text) {
  sqlite3_bind_text(statement.get(), index, text.c_str(), static_cast<int>(text.size()), nullptr);
}

}  // namespace

RecordStore::RecordStore(const std::string& path, Access access) : path_(path) {
  if (access == Access::kRead && !std::filesystem::exists(path)) {
    throw UserError(path + ": no such file; `--store " + path +
                    "` of a command that predicts writes one");
  }
  const int flags =
      access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  try {
    if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK)
      fail("cannot be opened");
    sqlite3_busy_timeout(database_, kPatienceMs);
    check_schema(access);
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

RecordStore::~RecordStore() { sqlite3_close(database_); }

void RecordStore::check_schema(Access access) {
  const int version = pragma("PRAGMA user_version");
  const int application = pragma("PRAGMA application_id");
  const int objects = pragma("SELECT count(*) FROM sqlite_master");
  const bool fresh = objects == 0 && version == 0;
  if (!fresh && application != kApplicationId) {
    throw UserError(path_ + ": is a database, but not one of foretell records; name another file");
  }
  if (version > kSchemaVersion) {
    throw UserError(path_ + ": was written by a newer foretell (schema " + std::to_string(version) +
                    ", this one knows " + std::to_string(kSchemaVersion) +
                    "); use that version or another file");
  }
  if (access == Access::kRead) {
    if (fresh) throw UserError(path_ + ": holds no records");
    return;
  }
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = NORMAL");
  execute("BEGIN IMMEDIATE");
  execute(kCreateTable);
  execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  execute(("PRAGMA user_version = " + std::to_string(kSchemaVersion)).c_str());
  execute("COMMIT");
}

void RecordStore::add(const RunRecord& record) { add(std::vector<RunRecord>{record}); }

void RecordStore::add(const std::vector<RunRecord>& records) {
  execute("BEGIN IMMEDIATE");
  try {
    const Statement insert = prepare(database_, kInsert);
    if (!insert) fail("cannot be written");
    for (const RunRecord& record : records) {
      const std::string json = to_json(record);
      bind(insert, 1, record.context.system);
      bind(insert, 2, record.context.workload);
      bind(insert, 3, record.context.dtype);
      sqlite3_bind_int64(insert.get(), 4, record.context.scenario.batch);
      sqlite3_bind_double(insert.get(), 5, record.summary.latency_s);
      sqlite3_bind_double(insert.get(), 6, record.summary.throughput);
      if (record.summary.cost_usd_per_million) {
        sqlite3_bind_double(insert.get(), 7, *record.summary.cost_usd_per_million);
      } else {
        sqlite3_bind_null(insert.get(), 7);
      }
      bind(insert, 8, json);
      if (sqlite3_step(insert.get()) != SQLITE_DONE) fail("cannot be written");
      sqlite3_reset(insert.get());
    }
    execute("COMMIT");
  } catch (...) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

std::vector<RunRecord> RecordStore::records() const {
  const Statement select = prepare(database_, "SELECT id, record FROM run ORDER BY id");
  if (!select) fail("cannot be read");
  std::vector<RunRecord> records;
  int result = sqlite3_step(select.get());
  for (; result == SQLITE_ROW; result = sqlite3_step(select.get())) {
    const void* text = sqlite3_column_blob(select.get(), 1);
    const std::string_view json(static_cast<const char*>(text),
                                static_cast<std::size_t>(sqlite3_column_bytes(select.get(), 1)));
    const std::string where =
        path_ + ": record " + std::to_string(sqlite3_column_int64(select.get(), 0));
    records.push_back(run_record_from_json(json, where));
  }
  if (result != SQLITE_DONE) fail("cannot be read");
  return records;
}

void RecordStore::execute(const char* sql) const {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("cannot be written");
}

int RecordStore::pragma(const char* sql) const {
  const Statement statement = prepare(database_, sql);
  if (!statement || sqlite3_step(statement.get()) != SQLITE_ROW) fail("cannot be read");
  return sqlite3_column_int(statement.get(), 0);
}

void RecordStore::fail(const std::string& doing) const {
  const bool foreign = database_ != nullptr && sqlite3_errcode(database_) == SQLITE_NOTADB;
  const std::string reason = foreign                ? "it is not a SQLite database"
                             : database_ != nullptr ? sqlite3_errmsg(database_)
                                                    : "out of memory";
  throw UserError(path_ + ": " + doing + ": " + reason);
}

bool is_record_store(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kFileStart.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kFileStart;
}

}  // namespace foretell
