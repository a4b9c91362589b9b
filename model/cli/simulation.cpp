// The bridge from a resolved request to mapping and system.
#include "model/base/errors.hpp"
#include "model/cli/resolved_request.hpp"

namespace foretell {

Metrics simulate(const ResolvedRequest& resolved) {
  throw UserError(resolved.system.spec.id + ": this build has no simulation of it");
}

}  // namespace foretell
