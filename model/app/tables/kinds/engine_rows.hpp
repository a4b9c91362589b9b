// Rows of generations that an engine ran: a service that `batch` requests enter at once, with the
// engine's steps, host times and KV blocks (hw/engines).
#pragma once

#include <string>

#include "model/app/serving/request/serve.hpp"
#include "model/app/tables/row_prediction.hpp"

namespace foretell {

// The service; serve() checks it.
ServeRequest generation_by(const std::string& engine, const Request& request);

// What the row is compared with: from the first arrival to the last token, the first token and the
// further ones of the mean request in ms, generated tokens/s.
RowPrediction generation_prediction(const ServeRequest& request, const ServeSummary& summary);

}  // namespace foretell
