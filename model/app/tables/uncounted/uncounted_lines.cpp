#include "model/app/tables/uncounted/uncounted_lines.hpp"

#include <algorithm>

#include "calib/validate/table_kind.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"

namespace foretell {

std::optional<std::string> UncountedLines::reason(std::size_t line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return std::nullopt;
  return whys_[found->second];
}

std::string rules_file(const std::string& name) {
  return read_text_file(data_root() / "calib" / "validate" / name);
}

void each_rule(const std::string& text, const std::string& shown_as,
               const std::function<void(const Node& rule)>& take) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"rules"}, "");
  for (const Node& rule : root.required("rules", "").items) take(rule);
}

std::string table_of_rule(const Node& rule) {
  const Node& table = rule.required("table", "");
  const std::string& name = table.as_text("table");
  std::vector<std::string> known;
  for (const TableLayout& layout : table_layouts()) known.push_back(layout.name);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UserError(table.where() + ": " + unknown_name("kind of table", name, known).what());
  return name;
}

}  // namespace foretell
