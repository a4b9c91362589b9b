// Numbers and fields of the JSON of records, both ways. Only the files that know the JSON library
// include this.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

using RecordJson = nlohmann::ordered_json;

inline constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

// Whole numbers without a fraction ("8", not "8.0"), everything else in shortest form.
inline RecordJson record_number(double value) {
  if (std::trunc(value) == value && std::abs(value) < kExactIntegers) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

// One JSON object of the input; remembers where it stands for the messages.
class RecordReader {
 public:
  RecordReader(const RecordJson& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) fail("expected an object");
  }

  bool has(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && !found->is_null();
  }

  RecordReader child(const char* key) const { return RecordReader(field(key), where_ + "." + key); }

  std::vector<RecordReader> list(const char* key) const {
    const RecordJson& array = field(key);
    if (!array.is_array()) fail(std::string(key) + ": expected a list");
    std::vector<RecordReader> readers;
    for (std::size_t i = 0; i < array.size(); ++i) {
      readers.emplace_back(array[i], where_ + "." + key + "[" + std::to_string(i) + "]");
    }
    return readers;
  }

  template <class T>
  void get(const char* key, T& value) const {
    convert(field(key), key, value);
  }

  // A field that may be missing or null; `value` keeps its content then.
  template <class T>
  void get_optional(const char* key, T& value) const {
    const auto found = json_.find(key);
    if (found != json_.end() && !found->is_null()) convert(*found, key, value);
  }

  // The names of its fields, in their order.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& item : json_.items()) names.push_back(item.key());
    return names;
  }

  // UserError that says where the object stands.
  [[noreturn]] void fail(const std::string& what) const { throw UserError(where_ + ": " + what); }

 private:
  const RecordJson& field(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) fail(std::string("no field '") + key + "'");
    return *found;
  }

  template <class T>
  void convert(const RecordJson& json, const char* key, T& value) const {
    try {
      value = json.get<T>();
    } catch (const RecordJson::exception&) {
      fail(std::string("field '") + key + "' has the wrong type: " + json.dump());
    }
  }

  // Whole numbers must be whole and fit: the library would cut 2.5 to 2 and wrap 1e30.
  template <class Integer>
  void convert_integer(const RecordJson& json, const char* key, Integer& value) const {
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <=
                                static_cast<std::uint64_t>(std::numeric_limits<Integer>::max())
                          : json.is_number_integer() && json.get<std::int64_t>() >= 0;
    if (!fits) {
      fail(std::string("field '") + key + "' must be a whole number, not negative: " + json.dump());
    }
    value = json.get<Integer>();
  }
  void convert(const RecordJson& json, const char* key, int& value) const {
    convert_integer(json, key, value);
  }
  void convert(const RecordJson& json, const char* key, std::int64_t& value) const {
    convert_integer(json, key, value);
  }
  void convert(const RecordJson& json, const char* key, std::uint64_t& value) const {
    convert_integer(json, key, value);
  }

  const RecordJson& json_;
  std::string where_;
};

}  // namespace foretell
