// Options that a family of devices has no meaning for.
#pragma once

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/forecast/prediction.hpp"

namespace foretell {

// UserError "SYSTEM: OPTION WHY" when the option was given.
inline void refuse_option(const Request& request, bool given, const char* option, const char* why) {
  if (given) throw UserError(fmt::format("{}: {} {}", request.system, option, why));
}

}  // namespace foretell
