// Text in trace-event files.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace foretell {

// As a JSON string; bytes that are not UTF-8 are replaced.
inline std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace foretell
