#include "model/app/tables/energy_loads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/app/request/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostRequests = 10'000'000;
constexpr double kLongestShare = 1000;

std::vector<double> read_answers(const Node& node) {
  std::vector<double> shares;
  double sum = 0;
  for (const Node& item : node.items) {
    shares.push_back(number_at(item, "answers", 0, kLongestShare));
    sum += shares.back();
  }
  if (!(sum > 0)) {
    throw UserError(node.where() +
                    ": answers: holds no lengths; write shares of the mean, [0.2, 0.8, 2]");
  }
  for (double& share : shares) share *= static_cast<double>(shares.size()) / sum;
  return shares;
}

EnergyLoad read_energy_load(const Node& node) {
  node.only_keys({"prompt", "cached", "answers", "requests"}, "loads");
  EnergyLoad load;
  load.prompt = node.required("prompt", "loads").required("tokens", "prompt").as_text("tokens");
  if (const Node* cached = node.find("cached"))
    load.cached = required_number(*cached, "value", 0, 1);
  load.answers = read_answers(node.required("answers", "loads").required("shares", "answers"));
  const Node& requests = node.required("requests", "loads");
  load.requests = requests.required("number", "requests").as_integer("number", 1, kMostRequests);
  for (const MapEntry& entry : requests.required("repeats", "requests").entries) {
    load.repeats[parse_count(entry.value.where() + ": repeats", entry.key, 1, kMostRequests)] =
        entry.value.as_integer("repeats", 1, kMostRequests);
  }
  if (load.repeats.empty())
    throw UserError(requests.where() + ": repeats: is empty; write {256: 1, 1024: 2}");
  return load;
}

}  // namespace

void EnergyLoad::ask(double mean_answer, std::int64_t places, int ranks,
                     ServeRequest& request) const {
  request.input_len = prompt;
  request.prefix_share = cached;
  std::vector<std::int64_t> lengths;
  for (const double share : answers)
    lengths.push_back(std::max<std::int64_t>(1, std::llround(share * mean_answer)));
  request.output_len = fmt::format("list:{}", fmt::join(lengths, "/"));
  const auto known = repeats.lower_bound(places);
  const std::int64_t times = known != repeats.end() ? known->second : repeats.rbegin()->second;
  request.offline = requests * times;
  request.max_batch = std::max<std::int64_t>(1, places / ranks);
  request.full_places = places;
}

std::map<std::string, EnergyLoad> read_energy_loads(const Node& section) {
  std::map<std::string, EnergyLoad> loads;
  for (const MapEntry& entry : section.entries) loads[entry.key] = read_energy_load(entry.value);
  return loads;
}

const EnergyLoad& load_of(const std::map<std::string, EnergyLoad>& loads,
                          const std::string& data_set) {
  const auto known = loads.find(data_set);
  if (known != loads.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& [name, load] : loads) names.push_back(name);
  throw unknown_name("scenario", data_set, names);
}

}  // namespace foretell
