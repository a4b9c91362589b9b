#include "reports/render/energy_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/render/record_text.hpp"
#include "reports/render/service_text.hpp"
#include "reports/render/si_format.hpp"
#include "reports/render/table.hpp"

namespace foretell {
namespace {

constexpr const char* kUnknown = "\nEnergy: none of this device is known\n";

std::string joules(double value) { return si_format(value, "J"); }

std::string optional_cell(const std::optional<double>& value, const char* unit) {
  return value ? si_format(*value, unit) : "-";
}

double sum_of(const EnergyRecord& energy) {
  double sum = 0;
  for (const EnergyPartRecord& part : energy.parts) sum += part.joules;
  return sum;
}

std::vector<EnergyPartRecord> largest_first(std::vector<EnergyPartRecord> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.joules > b.joules; });
  return parts;
}

Table shares_table(const char* title, const std::vector<EnergyPartRecord>& parts, double all,
                   bool with_constants) {
  Table table;
  table.columns = {{title}, {"energy", Align::kRight}, {"share", Align::kRight}};
  if (with_constants) table.columns.push_back({"constant"});
  for (const EnergyPartRecord& part : largest_first(parts)) {
    std::vector<std::string> row = {part.kind, joules(part.joules),
                                    percent_format(all > 0 ? part.joules / all : 0)};
    if (with_constants)
      row.emplace_back(part.is_calibrated ? "measured on the device" : "not calibrated");
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string energy_text(const RunRecord& record) {
  const std::optional<EnergyRecord>& energy = record.summary.energy;
  if (!energy || energy->parts.empty()) return kUnknown;
  const double all = sum_of(*energy);
  std::vector<EnergyPartRecord> operators;
  for (const auto& [op, own] : energy->joules_by_operator) operators.push_back({op, own, false});
  std::string text = fmt::format("\nEnergy of a call by kind of work, {} in all\n\n", joules(all)) +
                     render_text(shares_table("work", energy->parts, all, true));
  if (!operators.empty()) {
    text += "\nThe same by kind of operator, without idle power\n\n" +
            render_text(shares_table("operator", operators, all, false));
  }
  return text;
}

std::string energies_text(const std::vector<RunRecord>& records, int max_width) {
  Table table;
  table.columns = {{"system"},
                   {"data type"},
                   {"scenario"},
                   {"J per token", Align::kRight},
                   {"J per sample", Align::kRight},
                   {"boards", Align::kRight},
                   {"at the wall", Align::kRight},
                   {"calibrated", Align::kRight},
                   {"most of it"}};
  for (const RunRecord& record : records) {
    const RunSummary& summary = record.summary;
    std::string most = "-";
    if (summary.energy && !summary.energy->parts.empty()) {
      const EnergyPartRecord first = largest_first(summary.energy->parts).front();
      const double all = sum_of(*summary.energy);
      most = fmt::format("{} {}", first.kind, percent_format(all > 0 ? first.joules / all : 0));
    }
    table.rows.push_back(
        {record.context.system, record.context.dtype, scenario_text(record.context.scenario),
         optional_cell(summary.joules_per_token, "J"),
         optional_cell(summary.joules_per_request, "J"), optional_cell(summary.watts, "W"),
         optional_cell(summary.wall_watts, "W"),
         summary.calibrated_energy ? percent_format(*summary.calibrated_energy) : "-", most});
  }
  return "\nEnergy\n\n" + render_text(table, max_width);
}

std::string service_energies_text(const std::vector<ServeRecord>& records, int max_width) {
  Table table;
  table.columns = {{"system"},
                   {"load"},
                   {"J per token", Align::kRight},
                   {"J per request", Align::kRight},
                   {"boards", Align::kRight},
                   {"at the wall", Align::kRight},
                   {"by steps", Align::kRight}};
  for (const ServeRecord& record : records) {
    const ServeSummary& summary = record.summary;
    table.rows.push_back(
        {record.context.system, load_words(record.context),
         optional_cell(summary.joules_per_token, "J"),
         optional_cell(summary.joules_per_request, "J"), optional_cell(summary.watts, "W"),
         optional_cell(summary.wall_watts, "W"),
         summary.busy_energy_share ? percent_format(*summary.busy_energy_share) : "-"});
  }
  return "\nEnergy\n\n" + render_text(table, max_width);
}

}  // namespace foretell
