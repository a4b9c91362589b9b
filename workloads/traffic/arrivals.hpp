// When requests arrive: gaps between one and the next.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/traffic/random_stream.hpp"

namespace foretell {

enum class ArrivalKind {
  kPoisson,  // independent clients: exponential gaps
  kUniform,  // equal gaps
  kGamma,    // gaps with a coefficient of variation of choice: 1 is Poisson, above is burstier
  kBurst,    // this many at once, equal gaps between the bursts
};

struct ArrivalProcess {
  ArrivalKind kind = ArrivalKind::kPoisson;
  double variation = 1;       // kGamma: deviation of the gaps over their mean
  std::int64_t together = 1;  // kBurst
  double rate = 0;            // requests per second, on average
};

// "poisson", "uniform", "gamma:1.5", "burst:32". UserError that lists these.
ArrivalProcess parse_arrivals(std::string_view text, double rate);

// Seconds between request `index - 1` and request `index`; the first comes after a gap, too, but
// the first burst at once.
double next_gap(const ArrivalProcess& process, std::int64_t index, RandomStream& random);

}  // namespace foretell
