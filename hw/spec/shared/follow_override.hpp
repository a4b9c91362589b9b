// How fitted numbers and rates of a whole chip follow an override.
//
// A factor is fitted to measurements of a machine as its files describe it. An override of the
// value that the factor stands for moves the factor with it, so that no override is without effect.
// A fitted time is the published one and what measurements showed beyond it: the override takes the
// place of the former. Where measurements showed less, and for shares, the proportion is kept. An
// override of the factor itself stands as it is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

Seconds follow_time(Seconds fitted, Seconds published, Seconds stated);
double follow_share(double fitted, double published, double stated);

// Rates of the whole chip, but for the paths in `given`: they are those of device.sms
// multiprocessors at device.clock.boost, and a multiprocessor keeps its work per cycle. The rate
// that the power limit leaves moves with the cube root of the limit: power is voltage squared times
// clock, and voltage rises with the clock. Paths of the rates that moved.
std::vector<std::string> follow_overrides(const GpuDeviceSpec& published,
                                          const std::set<std::string>& given,
                                          GpuDeviceSpec& stated);

}  // namespace foretell
