// Releases of the Neuron SDK and what they change.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

// UserError unless the text is two or three numbers with dots: "2.14", "2.14.1".
void check_sdk_version(const std::string& version);

// What a table of SDK releases says of one release: the value of the smallest key that is not
// older. A key of two numbers covers its patch releases: with
// {"2.9": 1.15, "2.14": 1.11}, "2.9.1" is 1.15, "2.10" and "2.14.2" are 1.11, "2.15.0" is 1.
// 1 for an empty `sdk` (not stated). UserError for a text that is no version.
double sdk_multiplier(const std::map<std::string, double>& table, std::string_view sdk);

// The newest release that any of the tables names; "" where they are empty.
std::string newest_release(const std::vector<std::map<std::string, double>>& tables);

// Releases from `sdk` up to `newest`, counted by their second numbers: from 2.14.1 to 2.18.0 four;
// 0 for one that is as new or newer, or not stated. A first number that is older counts as 0 of the
// newer one. UserError for a text that is no version.
int releases_before(std::string_view sdk, std::string_view newest);

// Does the table say anything of this release, or is it newer than all of them?
bool sdk_is_covered(const std::map<std::string, double>& table, std::string_view sdk);

}  // namespace foretell
