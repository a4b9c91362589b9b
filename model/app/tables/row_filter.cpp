#include "model/app/tables/row_filter.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

bool has_column(const CsvRow& header, const std::string& name) {
  return std::find(header.begin(), header.end(), name) != header.end();
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
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) throw unknown_name("column", name, header);
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
      conditions_.push_back(
          {find_column(header, part.substr(0, equals)), {part.substr(equals + 1)}, part});
    }
  }
}

bool RowFilter::accepts(const CsvRow& row) const {
  return std::all_of(conditions_.begin(), conditions_.end(), [&row](const Condition& condition) {
    return condition.values.count(row[condition.column]) > 0;
  });
}

std::string RowFilter::text() const {
  std::vector<std::string> texts;
  for (const Condition& condition : conditions_) texts.push_back(condition.text);
  return join(texts, ", ");
}

}  // namespace foretell
