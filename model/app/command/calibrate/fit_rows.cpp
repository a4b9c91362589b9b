#include "model/app/command/calibrate/fit_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "calib/import/check_measurements.hpp"
#include "calib/import/contradictions.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

// Device of a system by its name; "" for a system that is not in the catalogue.
class KnownDevices {
 public:
  const std::string& find(const std::string& system) {
    const auto known = names_.find(system);
    if (known != names_.end()) return known->second;
    const std::vector<std::string> systems = catalog_.systems();
    const bool exists = std::find(systems.begin(), systems.end(), system) != systems.end();
    return names_[system] = exists ? catalog_.load(system).spec.device.id : "";
  }

 private:
  Catalog catalog_;
  std::map<std::string, std::string> names_;
};

RowFilter filter_of(const CsvRow& header, const FitPlan& plan, const Split& split) {
  RowFilter filter;
  if (has_column(header, "use")) filter.require("use=yes", header);
  if (has_column(header, "family")) filter.require("family=" + split.family(), header);
  if (has_column(header, "phase")) {
    filter.require(plan.measured == "call_ms" ? "phase=forward" : "phase=decode", header);
  }
  return filter;
}

std::string setting_of(const Request& request) {
  std::string text = fmt::format(" on {}, batch {}", request.system, request.batch);
  if (request.seq_len > 0) text += fmt::format(", {} tokens", request.seq_len);
  if (request.input_len > 0) {
    text += fmt::format(", {} + {} tokens of {}, tp {}", request.input_len, request.output_len,
                        request.context, request.tp);
  }
  if (request.dp > 0) text += fmt::format(", {} copies", request.dp);
  return text + ", " + request.dtype;
}

}  // namespace

FitRows read_fit_rows(const std::string& path, const FitPlan& plan, const Split& split) {
  CsvReader table(path, CsvReader::Names::kLowerCase);
  const CsvRow& header = table.header();
  const TableLayout& layout = recognise_table(header, path);
  const std::size_t measured = find_column(header, plan.measured);
  const std::size_t system = find_column(header, "system");
  const RowFilter filter = filter_of(header, plan, split);
  const RowReader reader(layout, header, {});
  KnownDevices devices;
  Contradictions contradictions(layout, header, ImportRules{}.tolerance);
  std::vector<std::string> problems;
  FitRows rows;
  CsvRow row;
  while (table.next(row)) {
    ++rows.read;
    if (!filter.accepts(row) || trim(row[measured]).empty()) continue;
    const std::string device = devices.find(row[system]);
    if (std::find(plan.devices.begin(), plan.devices.end(), device) == plan.devices.end()) continue;
    FitRow one;
    try {
      one.measured_ms = read_measurement(plan.measured, row[measured]).value_or(0);
      one.request = reader.request(row);
    } catch (const UserError& error) {
      problems.push_back(fmt::format("{}:{}: {}", path, table.line(), error.what()));
      continue;
    }
    for (const Contradiction& found : contradictions.add(row, table.line())) {
      problems.push_back(
          fmt::format("{}:{}: {}: {}", path, table.line(), found.column, found.difference));
    }
    one.device = device;
    one.line = table.line();
    one.network = one.request.workload;
    if (network_part(split, one.network) == Part::kVault) {
      ++rows.in_vault;
      continue;
    }
    one.side = split.find(one.network);
    one.setting = setting_of(one.request);
    rows.rows.push_back(std::move(one));
  }
  refuse_problems(problems, "nothing was fitted");
  if (rows.rows.empty()) {
    throw UserError(fmt::format("{}: none of {} rows has {} of {} networks on {}, with use=yes",
                                path, rows.read, plan.measured, split.family(),
                                join(plan.devices, " or ")));
  }
  return rows;
}

}  // namespace foretell
