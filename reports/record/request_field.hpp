// What is known of a field of a request, whichever it is: a row of the list in scenario.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace foretell {

struct Scenario;

using TextMap = std::map<std::string, std::string>;
using SizeMap = std::map<std::string, std::int64_t>;

// A family that has no meaning for a field, or for one of its words.
struct FieldRefusal {
  std::string_view family;  // "neuron", "gpu", "cpu"
  std::string_view word;    // ""; whatever is stated (of numbers: above 1)
  std::string_view why;     // after the name of the option: "is about GPUs; leave it out"
};

enum class FieldKind { kCount, kNumber, kFlag, kText, kPairs };

// Where texts name a field: everywhere, where it is above 1, or only to tell runs apart.
enum class FieldSaid { kAlways, kAboveOne, kToTellApart };

// Phases that a field says something about.
inline constexpr unsigned kForwardPhase = 1;
inline constexpr unsigned kGenerationPhase = 2;
inline constexpr unsigned kTrainingPhase = 4;
inline constexpr unsigned kAnyPhase = 7;

struct RequestField {
  using Member =
      std::variant<std::int64_t Scenario::*, int Scenario::*, double Scenario::*, bool Scenario::*,
                   std::string Scenario::*, TextMap Scenario::*, SizeMap Scenario::*>;

  Member member;
  const char* key;     // in records and tables: "input_len"
  const char* option;  // "input-len", without the dashes; "" where no option sets it
  const char* words;   // in texts: "input {}"; of pairs "{} {}"
  const char* help;
  const char* name = "";                  // as a title: "input length"; "": the key
  const char* column = "";                // of tables, where it is not the key
  const char* type = "WORD";              // of its value, in help
  std::int64_t low = 1;                   // of counts; of pairs: of their values
  std::int64_t high = 0;                  // 0: no limit
  std::vector<std::string> choices = {};  // of texts; empty: any text
  unsigned phases = kAnyPhase;
  FieldSaid said = FieldSaid::kAlways;
  bool is_question = false;  // what is asked for, not how it is run
  bool varies = false;       // may be a distribution
  bool lists = false;        // `compare` takes several
  bool serves = false;       // a service is stated with it, too
  std::vector<FieldRefusal> refusals = {};

  RequestField& range(std::int64_t least, std::int64_t most) {
    low = least;
    high = most;
    return *this;
  }
  RequestField& called(const char* title) {
    name = title;
    return *this;
  }
  RequestField& in_column(const char* title) {
    column = title;
    return *this;
  }
  RequestField& takes(const char* value) {
    type = value;
    return *this;
  }
  RequestField& one_of(std::vector<std::string> allowed) {
    choices = std::move(allowed);
    return *this;
  }
  RequestField& only_in(unsigned some) {
    phases = some;
    return *this;
  }
  RequestField& tells(FieldSaid where) {
    said = where;
    return *this;
  }
  RequestField& asked() {
    is_question = true;
    return *this;
  }
  RequestField& may_vary() {
    varies = true;
    return *this;
  }
  RequestField& may_list() {
    lists = true;
    return *this;
  }
  RequestField& of_services() {
    serves = true;
    return *this;
  }
  RequestField& not_on(std::string_view family, std::string_view why, std::string_view word = "") {
    refusals.push_back({family, word, why});
    return *this;
  }

  FieldKind kind() const;
};

}  // namespace foretell
