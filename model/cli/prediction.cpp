#include "model/cli/prediction.hpp"

#include "model/cli/resolved_request.hpp"

namespace foretell {

RunRecord predict(const Request& request) {
  const ResolvedRequest resolved = resolve(request);
  return make_record(resolved, simulate(resolved));
}

}  // namespace foretell
