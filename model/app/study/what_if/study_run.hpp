// Runs a study into its store: plans the points, computes what is not known, stores every row as
// soon as it is there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/study/study.hpp"
#include "model/app/study/sweep/sweep.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "reports/record/study_store.hpp"

namespace foretell {

struct StudyCounts {
  std::uint64_t points = 0;    // that the study has, or may evaluate
  std::uint64_t done = 0;      // stored, whenever that was
  std::uint64_t computed = 0;  // predicted in this run
  std::uint64_t reused = 0;    // found in the store, of this study or another one
  std::uint64_t skipped = 0;   // by a constraint
  std::uint64_t failed = 0;    // without a prediction
};

// What a worker answers for a point of a study; never throws. The same text on every machine.
std::string answer_point(const Study& study, const DefaultValue& defaults, const Predictor& predict,
                         std::uint64_t number);

// What studies and points are known by in a store, beside what they say themselves and the files
// that they name.
std::string study_basis();

StudyHead study_head(const Study& study, const std::string& basis);

// Turns numbers of points into rows of the store.
class StudyRun {
 public:
  using Report = std::function<void(const StudyCounts&)>;
  using FailureSink = std::function<void(std::uint64_t number, const std::string& why)>;

  StudyRun(const Study& study, const std::string& basis, DefaultValue defaults, StudyStore& store,
           const StudyHead& head);

  // Called with every change of the counts; both may be empty.
  void on_progress(Report report) { report_ = std::move(report); }
  void on_failure(FailureSink sink) { failed_ = std::move(sink); }

  // Called for every row with its objectives; none for an infeasible point.
  using RowSink = std::function<void(std::uint64_t number, const std::vector<double>& objectives)>;
  void on_row(RowSink sink) { row_ = std::move(sink); }

  // The next points of `numbers` that have to be computed; rows of the others are stored here.
  // `next` gives a number at a time, false at the end.
  std::vector<std::uint64_t> plan(const std::function<bool(std::uint64_t&)>& next, std::size_t most,
                                  const std::function<bool()>& stop);
  void store(std::vector<TaskAnswer> answers);
  void flush();

  const StudyCounts& counts() const { return counts_; }
  StudyCounts& counts() { return counts_; }

 private:
  struct Planned {
    StudyPointRow row;
    PointValues values;
  };

  bool plan_one(std::uint64_t number);  // true: has to be computed
  void add_row(Planned planned, const PointResult& result);
  void report() const;
  static std::string values_json(const Study& study, const PointValues& values);

  const Study& study_;
  std::string basis_;
  DefaultValue defaults_;
  StudyStore& store_;
  StudyHead head_;
  Report report_;
  FailureSink failed_;
  RowSink row_;
  StudyCounts counts_;
  NamedFiles files_;
  std::unordered_map<std::uint64_t, std::string> hashes_;          // of points in work
  std::unordered_map<std::string, std::string> contexts_;          // by hash, of points in work
  std::unordered_map<std::string, std::vector<Planned>> waiting_;  // rows by hash, in work
  std::vector<StudyPointRow> rows_;                                // not yet stored
  std::vector<PointResult> results_;
};

}  // namespace foretell
