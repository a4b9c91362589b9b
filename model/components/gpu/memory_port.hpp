// How the SMs ask a memory for bytes, and what its answer says.
//
// All grids of a GPU ask through one port, which is one initiator of the memory: whatever stands
// there, ours or a foreign one (model/components/shared/memory.hpp), says when the last byte has
// passed. From that the SMs learn two times: how long the bytes take when no other asks, and how
// long they hold the memory, which is what grids that run together share.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>

#include "model/base/units.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/components/shared/ticks.hpp"

namespace foretell {

class MemoryPort : public sc_core::sc_module {
 public:
  // `peak`: of the memory. A grid that reaches less of it holds it longer.
  MemoryPort(const sc_core::sc_module_name& name, BytesPerSecond peak);

  tlm_utils::simple_initiator_socket<MemoryPort> socket;

  struct Answer {
    Ticks alone = 0;  // until the last byte, were it alone
    Ticks held = 0;   // that no other gets of the memory
  };
  // For `bytes` above zero at `rate` of that peak, from now on. A memory that serves one after the
  // other holds a request back while earlier ones last, one that serves several at once does not:
  // the time since the earlier ones ended is what the request holds the memory for, and it takes at
  // least as long as what it showed when it was idle.
  Answer ask(Bytes bytes, BytesPerSecond rate, const Speaker& speaker);

 private:
  BytesPerSecond peak_;
  MemoryPath path_;
  std::uint64_t next_address_ = 0;  // of the next operand
  Ticks free_at_ = 0;               // what was asked before has passed
  double per_byte_ = 0;             // ticks, of the last request that found it idle …
  double per_held_byte_ = 0;        // … and of bytes at the peak
};

}  // namespace foretell
