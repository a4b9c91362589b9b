// The 80 % interval of the next family of measurements (an unmeasured service) where
// families are few, their rows have long tails and nothing was fitted to single families: a part
// within a family and a part between families, each of which counts the same.
//
// Errors are ln(measured / predicted). Of a family, m is the median of its rows and d the median
// distance of its rows from m; s = 1.4826 d estimates the standard deviation of normal errors and
// does not move with rows that are many times off (Rousseeuw and Croux 1993,
// https://doi.org/10.1080/01621459.1993.10476408). The error of a row is the one of its family and
// its own: of G families and N rows their variances are sum of m^2 / (G - C) with G - C degrees of
// freedom, and mean of s^2 with N - G. C is how many levels were chosen with the families in view
// (host times of an engine): this many of the m are smaller than those of an unseen family. The
// half width is t(0.9, n) times the root of the sum, n after Satterthwaite (1946,
// https://doi.org/10.2307/3002019).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "calib/validate/interval_estimate.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

struct FamilyInterval {
  double within = 0;  // standard deviations of the two parts
  double between = 0;
  std::size_t rows = 0;
  Interval interval;  // of measured / predicted
  // Shares that the intervals of the other families hold; of all rows, and of each family's.
  double rows_left_out = 0;
  std::map<std::string, double> left_out;
};

// By family, the levels that were chosen with it in view, which other families may share.
using ChosenNumbers = std::map<std::string, std::set<std::string>>;

// The families are the networks of the samples. InternalError for fewer than two, and for a ratio
// that is not above 0.
FamilyInterval family_interval80(const std::vector<RatioSample>& samples,
                                 const ChosenNumbers& chosen = {});

}  // namespace foretell
