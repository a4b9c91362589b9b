#include "model/config/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of fields in watts say so: there a plain number is one of watts.
double number_in(std::string_view text, Dimension dimension) {
  if (dimension == dimension_of<Watts>::value) {
    const std::optional<AnyQuantity> plain = parse_any_quantity(text);
    if (plain && plain->dimension == Dimension{}) return plain->value;
  }
  return parse_quantity(text, dimension);
}

}  // namespace

void Field::check_number(double value, std::string_view given) const {
  if (std::isfinite(value) && value >= min && value <= max) return;
  throw UserError(fmt::format("{} is outside {}", given, allowed()));
}

void Field::check_text(const std::string& value) const {
  if (value.empty()) throw UserError("the value is empty");
  if (choices.empty() || contains(choices, value)) return;
  const std::string nearest = nearest_name(value, choices);
  throw UserError(fmt::format("'{}' is not one of: {}{}", value, join(choices, ", "),
                              nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
}

void Field::assign(std::string_view text) const {
  if (is_list) return assign_list({std::string(trim(text))});
  if (is_text) {
    const std::string value(trim(text));
    check_text(value);
    set_text_(value);
    return;
  }
  const double value =
      is_whole ? static_cast<double>(parse_integer(text)) : number_in(text, dimension);
  check_number(value, fmt::format("'{}'", trim(text)));
  set_number_(value);
}

void Field::assign_list(std::vector<std::string> texts) const {
  FORETELL_CHECK(is_list, path + " is no list");
  for (const std::string& text : texts) check_text(text);
  set_list_(std::move(texts));
}

void Field::check() const {
  if (!has_value()) return;
  if (is_text) {
    check_text(get_text_());
    return;
  }
  const double value = get_number_();
  check_number(value, std::isfinite(value) ? format_quantity(value, dimension)
                                           : "a number that is not finite");
}

bool Field::has_value() const { return !has_value_ || has_value_(); }

double Field::number() const {
  FORETELL_CHECK(!is_text && has_value(), path + " has no number");
  return get_number_();
}

std::string Field::text() const {
  if (!has_value()) return "";
  return is_text ? get_text_() : format_quantity(get_number_(), dimension);
}

std::string Field::allowed() const {
  if (is_list) return "list of texts";
  if (is_text) return choices.empty() ? "text" : join(choices, ", ");
  return fmt::format("{}{} .. {}", is_whole ? "whole number " : "", format_quantity(min, dimension),
                     format_quantity(max, dimension));
}

std::string FieldList::join_path(std::string_view name) const {
  return prefix_.empty() ? std::string(name) : fmt::format("{}.{}", prefix_, name);
}

Field& FieldList::number_field(std::string_view name, std::string_view meaning, Dimension dimension,
                               double min, double max, std::function<double()> get,
                               std::function<void(double)> set) {
  Field& field = fields_.emplace_back();
  field.path = join_path(name);
  field.meaning = meaning;
  field.dimension = dimension;
  field.min = min;
  field.max = max;
  field.get_number_ = std::move(get);
  field.set_number_ = std::move(set);
  return field;
}

void FieldList::value(std::string_view name, double& member, Range<double> range,
                      std::string_view meaning) {
  number_field(
      name, meaning, Dimension{}, range.min, range.max, [&member] { return member; },
      [&member](double v) { member = v; });
}

void FieldList::value(std::string_view name, Watts& member, Range<Watts> range,
                      std::string_view meaning) {
  number_field(
      name, meaning, dimension_of<Watts>::value, range.min.value(), range.max.value(),
      [&member] { return member.value(); }, [&member](double v) { member = Watts(v); });
}

void FieldList::count(std::string_view name, int& member, Range<int> range,
                      std::string_view meaning) {
  Field& field = number_field(
      name, meaning, Dimension{}, range.min, range.max,
      [&member] { return static_cast<double>(member); },
      [&member](double v) { member = static_cast<int>(v); });
  field.is_whole = true;
}

void FieldList::count(std::string_view name, std::int64_t& member, Range<std::int64_t> range,
                      std::string_view meaning) {
  Field& field = number_field(
      name, meaning, Dimension{}, static_cast<double>(range.min), static_cast<double>(range.max),
      [&member] { return static_cast<double>(member); },
      [&member](double v) { member = static_cast<std::int64_t>(v); });
  field.is_whole = true;
}

Field& FieldList::text_field(std::string_view name, std::string_view meaning,
                             std::vector<std::string> choices, std::function<std::string()> get,
                             std::function<void(const std::string&)> set) {
  Field& field = fields_.emplace_back();
  field.path = join_path(name);
  field.meaning = meaning;
  field.is_text = true;
  field.choices = std::move(choices);
  field.get_text_ = std::move(get);
  field.set_text_ = std::move(set);
  return field;
}

void FieldList::text(std::string_view name, std::string& member, std::vector<std::string> choices,
                     std::string_view meaning) {
  text_field(
      name, meaning, std::move(choices), [&member] { return member; },
      [&member](const std::string& v) { member = v; });
}

void FieldList::flag(std::string_view name, bool& member, std::string_view meaning) {
  choice<bool>(name, member, {{"true", true}, {"false", false}}, meaning);
}

void FieldList::texts(std::string_view name, std::vector<std::string>& members,
                      std::string_view meaning) {
  Field& field = text_field(name, meaning, {}, [&members] { return join(members, ", "); }, {});
  field.is_list = true;
  field.set_list_ = [&members](std::vector<std::string> v) { members = std::move(v); };
  make_optional([&members] { return !members.empty(); });
}

void FieldList::optional_text(std::string_view name, std::string& member,
                              std::vector<std::string> choices, std::string_view meaning) {
  text(name, member, std::move(choices), meaning);
  fields_.back().is_optional = true;
  fields_.back().has_value_ = [&member] { return !member.empty(); };
}

void FieldList::method(std::string_view name, std::string& member, std::string_view meaning) {
  optional_text(name, member, {}, meaning);
  fields_.back().is_method = true;
}

void FieldList::optional_count(std::string_view name, int& member, Range<int> range,
                               std::string_view meaning) {
  count(name, member, range, meaning);
  make_optional([&member] { return member != 0; });
}

void FieldList::make_optional(std::function<bool()> has_value) {
  fields_.back().is_optional = true;
  fields_.back().has_value_ = std::move(has_value);
}

void FieldList::add_entry(const std::string& path, std::map<std::string, double>& members,
                          const std::string& key, Dimension dimension, double min, double max,
                          double unit, std::string_view meaning) {
  Field& field = fields_.emplace_back();
  field.path = path + "." + key;
  field.meaning = meaning;
  field.dimension = dimension;
  field.is_optional = true;
  field.min = min;
  field.max = max;
  field.get_number_ = [&members, key, unit] { return members.at(key) * unit; };
  field.set_number_ = [&members, key, unit](double v) { members[key] = v / unit; };
  field.has_value_ = [&members, key] { return members.count(key) != 0; };
}

void FieldList::table_fields(std::string_view name, std::map<std::string, double>& members,
                             const std::vector<std::string>& keys, Dimension dimension, double min,
                             double max, double unit, std::string_view meaning) {
  const std::string path = join_path(name);
  for (const std::string& key : keys) {
    add_entry(path, members, key, dimension, min, max, unit, meaning);
  }
}

void FieldList::open_table(std::string_view name, std::map<std::string, double>& members,
                           std::function<void(const std::string&)> check_key, Range<double> range,
                           std::string_view meaning) {
  open_tables_.push_back(
      {join_path(name), &members, std::move(check_key), range, std::string(meaning)});
  for (const auto& entry : members) {
    add_entry(open_tables_.back().path, members, entry.first, Dimension{}, range.min, range.max, 1,
              meaning);
  }
}

const Field* FieldList::find(std::string_view path) {
  for (const Field& field : fields_) {
    if (field.path == path) return &field;
  }
  for (const OpenTable& table : open_tables_) {
    if (!starts_with(path, table.path + ".")) continue;
    const std::string key(path.substr(table.path.size() + 1));
    table.check_key(key);
    add_entry(table.path, *table.members, key, Dimension{}, table.range.min, table.range.max, 1,
              table.meaning);
    return &fields_.back();
  }
  return nullptr;
}

const Field& FieldList::at(std::string_view path) {
  if (const Field* field = find(path)) return *field;
  if (is_group(path)) {
    throw UserError(fmt::format("{}: a group, not a parameter; in it are: {}", path,
                                join(children(path), ", ")));
  }
  const std::string near = nearest(path);
  throw UserError(fmt::format(
      "{}: no such parameter{}", path,
      near.empty() ? "; `foretell show` of the system lists them" : "; nearest is '" + near + "'"));
}

bool FieldList::is_group(std::string_view path) const {
  const std::string prefix = std::string(path) + ".";
  const auto inside = [&prefix](const auto& entry) { return starts_with(entry.path, prefix); };
  if (std::any_of(fields_.begin(), fields_.end(), inside)) return true;
  return std::any_of(open_tables_.begin(), open_tables_.end(),
                     [&](const OpenTable& t) { return t.path == path || inside(t); });
}

std::vector<std::string> FieldList::children(std::string_view group) const {
  const std::string prefix = group.empty() ? "" : std::string(group) + ".";
  std::vector<std::string> names;
  const auto add = [&](const std::string& path) {
    if (!starts_with(path, prefix)) return;
    // Keys of tables may contain dots ("2.9"), so only the first piece is a name.
    const std::string name = split(path.substr(prefix.size()), '.').front();
    if (!contains(names, name)) names.push_back(name);
  };
  for (const Field& field : fields_) add(field.path);
  for (const OpenTable& table : open_tables_) add(table.path);
  return names;
}

std::string FieldList::nearest(std::string_view path) const {
  std::vector<std::string> paths;
  for (const Field& field : fields_) paths.push_back(field.path);
  // The right name at the wrong place: "hbm.bandwidth" for "device.hbm.bandwidth".
  const auto ending_in = [&paths](std::string_view tail) -> std::string {
    for (const std::string& candidate : paths) {
      if (candidate == tail || ends_with(candidate, "." + std::string(tail))) return candidate;
    }
    return "";
  };
  if (std::string near = ending_in(path); !near.empty()) return near;
  if (std::string near = nearest_name(path, paths); !near.empty()) return near;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    path.remove_prefix(dot + 1);
    if (std::string near = ending_in(path); !near.empty()) return near;
  }
  return "";
}

}  // namespace foretell
