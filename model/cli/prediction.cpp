#include "model/cli/prediction.hpp"

#include "model/cli/device_family.hpp"

namespace foretell {

RunRecord predict(const Request& request) {
  check_request(request);
  return family_of(request.system).predict(request);
}

}  // namespace foretell
