// The options of a service: load, engine, workers and promises. `serve`, `compare` and `explain`
// take the same, those of serve_keys().
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/app/request/prediction.hpp"

namespace CLI {
class App;
}

namespace foretell {

using ServiceOptions = std::map<std::string, std::string>;  // by key, as typed; "" is not stated

// "--max-batch" of "max_batch".
std::string service_option(std::string_view key);

// An option for each key of serve_keys() but those in `without`. Those in `several` say that they
// take a list.
void add_service_options(CLI::App& command, ServiceOptions& options,
                         const std::vector<std::string>& several,
                         const std::vector<std::string>& without);

// Keys of which `compare` takes several values.
std::vector<std::string> listed_service_keys();

// Whether anything of a service was typed.
bool asks_for_service(const ServiceOptions& options);

// "8,64" of the option as "8" and "64"; {""} when it was not typed. UserError for an empty or
// repeated one.
std::vector<std::string> listed_values(const ServiceOptions& options, const std::string& key);

// Requests for services: every request with every combination of the listed values, the last
// option varying fastest.
std::vector<Request> service_requests(const std::vector<Request>& requests,
                                      const ServiceOptions& options);

}  // namespace foretell
