// A SQLite file of records: one row per record, key columns for queries plus the full JSON.
//
// Several processes may write at once. A record that is already there, byte for byte, is kept
// once, so repeating a command does not grow the store.
#pragma once

#include <string>
#include <vector>

#include "reports/record/database.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

class RecordStore {
 public:
  using Access = StoreAccess;

  RecordStore(const std::string& path, Access access);  // UserErrors of Database

  void add(const RunRecord& record);
  void add(const std::vector<RunRecord>& records);  // all of them or none
  std::vector<RunRecord> records() const;           // in the order in which they were added

 private:
  Database database_;
};

// Whether the file begins as every SQLite database does.
bool is_record_store(const std::string& path);

}  // namespace foretell
