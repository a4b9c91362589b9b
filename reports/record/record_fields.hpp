// The fields of the structs of records, each stated once: JSON is written and read by walking them.
// Only the files that know the JSON library include this.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "reports/record/json_reader.hpp"

namespace foretell {

enum class Written {
  kAlways,
  kAlwaysOfLate,  // records of earlier versions may lack it
  kIfAny          // left out when it is empty or zero
};

template <class Struct, class T>
struct RecordField {
  const char* name;
  T Struct::*member;
  Written written;
  bool (*applies)(const Struct&);  // null: to every record
};

template <class Struct, class T>
constexpr RecordField<Struct, T> record_field(const char* name, T Struct::*member,
                                              Written written = Written::kAlways,
                                              bool (*applies)(const Struct&) = nullptr) {
  return {name, member, written, applies};
}

// To be specialised: `static constexpr auto kAll = std::make_tuple(record_field(…), …);` in the
// order of the record.
template <class Struct>
struct RecordFields;

// A number as a kind of record writes it.
using NumberJson = RecordJson (*)(double);

// Values that kIfAny may leave out.
template <class T>
bool is_empty_value(const T& /*value*/) {
  return false;
}
inline bool is_empty_value(double value) { return value == 0; }
inline bool is_empty_value(const std::string& value) { return value.empty(); }
inline bool is_empty_value(const std::optional<double>& value) { return !value.has_value(); }

// How a type stands in JSON, both ways. To be specialised for those that are not lists of fields.
template <class T, class = void>
struct RecordValue {
  static RecordJson write(const T& value, NumberJson /*number*/) { return value; }
  static void read(const RecordReader& in, const char* key, T& value) { in.get(key, value); }
};

template <class Struct>
struct RecordValue<Struct, std::void_t<decltype(RecordFields<Struct>::kAll)>> {
  static RecordJson write(const Struct& from, NumberJson number) {
    RecordJson out = RecordJson::object();
    const auto add = [&](const auto& field) {
      const auto& value = from.*field.member;
      const bool is_left_out = (field.applies != nullptr && !field.applies(from)) ||
                               (field.written == Written::kIfAny && is_empty_value(value));
      using Value = std::decay_t<decltype(value)>;
      if (!is_left_out) out[field.name] = RecordValue<Value>::write(value, number);
    };
    std::apply([&](const auto&... field) { (add(field), ...); }, RecordFields<Struct>::kAll);
    return out;
  }
  static void read_members(const RecordReader& in, Struct& into) {
    const auto take = [&](const auto& field) {
      auto& value = into.*field.member;
      using Value = std::decay_t<decltype(value)>;
      const bool must_be_there = field.written == Written::kAlways && field.applies == nullptr &&
                                 !std::is_convertible_v<std::nullopt_t, Value>;
      if (must_be_there || in.has(field.name)) RecordValue<Value>::read(in, field.name, value);
    };
    std::apply([&](const auto&... field) { (take(field), ...); }, RecordFields<Struct>::kAll);
  }
  static void read(const RecordReader& in, const char* key, Struct& into) {
    read_members(in.child(key), into);
  }
};

template <>
struct RecordValue<double> {
  static RecordJson write(double value, NumberJson number) { return number(value); }
  static void read(const RecordReader& in, const char* key, double& value) { in.get(key, value); }
};

template <>
struct RecordValue<Interval> {
  static RecordJson write(const Interval& value, NumberJson number) {
    return RecordJson::array({number(value.low), number(value.high)});
  }
  static void read(const RecordReader& in, const char* key, Interval& value) {
    std::vector<double> bounds;
    in.get(key, bounds);
    if (bounds.size() != 2) in.fail(std::string(key) + ": expected [low, high]");
    value = {bounds[0], bounds[1]};
  }
};

template <class T>
struct RecordValue<std::optional<T>> {
  static RecordJson write(const std::optional<T>& value, NumberJson number) {
    return value ? RecordValue<T>::write(*value, number) : RecordJson(nullptr);
  }
  static void read(const RecordReader& in, const char* key, std::optional<T>& value) {
    if (in.has(key)) RecordValue<T>::read(in, key, value.emplace());
  }
};

template <class T>
struct RecordValue<std::vector<T>> {
  static RecordJson write(const std::vector<T>& values, NumberJson number) {
    RecordJson out = RecordJson::array();
    for (const T& value : values) out.push_back(RecordValue<T>::write(value, number));
    return out;
  }
  static void read(const RecordReader& in, const char* key, std::vector<T>& values) {
    if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      for (const RecordReader& one : in.list(key)) {
        RecordValue<T>::read_members(one, values.emplace_back());
      }
    } else {
      in.get(key, values);
    }
  }
};

template <class T>
struct RecordValue<std::map<std::string, T>> {
  static RecordJson write(const std::map<std::string, T>& values, NumberJson number) {
    RecordJson out = RecordJson::object();
    for (const auto& [name, value] : values) out[name] = RecordValue<T>::write(value, number);
    return out;
  }
  static void read(const RecordReader& in, const char* key, std::map<std::string, T>& values) {
    const RecordReader inner = in.child(key);
    for (const std::string& name : inner.names()) {
      RecordValue<T>::read(inner, name.c_str(), values[name]);
    }
  }
};

// For records whose numbers are never NaN or infinite: as the library writes them ("8.0").
inline RecordJson plain_number(double value) {
  FORETELL_CHECK(std::isfinite(value), "a record holds finite numbers alone");
  return value;
}

template <class T>
RecordJson record_json(const T& value, NumberJson number = record_number) {
  return RecordValue<T>::write(value, number);
}

}  // namespace foretell
