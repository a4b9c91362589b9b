#include "model/app/tables/uncounted/contradicted_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr const char* kCallTime = "call_ms";
constexpr const char* kRate = "throughput";
constexpr const char* kRateUnit = "throughput_unit";
constexpr const char* kSamples = "samples/s";
constexpr double kMsToSecond = 1e-3;
constexpr double kLeastContradiction = 1;
constexpr double kMostContradiction = 1e3;

struct RateRule {
  std::string table;
  std::set<std::string> differ;
  double times = 0;
  std::string why;
};

// Runs of one configuration, as a table states them.
struct Runs {
  double batch = 0;
  double copies = 1;                                  // at most: one on every GPU
  std::vector<std::pair<std::size_t, double>> calls;  // line, ms
  std::vector<std::pair<std::size_t, double>> rates;  // line, samples/s
};

RateRule read_rate_rule(const Node& item) {
  item.only_keys({"table", "differ", "times", "why"}, "rules");
  RateRule rule;
  rule.table = table_of_rule(item);
  const std::vector<std::string> differ = item_texts(item.required("differ", ""), "differ");
  rule.differ = {differ.begin(), differ.end()};
  rule.times = required_number(item, "times", kLeastContradiction, kMostContradiction);
  rule.why = item.required("why", "").as_text("why");
  return rule;
}

// GPUs of systems by name; one of whatever has none.
class KnownGpus {
 public:
  double of(const std::string& system) {
    const auto [place, is_new] = known_.try_emplace(system, 1);
    if (!is_new) return place->second;
    try {
      const GpuCatalog catalog;
      if (catalog.has_system(system)) place->second = catalog.load(system).spec.devices;
    } catch (const UserError&) {
      place->second = 1;  // its predictions say what is wrong with the name
    }
    return place->second;
  }

 private:
  std::map<std::string, double> known_;
};

double positive(const CsvRow& row, std::size_t column) {
  return std::max(0.0, to_number(trim(row[column])).value_or(0));
}

std::map<std::string, Runs> read_runs(const std::string& path, const RateRule& rule) {
  CsvReader table(path, CsvReader::Names::kLowerCase);
  const CsvRow& header = table.header();
  const std::size_t system = find_column(header, "system");
  const std::size_t batch = find_column(header, "batch");
  const std::size_t call = find_column(header, kCallTime);
  const std::size_t rate = find_column(header, kRate);
  const std::size_t unit = find_column(header, kRateUnit);
  const std::set<std::string> measured = {"id", kCallTime, "ttft_ms", "tpot_ms", kRate, kRateUnit};
  KnownGpus gpus;
  std::map<std::string, Runs> all;
  CsvRow row;
  std::string problem;
  while (table.next(row, problem)) {
    if (!problem.empty() || !(positive(row, batch) > 0)) continue;
    std::string key;
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (measured.count(header[column]) == 0 && rule.differ.count(header[column]) == 0)
        key += row[column] + '\n';
    }
    Runs& runs = all[key];
    runs.batch = positive(row, batch);
    runs.copies = gpus.of(std::string(trim(row[system])));
    if (positive(row, call) > 0) runs.calls.emplace_back(table.line(), positive(row, call));
    if (positive(row, rate) > 0 && trim(row[unit]) == kSamples)
      runs.rates.emplace_back(table.line(), positive(row, rate));
  }
  return all;
}

bool agree(const Runs& runs, double call_ms, double rate, double times) {
  const double done = call_ms * kMsToSecond * rate;
  return done * times >= runs.batch && done <= times * runs.batch * runs.copies;
}

bool has_rate_columns(const CsvRow& header) {
  for (const char* column : {"system", "batch", kCallTime, kRate, kRateUnit}) {
    if (!has_column(header, column)) return false;
  }
  return true;
}

}  // namespace

UncountedLines parse_contradicted_times(const std::string& text, const std::string& shown_as,
                                        const std::string& table, const TableLayout& layout,
                                        const CsvRow& header) {
  UncountedLines lines;
  each_rule(text, shown_as, [&](const Node& item) {
    const RateRule rule = read_rate_rule(item);
    if (rule.table != layout.name || !has_rate_columns(header)) return;
    lines.begin(fmt::format(
        "call_ms: more than {:g} times longer or shorter than the published rate of the same run "
        "leaves a batch: {}",
        rule.times, rule.why));
    for (const auto& [key, runs] : read_runs(table, rule)) {
      if (runs.rates.empty()) continue;
      for (const auto& [line, call_ms] : runs.calls) {
        const bool is_confirmed =
            std::any_of(runs.rates.begin(), runs.rates.end(),
                        [&runs = runs, call_ms = call_ms, &rule](const auto& rate) {
                          return agree(runs, call_ms, rate.second, rule.times);
                        });
        if (!is_confirmed) lines.add(line);
      }
    }
  });
  return lines;
}

UncountedLines contradicted_times(const std::string& table, const TableLayout& layout,
                                  const CsvRow& header) {
  const std::string file = "contradicted_times.yaml";
  return parse_contradicted_times(rules_file(file), file, table, layout, header);
}

}  // namespace foretell
