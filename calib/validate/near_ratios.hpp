// Errors that grow with the distance from what was judged, as they would be next to it.
//
// ln(measured / predicted) of a row is divided by 1 + per_octave * octaves, its distance from the
// nearest row of any other group (next_group.hpp). An interval that is made of such ratios is the
// one at a distance of 0; at_distance() makes it as much wider again as the rows were narrowed.
#pragma once

#include <string>
#include <vector>

#include "calib/validate/interval_estimate.hpp"
#include "calib/validate/next_group.hpp"

namespace foretell {

struct NearRatios {
  std::vector<RatioSample> ratios;  // in the order of the samples
  std::vector<Place> places;        // that were judged, each once
};

// `per_octave`: share by which errors grow with each octave, no less than 0. InternalError for a
// ratio that is not above 0.
NearRatios as_near(const std::vector<GroupSample>& samples, double per_octave);

// As files of intervals list them: "[[128, 12, 1], [512, 12, 1]]".
std::string places_text(const std::vector<Place>& places);

}  // namespace foretell
