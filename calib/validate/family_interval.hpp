// The 80 % interval of the next family of measurements (a service that nobody measured) where
// families are few, their rows have long tails and nothing was fitted to single families: a part
// within a family and a part between families, each of which counts the same.
//
// Errors are ln(measured / predicted). Of a family, m is the median of its rows and d the median
// distance of its rows from m; s = 1.4826 d estimates the standard deviation of normal errors and
// does not move with rows that are many times off (Rousseeuw and Croux 1993,
// https://doi.org/10.1080/01621459.1993.10476408). Of G families the half width is
// t(0.9, G) sqrt(mean of s^2 + mean of m^2): the error of a row is the one of its family and its
// own, and how large both are is known from G draws.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calib/validate/interval_estimate.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

struct FamilyInterval {
  double within = 0;   // root of the mean of s^2
  double between = 0;  // root of the mean of m^2
  std::size_t rows = 0;
  Interval interval;  // of measured / predicted
  // Shares that the intervals of the other families hold; of all rows, and of each family's.
  double rows_left_out = 0;
  std::map<std::string, double> left_out;
};

// The families are the networks of the samples. InternalError for fewer than two, and for a ratio
// that is not above 0.
FamilyInterval family_interval80(const std::vector<RatioSample>& samples);

}  // namespace foretell
