#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "calib/fit/cpu_fit.hpp"
#include "calib/fit/evidence.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/statistics.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/cpu_intervals.hpp"
#include "model/app/command/calibrate/cpu_records.hpp"
#include "model/app/command/calibrate/emulated_rows.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/seed.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/si_format.hpp"
#include "reports/render/table.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxCpuStarts = 1000;
constexpr std::size_t kWorstRows = 8;

struct Judged {
  const CpuRow* row;
  Comparison comparison;
};

using ByClass = std::map<std::string, std::vector<Judged>>;

Accuracy accuracy_of_rows(const std::vector<Judged>& rows) {
  std::vector<Comparison> comparisons;
  for (const Judged& judged : rows) comparisons.push_back(judged.comparison);
  return accuracy_of(comparisons);
}

class Report {
 public:
  Report(const CpuSystemSpec& system, const CpuFit& fit, CpuIntervals intervals,
         const std::vector<CpuRow>& rows)
      : intervals_(std::move(intervals)) {
    for (const CpuRow& row : rows) {
      ByClass& side = row.held_out ? held_out_ : fitted_;
      const Judged judged{&row, judge_cpu_row(system, fit.factors, intervals_, row)};
      side[operator_class(row.op)].push_back(judged);
      if (row.held_out) all_.push_back(judged);
    }
  }

  std::string text(const CpuFit& fit, int width) const {
    Table table;
    table.columns = {{"class"},
                     {"fitted on", Align::kRight},
                     {"held out", Align::kRight},
                     {"MAPE", Align::kRight},
                     {"median", Align::kRight},
                     {"p90", Align::kRight},
                     {"bias", Align::kRight},
                     {"in 80 % interval", Align::kRight}};
    std::size_t fitted_rows = 0;
    const auto add = [&table](const std::string& name, std::size_t fitted,
                              const std::vector<Judged>& judged) {
      const Accuracy accuracy = accuracy_of_rows(judged);
      table.rows.push_back({name, std::to_string(fitted), std::to_string(accuracy.n),
                            percent_format(accuracy.mape), percent_format(accuracy.median),
                            percent_format(accuracy.p90), percent_format(accuracy.bias),
                            accuracy.coverage ? percent_format(*accuracy.coverage) : ""});
    };
    for (const auto& [name, judged] : held_out_) {
      const auto fitted = fitted_.find(name);
      const std::size_t count = fitted == fitted_.end() ? 0 : fitted->second.size();
      fitted_rows += count;
      add(name, count, judged);
    }
    if (!all_.empty()) add("all", fitted_rows, all_);
    return render_text(table, width) + "\n" + worst_rows() + "\n" + factor_lines(fit);
  }

  void tell(const std::string& device, const CpuFit& fit, FitOutput& output) const {
    for (const FactorEstimate& estimate : fit.result.factors) {
      FitLine line{device,
                   "",
                   "factor",
                   estimate.factor.name,
                   to_text(std::exp(estimate.value)),
                   to_text(std::exp(estimate.low80)),
                   to_text(std::exp(estimate.high80))};
      line.identified = estimate.identified ? "yes" : "no";
      output.add(line);
    }
    for (const Correlation& pair : fit.result.correlations) {
      output.add(
          {device, "", "trade_off", pair.first + ", " + pair.second, to_text(pair.value), "", ""});
    }
    for (const auto& [name, interval] : intervals_.by_class) {
      output.add(
          {device, "", "interval", name, "", to_text(interval.first), to_text(interval.second)});
    }
    for (const auto& [side, rows] : {std::pair("fitted on", &fitted_), {"held out", &held_out_}}) {
      for (const auto& [name, judged] : *rows) {
        output.add_accuracy(device, name + std::string(", ") + side, accuracy_of_rows(judged));
      }
    }
    if (!all_.empty()) output.add_accuracy(device, "all, held out", accuracy_of_rows(all_));
  }

  // Residuals of each class on both sides of the split.
  std::vector<std::string> residual_lines() const {
    std::vector<std::string> lines;
    for (const auto& [side, rows] : {std::pair("fitted on", &fitted_), {"held out", &held_out_}}) {
      for (const auto& [name, judged] : *rows) {
        const Accuracy accuracy = accuracy_of_rows(judged);
        lines.push_back(
            fmt::format("{}, {}: {} rows, {}", name, side, accuracy.n, accuracy_text(accuracy, 1)));
      }
    }
    return lines;
  }

  const CpuIntervals& intervals() const { return intervals_; }

 private:
  std::string worst_rows() const {
    std::vector<Judged> all = all_;
    const auto wrong = [](const Judged& judged) {
      return std::abs(std::log(judged.comparison.predicted / judged.comparison.measured));
    };
    std::sort(all.begin(), all.end(),
              [&](const Judged& a, const Judged& b) { return wrong(a) > wrong(b); });
    std::string text = "The worst held-out rows\n";
    for (std::size_t i = 0; i < std::min(kWorstRows, all.size()); ++i) {
      text += fmt::format("  {:+5.1f} %  {:.4g} us  {}\n", 100 * relative_error(all[i].comparison),
                          all[i].comparison.measured, all[i].row->text);
    }
    return text;
  }

  static std::string factor_lines(const CpuFit& fit) {
    std::string text = "Factors, their 80 % intervals, and which the rows do not tell apart\n";
    for (const FactorEstimate& estimate : fit.result.factors) {
      text +=
          fmt::format("  {:<28} {:>9.4g}   {:.4g} .. {:.4g}{}\n", estimate.factor.name,
                      std::exp(estimate.value), std::exp(estimate.low80), std::exp(estimate.high80),
                      estimate.identified ? "" : "   not identified: as believed before");
    }
    for (const Correlation& pair : fit.result.correlations) {
      text += fmt::format("  {} and {} trade off against each other: correlation {:+.2f}\n",
                          pair.first, pair.second, pair.value);
    }
    return text;
  }

  CpuIntervals intervals_;
  ByClass fitted_;
  ByClass held_out_;
  std::vector<Judged> all_;  // that are held out
};

// "0.95", "60 cycles", with four digits.
std::string value_text(const Field& field, double value) {
  return format_quantity(rounded_to(value, 4), field.dimension);
}

void add_factors(const CpuFit& fit, FactorTable& table) {
  CpuFactors factors = fit.factors;
  FieldList list;
  fields(list, factors);
  for (const FactorEstimate& estimate : fit.result.factors) {
    const Field& field = list.at(estimate.factor.name);
    add_factor(table, value_text(field, field.number()),
               {field.path, value_text(field, std::exp(estimate.low80)),
                value_text(field, std::exp(estimate.high80)), estimate.identified});
  }
}

// What the starts reached: equal values say that they found the same place.
std::string starts_text(const CpuFit& fit) {
  std::string text = fmt::format("{}, loss", fit.result.losses.size());
  for (const double loss : fit.result.losses) text += fmt::format(" {:.1f}", loss);
  return text;
}

std::string file_text(const LoadedCpuSystem& system, const CpuFit& fit, const Report& report,
                      const std::vector<Measurement>& measurements, std::size_t fitted_rows) {
  const MeasurementProvenance& provenance = measurements.front().provenance;
  FactorFile file;
  file.device = measurements.front().device;
  file.split =
      "families of equal columns and depth: a quarter of them, by hash, and blocks are held out";
  file.machine = {{"architecture", system.spec.device.architecture},
                  {"cpu", system.spec.device.name},
                  {"clock", format_quantity(system.spec.device.clock.all_core)}};
  const auto& rates = system.spec.device.flops_per_cycle;
  if (const auto fp32 = rates.find("fp32"); fp32 != rates.end()) {
    file.machine["fp32_per_cycle"] = fmt::format("{:g}", fp32->second);
  }
  FactorTable table;
  table.table = "operators";
  table.fitted_on = fmt::format("{} rows measured on {} with {}, {}", fitted_rows,
                                provenance.machine, provenance.software, provenance.date);
  table.intervals = report.intervals().by_class;
  table.correlation = report.intervals().correlation;
  table.evidence.prior = fit.prior;
  table.evidence.starts = starts_text(fit);
  table.evidence.trade_offs = trade_offs_of(fit.result);
  table.evidence.residuals = report.residual_lines();
  add_factors(fit, table);
  file.tables.push_back(std::move(table));
  return factor_file_text(file);
}

// Points of the vault take part in nothing.
void leave_out_vault(std::vector<CpuRow>& rows, const Session& session) {
  const auto closed = std::remove_if(
      rows.begin(), rows.end(), [](const CpuRow& row) { return cpu_part(row) == Part::kVault; });
  const auto count = std::distance(closed, rows.end());
  rows.erase(closed, rows.end());
  if (count > 0) session.say(fmt::format("foretell: {} points of the vault stay closed", count));
}

}  // namespace

int calibrate_cpu(const FitCommand& command, const Session& session) {
  LoadedCpuSystem system = CpuCatalog().load(command.device);
  if (command.measurements.empty()) {
    throw UserError(
        "no measurements: give --measurements FILE; `foretell calibrate measure --device cpu` "
        "makes one");
  }
  const std::vector<Measurement> measurements = read_measurement_lines(command.measurements);
  if (command.device == kHostSystem) {
    check_measured_here(measurements.front().provenance.machine, system.spec);
  }
  CpuRowTable table = cpu_rows_of(measurements);
  ChosenCpuFactors measured;
  measured.clock = table.clock;
  use_measured_clock(measured, system);
  leave_out_emulated(system.spec.device, table.rows, session);
  check_possible(system.spec, table.rows);
  if (is_project_table(command.measurements)) leave_out_vault(table.rows, session);
  const fs::path folder =
      (command.output.empty() ? factors_folder() : fs::path(command.output)) / "cpu";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError(folder.string() + ": is no folder that factors can be written to");
  for (const auto& [reason, count] : table.left_out) {
    session.say(fmt::format("foretell: left out, {} of {} records (a point has several): {}", count,
                            measurements.size(), reason));
  }
  CpuFitOptions options;
  options.starts = static_cast<int>(parse_count("--starts", command.starts, 1, kMaxCpuStarts));
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  if (table.disagreeing > 0) {
    session.say(fmt::format(
        "foretell: {} points took a quarter longer in another round; the shortest counts",
        table.disagreeing));
  }
  const CpuPrior prior = cpu_prior(system.spec, measurements.front().device);
  CpuFit fit;
  {
    Progress progress(session, "fitting");
    options.progress = [&progress](double share) { progress.update(share); };
    fit = fit_cpu(system.spec, table.rows, options, prior);
  }
  CpuIntervals intervals;
  {
    Progress progress(session, "leaving families out");
    options.progress = [&progress](double share) { progress.update(share); };
    intervals = estimate_cpu_intervals(system.spec, fit.factors, table.rows,
                                       cross_predicted_us(system.spec, table.rows, options, prior));
  }
  const Report report(system.spec, fit, std::move(intervals), table.rows);
  const auto fitted = static_cast<std::size_t>(std::count_if(
      table.rows.begin(), table.rows.end(), [](const CpuRow& row) { return !row.held_out; }));
  const fs::path file = folder / (measurements.front().device + ".yaml");
  write_text(file.string(), file_text(system, fit, report, measurements, fitted));
  command.output_lines->say(report.text(fit, session.result_width));
  report.tell(measurements.front().device, fit, *command.output_lines);
  session.say(fmt::format("foretell: factors written to {}", file.string()));
  return kSuccess;
}

}  // namespace foretell
