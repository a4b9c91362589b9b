#include "model/app/command/calibrate/fit_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "model/app/terminal/options.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

std::string evidence_text(const FitEvidence& evidence) {
  std::string text = fmt::format("  prior: {}\n", evidence.prior);
  for (const std::string& line : evidence.residuals) text += "  " + line + "\n";
  for (const FactorInterval& interval : evidence.interval80) {
    text += fmt::format(
        "  {}: {} to {}{}\n", interval.factor, interval.low, interval.high,
        interval.is_identified ? "" : " (not determined by the rows; the prior stands)");
  }
  for (const std::string& pair : evidence.trade_offs) text += "  trade off: " + pair + "\n";
  return text;
}

void add_fit_format_option(CLI::App& command, std::string& format) {
  add_option(command, "--format", format, "FORM", "of what is said: table (default), json or csv");
}

FitOutput::FitOutput(const std::string& format) : format_(parse_format(format)) {
  for (const char* name : {"device", "table", "row", "name"}) table_.columns.push_back({name});
  for (const char* name : {"value", "low80", "high80"})
    table_.columns.push_back({name, Align::kRight});
  table_.columns.push_back({"identified"});
  for (const char* name : {"rows", "mape", "median", "p90", "bias"})
    table_.columns.push_back({name, Align::kRight});
  table_.columns.push_back({"text"});
}

void FitOutput::say(const std::string& text) const {
  if (format_ == Format::kTable) write_text("-", text);
}

void FitOutput::add(const FitLine& line) {
  table_.rows.push_back({line.device, line.table, line.row, line.name, line.value, line.low80,
                         line.high80, line.identified, line.rows, line.mape, line.median, line.p90,
                         line.bias, line.text});
}

void FitOutput::add_accuracy(const std::string& device, const std::string& name,
                             const Accuracy& accuracy) {
  FitLine line{device, "", "accuracy", name, "", "", ""};
  line.rows = std::to_string(accuracy.n);
  line.mape = to_text(accuracy.mape);
  line.median = to_text(accuracy.median);
  line.p90 = to_text(accuracy.p90);
  line.bias = to_text(accuracy.bias);
  add(line);
}

void FitOutput::add_set(const std::string& device, const std::string& table,
                        const std::vector<std::pair<std::string, std::string>>& factors,
                        const FitEvidence& evidence, double interval_low, double interval_high,
                        const std::string& fitted_on, const std::string& held_out) {
  for (const auto& factor : factors) {
    const std::string& name = factor.first;
    FitLine line{device, table, "factor", name, factor.second, "", ""};
    const auto known = std::find_if(evidence.interval80.begin(), evidence.interval80.end(),
                                    [&](const auto& interval) { return interval.factor == name; });
    if (known != evidence.interval80.end()) {
      line.low80 = known->low;
      line.high80 = known->high;
      line.identified = known->is_identified ? "yes" : "no";
    }
    add(line);
  }
  add({device, table, "interval", "measured/predicted", "", to_text(interval_low),
       to_text(interval_high)});
  const auto tell = [&](const char* row, const char* name, const std::string& text) {
    FitLine line{device, table, row, name, "", "", ""};
    line.text = text;
    if (!text.empty()) add(line);
  };
  tell("evidence", "fitted on", fitted_on);
  tell("evidence", "held out", held_out);
  tell("evidence", "prior", evidence.prior);
  for (const std::string& text : evidence.residuals) tell("evidence", "residuals", text);
  for (const std::string& text : evidence.trade_offs) tell("trade_off", "", text);
}

void FitOutput::finish() const {
  if (format_ != Format::kTable) write_text("-", table_text(table_, format_, 0));
}

}  // namespace foretell
