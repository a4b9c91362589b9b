// Rows left out because they lie beyond others: how far errors grow away from what was judged.
//
// Along every feature of a place (tokens of a call, layers, cores of a copy) rows are cut at each
// value that occurs: those above it are left out, and those below it. What a model that saw only
// the rest says of them is extrapolated, by as many octaves as they lie from the nearest that is
// left.
#pragma once

#include <vector>

#include "calib/validate/next_group.hpp"

namespace foretell {

struct FarFold {
  std::vector<bool> left_out;   // of the places, in their order
  std::vector<double> octaves;  // from the nearest place that stays; 0 for those that stay
};

// Each division once. At least `least` different places stay, so that something is left to learn
// from; places without features are in no fold.
std::vector<FarFold> far_folds(const std::vector<Place>& places, std::size_t least = 2);

}  // namespace foretell
