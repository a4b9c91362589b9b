// What-if studies in a store: a row per design point, what was predicted once per content.
//
// A point is known by the hash of everything that its prediction depends on, so equal points are
// computed once, also across studies. `study_row` is a view of all of it for SQL and pandas.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/database.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

struct StudyHead {
  std::int64_t id = 0;  // within the store
  std::string name;
  std::string hash;     // of the definition and of what else the rows depend on
  std::string version;  // of the program
  std::uint64_t points = 0;
  std::vector<std::string> keys;  // that vary
  std::string definition;         // the study file
};

// What came of a point.
inline constexpr const char* kPointGood = "ok";
inline constexpr const char* kPointRefused = "error";  // cannot be predicted, always
inline constexpr const char* kPointCrashed =
    "crashed";  // its process died; tried again on resuming
inline constexpr const char* kPointTimeout = "timeout";  // likewise

struct PointResult {
  std::string hash;
  std::string status;
  std::string message;              // why there is no record
  std::string context;              // what was asked for, as JSON
  std::optional<RunRecord> record;  // without operators, resources and sources
};

struct StudyPointRow {
  std::uint64_t number = 0;
  std::string hash;        // "": skipped
  std::string skipped_by;  // the constraint that did
  bool inside = true;      // constraints on results hold, too
  std::string values;      // of the keys that vary, and derived ones: JSON
};

// A row with its result, as studies are read.
struct StudyRow {
  StudyPointRow point;
  PointResult result;  // of a skipped point only the status, "skipped"
};

class StudyStore {
 public:
  StudyStore(const std::string& path, StoreAccess access);  // UserErrors of Database

  // The study with this hash, entered when it is new. `is_new` says which.
  StudyHead begin(const StudyHead& head, bool& is_new);
  std::vector<StudyHead> studies() const;  // by id

  // Numbers of the points that are stored and need no further try, in order.
  std::vector<std::uint64_t> finished(const StudyHead& head) const;
  // A stored result that needs no further try.
  std::optional<PointResult> find(const std::string& hash) const;

  // Stores rows and results, all or nothing. A result without a row's number is shared. Replaces
  // results of points that crashed before.
  void add(const StudyHead& head, const std::vector<StudyPointRow>& rows,
           const std::vector<PointResult>& results);

  void limit_pages(int pages) { database_.limit_pages(pages); }  // see Database

  // Rows in the order of their numbers.
  void read(const StudyHead& head, const std::function<void(const StudyRow&)>& sink) const;

 private:
  SQLite::Statement& kept(std::optional<SQLite::Statement>& statement, const std::string& sql);

  Database database_;
  std::optional<SQLite::Statement> add_point_;  // made when they are used first
  std::optional<SQLite::Statement> add_row_;
};

}  // namespace foretell
