#include "model/app/serving/request/length_shares.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/base/errors.hpp"
#include "model/config/node_number.hpp"

namespace foretell {

std::vector<double> read_shares(const Node& node, const char* what) {
  constexpr double kLongestShare = 1000;
  std::vector<double> shares;
  double sum = 0;
  for (const Node& item : node.items) {
    shares.push_back(number_at(item, what, 0, kLongestShare));
    sum += shares.back();
  }
  if (!(sum > 0)) {
    throw UserError(fmt::format("{}: {}: holds no lengths; write shares of the mean, [0.2, 0.8, 2]",
                                node.where(), what));
  }
  for (double& share : shares) share *= static_cast<double>(shares.size()) / sum;
  return shares;
}

std::string lengths_around(double mean, const std::vector<double>& shares) {
  std::vector<std::int64_t> lengths;
  for (const double share : shares)
    lengths.push_back(std::max<std::int64_t>(1, std::llround(share * mean)));
  return fmt::format("list:{}", fmt::join(lengths, "/"));
}

}  // namespace foretell
