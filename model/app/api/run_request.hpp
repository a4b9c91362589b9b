// One prediction: `foretell run` and foretell::api::run.
#pragma once

#include <functional>

#include "model/app/api/foretell.hpp"
#include "model/app/request/prediction.hpp"

namespace foretell::api {

// UserError for what a user can get wrong.
Record run_request(const Request& request, const Predictor& predictor,
                   const std::function<void(double)>& progress);

}  // namespace foretell::api
