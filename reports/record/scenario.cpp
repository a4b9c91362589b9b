#include "reports/record/scenario.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

template <class T>
bool holds(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value > 0;
  } else {
    return !value.empty();
  }
}

std::string cell_text(bool value) { return value ? "yes" : ""; }
std::string cell_text(const std::string& value) { return value; }
std::string cell_text(double value) { return to_text(value); }
std::string cell_text(int value) { return std::to_string(value); }
std::string cell_text(std::int64_t value) { return std::to_string(value); }

template <class Value>
std::string cell_text(const std::map<std::string, Value>& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values) words.push_back(name + "=" + cell_text(value));
  return join(words, "; ");
}

// The words of one value: of "1 copy|{} copies" those before the bar are for 1.
std::string worded(const char* words, const std::string& value) {
  const std::vector<std::string> forms = split(words, '|');
  return fmt::format(fmt::runtime(value == "1" ? forms.front() : forms.back()), value);
}

// A long list by its beginning and a hash that tells it from others.
std::string shortened(const std::string& value) {
  constexpr std::size_t kLongest = 60;
  constexpr std::size_t kShown = 24;
  if (value.size() <= kLongest || value.find(',') == std::string::npos) return value;
  return fmt::format("{}... ({} characters, {})", value.substr(0, kShown), value.size(),
                     content_hash(value));
}

template <class Value>
void add_words(const RequestField& field, const Value& value, std::vector<std::string>& parts) {
  parts.push_back(worded(field.words, shortened(cell_text(value))));
}

template <class Value>
void add_words(const RequestField& field, const std::map<std::string, Value>& values,
               std::vector<std::string>& parts) {
  for (const auto& [name, value] : values)
    parts.push_back(fmt::format(fmt::runtime(field.words), name, cell_text(value)));
}

bool is_said(const RequestField& field, const Scenario& scenario) {
  if (!is_stated(field, scenario) || field.said == FieldSaid::kToTellApart) return false;
  return field.said == FieldSaid::kAlways || cell_of(field, scenario) != "1";
}

std::string question_words(const Scenario& scenario) {
  std::vector<std::string> parts;
  for (const RequestField& field : request_fields()) {
    if (field.is_question && field.kind() == FieldKind::kCount && is_stated(field, scenario))
      parts.push_back(std::string(title_of(field)) + " " + cell_of(field, scenario));
  }
  return join(parts, ", ");
}

}  // namespace

FieldKind RequestField::kind() const {
  constexpr FieldKind kKinds[] = {FieldKind::kCount, FieldKind::kCount, FieldKind::kNumber,
                                  FieldKind::kFlag,  FieldKind::kText,  FieldKind::kPairs,
                                  FieldKind::kPairs};
  return kKinds[member.index()];
}

const std::vector<RequestField>& request_fields() {
  static const std::vector<RequestField> kFields = request_field_rows();
  return kFields;
}

const RequestField& request_field(std::string_view name) {
  for (const RequestField& field : request_fields()) {
    if (name == field.option || name == field.key) return field;
  }
  throw InternalError(__FILE__, __LINE__, "no field " + std::string(name));
}

bool is_stated(const RequestField& field, const Scenario& scenario) {
  return std::visit([&scenario](auto member) { return holds(scenario.*member); }, field.member);
}

std::int64_t count_of(const RequestField& field, const Scenario& scenario) {
  if (const auto* wide = std::get_if<std::int64_t Scenario::*>(&field.member))
    return scenario.**wide;
  return scenario.*std::get<int Scenario::*>(field.member);
}

void set_count(const RequestField& field, Scenario& scenario, std::int64_t value) {
  if (const auto* wide = std::get_if<std::int64_t Scenario::*>(&field.member)) {
    scenario.** wide = value;
  } else {
    scenario.*std::get<int Scenario::*>(field.member) = static_cast<int>(value);  // in its range
  }
}

std::string cell_of(const RequestField& field, const Scenario& scenario) {
  if (!is_stated(field, scenario)) return "";
  return std::visit([&scenario](auto member) { return cell_text(scenario.*member); }, field.member);
}

const char* title_of(const RequestField& field) {
  return *field.name == '\0' ? field.key : field.name;
}

std::string scenario_words(const Scenario& scenario, ScenarioWords which) {
  if (which == ScenarioWords::kQuestion) return question_words(scenario);
  std::vector<std::string> parts;
  for (const bool is_question : {true, false}) {
    for (const RequestField& field : request_fields()) {
      const bool named =
          which == ScenarioWords::kAll ? is_stated(field, scenario) : is_said(field, scenario);
      if (field.is_question != is_question || !named) continue;
      std::visit([&](auto member) { add_words(field, scenario.*member, parts); }, field.member);
    }
  }
  return join(parts, ", ");
}

}  // namespace foretell
