// Values of a record as the words and numbers that every text of it uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/record/run_record.hpp"

namespace foretell {

inline constexpr const char* kNotApplicable = "-";

// A metric with its unit: "16.9 ms", "945.1", "12.3 GiB".
std::string metric_text(const SummaryMetric& metric, double value);
// The same of any number in base units: "s", "B", "J" and "W" with their prefixes, others as they
// are.
std::string quantity_text(double value, std::string_view unit);

std::string cost_cell(const std::optional<double>& usd);
// "15.2 ms to 18.7 ms": the 80 % interval of a field of the summary.
std::string interval_cell(const RunSummary& summary, const std::string& field,
                          std::string_view unit = "s");

// "inferences/s" -> "inferences"
std::string counted_thing(const std::string& unit);

// A purchase option in words: "reserved_1y" -> "reserved 1 year".
std::string price_words(const std::string& option);

}  // namespace foretell
