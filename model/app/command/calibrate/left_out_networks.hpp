// How predictions of networks move when they are left out of the fits that saw them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "calib/validate/next_group.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell {

// What the fits say of a row that they saw when they have not seen it; ln(predicted so /
// predicted).
struct LeftOutPredictions {
  double without_network = 0;      // without the architecture of the row
  std::vector<FarPrediction> far;  // without it and all beyond it, by tokens, layers or cores
};

// By measured column ("call_ms") and line of the table; rows that no fit saw are not in it. The
// fits are those of calib/fit, around the factors that are in force. UserError as of a fit.
using LeftOutRowPredictions = std::map<std::string, std::map<std::size_t, LeftOutPredictions>>;
LeftOutRowPredictions predict_left_out(const std::string& table, const Predictor& predict,
                                       int jobs);

}  // namespace foretell
