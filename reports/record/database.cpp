#include "reports/record/database.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "model/base/errors.hpp"
#include "reports/record/summary.hpp"

namespace foretell {
namespace {

constexpr int kApplicationId = 0x46544C31;  // "FTL1" tells our files from other databases
constexpr int kPatienceMs = 20'000;         // of a writer that waits for another one

// What each schema number adds to the one before it. A change of a table is a new entry.
constexpr std::array<const char*, 2> kSchemas = {
    R"(
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
)",
    // A point is what was predicted, once; design points of studies refer to it.
    R"(
CREATE TABLE study (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  version TEXT NOT NULL,
  points INTEGER NOT NULL,
  keys TEXT NOT NULL,
  definition TEXT NOT NULL
);
CREATE TABLE point (
  hash TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  message TEXT NOT NULL,
  latency_s REAL,
  call_s REAL,
  throughput REAL,
  cost_usd_per_million REAL,
  ttft_s REAL,
  tpot_s REAL,
  memory_used_bytes REAL,
  memory_capacity_bytes REAL,
  bottleneck TEXT,
  context TEXT NOT NULL,
  record TEXT
) WITHOUT ROWID;
CREATE TABLE study_point (
  study INTEGER NOT NULL REFERENCES study (id),
  number INTEGER NOT NULL,
  hash TEXT,
  skipped_by TEXT NOT NULL,
  inside INTEGER NOT NULL,
  "values" TEXT NOT NULL,
  PRIMARY KEY (study, number)
) WITHOUT ROWID;
)"};
constexpr int kSchemaVersion = static_cast<int>(kSchemas.size());

// All of a study for SQL and pandas, with every metric.
std::string view_of_studies() {
  std::string metrics;
  for (const SummaryMetric& metric : summary_metrics()) metrics += metric.field + std::string(", ");
  return R"(
CREATE VIEW study_row AS
  SELECT study.name AS study, study_point.number, study_point."values",
         coalesce(point.status, 'skipped') AS status,
         coalesce(point.message, study_point.skipped_by) AS message, study_point.inside, )" +
         metrics + R"(bottleneck, context, record, study_point.study AS study_id
  FROM study_point JOIN study ON study.id = study_point.study
  LEFT JOIN point ON point.hash = study_point.hash;
)";
}

// SQLite wants files beside the database even to read it. Where nothing can be written, no other
// process writes either: the file is opened as immutable.
std::string name_to_read(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) == 0 || std::filesystem::exists(path + "-wal")) return path;
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

SQLite::Database Database::open(const std::string& path, StoreAccess access) {
  if (access == StoreAccess::kRead && !std::filesystem::exists(path)) {
    throw UserError(path + ": no such file; `--store " + path +
                    "` of a command that predicts writes one");
  }
  const bool reads = access == StoreAccess::kRead;
  try {
    return SQLite::Database(reads ? name_to_read(path) : path,
                            reads ? SQLite::OPEN_READONLY | SQLite::OPEN_URI
                                  : SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                            kPatienceMs);
  } catch (const SQLite::Exception& error) {
    fail(path, "cannot be opened", error);
  }
}

Database::Database(const std::string& path, StoreAccess access)
    : path_(path), database_(open(path, access)) {
  check_schema(access);
}

void Database::check_schema(StoreAccess access) {
  int application = 0;
  int objects = 0;
  // At one moment: between two of these another process may make the tables of a new file.
  attempt(kReading, [&] {
    const SQLite::Transaction moment(database_);
    schema_ = number("PRAGMA user_version");
    application = number("PRAGMA application_id");
    objects = number("SELECT count(*) FROM sqlite_master");
  });
  const bool fresh = objects == 0 && schema_ == 0;
  if (!fresh && application != kApplicationId) {
    throw UserError(path_ + ": is a database, but not one of foretell records; name another file");
  }
  if (schema_ > kSchemaVersion) {
    throw UserError(path_ + ": was written by a newer foretell (schema " + std::to_string(schema_) +
                    ", this one knows " + std::to_string(kSchemaVersion) +
                    "); use that version or another file");
  }
  if (access == StoreAccess::kRead) {
    if (fresh) throw UserError(path_ + ": holds no records");
    return;
  }
  write_ahead();
  execute("PRAGMA synchronous = NORMAL");
  transaction([&] {
    // Looked at again: another process may have brought the file up in between.
    for (schema_ = number("PRAGMA user_version"); schema_ < kSchemaVersion; ++schema_)
      execute(kSchemas.at(static_cast<std::size_t>(schema_)));
    add_metrics();
    execute("PRAGMA application_id = " + std::to_string(kApplicationId));
    execute("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  });
}

void Database::write_ahead() const {
  // SQLite does not always wait here for another process that brings the file up as well.
  constexpr int kPauseMs = 10;
  for (int waited = 0;; waited += kPauseMs) {
    try {
      database_.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (const SQLite::Exception& error) {
      if (error.getErrorCode() != SQLITE_BUSY || waited >= kPatienceMs)
        fail(path_, kWriting, error);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kPauseMs));
  }
}

void Database::add_metrics() {
  for (const SummaryMetric& metric : summary_metrics()) {
    const std::string field = metric.field;
    const std::string known =
        "SELECT count(*) FROM pragma_table_info('point') WHERE name = '" + field + "'";
    if (number(known) == 0) execute("ALTER TABLE point ADD COLUMN " + field + " REAL");
    const std::string shown =
        "SELECT count(*) FROM pragma_table_info('study_row') WHERE name = '" + field + "'";
    if (number(shown) == 0) execute("DROP VIEW IF EXISTS study_row");
  }
  if (number("SELECT count(*) FROM sqlite_master WHERE name = 'study_row'") == 0)
    execute(view_of_studies());
}

SQLite::Statement Database::prepare(const std::string& sql) const {
  return attempt(kReading, [&] { return SQLite::Statement(database_, sql); });
}

void Database::execute(const std::string& sql) const {
  attempt(kWriting, [&] { database_.exec(sql); });
}

void Database::run(SQLite::Statement& statement) const {
  attempt(kWriting, [&] {
    statement.exec();
    statement.reset();
  });
}

bool Database::next(SQLite::Statement& statement) const {
  return attempt(kReading, [&] { return statement.executeStep(); });
}

void Database::limit_pages(int pages) const {
  number("PRAGMA max_page_count = " + std::to_string(pages));
}

int Database::number(const std::string& sql) const {
  SQLite::Statement statement = prepare(sql);
  return next(statement) ? statement.getColumn(0).getInt() : 0;
}

void Database::fail(const std::string& path, const char* doing, const SQLite::Exception& error) {
  const bool foreign = error.getErrorCode() == SQLITE_NOTADB;
  throw UserError(path + ": " + doing + ": " +
                  (foreign ? "it is not a SQLite database" : error.what()));
}

}  // namespace foretell
