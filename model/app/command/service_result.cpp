#include "model/app/command/service_result.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/app/request/family/device_family.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/energy_text.hpp"
#include "reports/render/output_format.hpp"
#include "reports/render/serve_text.hpp"
#include "reports/render/service_text.hpp"

namespace foretell {
namespace {

std::string described(const Request& request) {
  std::vector<std::string> parts = {request.workload + " on " + request.system};
  if (!request.dtype.empty()) parts.push_back(request.dtype);
  if (request.tp > 0) parts.push_back(fmt::format("tp {}", request.tp));
  for (const auto& [key, value] : request.service) parts.push_back(key + " " + value);
  return join(parts, ", ");
}

}  // namespace

std::string services_text_in(Format format, const std::vector<ServeRecord>& records, int width) {
  if (format == Format::kMarkdown) return services_markdown(service_title(records), records);
  if (format == Format::kJson) {
    std::string lines;
    for (const ServeRecord& record : records) lines += to_json(record) + "\n";
    return lines;
  }
  if (!is_prose(format)) return rows_text(serve_rows(records), format);
  return records.size() == 1 ? serve_text(records.front()) : services_text(records, width);
}

int compare_services(const std::vector<Request>& requests, const OutputOptions& output,
                     const Session& session) {
  if (!output.store.empty()) {
    throw UserError(
        "--store: keeps predictions of calls; write services with --format json -o FILE, which "
        "`foretell report` reads, or sweep them as a study");
  }
  std::vector<ServeRequest> services;
  for (const Request& request : requests) {
    check_names(request);
    services.push_back(served_request(request));
  }
  const Format format = parse_format(output.format);
  OutputFile file(output.output);
  Progress progress(session, "serving");
  MachinePool pool(session.predict);
  std::vector<ServeRecord> records;
  std::string failures;
  for (std::size_t i = 0; i < services.size(); ++i) {
    try {
      records.push_back(serve(pool, services[i], [&](double share) {
                          progress.update((static_cast<double>(i) + share) /
                                          static_cast<double>(services.size()));
                          return true;
                        }).record);
    } catch (const UserError& error) {
      failures += "\n  " + described(requests[i]) + ": " + error.what();
    }
  }
  if (records.empty()) throw UserError("nothing could be served:" + failures);
  std::string text = services_text_in(format, records, session.result_width);
  if (format == Format::kTable && output.energy)
    text += service_energies_text(records, session.result_width);
  file.write(format == Format::kTable ? as_shown(output.output, text) : text);
  file.finish();
  for (const ServeRecord& record : records) session.list_notes(record.context.notes);
  if (failures.empty()) return kSuccess;
  session.say("foretell: not served:" + failures);
  return kOutsideTolerance;
}

std::string explained_service_text(const ServeRecord& record, const std::string& findings) {
  return serve_text(record) + "\nWhat would help: the same service with one part changed\n\n" +
         findings;
}

std::string explained_service_json(const ServeRecord& record, const RunRecord& as_run,
                                   const Explanation& explanation) {
  auto json = nlohmann::ordered_json::parse(to_json(record));
  json["explanation"] =
      nlohmann::ordered_json::parse(explain_json(as_run, explanation))["explanation"];
  for (const char* of_calls : {"operators", "bound_by"}) json["explanation"].erase(of_calls);
  return json.dump() + "\n";
}

}  // namespace foretell
