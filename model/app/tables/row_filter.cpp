#include "model/app/tables/row_filter.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kMaxNoted = 10'000;  // different cells of a column
constexpr std::size_t kMaxShown = 10;

std::string unknown_column(const std::string& name, const CsvRow& header) {
  return "unknown column '" + name +
         "'; there are: " + join(nearest_names(name, header, header.size()), ", ");
}

// Tables are read with names in lower case; a user types them as they are written.
CsvRow::const_iterator place_of(const CsvRow& header, const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::find(header.begin(), header.end(), to_lower(name)) : found;
}

}  // namespace

bool has_column(const CsvRow& header, const std::string& name) {
  return place_of(header, name) != header.end();
}

bool has_columns_of(const std::string& conditions, const CsvRow& header) {
  for (const std::string& condition : split(conditions, ',')) {
    const std::size_t equals = condition.find('=');
    if (equals != std::string::npos && !has_column(header, condition.substr(0, equals)))
      return false;
  }
  return true;
}

std::size_t find_column(const CsvRow& header, const std::string& name) {
  const auto found = place_of(header, name);
  if (found == header.end()) throw UserError(unknown_column(name, header));
  return static_cast<std::size_t>(found - header.begin());
}

void RowFilter::require(const std::string& conditions, const CsvRow& header) {
  const std::size_t known = conditions_.size();
  for (const std::string& part : split(conditions, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == 0 || (equals == std::string::npos && conditions_.size() == known)) {
      throw UserError("--where: '" + conditions +
                      "' is not understood; write COLUMN=VALUE or COLUMN=VALUE,VALUE");
    }
    if (part.empty()) {
      throw UserError("--where: '" + conditions +
                      "' has a value that is empty; leave the comma out, or write COLUMN= for rows "
                      "without a value");
    }
    if (equals == std::string::npos) {
      conditions_.back().values.insert(part);
      conditions_.back().text += "," + part;
    } else {
      const std::string name = part.substr(0, equals);
      if (!has_column(header, name))
        throw UserError("--where " + conditions + ": " + unknown_column(name, header));
      conditions_.push_back({find_column(header, name), {part.substr(equals + 1)}, part, name});
    }
  }
}

bool RowFilter::accepts(const CsvRow& row) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&row](const Condition& condition) {
    return condition.values.count(row[condition.column]) > 0;
  });
}

void RowFilter::note_where(const std::function<bool(const CsvRow&)>& is_open, const CsvRow& row) {
  const bool are_all_met = std::all_of(conditions_.begin(), conditions_.end(),
                                       [](const Condition& one) { return one.is_met; });
  if (are_all_met) return;
  try {
    if (!is_open(row)) return;
  } catch (const UserError&) {
    return;
  }
  for (Condition& condition : conditions_) {
    if (condition.is_met) continue;
    const std::string& cell = row[condition.column];
    condition.is_met = condition.values.count(cell) > 0;
    if (condition.others.size() < kMaxNoted) condition.others.insert(cell);
  }
}

std::string RowFilter::unmet() const {
  std::string text;
  for (const Condition& condition : conditions_) {
    if (condition.is_met || condition.others.empty()) continue;
    const std::vector<std::string> known(condition.others.begin(), condition.others.end());
    std::vector<std::string> shown = nearest_names(*condition.values.begin(), known, kMaxShown);
    for (std::string& value : shown) value = value.empty() ? "no value" : value;
    text += "; no row has " + condition.text + ": its values are " + join(shown, ", ");
    if (known.size() > shown.size())
      text += " and " + std::to_string(known.size() - shown.size()) + " more";
  }
  return text;
}

std::string RowFilter::text() const {
  std::vector<std::string> texts;
  for (const Condition& condition : conditions_) texts.push_back(condition.text);
  return join(texts, ", ");
}

}  // namespace foretell
