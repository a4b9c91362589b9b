// The memory of a device does not hold the network, or one request of its service.
#pragma once

#include "model/base/errors.hpp"

namespace foretell {

class MemoryError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace foretell
