#include "model/app/command/calibrate/table_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "calib/import/check_measurements.hpp"
#include "calib/import/contradictions.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/tables/uncounted/excess_times.hpp"
#include "model/app/tables/uncounted/impossible_times.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"

namespace foretell {
namespace {

constexpr double kMicrosecond = 1e-6;

// Rows that measured what a row before them did, and found something else.
class Repeats {
 public:
  void add(const Contradiction& found, const std::string& place) {
    if (first_.empty()) first_ = fmt::format("{}: {}: {}", place, found.column, found.difference);
    ++count_;
    // Where both have one prediction, the smaller time is the best: half of the other's error is
    // left.
    least_error_ += (1 - 1 / found.ratio) / 2;
  }
  void tell(const std::string& path, double tolerance, const Session& session) const {
    if (count_ == 0) return;
    session.say(fmt::format(
        "foretell: {} rows of {} differ by more than {:.0f} % from a row before that says the same "
        "({}). All are fitted to; no prediction is closer to such a pair than {:.1f} % on average",
        count_, path, tolerance * 100, first_, least_error_ / static_cast<double>(count_) * 100));
  }

 private:
  std::string first_;
  std::size_t count_ = 0;
  double least_error_ = 0;
};

// Rows that `validate` does not count either.
class LeftOutOfFit {
 public:
  LeftOutOfFit(const std::string& path, const TableLayout& layout, const CsvRow& header)
      : path_(path), impossible_(ImpossibleTimes::load(layout, header)) {}

  bool is_impossible(const CsvRow& row) {
    const bool is_one = impossible_.reason(row).has_value();
    if (is_one) ++impossible_rows_;
    return is_one;
  }
  bool took_too_long(const UncountedLines& excess, std::size_t line) {
    const bool is_one = excess.reason(line).has_value();
    if (is_one) ++excess_rows_;
    return is_one;
  }
  void tell(const Session& session) const {
    tell(excess_rows_, "they took far longer than rows that did as much or more", "excess_times",
         session);
    tell(impossible_rows_, "no kernel took the time, or what was measured is not stated",
         "impossible_times", session);
  }

 private:
  void tell(std::size_t rows, const std::string& why, const std::string& file,
            const Session& session) const {
    if (rows == 0) return;
    session.say(fmt::format("foretell: left out, {} rows of {}: {} (calib/validate/{}.yaml)", rows,
                            path_, why, file));
  }

  std::string path_;
  ImpossibleTimes impossible_;
  std::size_t impossible_rows_ = 0;
  std::size_t excess_rows_ = 0;
};

}  // namespace

std::string table_or(const std::string& given, const char* name) {
  if (!given.empty()) return given;
  const std::filesystem::path folder = measured_data_folder();
  if (folder.empty()) {
    throw UserError(
        fmt::format("no measurements: give --table FILE, or let FORETELL_DATA name the folder that "
                    "holds {}",
                    name));
  }
  return (folder / name).string();
}

void take_rows(const MeasuredTable& table, const TakeRow& take, const Session& session) {
  const NamedCells cells(table.header);
  LeftOutOfFit left_out("the measurements", recognise_table(table.header, "measurements"),
                        table.header);
  for (const CsvRow& row : table.rows) {
    if (!left_out.is_impossible(row)) take(cells, row);
  }
  left_out.tell(session);
}

void take_rows(const std::string& path, const TakeRow& take, const Session& session) {
  CsvReader csv(path, CsvReader::Names::kLowerCase);
  const NamedCells cells(csv.header());
  const double tolerance = ImportRules{}.tolerance;
  const TableLayout& layout = recognise_table(csv.header(), path);
  Contradictions contradictions(layout, csv.header(), tolerance);
  const UncountedLines excess = excess_times(path, layout, csv.header());
  Repeats repeats;
  std::vector<std::string> problems;
  LeftOutOfFit left_out(path, layout, csv.header());
  CsvRow row;
  std::string problem;
  while (csv.next(row, problem)) {
    if (!problem.empty()) {
      problems.push_back(problem);
      continue;
    }
    if (left_out.took_too_long(excess, csv.line()) || left_out.is_impossible(row)) continue;
    try {
      if (!take(cells, row)) continue;
    } catch (const UserError& error) {
      problems.push_back(fmt::format("{}:{}: {}", path, csv.line(), error.what()));
      continue;
    }
    for (const Contradiction& found : contradictions.add(row, csv.line())) {
      repeats.add(found, fmt::format("{}:{}", path, csv.line()));
    }
  }
  refuse_problems(problems, "nothing was fitted");
  left_out.tell(session);
  repeats.tell(path, tolerance, session);
}

Seconds measured_time(const NamedCells& cells, const CsvRow& row) {
  const std::optional<double> us = read_measurement("latency_us", cells.text(row, "latency_us"));
  if (!us) throw UserError("latency_us: is empty; expected a measured time");
  return Seconds(*us * kMicrosecond);
}

GpuDeviceSpec device_to_fit(const FitCommand& command) {
  const GpuCatalog catalog;
  return catalog.load(catalog.find_device(command.device)).spec.device;
}

bool DeviceNames::is_device(const std::string& name) {
  const auto [known, is_new] = known_.emplace(name, false);
  if (is_new) {
    const GpuCatalog catalog;
    known->second = catalog.has_system(name) && catalog.find_device(name) == device_;
  }
  return known->second;
}

bool asks_for(const FitCommand& command, DeviceNames& names, const NamedCells& cells,
              const CsvRow& row, const char* dtype) {
  const auto is_asked = [&](const std::string& asked, const char* column) {
    return asked.empty() || cells.text(row, column) == asked;
  };
  return names.is_device(cells.text(row, "gpu")) && is_asked(command.framework, "framework") &&
         is_asked(command.dtype, dtype);
}

std::string size_class(std::int64_t size) {
  constexpr std::array<const char*, 7> kNames = {
      "up to 64", "up to 512", "up to 4K", "up to 32K", "up to 256K", "up to 2M", "more than 2M"};
  std::int64_t bound = 64;
  for (std::size_t i = 0; i + 1 < kNames.size(); ++i, bound *= 8) {
    if (size <= bound) return kNames[i];
  }
  return kNames.back();
}

}  // namespace foretell
