// Values of a record as the words and numbers that every text of it uses.
#pragma once

#include <optional>
#include <string>

#include "reports/record/run_record.hpp"

namespace foretell {

inline constexpr const char* kNotApplicable = "-";

std::string cost_cell(const std::optional<double>& usd);
std::string time_cell(const std::optional<double>& seconds);
// "15.2 ms to 18.7 ms": the 80 % interval of a field of the summary.
std::string interval_cell(const RunSummary& summary, const std::string& field);

// "inferences/s" -> "inferences"
std::string counted_thing(const std::string& unit);

// A purchase option in words: "reserved_1y" -> "reserved 1 year".
std::string price_words(const std::string& option);

}  // namespace foretell
