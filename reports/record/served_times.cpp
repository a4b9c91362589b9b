#include "reports/record/served_times.hpp"

#include <cmath>

namespace foretell {
namespace {

constexpr double kTail = 0.9;  // from here on every hundredth is kept
constexpr int kEvery = 5;      // hundredths before

}  // namespace

const std::vector<double>& serve_shares() {
  static const std::vector<double> kShares = [] {
    std::vector<double> shares;
    for (int hundredth = 0; hundredth < 100; ++hundredth) shares.push_back(hundredth / 100.0);
    shares.insert(shares.end(), {0.995, 0.999, 1});
    return shares;
  }();
  return kShares;
}

std::vector<double> brief_shares() {
  std::vector<double> brief;
  for (const double share : serve_shares()) {
    const double hundredths = share * 100;
    const bool whole = std::abs(hundredths - std::round(hundredths)) < 1e-9;
    if (share < kTail ? std::lround(hundredths) % kEvery == 0 : whole || share > 0.995)
      brief.push_back(share);
  }
  return brief;
}

}  // namespace foretell
