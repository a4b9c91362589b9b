#include "model/app/command/calibrate/fit_part_rows.hpp"

#include "calib/validate/part.hpp"
#include "model/app/tables/uncounted/contradicted_times.hpp"
#include "model/base/errors.hpp"

namespace foretell {

FitPartRows::FitPartRows(const std::string& table, const std::vector<std::string>& where)
    : path_(table),
      table_(table),
      layout_(recognise_table(table_.header(), table)),
      part_(row_part(layout_, table_.header())),
      contradicted_(contradicted_times(table, layout_, table_.header())) {
  for (const std::string& condition : where) filter_.require(condition, table_.header());
}

bool FitPartRows::next(CsvRow& row) {
  while (table_.next(row)) {
    const auto is_fit = [this](const CsvRow& one) { return part_(one) == Part::kFit; };
    filter_.note_where(is_fit, row);
    if (!filter_.accepts(row) || !is_fit(row)) continue;
    if (contradicted_.reason(table_.line())) continue;
    ++rows_;
    return true;
  }
  return false;
}

void FitPartRows::check_any() const {
  if (rows_ > 0) return;
  const std::string where = filter_.text().empty() ? "" : " and " + filter_.text();
  throw UserError(path_ + ": no row is of the fit part" + where + filter_.unmet());
}

}  // namespace foretell
