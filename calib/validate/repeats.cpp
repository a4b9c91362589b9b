#include "calib/validate/repeats.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "calib/validate/statistics.hpp"

namespace foretell {

void Repeats::add(const std::string& quantity, const std::string& conditions, double value) {
  if (conditions.empty()) return;
  quantities_[quantity][std::hash<std::string>()(conditions)].push_back(value);
}

std::optional<double> Repeats::noise(const std::string& quantity) const {
  constexpr double kMiddle = 0.5;
  const auto found = quantities_.find(quantity);
  if (found == quantities_.end()) return std::nullopt;
  std::vector<double> distances;
  for (const auto& [conditions, values] : found->second) {
    if (values.size() < 2) continue;
    const double middle = quantile(values, kMiddle);
    for (const double value : values) distances.push_back(std::abs(value / middle - 1));
  }
  if (distances.empty()) return std::nullopt;
  std::sort(distances.begin(), distances.end());  // a sum in an order of its own, not of a hash
  double sum = 0;
  for (const double distance : distances) sum += distance;
  return sum / static_cast<double>(distances.size());
}

}  // namespace foretell
