// Does the network fit the device memory, and where would it? The same for every family.
#pragma once

#include "model/app/request/resolve/resolved_device.hpp"
#include "model/base/memory_error.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// More copies than the memory holds, which fewer would fit.
class TooManyCopies : public MemoryError {
 public:
  TooManyCopies(const std::string& message, int copies, int fitting)
      : MemoryError(message), copies_(copies), fitting_(fitting) {}
  int copies() const { return copies_; }
  int fitting() const { return fitting_; }

 private:
  int copies_;
  int fitting_;
};

// Parts of the fullest device that take part, where `copies` of groups of `ranks` fill device after
// device.
int used_parts(const MemoryPlace& place, int ranks, int copies);

// ", or take a smaller weight type, …", where there is one.
std::string smaller_weights(const PrecisionPolicy& precision);

// Memory that the request needs on its fullest device: for a generation, that of the prefill and of
// the step with the longest cache, of the stage that needs most. MemoryError when it is more than
// there is, with the smallest system and tensor parallelism that hold it; TooManyCopies where fewer
// copies fit.
MemoryUse check_memory(const ResolvedDevice& device);

}  // namespace foretell
