#include "calib/fitted/shared/factor_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr const char* kInterval = "interval80";

// Texts of a table that stand alone, in the order of a file.
struct NamedText {
  const char* key;
  std::string& (*of)(FactorTable&);
};

const std::vector<NamedText>& texts_before_factors() {
  static const std::vector<NamedText> kTexts = {
      {"version", [](FactorTable& table) -> std::string& { return table.version; }},
      {"provenance", [](FactorTable& table) -> std::string& { return table.evidence.provenance; }},
      {"prior", [](FactorTable& table) -> std::string& { return table.evidence.prior; }},
      {"fitted_on", [](FactorTable& table) -> std::string& { return table.fitted_on; }},
      {"held_out", [](FactorTable& table) -> std::string& { return table.held_out; }}};
  return kTexts;
}

const std::vector<NamedText>& texts_after_factors() {
  static const std::vector<NamedText> kTexts = {
      {"interval_from",
       [](FactorTable& table) -> std::string& { return table.evidence.interval_from; }},
      {"starts", [](FactorTable& table) -> std::string& { return table.evidence.starts; }}};
  return kTexts;
}

std::vector<std::string> table_keys() {
  std::vector<std::string> keys = {"table",  "interval80", "intervals", "correlation", "like",
                                   "common", "usual",      "factors",   "trade_offs",  "residuals"};
  for (const auto* texts : {&texts_before_factors(), &texts_after_factors()}) {
    for (const NamedText& text : *texts) keys.emplace_back(text.key);
  }
  return keys;
}

std::vector<std::string> texts_of(const Node& node, const char* key) {
  const Node* list = node.find(key);
  return list == nullptr ? std::vector<std::string>() : item_texts(*list, key);
}

bool is_pair(const Node& node) { return node.is_list() && node.items.size() == 2; }

std::optional<FactorParent> read_parent(const Node& table) {
  const Node* like = table.find("like");
  if (like == nullptr) return std::nullopt;
  like->only_keys({"device", "table", "without"}, "like");
  return FactorParent{like->required("device", "like").as_text("like.device"),
                      like->required("table", "like").as_text("like.table"),
                      texts_of(*like, "without")};
}

// `key: yes` of one of two words.
bool read_word(const Node& node, const char* key, const char* no, const char* yes, bool otherwise) {
  const Node* found = node.find(key);
  if (found == nullptr) return otherwise;
  const std::string& text = found->as_text(key);
  if (text == yes) return true;
  if (text == no) return false;
  throw UserError(
      fmt::format("{}: {}: '{}' is neither {} nor {}", found->where(), key, text, yes, no));
}

class FactorReader {
 public:
  FactorReader(FactorTable& table, const FactorRules& rules, Problems& problems)
      : table_(table), rules_(rules), problems_(problems) {}

  void read(const Node& factors) {
    if (!factors.is_map()) {
      throw UserError(fmt::format("{}: factors: expected a mapping of factors; here is {}",
                                  factors.where(), describe(factors.kind)));
    }
    read_group(factors, "");
    if (!rules_.needs_all) return;
    for (const Field& field : rules_.fields->all()) {
      if (field.is_optional || named_.count(field.path) > 0) continue;
      problems_.add(factors, field.path, "missing; allowed is " + field.allowed());
    }
  }

 private:
  // Values by a key of their own, such as a release or a type of data.
  static bool is_group(const Node& node) {
    return node.is_map() && !node.entries.empty() &&
           std::all_of(node.entries.begin(), node.entries.end(),
                       [](const MapEntry& entry) { return entry.value.is_map(); });
  }

  void read_group(const Node& map, const std::string& prefix) {
    for (const MapEntry& entry : map.entries) {
      const std::string path = prefix + entry.key;
      problems_.collect([&] {
        if (is_group(entry.value)) return read_group(entry.value, path + ".");
        read_factor(entry.value, path);
      });
    }
  }

  void read_factor(const Node& node, const std::string& path) {
    named_.insert(path);
    const Node& value = node.required("value", path);
    problems_.collect([&] {
      node.only_keys({"value", kInterval, "identified", "unit", "why"}, path);
    });
    FactorInterval interval{path, "", "", read_word(node, "identified", "no", "yes", true)};
    if (const Node* bounds = node.find(kInterval)) {
      if (!is_pair(*bounds)) {
        problems_.add(*bounds, path + "." + kInterval, "expected two values: [low, high]");
      } else {
        interval.low = bounds->items[0].as_text(path);
        interval.high = bounds->items[1].as_text(path);
      }
    }
    if (const Field* field = find(path, node)) take(Field(*field), node, interval);
    add_factor(table_, value.as_text(path), std::move(interval),
               {text_or_none(node, "why"), text_or_none(node, "unit")});
  }

  const Field* find(const std::string& path, const Node& at) const {
    if (rules_.fields == nullptr) return nullptr;
    const Field* field = nullptr;
    try {
      field = rules_.fields->find(path);
    } catch (const UserError& error) {  // a key that an open table refuses
      problems_.add(at, path, error.what());
      return nullptr;
    }
    if (field == nullptr) {
      const std::string nearest = rules_.fields->nearest(path);
      problems_.add(at, path,
                    "no such factor" + (nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
    }
    return field;
  }

  // The bounds have to be allowed as the value is, which the field has afterwards.
  void take(const Field& field, const Node& node, const FactorInterval& interval) {
    if (!interval.low.empty()) {
      const Node& bounds = *node.find(kInterval);
      read_plain_value(field, bounds.items[0], problems_);
      const double low = field.has_value() ? field.number() : 0;
      read_plain_value(field, bounds.items[1], problems_);
      if (field.has_value() && low > field.number()) {
        problems_.add(bounds, field.path + "." + kInterval, "the low end is above the high end");
      }
    }
    read_plain_value(field, *node.find("value"), problems_);
  }

  FactorTable& table_;
  const FactorRules& rules_;
  Problems& problems_;
  std::set<std::string> named_;
};

FactorTable read_table(const Node& node, bool is_common, const FactorRules& rules,
                       Problems& problems) {
  FactorTable table;
  table.table = node.required("table", "tables").as_text("table");
  node.only_keys(table_keys(), "tables");
  node.required("fitted_on", "tables");
  if (!is_common) {
    for (const std::string& key : rules.required) node.required(key, "tables");
  }
  for (const auto* texts : {&texts_before_factors(), &texts_after_factors()}) {
    for (const NamedText& text : *texts) text.of(table) = text_or_none(node, text.key);
  }
  if (const Node* interval = node.find(kInterval)) {
    std::tie(table.interval_low, table.interval_high) = read_interval80(*interval);
  }
  if (const Node* intervals = node.find("intervals")) {
    for (const MapEntry& kind : intervals->entries) {
      table.intervals[kind.key] = read_interval80(kind.value);
    }
  }
  if (const Node* correlation = node.find("correlation")) {
    table.correlation = number_at(*correlation, "correlation", -1, 1);
  }
  FactorReader(table, rules, problems).read(node.required("factors", "tables"));
  table.stated = {table.factors, read_parent(node),
                  read_word(node, "common", "false", "true", false), texts_of(node, "usual")};
  table.evidence.trade_offs = texts_of(node, "trade_offs");
  table.evidence.residuals = texts_of(node, "residuals");
  return table;
}

// In double quotes, what would end them escaped.
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return '"' + escaped + '"';
}

void add_texts(std::string& text, const FactorTable& table, const std::vector<NamedText>& texts) {
  FactorTable copy = table;
  for (const NamedText& named : texts) {
    const std::string& value = named.of(copy);
    if (!value.empty()) text += fmt::format("    {}: {}\n", named.key, quoted(value));
  }
}

void add_list(std::string& text, const char* key, const std::vector<std::string>& items) {
  if (items.empty()) return;
  text += fmt::format("    {}:\n", key);
  for (const std::string& item : items) text += "      - " + quoted(item) + "\n";
}

std::string factor_text(const FactorTable& table, const std::string& name,
                        const std::string& value) {
  std::string text = "{value: " + value;
  for (const FactorInterval& interval : table.evidence.interval80) {
    if (interval.factor != name) continue;
    if (!interval.low.empty()) {
      text += fmt::format(", interval80: [{}, {}]", interval.low, interval.high);
    }
    if (!interval.is_identified) text += ", identified: no";
  }
  if (const auto remark = table.remarks.find(name); remark != table.remarks.end()) {
    if (!remark->second.unit.empty()) text += ", unit: " + remark->second.unit;
    if (!remark->second.why.empty()) text += ", why: " + quoted(remark->second.why);
  }
  return text + "}\n";
}

// In the order they come, those of one group ("sdk_engine_time.2.9") together.
std::string factors_text(const FactorTable& table) {
  const FactorTexts& factors = table.is_whole() ? table.factors : table.stated.own;
  if (factors.empty()) return "    factors: {}\n";
  std::vector<std::pair<std::string, std::string>> entries;  // top name, text
  for (const auto& [name, value] : factors) {
    const std::size_t dot = name.find('.');
    const std::string top = name.substr(0, dot);
    const std::string body = factor_text(table, name, value);
    if (dot == std::string::npos) {
      entries.emplace_back(top, "      " + top + ": " + body);
      continue;
    }
    auto known = std::find_if(entries.begin(), entries.end(),
                              [&](const auto& entry) { return entry.first == top; });
    if (known == entries.end()) {
      known = entries.insert(entries.end(), {top, "      " + top + ":\n"});
    }
    const std::string key = name.substr(dot + 1);
    const bool is_number = std::isdigit(static_cast<unsigned char>(key.front())) != 0;
    known->second += "        " + (is_number ? quoted(key) : key) + ": " + body;
  }
  std::string text = "    factors:\n";
  for (const auto& entry : entries) text += entry.second;
  return text;
}

std::string parent_text(const std::optional<FactorParent>& like) {
  if (!like) return "";
  std::string without;
  if (!like->without.empty()) {
    without = fmt::format(", without: [{}]", fmt::join(like->without, ", "));
  }
  return fmt::format("    like: {{device: {}, table: {}{}}}\n", like->device, like->table, without);
}

std::string table_text(const FactorTable& table) {
  std::string text = fmt::format("  - table: {}\n", table.table);
  add_texts(text, table, texts_before_factors());
  if (table.interval_high > 0) {
    text += fmt::format("    {}: [{:.3f}, {:.3f}]\n", kInterval, table.interval_low,
                        table.interval_high);
  }
  if (!table.intervals.empty()) text += "    intervals:\n";
  for (const auto& [kind, interval] : table.intervals) {
    text +=
        fmt::format("      {}: [{:.3f}, {:.3f}]\n", quoted(kind), interval.first, interval.second);
  }
  if (table.correlation) text += fmt::format("    correlation: {}\n", *table.correlation);
  text += parent_text(table.stated.like);
  if (table.stated.has_common) text += "    common: true\n";
  if (!table.stated.usual.empty()) {
    text += fmt::format("    usual: [{}]\n", fmt::join(table.stated.usual, ", "));
  }
  text += factors_text(table);
  add_list(text, "trade_offs", table.evidence.trade_offs);
  add_texts(text, table, texts_after_factors());
  add_list(text, "residuals", table.evidence.residuals);
  return text;
}

}  // namespace

FactorFile parse_factor_file(const std::string& text, const std::string& shown_as,
                             const FactorRules& rules) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"device", "split", "machine", "tables"}, "");
  FactorFile file;
  file.device = root.required("device", "").as_text("device");
  const bool is_common = file.device == kCommonDevice;
  if (!is_common) file.split = root.required("split", "").as_text("split");
  if (const Node* machine = root.find("machine")) {
    for (const MapEntry& fact : machine->entries) {
      file.machine[fact.key] = fact.value.as_text("machine." + fact.key);
    }
  }
  const Node& tables = root.required("tables", "");
  if (!tables.is_list()) {
    throw UserError(fmt::format("{}: tables: expected a list of tables; here is {}", tables.where(),
                                describe(tables.kind)));
  }
  Problems problems;
  std::set<std::string> names;
  for (const Node& node : tables.items) {
    problems.collect([&] {
      FactorTable table = read_table(node, is_common, rules, problems);
      if (!names.insert(table.table).second) problems.add(node, table.table, "stated before");
      file.tables.push_back(std::move(table));
    });
  }
  problems.throw_if_any();
  return file;
}

FactorFile parse_factor_table(const std::string& text, const std::string& shown_as,
                              const FactorRules& rules) {
  FactorFile file = parse_factor_file(text, shown_as, rules);
  if (file.tables.size() == 1) return file;
  throw UserError(
      fmt::format("{}: tables: expected one; here are {}", shown_as, file.tables.size()));
}

std::string factor_file_text(const FactorFile& file) {
  std::string text =
      "# Written by `foretell calibrate fit`; do not edit. docs/configuration.md has the format.\n";
  text += "device: " + file.device + "\n";
  if (!file.split.empty()) text += "split: " + quoted(file.split) + "\n";
  if (!file.machine.empty()) text += "machine:\n";
  for (const auto& [fact, value] : file.machine) text += "  " + fact + ": " + quoted(value) + "\n";
  text += "tables:\n";
  for (const FactorTable& table : file.tables) text += table_text(table);
  return text;
}

void add_factor(FactorTable& table, const std::string& value, FactorInterval interval,
                FactorRemark remark) {
  table.factors.emplace_back(interval.factor, value);
  if (!remark.why.empty() || !remark.unit.empty()) {
    table.remarks[interval.factor] = std::move(remark);
  }
  if (!interval.low.empty() || !interval.is_identified) {
    table.evidence.interval80.push_back(std::move(interval));
  }
}

void put_factor_table(FactorFile& file, FactorTable table) {
  const auto known = std::find_if(file.tables.begin(), file.tables.end(),
                                  [&](const auto& other) { return other.table == table.table; });
  if (known == file.tables.end()) {
    file.tables.push_back(std::move(table));
  } else {
    *known = std::move(table);
  }
}

std::map<std::string, std::string> interval_texts(const FitEvidence& evidence) {
  std::map<std::string, std::string> texts;
  for (const FactorInterval& interval : evidence.interval80) {
    if (interval.low.empty()) continue;
    texts[interval.factor] = interval.low + " .. " + interval.high;
  }
  return texts;
}

std::string trade_off_text(const std::string& first, const std::string& second,
                           double correlation) {
  return fmt::format("{} and {}: {:+.2f}", first, second, correlation);
}

std::pair<double, double> read_interval80(const Node& node) {
  if (!is_pair(node)) {
    throw UserError(node.where() + ": interval80: expected two numbers: [low, high]");
  }
  constexpr double kMaxRatio = 100;
  return {number_at(node.items[0], kInterval, 0, kMaxRatio),
          number_at(node.items[1], kInterval, 0, kMaxRatio)};
}

}  // namespace foretell
