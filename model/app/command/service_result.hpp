// Services in `compare` and `explain`, and their records as text.
#pragma once

#include <string>
#include <vector>

#include "model/app/command/explain_output.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/session.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

// Records in one of the forms that --format names. JSON has a line each.
std::string services_text_in(Format format, const std::vector<ServeRecord>& records, int width);

// Serves every request (see served_request()) and writes the services side by side. What cannot
// be served is reported with its reason and the others are delivered; the exit code says so.
// UserError when a request is no service, before the first is simulated, or when none can be
// served.
int compare_services(const std::vector<Request>& requests, const OutputOptions& output,
                     const Session& session);

// The service of one request, and what `explain` found with the answers of it: what would help.
std::string explained_service_text(const ServeRecord& record, const std::string& findings);
std::string explained_service_json(const ServeRecord& record, const RunRecord& as_run,
                                   const Explanation& explanation);

}  // namespace foretell
