#include "calib/validate/near_ratios.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {

NearRatios as_near(const std::vector<GroupSample>& samples, double per_octave) {
  std::map<std::string, std::set<Place>> by_group;
  for (const GroupSample& sample : samples) by_group[sample.group].insert(sample.place);
  std::map<std::string, std::map<Place, double>> octaves;
  std::set<Place> all;
  for (const auto& [group, places] : by_group) {
    std::set<Place> of_others;
    for (const auto& [other, others_places] : by_group) {
      if (other != group) of_others.insert(others_places.begin(), others_places.end());
    }
    const std::vector<Place> others(of_others.begin(), of_others.end());
    for (const Place& place : places) octaves[group][place] = octaves_to(place, others);
    all.insert(places.begin(), places.end());
  }
  NearRatios near;
  near.places.assign(all.begin(), all.end());
  for (const GroupSample& sample : samples) {
    FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
    const double scale = 1 + per_octave * octaves.at(sample.group).at(sample.place);
    near.ratios.push_back({sample.group, std::pow(sample.ratio, 1 / scale)});
  }
  return near;
}

std::string places_text(const std::vector<Place>& places) {
  std::string text = "[";
  for (const Place& place : places) {
    text += fmt::format("{}[{}]", text.size() > 1 ? ", " : "", fmt::join(place, ", "));
  }
  return text + "]";
}

}  // namespace foretell
