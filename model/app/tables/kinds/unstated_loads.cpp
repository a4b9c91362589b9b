#include "model/app/tables/kinds/unstated_loads.hpp"

#include <fmt/format.h>

#include "calib/validate/left_out_rows.hpp"
#include "model/app/tables/uncounted/uncounted_lines.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr double kLeastWait = 1e-3;  // answers
constexpr double kLongestWait = 1e3;

}  // namespace

UnstatedLoads UnstatedLoads::parse(const std::string& text, const std::string& shown_as,
                                   const TableLayout& layout, const CsvRow& header) {
  UnstatedLoads loads;
  const bool is_served =
      layout.kind == TableKind::kServing && has_columns_of("ttft_ms=,tpot_ms=,osl=", header);
  if (is_served) {
    loads.ttft_ = find_column(header, "ttft_ms");
    loads.tpot_ = find_column(header, "tpot_ms");
    loads.osl_ = find_column(header, "osl");
  }
  each_rule(text, shown_as, [&](const Node& item) {
    item.only_keys({"where", "waits_above", "source", "why"}, "rules");
    const std::string& where = item.required("where", "").as_text("where");
    const double above = required_number(item, "waits_above", kLeastWait, kLongestWait);
    const std::string& source = item.required("source", "").as_text("source");
    const std::string& why = item.required("why", "").as_text("why");
    if (!is_served || !has_columns_of(where, header)) return;
    Rule rule;
    rule.rows.require(where, header);
    rule.waits_above = above;
    rule.why = fmt::format(
        "{}: a first token that takes more than {:g} times as long as the others: {} ({})", where,
        above, why, source);
    loads.rules_.push_back(std::move(rule));
  });
  return loads;
}

UnstatedLoads UnstatedLoads::load(const TableLayout& layout, const CsvRow& header) {
  const std::string file = "unstated_loads.yaml";
  return parse(rules_file(file), file, layout, header);
}

std::optional<std::string> UnstatedLoads::reason(const CsvRow& row) const {
  if (rules_.empty()) return std::nullopt;
  const auto ttft = read_measurement("ttft_ms", row[ttft_]);
  const auto tpot = read_measurement("tpot_ms", row[tpot_]);
  const auto tokens = read_measurement("osl", row[osl_]);
  if (!ttft || !tpot || !tokens) return std::nullopt;
  const double others = *tpot * (*tokens - 1);
  for (const Rule& rule : rules_) {
    if (*ttft > rule.waits_above * others && rule.rows.accepts(row)) return rule.why;
  }
  return std::nullopt;
}

}  // namespace foretell
