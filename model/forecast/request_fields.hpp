// The numbers of a request: their names on the command line and in tables, and what is allowed.
// Options, table columns and study files all walk this one list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/forecast/prediction.hpp"

namespace foretell {

inline constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;  // exact in every JSON reader

struct CountField {
  const char* option;  // "input-len", without the dashes
  const char* column;  // "input_len"
  const char* help;
  std::int64_t low;
  std::int64_t high;
  std::int64_t (*get)(const Request&);  // 0: not stated
  void (*set)(Request&, std::int64_t);
};

const std::vector<CountField>& count_fields();
const CountField& find_count_field(std::string_view option);  // InternalError for an unknown one

// Words of a request out of a fixed set.
struct ChoiceField {
  const char* option;  // "kv-dtype", without the dashes
  const char* column;  // "kv_dtype"
  const char* help;
  std::vector<std::string> choices;
  std::string Request::*member;  // "": not stated
  bool of_generation = true;     // says nothing about one forward pass
};

const std::vector<ChoiceField>& choice_fields();

// `text` if it is one of the choices; UserError with the nearest one if not.
std::string parse_choice(const ChoiceField& field, std::string_view text);

// Requests in flight: a number above 0, not necessarily whole (tables state averages).
inline constexpr double kMaxInFlight = 1e6;

// A whole number in [low, high]; "8.0" is whole, as spreadsheets write it. UserError: "<name>: 0 is
// not allowed; it must be a whole number from 1 to 1000000".
std::int64_t parse_count(std::string_view name, std::string_view text, std::int64_t low,
                         std::int64_t high);

// Sets the field to a number, or, where lengths may vary, to the longest of a distribution, which
// the request then keeps. UserErrors of parse_count() and parse_distribution() start with `name`.
void set_length(Request& request, const CountField& field, std::string_view name,
                std::string_view text);

// "NAME=VALUE" in two; UserError "<option>: 'x' is not allowed; it must be NAME=<what>".
std::pair<std::string, std::string> parse_pair(std::string_view option, std::string_view text,
                                               std::string_view what);

// --dim NAME=SIZE, --branch NAME=PROBABILITY, --trips NAME=COUNT. UserError for one given twice.
void add_dimension(Request& request, std::string_view text);
void add_branch(Request& request, std::string_view text);
void add_trips(Request& request, std::string_view text);

inline constexpr std::int64_t kMostTrips = 1'000'000;

// A number in (0, high]. UserError with the same kind of message.
double parse_positive(std::string_view name, std::string_view text, double high);

}  // namespace foretell
