// A SQLite file of records: one row per record, key columns for queries plus the full JSON.
//
// Several processes may write at once (write-ahead log, five seconds of patience). A record that
// is already there, byte for byte, is kept once, so repeating a command does not grow the store.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

struct sqlite3;

namespace foretell {

class RecordStore {
 public:
  enum class Access { kRead, kWrite };

  // kWrite creates the file when there is none and tries a write, so that a path that cannot be
  // written is found now. UserError: no such file, not a database, another program's database,
  // written by a newer version.
  RecordStore(const std::string& path, Access access);
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  void add(const RunRecord& record);
  void add(const std::vector<RunRecord>& records);  // all of them or none
  std::vector<RunRecord> records() const;           // in the order in which they were added

 private:
  void execute(const char* sql) const;
  int pragma(const char* sql) const;
  void check_schema(Access access);
  [[noreturn]] void fail(const std::string& doing) const;

  std::string path_;
  sqlite3* database_ = nullptr;
};

// Whether the file begins as every SQLite database does.
bool is_record_store(const std::string& path);

}  // namespace foretell
