// How predictions of networks move when they are left out of the fits that saw them.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "model/app/request/prediction.hpp"

namespace foretell {

// ln(predicted without the architecture of the row / predicted), by line of the table and measured
// column ("call_ms"); rows that no fit saw are not in it. The fits are those of calib/fit, around
// the factors that are in force. UserError as of a fit.
using MovedRows = std::map<std::string, std::map<std::size_t, double>>;
MovedRows moved_without_own_network(const std::string& table, const Predictor& predict, int jobs);

}  // namespace foretell
