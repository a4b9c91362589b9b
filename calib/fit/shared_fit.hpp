// Which factors of a table of kernels need values of their own, where all others are those of
// another table: of the same library on another chip of the architecture, or of another phase, type
// or library on the same chip.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calib/fit/evidence.hpp"
#include "calib/fitted/gpu/shared_factors.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// What calib/fit/gpu_<kind>_plan.yaml says of a table under `sharing`; the first entry that fits
// counts:
//
//   sharing:
//     - devices: [h200-sxm]             # all unless it says which
//       tables: [trtllm context*]       # plan_names() of plan.hpp; all unless …
//       like: {device: h100-sxm}        # device, table or both; the other is the table's own
//       own: 4                          # at most this many values of its own
struct SharingRule {
  FactorParent like;
  std::size_t own = 0;
};

// Nothing where no entry fits. An entry that names the table itself, or one that `exists` denies,
// does not fit. UserError with file:line.
using TableExists = std::function<bool(const std::string& device, const std::string& table)>;
std::optional<SharingRule> load_sharing_rule(const std::string& path, const std::string& device,
                                             const std::string& table, const TableExists& exists);

// The tables of a device in the order in which they can be fitted: those of a group are like tables
// of groups before it, or of other devices. `parent` is the table of the same device that a table
// is like; "" for none.
std::vector<std::vector<std::string>> sharing_order(
    const std::vector<std::string>& tables,
    const std::function<std::string(const std::string& table)>& parent);

struct SharedFitOptions {
  std::size_t most = 6;            // own values
  double gain = 5e-4;              // what an own value must take off the loss
  double enough = 0;               // loss at which no further one is taken
  int evaluations = 60;            // of a search, for each value that it moves
  std::size_t tried_together = 3;  // factors of which each is searched with those chosen before it
};

struct SharedFit {
  std::vector<std::string> own;  // in the order of what they gain
  double shared_loss = 0;        // without any
  double loss = 0;
};

// `fields` hold the shared values and end with the best found. Of `candidates`, factors are given
// values of their own one after another, each the one that takes most off the mean relative error
// of `forecast` with those before it searched anew, until the loss is no more than enough or none
// gains. Where that ends above `enough`, all that `hints` state are taken and given up one after
// another, as long as the loss stays enough. `hints` are values that a fit of the table found. A
// candidate that is zero, one that the shared values do without, starts from its hint.
SharedFit fit_shared(FieldList& fields, const std::vector<std::string>& candidates,
                     const FactorTexts& hints, const SharedFitOptions& options,
                     const std::vector<Observation>& observations, const FieldForecast& forecast);

}  // namespace foretell
