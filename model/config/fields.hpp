// The parameters of a spec, declared once.
//
// Every spec struct S has one function `void fields(FieldList&, S&)` that names each member, its
// allowed range and its meaning. Loading, validating, overriding by path, showing, the table in the
// documentation and the dump into a record all walk the list that it fills:
//
//   void fields(FieldList& list, HbmSpec& hbm) {
//     list.value("bandwidth", hbm.bandwidth, {1.0_GBps, 100e3_GBps}, "Peak rate of the device.");
//   }
//
// A FieldList refers to the members of the spec it was filled from and must not outlive it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"
#include "model/config/problems.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

struct Node;

// Both ends are allowed.
template <class Q>
struct Range {
  Q min;
  Q max;
};

// One parameter. Numbers are in base units; texts are checked against `choices` when there are any.
class Field {
 public:
  std::string path;     // "core.tensor.clock"
  std::string meaning;  // one line
  Dimension dimension;
  bool is_text = false;
  bool is_list = false;      // of texts, in the order of the document
  bool is_whole = false;     // counts
  bool is_optional = false;  // an entry of a table, for example one data type
  bool is_method = false;    // says how a part is simulated, nothing of the part
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;

  // Parses, checks the range and stores. UserError without location: the caller knows the place.
  void assign(std::string_view text) const;
  void assign_list(std::vector<std::string> texts) const;  // InternalError unless is_list

  bool has_value() const;       // false only for an optional entry that is not there
  std::string text() const;     // the value with its unit; "" without value
  double number() const;        // base units; InternalError for texts
  std::string allowed() const;  // "1 GB/s .. 100 TB/s", "whole number 1 .. 64", "none, ring"

  // UserError when the stored value is not allowed.
  void check() const;

 private:
  friend class FieldList;
  void check_number(double value, std::string_view given) const;
  void check_text(const std::string& value) const;

  std::function<double()> get_number_;
  std::function<void(double)> set_number_;
  std::function<std::string()> get_text_;
  std::function<void(const std::string&)> set_text_;
  std::function<void(std::vector<std::string>)> set_list_;
  std::function<bool()> has_value_;
};

class FieldList {
 public:
  template <int T, int D, int W, int C, int M>
  void value(std::string_view name, Quantity<T, D, W, C, M>& member,
             Range<Quantity<T, D, W, C, M>> range, std::string_view meaning) {
    using Q = Quantity<T, D, W, C, M>;
    number_field(
        name, meaning, dimension_of<Q>::value, range.min.value(), range.max.value(),
        [&member] { return member.value(); }, [&member](double v) { member = Q(v); });
  }
  void value(std::string_view name, double& member, Range<double> range, std::string_view meaning);
  void value(std::string_view name, Watts& member, Range<Watts> range, std::string_view meaning);
  void count(std::string_view name, int& member, Range<int> range, std::string_view meaning);
  void count(std::string_view name, std::int64_t& member, Range<std::int64_t> range,
             std::string_view meaning);
  void flag(std::string_view name, bool& member, std::string_view meaning);  // true or false
  void text(std::string_view name, std::string& member, std::vector<std::string> choices,
            std::string_view meaning);
  // A list of texts, or one of them.
  void texts(std::string_view name, std::vector<std::string>& members, std::string_view meaning);
  // One of a few words, each of which stands for a value.
  template <class Value>
  void choice(std::string_view name, Value& member,
              const std::vector<std::pair<std::string, Value>>& words, std::string_view meaning) {
    std::vector<std::string> known;
    for (const auto& word : words) known.push_back(word.first);
    text_field(
        name, meaning, std::move(known),
        [&member, words] {
          const auto found = std::find_if(words.begin(), words.end(),
                                          [&](const auto& word) { return word.second == member; });
          return found == words.end() ? "" : found->first;
        },
        [&member, words](const std::string& given) {
          for (const auto& word : words) {
            if (word.first == given) member = word.second;
          }
        });
  }
  // Need not be stated: "" and 0 stand for none.
  void optional_text(std::string_view name, std::string& member, std::vector<std::string> choices,
                     std::string_view meaning);
  // How a part is simulated; need not be stated.
  void method(std::string_view name, std::string& member, std::string_view meaning);
  void optional_count(std::string_view name, int& member, Range<int> range,
                      std::string_view meaning);
  // What no formula needs, such as the clock that a vendor guarantees.
  template <class Q>
  void optional_value(std::string_view name, Q& member, Range<Q> range, std::string_view meaning) {
    value(name, member, range, meaning);
    make_optional([&member] { return member.value() != 0; });
  }

  // A table with a fixed set of possible keys; each entry is optional. The map holds multiples of
  // `unit`: USD per hour for `Usd(1) / Seconds(3600)`.
  template <class Q>
  void table(std::string_view name, std::map<std::string, double>& members,
             const std::vector<std::string>& keys, Range<Q> range, Q unit,
             std::string_view meaning) {
    table_fields(name, members, keys, dimension_of<Q>::value, to_number(range.min),
                 to_number(range.max), to_number(unit), meaning);
  }
  // A table whose keys the user chooses. `check_key` throws UserError for a key that cannot be.
  void open_table(std::string_view name, std::map<std::string, double>& members,
                  std::function<void(const std::string&)> check_key, Range<double> range,
                  std::string_view meaning);

  template <class Spec>
  void group(std::string_view name, Spec& spec) {
    const std::string outer = prefix_;
    prefix_ = join_path(name);
    fields(*this, spec);
    prefix_ = outer;
  }

  const std::vector<Field>& all() const { return fields_; }

  // The field of a path, created when it is a new entry of an open table; null when there is none.
  const Field* find(std::string_view path);
  // The same, or a UserError with the nearest path; a group is distinguished from a parameter.
  const Field& at(std::string_view path);

  bool is_group(std::string_view path) const;
  std::vector<std::string> children(std::string_view group) const;  // names inside a group
  std::string nearest(std::string_view path) const;                 // "" when nothing is near

 private:
  // Changes the last field.
  void make_optional(std::function<bool()> has_value);

  struct OpenTable {
    std::string path;
    std::map<std::string, double>* members;
    std::function<void(const std::string&)> check_key;
    Range<double> range;
    std::string meaning;
  };

  static double to_number(double value) { return value; }
  template <int T, int D, int W, int C, int M>
  static double to_number(Quantity<T, D, W, C, M> value) {
    return value.value();
  }

  std::string join_path(std::string_view name) const;
  Field& number_field(std::string_view name, std::string_view meaning, Dimension dimension,
                      double min, double max, std::function<double()> get,
                      std::function<void(double)> set);
  Field& text_field(std::string_view name, std::string_view meaning,
                    std::vector<std::string> choices, std::function<std::string()> get,
                    std::function<void(const std::string&)> set);
  void table_fields(std::string_view name, std::map<std::string, double>& members,
                    const std::vector<std::string>& keys, Dimension dimension, double min,
                    double max, double unit, std::string_view meaning);
  void add_entry(const std::string& path, std::map<std::string, double>& members,
                 const std::string& key, Dimension dimension, double min, double max, double unit,
                 std::string_view meaning);

  std::string prefix_;
  std::vector<Field> fields_;
  std::vector<OpenTable> open_tables_;
};

// Reads one parameter of a document: plain values by default, `{value: …, source: …}` in hw/.
using LeafReader = std::function<void(const Field&, const Node&, Problems&)>;

// A leaf reader for plain values: "bandwidth: 820 GB/s", and lists of texts.
void read_plain_value(const Field& field, const Node& node, Problems& problems);

enum class Missing { kReported, kAllowed };

// Walks a mapping and the list together: unknown keys (with the nearest name), groups that are not
// mappings, and parameters that are missing go to `problems`. Keys of the root named in `skip` are
// the caller's own. Where they may be missing, what the document does not name stays as it is.
void load_fields(const Node& map, FieldList& list, const std::vector<std::string>& skip,
                 const LeafReader& read, Problems& problems, Missing missing = Missing::kReported);

}  // namespace foretell
