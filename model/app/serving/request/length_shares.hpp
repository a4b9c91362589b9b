// Lengths of the prompts or answers of a data set, as a source gives them: equally likely shares of
// their mean.
#pragma once

#include <string>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

// The numbers of a list, scaled to a mean of 1. UserError with file:line where they are negative or
// make no length.
std::vector<double> read_shares(const Node& node, const char* what);

// "list:A/B/...", the lengths around a mean in tokens, as --input-len takes them; none is 0.
std::string lengths_around(double mean, const std::vector<double>& shares);

}  // namespace foretell
