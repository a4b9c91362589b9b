// The 80 % interval of the next group of measurements (an unmeasured network), made of
// groups that were: how far single rows lie from the middle of their group, and how far the middles
// lie from the prediction. Wider where the nearest row that was judged is far.
//
// Errors are ln(measured / predicted), so that twice and half are alike, of predictions by factors
// that were fitted without the group, and as they are with the newest release of all classes:
// errors grow by the same share with every release that is older, so that classes whose rows are of
// old releases compare with the others; the interval is that of the newest release of its class. A
// fit without one of its groups says less than the whole fit, which the next group meets: with the
// leverage h of a group, its errors are 1 / (1 - h) times as large without it as with it, those of
// the next group sqrt(1 - h²) times as large as the former (least squares: variances s² / (1 - h),
// s² (1 - h) and s² (1 + h); Cook and Weisberg 1982, Residuals and Influence in Regression, ch. 2),
// and have this weight.
//
// The mean square of the errors of a group is one draw of the spread that the next group will have;
// all its rows count as one. Of G groups of a class the half width is t(0.9, G + 4) s,
// s² = (G s_c² + 4 s_0²) / (G + 4): s_c² is the mean over the groups of the class, s_0² the
// geometric mean of the s_c² of all classes, which counts as much as four groups. A class of few
// groups takes its spread mostly from the others (a variance "moderated" in the sense of Smyth
// 2004, https://doi.org/10.2202/1544-6115.1027, whose weight is found from the data; here it is
// four, docs/decisions.md). That is the width at the distances at which the groups left out stand
// from the others; farther out it grows.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// Tokens of a call, layers and parts that share a copy; all above 0.
using Place = std::vector<double>;

// Octaves between a place and the nearest of others, Euclid's; 0 without others or without a place.
double octaves_to(const Place& place, const std::vector<Place>& others);

// What factors say of a row that were found without it and all beyond it (far_folds.hpp).
struct FarPrediction {
  double octaves = 0;  // of the row from the nearest that was left
  double moved = 0;    // ln(that prediction / the one by factors of all groups)
};

struct GroupSample {
  std::string group;
  Place place;
  double ratio = 1;     // measured / predicted by factors that did not see the group, above 0
  double moved = 0;     // ln(that prediction / the one by factors of all groups)
  double releases = 0;  // of the compiler, between the row's and the newest of all classes
  std::vector<FarPrediction> far = {};  // of rows that a fit saw
};

struct NextGroup {
  double within = 0;   // standard deviation of the errors of a group
  double between = 0;  // root of the mean square of the middles of groups
  std::size_t groups = 0;
  std::size_t rows = 0;
  Interval interval;       // of its newest release, at the usual distance and nearer
  double left_out = 0;     // share of rows in what the other groups make, all groups alike
  double far = 0;          // the same of FarPredictions, of groups that have any
  double far_as_near = 0;  // the same in intervals that do not widen with distance
  std::size_t far_rows = 0;
  double octaves = 0;         // usual: of the groups left out from the others, all groups alike
  std::vector<Place> places;  // that were judged, each once
};

// How much errors grow, as a share, with each release that is older: most likely one for all
// classes together, each group having a spread of its own. From 0 to 0.25.
double widening_per_release(const std::vector<std::vector<GroupSample>>& classes);

// How much wider, as a share for each octave of distance, intervals have to be to hold 80 % of the
// rows that were left out with all beyond them, each group of any class counting the same: the
// least in steps of 0.02 that does, at most 1. 0 where they hold as many without. InternalError for
// a class of fewer than two groups.
double widening_per_octave(const std::vector<std::vector<GroupSample>>& classes,
                           double per_release = 0);

// One for each class, in their order. InternalError for a class of fewer than two groups.
std::vector<NextGroup> next_groups(const std::vector<std::vector<GroupSample>>& classes,
                                   double per_release = 0, double per_octave = 0);

// An interval of ratios for a place that far from what was judged: no narrower than at the usual
// distance, and beyond it wider as 1 + per_octave * octaves is.
Interval at_distance(const Interval& interval, double per_octave, double usual_octaves,
                     double octaves);

// An interval for a release that is this many releases older than the newest that was judged; no
// less than 0.
Interval at_release(const Interval& interval, double per_release, double releases);

}  // namespace foretell
