// What benchmarks run whose tables state neither the lengths of a request nor how GPUs divide a
// copy of the network: loads by data set, deployments by network and GPU, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/served_cells.hpp"
#include "model/config/document.hpp"

namespace foretell {

inline constexpr const char* kRunsFile = "engines/recipes/offline_throughput.yaml";  // in hw

class RunDeployments {
 public:
  // From the sections "loads" and "deployments" of a recipe. UserError with file:line for what is
  // wrong with them.
  static RunDeployments read(const Node& root);

  // Is a row of a data set that is known here?
  bool knows(const ServedCells& cells) const;

  // Sets lengths, number of requests, division and precisions, and the limits that the row does not
  // state. UserError where no deployment is known for its network, GPU and load, and where its GPUs
  // are no multiple of those of a copy.
  void deploy(const ServedCells& cells, ServeRequest& request) const;

 private:
  struct Load {
    std::string dataset;  // words of the column
    std::string prompts;  // as --input-len
    std::string answers;
    std::int64_t requests = 0;
  };
  struct Deployment {
    std::vector<std::string> models;
    std::vector<std::string> gpus;
    std::string load;  // "offline", "rate"; "": both
    std::string dtype;
    std::string kv_dtype;
    int tp = 1;
    int pp = 1;
    std::int64_t max_sequences = 0;  // 0: the engine's
    std::int64_t max_tokens = 0;
    std::vector<std::string> set;  // of the engine
  };

  const Load* load_of(const ServedCells& cells) const;

  std::vector<Load> loads_;
  std::vector<Deployment> deployments_;
};

}  // namespace foretell
