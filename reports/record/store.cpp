#include "reports/record/store.hpp"

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
    SQLite::Statement insert = database_.prepare(kInsert);
    for (const RunRecord& record : records) {
      const RunSummary& summary = record.summary;
      insert.clearBindings();
      insert.bind(1, record.context.system);
      insert.bind(2, record.context.workload);
      insert.bind(3, record.context.dtype);
      insert.bind(4, record.context.scenario.batch);
      insert.bind(5, summary.latency_s);
      insert.bind(6, summary.throughput);
      if (summary.cost_usd_per_million) insert.bind(7, *summary.cost_usd_per_million);
      insert.bind(8, to_json(record));
      database_.run(insert);
    }
  });
}

std::vector<RunRecord> RecordStore::records() const {
  SQLite::Statement select = database_.prepare("SELECT id, record FROM run ORDER BY id");
  std::vector<RunRecord> records;
  while (database_.next(select)) {
    const std::string where =
        database_.path() + ": record " + std::to_string(select.getColumn(0).getInt64());
    records.push_back(run_record_from_json(select.getColumn(1).getString(), where));
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
