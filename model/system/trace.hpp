// A simulated call as a timeline in the Chrome trace-event format, which Perfetto and
// chrome://tracing open.
//
// One process per core with one thread per engine queue, DMA ring and queue of collectives; entries
// of a queue that overlap (weights loaded during a running matmul, transfers in flight) get further
// threads of the same name. One complete event per instruction and transfer, a flow arrow from
// whatever decided when it began if that is an entry of another queue, and one more process with
// the host's call overhead and the rate at which HBM is read and written. Counters: what each core
// has in SBUF, by weights that were loaded and are not used up and by activations; what collectives
// move, and how much of it over every direction of every link; and, where it is known, the power of
// the device, as means of kPowerWindows windows of a call. All are spread evenly over the time of
// an instruction, transfer or collective. Times are microseconds since the first call.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/components/neuron/collective_fabric.hpp"
#include "model/program/occupant.hpp"
#include "model/program/program.hpp"
#include "model/system/simulate.hpp"

namespace foretell {

// The traffic of a collective over all links.
using CollectiveLinks = std::map<CollectiveShape, std::vector<LinkTraffic>>;

// What an entry draws while it runs, above what idle devices draw.
struct PowerSpan {
  Ticks begin = 0;
  Ticks end = 0;
  Joules energy;
};
struct TracePower {
  Watts idle;  // of the device, its clocks up; 0: power is not known
  std::vector<PowerSpan> spans;
};

// What the program alone does not say.
struct TraceDetails {
  Occupancy occupancy;
  CollectiveLinks links;
  BytesPerSecond memory_peak;  // 0: unknown
  TracePower power;            // of the cores that are shown
};

// A call of a timeline; what is referred to has to outlive it. `execution` is that of `program`.
struct TracedCall {
  std::string name;  // "prefill"; may be empty when there is only one
  const Program& program;
  const Execution& execution;
  const TraceDetails& details;
};

inline constexpr std::int64_t kPowerWindows = 1000;

// One call after the other. The output depends on what is given alone. Throws UserError when `out`
// cannot be written.
void write_trace(std::ostream& out, const std::vector<TracedCall>& calls);

}  // namespace foretell
