#include "model/app/terminal/request_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr const char* kExact = "exact";

void add_list(CLI::App& command, const char* name, const char* type,
              std::vector<std::string>& values, bool lists, const std::string& help) {
  CLI::Option* option = add_option(command, name, values, type, help)->allow_extra_args(false);
  if (lists) {
    option->delimiter(',')->take_all();
  } else {
    option->expected(1);
  }
}

// One option of the list. Pairs repeat; what several are taken of has commas between.
void add_field(CLI::App& command, const RequestField& field, RequestOptions& options, bool lists) {
  const std::string name = std::string("--") + field.option;
  if (field.kind() == FieldKind::kFlag) {
    command.add_flag(name, options.flags[field.option], field.help);
    return;
  }
  std::vector<std::string>& values = options.values[field.option];
  if (field.kind() == FieldKind::kPairs) {
    add_repeated_option(command, name, values, std::string("NAME=") + field.type, field.help);
    return;
  }
  const bool several = lists && field.lists;
  add_list(command, name.c_str(), field.type, values, several,
           field.help + std::string(several ? ", several with commas" : ""));
}

const std::vector<std::string>& texts_of(const RequestOptions& options, const char* option) {
  static const std::vector<std::string> kNone;
  const auto found = options.values.find(option);
  return found == options.values.end() ? kNone : found->second;
}

bool is_set(const RequestOptions& options, const char* option) {
  const auto found = options.flags.find(option);
  return found != options.flags.end() && found->second;
}

// Sets a field from one text of its option.
void set_option(Request& request, const RequestField& field, const std::string& text) {
  const std::string option = std::string("--") + field.option;
  const bool is_one_word = field.kind() == FieldKind::kCount || field.lists;
  if (is_one_word && text.find(',') != std::string::npos) {
    throw UserError(fmt::format(
        "{} {}: takes one value here; {}a study varies it, `vary: {{{}: [{}]}}` (docs/studies.md)",
        option, text, field.lists ? "`foretell compare` takes several, and " : "", key_of(field),
        join(split(text, ','), ", ")));
  }
  set_field(request, field, option, text);
}

// `several` are the fields of which `compare` takes several values.
void read_fields(const RequestOptions& options, bool several, Request& request) {
  for (const RequestField& field : request_fields()) {
    if (is_set(options, field.option)) set_field(request, field, "", "yes");
    if (field.lists && !several) continue;
    for (const std::string& text : texts_of(options, field.option)) {
      if (!text.empty()) set_option(request, field, text);
    }
  }
}

void read_seed(const RequestOptions& options, Request& request) {
  if (options.seed.empty()) return;
  request.seed = static_cast<std::uint64_t>(parse_count("--seed", options.seed, 0, kMaxSeed));
}

// A copy of every request for each value of a field that `compare` takes several of.
std::vector<Request> with_each(const std::vector<Request>& requests, const RequestField& field,
                               const std::vector<std::string>& texts) {
  std::vector<Request> all;
  for (const Request& request : requests) {
    for (const std::string& text : texts) {
      all.push_back(request);
      if (!text.empty()) set_option(all.back(), field, text);
    }
  }
  return all;
}

std::vector<std::string> or_unstated(const std::vector<std::string>& values) {
  return values.empty() ? std::vector<std::string>{""} : values;
}

Request row_defaults(const RequestOptions& options) {
  Request request;
  request.set = options.set;
  request.factors = options.factors;
  request.exact = is_set(options, kExact);
  return request;
}

}  // namespace

void add_dimension_option(CLI::App& command, std::vector<std::string>& dimensions) {
  add_repeated_option(command, "--dim", dimensions, "NAME=SIZE", request_field("dim").help);
}

std::map<std::string, std::int64_t> parse_dimensions(const std::vector<std::string>& texts) {
  Request request;
  for (const std::string& text : texts) add_dimension(request, text);
  if (!request.distributions.empty()) {
    throw UserError("--" + request.distributions.begin()->first +
                    ": is a distribution; here it must be one size");
  }
  return request.dimensions;
}

void add_request_options(CLI::App& command, RequestOptions& options, bool lists) {
  const std::string several = lists ? ", several with commas" : "";
  add_list(command, "--on", "SYSTEM", options.systems, lists,
           "system, for example inf2.xlarge" + several);
  add_list(command, "workload,--workload", "NAME|FILE", options.workloads, lists,
           "network by name, a config.json or an ONNX file" + several);
  add_list(command, "--dtype", "TYPE", options.dtypes, lists,
           "data type or precision policy, bf16 when not stated" + several);
  for (const RequestField& field : request_fields()) {
    const bool is_option = *field.option != '\0' && std::string_view(field.option) != kExact;
    if (is_option) add_field(command, field, options, lists);
  }
  add_model_options(command, options);
  if (!lists) {
    add_option(command, "--trace", options.trace_file, "FILE",
               "write a timeline that opens in Perfetto to this file");
  }
  add_seed_option(command, options.seed);
}

void add_seed_option(CLI::App& command, std::string& seed) {
  add_option(command, "--seed", seed, "N", "seed of everything random (default: 0)");
}

void add_field_options(CLI::App& command, RequestOptions& options,
                       const std::vector<std::string>& names) {
  for (const std::string& name : names) add_field(command, request_field(name), options, false);
}

std::vector<std::string> service_fields(const std::vector<std::string>& without) {
  std::vector<std::string> names;
  for (const RequestField& field : request_fields()) {
    const bool is_left_out =
        std::find(without.begin(), without.end(), field.option) != without.end();
    if (field.serves && !is_left_out) names.emplace_back(field.option);
  }
  return names;
}

void add_model_options(CLI::App& command, RequestOptions& options) {
  add_repeated_option(
      command, "--set", options.set, "PATH=VALUE",
      "override a parameter, PATH=VALUE, for example 'device.hbm.bandwidth=1.6 TB/s'; "
      "repeat for more (`foretell show SYSTEM` lists the paths)");
  add_option(command, "--factors", options.factors, "FOLDER|FILE|none",
             "fitted factors: a folder as calib/factors is one, which counts before it; a file of "
             "NeuronCores or CPUs; or 'none' for published facts alone");
  add_field(command, request_field(kExact), options, false);
}

void check_trace_file(const std::string& path) {
  if (!path.empty()) const OutputFile probe(path);  // as it was when this is done
}

Request stated_request(const RequestOptions& options) {
  Request request = row_defaults(options);
  read_fields(options, true, request);
  read_seed(options, request);
  return request;
}

std::vector<Request> requests(const RequestOptions& options) {
  Request base = row_defaults(options);
  read_fields(options, false, base);
  read_seed(options, base);
  base.trace_file = options.trace_file;
  check_trace_file(base.trace_file);
  std::vector<Request> result;
  for (const std::string& system : or_unstated(options.systems)) {
    for (const std::string& workload : or_unstated(options.workloads)) {
      for (const std::string& dtype : or_unstated(options.dtypes)) {
        result.push_back(base);
        result.back().system = system;
        result.back().workload = workload;
        result.back().dtype = dtype;
      }
    }
  }
  for (const RequestField& field : request_fields()) {
    const std::vector<std::string>& texts = texts_of(options, field.option);
    if (field.lists && !texts.empty()) result = with_each(result, field, texts);
  }
  for (const Request& request : result) check_request(request);
  return result;
}

std::map<std::string, std::string> stated_keys(const RequestOptions& options) {
  std::map<std::string, std::string> keys;
  for (const RequestField& field : request_fields()) {
    for (const std::string& text : texts_of(options, field.option)) {
      if (!text.empty()) keys[key_of(field)] = text;
    }
  }
  return keys;
}

std::vector<std::string> stated_fields(const RequestOptions& options,
                                       const std::vector<std::string>& but) {
  std::vector<std::string> stated;
  for (const RequestField& field : request_fields()) {
    const std::vector<std::string>& texts = texts_of(options, field.option);
    const bool is_named =
        is_set(options, field.option) ||
        std::any_of(texts.begin(), texts.end(), [](const auto& text) { return !text.empty(); });
    if (is_named && std::find(but.begin(), but.end(), field.option) == but.end())
      stated.emplace_back(field.option);
  }
  return stated;
}

}  // namespace foretell
