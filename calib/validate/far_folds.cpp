#include "calib/validate/far_folds.hpp"

#include <algorithm>
#include <set>

namespace foretell {
namespace {

FarFold fold_of(const std::vector<Place>& places, std::vector<bool> left_out,
                const std::set<Place>& kept) {
  FarFold fold;
  fold.left_out = std::move(left_out);
  const std::vector<Place> others(kept.begin(), kept.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    fold.octaves.push_back(fold.left_out[i] ? octaves_to(places[i], others) : 0);
  }
  return fold;
}

}  // namespace

std::vector<FarFold> far_folds(const std::vector<Place>& places, std::size_t least) {
  std::vector<FarFold> folds;
  std::set<std::vector<bool>> seen;
  const std::size_t features = places.empty() ? 0 : places.front().size();
  for (std::size_t feature = 0; feature < features; ++feature) {
    std::set<double> values;
    for (const Place& place : places) values.insert(place.at(feature));
    for (const double value : values) {
      for (const bool above : {true, false}) {
        std::vector<bool> left_out;
        std::set<Place> kept;
        for (const Place& place : places) {
          left_out.push_back(above ? place[feature] > value : place[feature] < value);
          if (!left_out.back()) kept.insert(place);
        }
        const bool leaves_out = std::find(left_out.begin(), left_out.end(), true) != left_out.end();
        if (!leaves_out || kept.size() < least || !seen.insert(left_out).second) continue;
        folds.push_back(fold_of(places, std::move(left_out), kept));
      }
    }
  }
  return folds;
}

}  // namespace foretell
