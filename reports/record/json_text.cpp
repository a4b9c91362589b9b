#include "reports/record/json_text.hpp"

#include <nlohmann/json.hpp>

namespace foretell {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_number_or_text(std::string_view cell) {
  if (cell.empty()) return "null";
  const nlohmann::json json = nlohmann::json::parse(cell, nullptr, false);
  const bool is_plain = cell.front() != ' ' && cell.back() != ' ';
  return json.is_number() && is_plain ? std::string(cell) : json_text(cell);
}

}  // namespace foretell
