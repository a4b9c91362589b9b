// The 80 % interval of the next group of measurements (a network that nobody measured), made of
// groups that were: how far single rows lie from the middle of their group, and how far the middles
// lie from the prediction. Wider where the nearest row that was judged is far.
//
// Errors are ln(measured / predicted), so that twice and half are alike. Of G groups the half width
// is t(0.9, G) sqrt(between² + within²): one more draw from a normal law of mean 0 whose spread was
// told from G draws (Student's t with G degrees of freedom). All rows of a group count as one draw:
// the spread within differs from network to network, too. At a distance the half width is
// (1 + per_octave · octaves) times that.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// Tokens of a call, layers and parts that share a copy; all above 0.
using Place = std::vector<double>;

// Octaves between a place and the nearest of others, Euclid's; 0 without others or without a place.
double octaves_to(const Place& place, const std::vector<Place>& others);

struct GroupSample {
  std::string group;
  Place place;
  double ratio = 1;  // measured / predicted, above 0
};

struct NextGroup {
  double within = 0;   // standard deviation of the errors of a group
  double between = 0;  // root of the mean square of the middles of groups
  std::size_t groups = 0;
  std::size_t rows = 0;
  Interval interval;          // where something near was judged
  double left_out = 0;        // share of rows in what the other groups make, all groups alike
  std::vector<Place> places;  // that were judged, each once
};

// How much wider errors are per octave of distance from the other groups of their class, relative
// to the same group's errors at no distance: most likely one for all classes together, each group
// having a spread of its own. From 0 to 1.
double widening_per_octave(const std::vector<std::vector<GroupSample>>& classes);

// At least two groups; InternalError for fewer.
NextGroup next_group(const std::vector<GroupSample>& samples, double per_octave);

// An interval of ratios for a place that far from what was judged.
Interval at_distance(const Interval& interval, double per_octave, double octaves);

}  // namespace foretell
