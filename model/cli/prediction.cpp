#include "model/cli/prediction.hpp"

#include "model/cli/device_family.hpp"
#include "model/cli/pipeline_prediction.hpp"

namespace foretell {

RunRecord predict(const Request& request) {
  check_request(request);
  const DeviceFamily& family = family_of(request.system);
  if (!is_pipeline(request)) return family.predict(request);
  return predict_pipeline(request, [&family](const Request& part) { return family.predict(part); });
}

}  // namespace foretell
