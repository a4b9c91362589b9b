// What a fit may move, where its search starts, and what is believed of each factor before a
// measurement is seen: one format for every kind of device (calib/fit/*_plan.yaml).
//
//   noise: 0.05        # relative error of a configuration that is no news; beliefs need it
//   measured: tpot_ms  # of networks alone: the column that is compared, where a table has several
//   on_top: true       # of networks alone: the factors so far stay in force below the free ones
//   starts:            # the first entry that fits counts
//     - devices: [inferentia2]     # each a list of patterns as file names have them; all unless it
//       architectures: [hopper]    # says which
//       tables: [trtllm context*]
//       why: the launch cannot be distinguished from that of another kernel
//       fixed: [launch]            # what the search leaves as it is
//       factors:
//         launch: 2.1 us           # a start; how far the search may go is its own matter
//         call_overhead: {prior: 28 us, width: 200 us, low: 0 us, high: 2 ms, why: published}
//   sharing: …         # of tables of kernels alone: calib/fit/shared_fit.hpp
//
// prior ± width pulls a factor weakly towards what is believed: one width away costs as much as one
// configuration that is wrong by the noise; low and high are where it stops making sense. Where one
// fit serves several devices, `devices` of a factor says which of them it applies to, and
// `per_device: true` gives it a value for each.
#pragma once

#include <string>
#include <vector>

#include "model/config/fields.hpp"

namespace foretell {

struct Node;

// Values are in base units (seconds, or plain numbers), or logarithms of them.
struct FreeFactor {
  std::string name;  // path of its field: "call_overhead", "sdk_engine_time.2.9"
  double prior = 0;
  double width = 1;  // one standard deviation of the belief, above zero
  double low = 0;
  double high = 0;
  Dimension dimension;
  std::string meaning;               // from the declaration of the parameter
  std::string why;                   // where the prior comes from
  std::vector<std::string> devices;  // those it applies to

  bool applies_to(const std::string& device) const;
  // With four significant digits and its unit: "231.4 us".
  std::string text(double value) const;
};

// What a plan is asked for. A name that is empty is not asked about. Plans of kernels are asked for
// an architecture, those of networks are not.
struct PlanTarget {
  std::string device;
  std::string architecture;
  std::string table;
};

struct FitPlan {
  std::vector<std::string> devices;  // that the entry names
  double noise = 0;                  // 0: not stated
  std::string measured = "call_ms";
  bool on_top = false;
  std::vector<FreeFactor> factors;  // those with a belief
  std::vector<std::string> fixed;
};

// The first entry that fits. What it says of its factors is checked against `fields`, which hold
// the starts and priors afterwards; factors that are not named stay as they are. UserError with
// file:line, all problems in one: unknown factors (with the nearest), values outside their range, a
// prior outside [low, high], beliefs without noise, devices that are not in the list of the entry;
// no entry that fits.
FitPlan load_fit_plan(const std::string& path, const PlanTarget& target, FieldList& fields);
FitPlan parse_fit_plan(const std::string& text, const std::string& shown_as,
                       const PlanTarget& target, FieldList& fields);

// The devices that entries of a plan name, in their order.
std::vector<std::string> planned_devices(const std::string& path);

// The file, with nothing but the keys of a plan of kernels.
Node load_kernel_plan(const std::string& path);

// Whether an entry of a plan is for it: patterns as file names have them ("trtllm context*",
// "* bf16"). An entry without the list is for all.
bool plan_names(const Node* list, const std::string& text);

}  // namespace foretell
