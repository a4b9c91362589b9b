// A simulated call as a timeline in the Chrome trace-event format, which Perfetto and
// chrome://tracing open.
//
// One process per core with one thread per engine queue, DMA ring and queue of collectives; entries
// of a queue that overlap (weights loaded behind a running matmul, transfers in flight) get further
// threads of the same name. One complete event per instruction and transfer, a flow arrow from
// whatever decided when it began if that is an entry of another queue, and one more process with
// the host's call overhead and the rate at which HBM is read and written. Counters of each core:
// what was loaded into SBUF and is not used up, and the payload of collectives over their time.
// Times are microseconds since the call.
#pragma once

#include <iosfwd>

#include "model/program/program.hpp"
#include "model/system/simulate.hpp"

namespace foretell {

// `execution` is that of `program`. The output depends on the two alone. Throws UserError when
// `out` cannot be written.
void write_trace(std::ostream& out, const Program& program, const ChipExecution& execution);

}  // namespace foretell
