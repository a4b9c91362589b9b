// What `foretell calibrate fit` does for every kind of GPU kernels that has one set of factors per
// table of measurements: read the rows of a device, fit, judge on the families held out, say how
// sure the factors are, write.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calib/fit/shared_fit.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/validate/interval_estimate.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/terminal/session.hpp"
#include "model/base/errors.hpp"

namespace foretell {

// How rows are divided where shared data comes in three parts (calib/validate/part.hpp).
inline constexpr const char* kPartSplit =
    "families by the FNV-1a hash of their key modulo 10: 0 to 4 are fitted to, 5 to 7 judge, 8 "
    "and 9 are a vault that no fit reads";

// A measured row, but for what it is a row of.
struct KernelSample {
  Seconds measured;
  std::string family;           // rows of one are on the same side of the split
  std::string op_class;         // whose residuals are reported together: "all_reduce"
  bool makes_interval = false;  // of rows held out
  std::string version;          // of the library, where it is not the fitted one
};

// The rows of one table on both sides of the split.
template <class Row>
struct KernelTable {
  struct Sample : KernelSample {
    Row row;
  };
  const Row& row(bool is_held_out, std::size_t index) const {
    return (is_held_out ? held_out : fit)[index].row;
  }
  std::string version;
  std::vector<Sample> fit;
  std::vector<Sample> held_out;
};

// Tables by name.
template <class Row>
using KernelTables = std::map<std::string, KernelTable<Row>>;

// A table to fit, whatever its rows are.
struct KernelFitTask {
  std::string name;
  std::string plan_name;  // in the plan; "": the same
  std::string version;
  std::vector<KernelSample> fit;
  std::vector<KernelSample> held_out;
  FieldList* fields = nullptr;
  // Whose factors `start` are, those of the nearest kernels: few rows are fitted with a belief in
  // them. "": the search starts where the plan says.
  std::string prior = {};
  FactorTexts start = {};
  std::string provenance = {};  // of the rows, where a machine of the user's measured them
  // What answers rows with the factors that `fields` hold now; called once per trial.
  using Predict = std::function<Seconds(bool held_out, std::size_t row)>;
  std::function<Predict()> predictor;
};

struct KernelFit {
  std::vector<std::string> free;  // what was fitted
  double loss = 0;                // mean relative error
};

struct KernelFitSettings {
  std::string plan;      // file in calib/fit, unless the command names another
  std::string families;  // what families are called: "configurations"
  std::size_t rows = 1500;
  int evaluations = 700;
  int starts = 1;
  std::size_t pooled_rows = 500;  // of a table, that values are chosen on by pool()
  // Where so few families are held out that they tell no interval, it is made from those that are
  // fitted to, each predicted by a fit without it.
  bool leaves_families_out = true;
};

// Calibrates a task whose rows are answered one by one: `time_of` says how long a row takes by what
// `factors` hold at the time.
template <class Factors, class Row, class TimeOf, class Calibrate>
void calibrate_rows(Factors& factors, const KernelTable<Row>& table, KernelFitTask& task,
                    const Calibrate& calibrate, const TimeOf& time_of) {
  FieldList list;
  fields(list, factors);
  task.fields = &list;
  task.predictor = [&]() -> KernelFitTask::Predict {
    return [&](bool held_out, std::size_t i) { return time_of(table.row(held_out, i)); };
  };
  calibrate();
}

class KernelCalibration;

// Tables of one chip after another, prepared to be fitted at once.
struct PooledTasks {
  struct Member {
    KernelCalibration* calibration;
    KernelFitTask* task;
  };
  std::vector<Member> members;
  std::function<void()> next;  // prepares those of the next chip; empty: there is none
};

// Fits the tables of a device, each in a process of its own, or judges again what is known of them,
// and writes their factors.
class KernelCalibration {
 public:
  // `folder`: where the program reads factors of the kind from. UserError when there is no row.
  KernelCalibration(const FitCommand& command, const GpuDeviceSpec& device,
                    KernelFitSettings settings, const std::filesystem::path& folder,
                    const std::string& split, const Session& session);

  // `prepare` gets a task with rows, fills in the rest and calls what it is given.
  template <class Row, class Prepare>
  void run(const KernelTables<Row>& tables, const Prepare& prepare) {
    std::vector<std::string> names;
    for (const auto& [name, table] : tables) {
      if (tables.size() == 1 ||
          is_enough(name, {table.fit.begin(), table.fit.end()}, !table.held_out.empty()))
        names.push_back(name);
    }
    if (names.empty() && !tables.empty())
      throw UserError("no table is left to fit; measure more shapes");
    if (!command_.pool.empty()) {
      prepare_all(names, 0, tables, prepare);
      command_.keep_factors = true;  // what follows judges them
    }
    run_all(names, [&](const std::string& name) {
      const KernelTable<Row>& table = tables.at(name);
      KernelFitTask task = task_of(name, table);
      std::string text;
      prepare(table, task, [&] { text = calibrated_text(task); });
      return text;
    });
  }

 private:
  template <class Row>
  static KernelFitTask task_of(const std::string& name, const KernelTable<Row>& table) {
    KernelFitTask task;
    task.name = name;
    task.version = table.version;
    task.fit.assign(table.fit.begin(), table.fit.end());
    task.held_out.assign(table.held_out.begin(), table.held_out.end());
    return task;
  }

  // All tables from `next` on are prepared at once, then those of the next chip, for pool().
  template <class Row, class Prepare>
  void prepare_all(const std::vector<std::string>& names, std::size_t next,
                   const KernelTables<Row>& tables, const Prepare& prepare) {
    if (next == names.size()) {
      if (command_.pooled->next) {
        command_.pooled->next();
      } else {
        pool(command_.pooled->members);
      }
      return;
    }
    const KernelTable<Row>& table = tables.at(names[next]);
    KernelFitTask task = task_of(names[next], table);
    bool is_ready = false;
    prepare(table, task, [&] {
      is_ready = true;
      command_.pooled->members.push_back({this, &task});
      prepare_all(names, next + 1, tables, prepare);
    });
    if (!is_ready) prepare_all(names, next + 1, tables, prepare);
  }
  // Gives up values of their own that the tables can share (pooled_calibration.cpp), and writes
  // what is left. UserError where a table was not fitted yet.
  static void pool(const std::vector<PooledTasks::Member>& members);
  class Pool;
  FactorTable pooled_set(KernelFitTask& task, const std::map<std::string, double>& own,
                         const std::map<std::string, double>& values,
                         const std::map<std::string, double>& start) const;
  // Does the table tell how certain its factors are? A warning says where it does not.
  bool is_enough(const std::string& name, const std::vector<KernelSample>& fit,
                 bool has_held_out) const;
  // Each returns a factor file with its set, or "" for a table that is not fitted.
  void run_all(const std::vector<std::string>& names,
               const std::function<std::string(const std::string&)>& calibrate);
  void take(const std::string& text);
  std::string calibrated_text(KernelFitTask& task) const;
  FactorTable calibrated_set(KernelFitTask& task, const FactorTable* kept) const;
  FactorTable fitted_set(KernelFitTask& task) const;
  FactorTable shared_set(KernelFitTask& task, const SharingRule& rule) const;
  std::optional<SharingRule> sharing_rule(const std::string& table) const;
  void read_known_factors();
  KernelFit search(KernelFitTask& task, const std::vector<std::size_t>& rows) const;
  void keep_better(KernelFitTask& task, const std::vector<std::size_t>& rows, KernelFit& fit) const;
  void search_own(KernelFitTask& task, const FactorTable& set,
                  const std::vector<std::size_t>& rows) const;
  double loss_of_all_values(KernelFitTask& task, const std::vector<std::size_t>& rows) const;
  std::vector<std::string> free_factors(KernelFitTask& task, const FactorTable& set) const;
  std::string plan_path() const;
  std::uint64_t seed() const;
  std::vector<RatioSample> cross_samples(KernelFitTask& task, const FactorTable& set) const;
  FitEvidence evidence_of(KernelFitTask& task, const FactorTable& set) const;
  std::vector<std::string> load_start(KernelFitTask& task) const;

  FitCommand command_;
  GpuDeviceSpec device_;
  KernelFitSettings settings_;
  std::filesystem::path folder_;  // where the program reads factors of the kind from
  std::filesystem::path path_;
  FactorFile file_;
  std::optional<KernelFactorsLibrary> known_;  // that sets may be like
  const Session& session_;
};

}  // namespace foretell
