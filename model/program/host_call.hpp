// What the host does for a device: it launches, or copies. Calls of a stream follow one another.
#pragma once

#include <cstdint>
#include <string>

#include "model/base/units.hpp"
#include "model/program/instruction.hpp"

namespace foretell {

struct HostCall {
  std::string name;  // "launch"
  Seconds time;      // of the host
  std::int32_t op = -1;
  std::uint32_t first_wait = 0;  // into Program::waits
  std::uint16_t wait_count = 0;
  std::uint16_t signal = kNoSemaphore;  // semaphore raised by 1 at the end
};

}  // namespace foretell
