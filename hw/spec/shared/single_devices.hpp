// `--set device[3].PATH=VALUE`: one device of a system that is not as the others.
//
// Every device runs what the compiler made for all of them, so only how fast a device does it can
// differ: `hbm.…`, the clocks of the engines (`core.tensor.clock`) and the DMA engines
// (`core.dma.…`).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/config/problems.hpp"

namespace foretell {

struct DividedOverrides {
  std::vector<std::string> every;                  // of all devices, or of something else
  std::map<int, std::vector<std::string>> single;  // by device, with the paths of every device
};

// Divides assignments; what is wrong with an index goes to `problems`.
DividedOverrides divide_overrides(const std::vector<std::string>& assignments, Problems& problems);

// Fills system.different. Returns path ("device[3].hbm.bandwidth") and value of what was set.
// Everything that is wrong goes to `problems`.
std::vector<std::pair<std::string, std::string>> set_single_devices(
    const std::map<int, std::vector<std::string>>& single, NeuronSystemSpec& system,
    Problems& problems);

}  // namespace foretell
