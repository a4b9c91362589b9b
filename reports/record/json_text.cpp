#include "reports/record/json_text.hpp"

#include <nlohmann/json.hpp>

namespace foretell {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace foretell
