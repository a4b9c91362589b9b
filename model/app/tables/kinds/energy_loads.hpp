// What a benchmark of energy sends to a server, by its data set: how long prompts and answers are,
// and how many requests.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/app/serving/request/serve.hpp"
#include "model/config/document.hpp"

namespace foretell {

struct EnergyLoad {
  double prompt = 1;            // mean tokens
  std::vector<double> prompts;  // equally likely lengths, as shares of it
  double cached = 0;            // share of them that requests before have left in the cache
  std::int64_t images = 0;      // in every prompt, of this size
  std::int64_t image_height = 0;
  std::int64_t image_width = 0;
  std::vector<double> answers;  // likewise, of the mean that a row states
  std::int64_t requests = 0;    // of the data set
  // How often it is sent where the server has up to this many places.
  std::map<std::int64_t, std::int64_t> repeats;

  // All at once to a server with this many places, divided among its ranks; energy counts while all
  // places are taken.
  void ask(double mean_answer, std::int64_t places, int ranks, ServeRequest& request) const;
};

// By data set; UserError with file:line for what is wrong.
std::map<std::string, EnergyLoad> read_energy_loads(const Node& section);

}  // namespace foretell
