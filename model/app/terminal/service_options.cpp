#include "model/app/terminal/service_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

bool holds(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void add_key(CLI::App& command, ServiceOptions& options, const ServeKey& key, bool lists) {
  add_option(command, service_option(key.key), options[key.key],
             std::string(key.type) + (lists ? ",..." : ""),
             key.help + std::string(lists ? "; several with commas" : ""));
}

}  // namespace

std::string service_option(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void add_service_options(CLI::App& command, ServiceOptions& options,
                         const std::vector<std::string>& several,
                         const std::vector<std::string>& without) {
  for (const ServeKey& one : serve_keys()) {
    if (!holds(without, one.key)) add_key(command, options, one, holds(several, one.key));
  }
}

std::vector<std::string> listed_service_keys() {
  std::vector<std::string> keys;
  for (const ServeKey& one : serve_keys()) {
    if (one.lists) keys.emplace_back(one.key);
  }
  return keys;
}

bool asks_for_service(const ServiceOptions& options) {
  return std::any_of(options.begin(), options.end(),
                     [](const auto& entry) { return !entry.second.empty(); });
}

std::vector<std::string> listed_values(const ServiceOptions& options, const std::string& key) {
  const auto found = options.find(key);
  if (found == options.end() || found->second.empty()) return {""};
  std::vector<std::string> values;
  for (const std::string& part : split(found->second, ',')) {
    const std::string value(trim(part));
    if (value.empty()) {
      throw UserError(
          fmt::format("{} {}: a value is missing in the list", service_option(key), found->second));
    }
    if (holds(values, value))
      throw UserError(fmt::format("{}: {} stands twice", service_option(key), value));
    values.push_back(value);
  }
  return values;
}

std::vector<Request> service_requests(const std::vector<Request>& requests,
                                      const ServiceOptions& options) {
  std::vector<Request> all = requests;
  for (const ServeKey& one : serve_keys()) {
    const auto typed = options.find(one.key);
    if (typed == options.end() || typed->second.empty()) continue;
    const std::vector<std::string> values =
        one.lists ? listed_values(options, one.key) : std::vector<std::string>{typed->second};
    std::vector<Request> more;
    for (const Request& request : all) {
      for (const std::string& value : values) {
        ServeRequest tried;
        set_serve_key(tried, one.key, service_option(one.key), value);
        more.push_back(request);
        more.back().service[one.key] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

}  // namespace foretell
