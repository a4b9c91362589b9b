#include "reports/record/store.hpp"

#include <sqlite3.h>

#include <fstream>

namespace foretell {
namespace {

constexpr std::string_view kFileStart = "SQLite format 3";

constexpr const char* kInsert =
    "INSERT OR IGNORE INTO run (system, workload, dtype, batch, latency_s, throughput, "
    "cost_usd_per_million, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

}  // namespace

RecordStore::RecordStore(const std::string& path, Access access) : database_(path, access) {}

void RecordStore::add(const RunRecord& record) { add(std::vector<RunRecord>{record}); }

void RecordStore::add(const std::vector<RunRecord>& records) {
  database_.transaction([&] {
    const Database::Statement insert = database_.prepare(kInsert);
    for (const RunRecord& record : records) {
      const std::string json = to_json(record);
      bind_text(insert, 1, record.context.system);
      bind_text(insert, 2, record.context.workload);
      bind_text(insert, 3, record.context.dtype);
      sqlite3_bind_int64(insert.get(), 4, record.context.scenario.batch);
      sqlite3_bind_double(insert.get(), 5, record.summary.latency_s);
      sqlite3_bind_double(insert.get(), 6, record.summary.throughput);
      if (record.summary.cost_usd_per_million) {
        sqlite3_bind_double(insert.get(), 7, *record.summary.cost_usd_per_million);
      } else {
        sqlite3_bind_null(insert.get(), 7);
      }
      bind_text(insert, 8, json);
      database_.run(insert);
    }
  });
}

std::vector<RunRecord> RecordStore::records() const {
  const Database::Statement select = database_.prepare("SELECT id, record FROM run ORDER BY id");
  std::vector<RunRecord> records;
  while (database_.next(select)) {
    const std::string where =
        database_.path() + ": record " + std::to_string(sqlite3_column_int64(select.get(), 0));
    records.push_back(run_record_from_json(text_column(select, 1), where));
  }
  return records;
}

bool is_record_store(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kFileStart.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file && start == kFileStart;
}

}  // namespace foretell
