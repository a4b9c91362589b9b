// What a service is asked for, by key: for options of commands and keys of studies alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/app/request/resolve/field_names.hpp"
#include "model/app/serving/request/serve.hpp"

namespace foretell {

inline constexpr double kMaxRate = 1e9;  // requests per second

// "concurrency", "rate", "trace", "engine", "max_batch", "slo", …: what a request for a service
// states beside the machine and the lengths. The loads come first.
struct ServeKey {
  const char* key;
  const char* type;  // of its value, for help: "N", "FILE"
  const char* help;
  bool lists;  // `compare` takes several with commas between
  void (*set)(ServeRequest& request, std::string_view name, const std::string& text);
};
const std::vector<ServeKey>& serve_keys();

// Their names as columns and keys, for messages that name options: "max-batch" -> "max_batch".
void add_service_names(FieldNames& names);

// The keys that state a load.
bool is_load_key(std::string_view key);

// Sets one of the keys from its text; "" leaves it as it is. False for an unknown key. UserErrors
// start with `name`, "--rate" or "rate".
bool set_serve_key(ServeRequest& request, std::string_view key, std::string_view name,
                   const std::string& text);

}  // namespace foretell
