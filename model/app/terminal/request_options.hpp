// The options that say what to predict, shared by run, compare, explain, predict and validate.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/app/api/foretell.hpp"
#include "model/app/request/prediction.hpp"

namespace CLI {
class App;
}

namespace foretell {

// Raw text of the options, which is also what programs ask with; requests() turns it into checked
// requests.
using RequestOptions = api::Request;

// The fields that are stated, by key of a study: "power_limit".
std::map<std::string, std::string> stated_keys(const RequestOptions& options);

// Options of fields that are stated, but those named: "batch", "seq".
std::vector<std::string> stated_fields(const RequestOptions& options,
                                       const std::vector<std::string>& but);

// --on, --workload, --dtype and everything else of one scenario. With `lists`, --on, --workload,
// --dtype and --batch take several values with commas between, and there is no --trace.
void add_request_options(CLI::App& command, RequestOptions& options, bool lists);

// The options of some fields of the list, by their names: "tp", "library-release".
void add_field_options(CLI::App& command, RequestOptions& options,
                       const std::vector<std::string>& names);

// The fields that a service is stated with, but those in `without`: "tp", "kv-dtype".
std::vector<std::string> service_fields(const std::vector<std::string>& without = {});

// --set, --factors, --exact: what applies to every row of a table.
void add_model_options(CLI::App& command, RequestOptions& options);

// --dim NAME=SIZE, and what was given so: UserError for what is no such pair, or no single size.
void add_dimension_option(CLI::App& command, std::vector<std::string>& dimensions);
std::map<std::string, std::int64_t> parse_dimensions(const std::vector<std::string>& texts);

// All combinations, the last option varying fastest: systems, workloads, dtypes, batches.
// UserError for values out of range, and for a trace file that cannot be written: it is created
// here.
std::vector<Request> requests(const RequestOptions& options);

// Creates the file, so that a path that cannot be written is found before the work.
void check_trace_file(const std::string& path);

// A request with the fields that are stated, none of which has several values, and the seed.
Request stated_request(const RequestOptions& options);

// --seed N.
void add_seed_option(CLI::App& command, std::string& seed);

}  // namespace foretell
