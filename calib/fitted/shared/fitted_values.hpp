// Fitted numbers of a device as its factor file holds them, whatever the family:
//
//   dma_rate_fraction: {value: 0.92, interval80: [0.88, 0.96]}
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/config/document.hpp"
#include "model/config/fields.hpp"
#include "model/config/problems.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

// What a file says of one number beside its value.
struct FittedValue {
  std::string fitted_on;   // "": what the file was fitted on
  std::string interval80;  // "0.88 .. 0.96", "" when unknown
  std::string status;      // "": that of the file
};

// Reads the mapping into `list`; what is known of each number by its path. `more` reads what an
// entry has beside value and interval80, for which `keys` allows; nothing where it is empty. Wrong
// units, values out of their range, bounds in the wrong order and unknown keys go to `problems`.
std::map<std::string, FittedValue> load_fitted_values(
    const Node& factors, FieldList& list, const std::vector<std::string>& keys,
    const std::function<void(const Field&, const Node&, FittedValue&)>& more, Problems& problems);

// [low, high] of ratios measured / predicted. UserError with file and line.
std::pair<double, double> read_interval80(const Node& node);

}  // namespace foretell
