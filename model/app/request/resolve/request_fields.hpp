// The fields of a request from and to text, for options, tables, studies and scenario files. Which
// fields there are says the list in reports/record/scenario.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/seed.hpp"

namespace foretell {

// Sets a field from its text: a number, a distribution where lengths may vary, a word out of the
// choices, yes or no, or NAME=VALUE pairs with semicolons between. UserErrors start with `name`.
void set_field(Request& request, const RequestField& field, std::string_view name,
               std::string_view text);

// Of studies: "input_len" of --input-len.
std::string key_of(const RequestField& field);

// Keys of studies: "on", "workload", "dtype", "factors", "seed", and every field by its option with
// underscores, "input_len".
std::vector<std::string> request_keys();
// False for a key that there is not. UserErrors of set_field().
bool set_key(Request& request, const std::string& key, std::string_view value);

// Everything that a request says, as JSON on one line: equal requests, equal text.
std::string request_json(const Request& request);

// `text` if it is one of the choices; UserError with the nearest one if not.
std::string parse_choice(const RequestField& field, std::string_view text);

// A whole number in [low, high]; "8.0" is whole, as spreadsheets write it. UserError: "<name>: 0 is
// not allowed; it must be a whole number from 1 to 1000000".
std::int64_t parse_count(std::string_view name, std::string_view text, std::int64_t low,
                         std::int64_t high);

// Sets the field to a number, or, where lengths may vary, to the longest of a distribution, which
// the request then keeps. UserErrors of parse_count() and parse_distribution() start with `name`.
void set_length(Request& request, const RequestField& field, std::string_view name,
                std::string_view text);

// "NAME=VALUE" in two; UserError "<option>: 'x' is not allowed; it must be NAME=<what>".
std::pair<std::string, std::string> parse_pair(std::string_view option, std::string_view text,
                                               std::string_view what);

// --dim NAME=SIZE. UserError for one given twice.
void add_dimension(Request& request, std::string_view text);

// A number in (0, high]. UserError with the same kind of message.
double parse_positive(std::string_view name, std::string_view text, double high);

}  // namespace foretell
