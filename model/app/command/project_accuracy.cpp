#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/cpu_records.hpp"
#include "model/app/command/table_accuracy.hpp"
#include "model/app/tables/report_classes.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecords = "measurements.jsonl.gz";  // of a machine
constexpr const char* kOfProject = "calib/";

// As the project spells it; rows of networks name systems.
std::string device_name(const std::string& cell) {
  const auto& catalog = kept<GpuCatalog>();
  return catalog.has_system(cell) ? catalog.find_system(cell) : cell;
}

// The device of the records in the file. UserError unless they were measured on a machine like
// `system`.
std::string measured_device(const std::string& path, const std::string& system) {
  InputFile file(path);
  std::string line;
  file.read_line(line);
  const Measurement first = parse_measurement(line, path + ":1");
  if (system.empty()) {
    check_measured_here(first.provenance.machine, CpuCatalog().load(kHostSystem).spec);
  }
  return first.device;
}

// Folders below calib/data with records, by name; none where the data are installed without them.
std::vector<fs::path> measured_machines() {
  std::vector<fs::path> machines;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data_root() / "calib" / "data", error)) {
    if (fs::exists(entry.path() / kRecords)) machines.push_back(entry.path());
  }
  std::sort(machines.begin(), machines.end());
  return machines;
}

// Adds up the reports of tables.
class ProjectReport {
 public:
  explicit ProjectReport(std::size_t worst) : worst_(worst) {
    report_.group_columns = {"device", "dtype", "class"};
  }

  // `only_device`: of tables without a column for it.
  void add(const ReportClass& table, AccuracyReport part, const std::string& only_device = "") {
    const auto group_of = [&](const std::vector<std::string>& cells) {
      std::size_t at = 0;
      const auto next = [&](const std::string& column) {
        return column.empty() ? std::string() : cells.at(at++);
      };
      const std::string device = next(table.device);
      const std::string dtype = next(table.dtype);
      return std::vector<std::string>{device.empty() ? only_device : device_name(device), dtype,
                                      table.prefix + next(table.op_class)};
    };
    for (AccuracyRow& row : part.groups) {
      row.group = group_of(row.group);
      report_.groups.push_back(std::move(row));
    }
    for (AccuracyRow& row : part.overall) {
      row.quantity = fmt::format("{}: {}", table.name, row.quantity);
      report_.overall.push_back(std::move(row));
    }
    for (auto* samples : {&part.samples, &part.worst}) {
      for (Sample& sample : *samples) sample.group = group_of(sample.group);
    }
    for (Sample& sample : part.worst) {
      sample.row = fs::path(table.table).filename().string() + ": " + sample.row;
    }
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    append(report_.samples, part.samples);
    append(report_.worst, part.worst);
    append(report_.parts, part.parts);
    report_.rows += part.rows;
    report_.failed += part.failed;
    report_.refused += part.refused;
    report_.interrupted = part.interrupted;
  }

  void note(const ReportClass& table, const std::string& text) {
    report_.notes.push_back(table.name + ": " + text);
  }

  bool interrupted() const { return report_.interrupted; }

  AccuracyReport finish() {
    const auto error = [](const Sample& sample) { return relative_error(sample.comparison); };
    std::stable_sort(
        report_.worst.begin(), report_.worst.end(),
        [&](const Sample& a, const Sample& b) { return std::abs(error(a)) > std::abs(error(b)); });
    if (report_.worst.size() > worst_) report_.worst.resize(worst_);
    std::stable_sort(report_.groups.begin(), report_.groups.end(),
                     [](const AccuracyRow& a, const AccuracyRow& b) { return a.group < b.group; });
    return std::move(report_);
  }

 private:
  std::size_t worst_;
  AccuracyReport report_;
};

// Asks for the classes one after the other.
class ProjectAccuracy {
 public:
  ProjectAccuracy(const AccuracyQuestion& question, const Session& session)
      : question_(question),
        session_(session),
        classes_(chosen_classes(load_report_classes(), question.classes)),
        report_(question.worst),
        progress_(session, "validating") {
    for (const ReportClass& one : classes_) all_seconds_ += one.seconds;
  }

  AccuracyReport report() {
    std::size_t done = 0;
    for (const ReportClass& one : classes_) {
      if (StopSignals::received() != 0) break;
      if (fs::is_directory(path_of(one))) {
        add_machines(one);
      } else if (fs::exists(path_of(one))) {
        add_table(one);
      } else {
        report_.note(one,
                     fmt::format("left out; FORETELL_DATA names no folder with {}", one.table));
      }
      done_seconds_ += one.seconds;
      if (!report_.interrupted()) ++done;
    }
    AccuracyReport report = report_.finish();
    if (StopSignals::received() != 0) {
      report.mark_interrupted(
          fmt::format("interrupted; {} of {} classes are done", done, classes_.size()));
    }
    if (!report.parts.empty() || report.interrupted) return report;
    std::string why = "--all: no row counts";
    for (const std::string& note : report.notes) why += "\n" + note;
    throw UserError(why);
  }

 private:
  static fs::path path_of(const ReportClass& one) {
    if (starts_with(one.table, kOfProject)) return data_root() / one.table;
    const fs::path folder = measured_data_folder();
    return folder.empty() ? fs::path() : folder / one.table;
  }

  AccuracyQuestion question_of(const ReportClass& one) {
    AccuracyQuestion question = question_;
    question.table = path_of(one).string();
    question.held_out = true;
    question.every = question_.every > 0 ? question_.every : one.every;
    question.parts_of =
        question.every > 1 ? fmt::format("{}, 1 row in {}", one.name, question.every) : one.name;
    question.quantities = one.quantities;
    question.all_rows = question_.all_rows || one.all_rows;
    if (!one.where.empty()) question.where.push_back(one.where);
    question.system.clear();
    for (const std::string& column : {one.device, one.dtype, one.op_class}) {
      if (!column.empty()) question.by.push_back(column);
    }
    question.progress = [this, seconds = one.seconds, name = one.name](double share) {
      progress_.update((done_seconds_ + share * seconds) / all_seconds_, " " + name);
    };
    return question;
  }

  void add_table(const ReportClass& one) {
    try {
      report_.add(one, accuracy_of_table(question_of(one), session_));
    } catch (const UserError& error) {
      report_.note(one, std::string("left out; ") + error.what());
    }
  }

  void add_machines(const ReportClass& one) {
    for (const fs::path& machine : measured_machines()) {
      AccuracyQuestion question = question_of(one);
      question.table = (machine / kRecords).string();
      question.every = 0;
      question.parts_of = one.name;
      try {
        const std::string device = measured_device(question.table, question_.system);
        report_.add(one, accuracy_of_table(question, session_), device);
      } catch (const UserError& error) {
        report_.note(one, std::string("left out; ") + error.what());
      }
    }
  }

  const AccuracyQuestion& question_;
  const Session& session_;
  std::vector<ReportClass> classes_;
  ProjectReport report_;
  Progress progress_;
  double all_seconds_ = 0;
  double done_seconds_ = 0;
};

}  // namespace

AccuracyReport accuracy_of_project(const AccuracyQuestion& question, const Session& session) {
  if (!question.by.empty() || !question.where.empty() || question.latest) {
    throw UserError(
        "--all groups by device, data type and class; --by, --where and --latest are "
        "of single tables");
  }
  return ProjectAccuracy(question, session).report();
}

}  // namespace foretell
