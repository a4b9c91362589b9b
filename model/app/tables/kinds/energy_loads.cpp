#include "model/app/tables/kinds/energy_loads.hpp"

#include <algorithm>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/length_shares.hpp"
#include "model/base/errors.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostRequests = 10'000'000;
constexpr double kMostTokens = 1e6;

EnergyLoad read_energy_load(const Node& node) {
  node.only_keys({"prompt", "cached", "images", "answers", "requests"}, "loads");
  EnergyLoad load;
  const Node& prompt = node.required("prompt", "loads");
  load.prompt = required_number(prompt, "tokens", 1, kMostTokens);
  const Node* shares = prompt.find("shares");
  load.prompts = shares == nullptr ? std::vector<double>{1} : read_shares(*shares, "prompt");
  if (const Node* cached = node.find("cached"))
    load.cached = required_number(*cached, "value", 0, 1);
  if (const Node* images = node.find("images")) {
    images->only_keys({"number", "height", "width", "source", "kind", "why"}, "images");
    const auto count = [images](const char* key, std::int64_t most) {
      return images->required(key, "images").as_integer(key, 1, most);
    };
    load.images = count("number", kMaxFrames);
    load.image_height = count("height", kMaxPixels);
    load.image_width = count("width", kMaxPixels);
  }
  load.answers =
      read_shares(node.required("answers", "loads").required("shares", "answers"), "answers");
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
  request.input_len = lengths_around(prompt, prompts);
  request.output_len = lengths_around(mean_answer, answers);
  const auto known = repeats.lower_bound(places);
  const std::int64_t times = known != repeats.end() ? known->second : repeats.rbegin()->second;
  request.offline = requests * times;
  // Where there are places for the whole data set, copies of a prompt are served beside one
  // another: one of them computes it.
  const bool beside = places >= requests && times > 1;
  request.prefix_share = beside ? 1 - (1 - cached) / static_cast<double>(times) : cached;
  request.max_batch = std::max<std::int64_t>(1, places / ranks);
  request.full_places = places;
  request.machine.images = images;
  request.machine.image_size = image_height;
  request.machine.image_width = image_width == image_height ? 0 : image_width;
}

std::map<std::string, EnergyLoad> read_energy_loads(const Node& section) {
  std::map<std::string, EnergyLoad> loads;
  for (const MapEntry& entry : section.entries) loads[entry.key] = read_energy_load(entry.value);
  return loads;
}

}  // namespace foretell
