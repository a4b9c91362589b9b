#include "model/config/problems.hpp"

#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {

void Problems::add(const Node& at, std::string_view path, std::string_view message) {
  add(at.where(), path, message);
}

void Problems::add(std::string_view where, std::string_view path, std::string_view message) {
  std::string line(where);
  if (!path.empty()) line += (line.empty() ? "" : ": ") + std::string(path);
  line += (line.empty() ? "" : ": ") + std::string(message);
  lines_.push_back(std::move(line));
}

void Problems::add_lines(std::string_view text) {
  for (std::string& line : split(text, '\n')) lines_.push_back(std::move(line));
}

void Problems::throw_if_any() const {
  if (!lines_.empty()) throw UserError(join(lines_, "\n"));
}

}  // namespace foretell
