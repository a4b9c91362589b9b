#include "workloads/import/hf/config/plain_fields.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/base/data_root.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

struct PlainFields {
  std::set<std::string> names;
  std::vector<std::string> endings;     // "*_token_id" without the star
  std::vector<std::string> beginnings;  // "vision_*" likewise
};

PlainFields load_plain_fields() {
  PlainFields plain;
  const Node root =
      load_document((data_root() / "workloads" / "import" / "hf" / "plain_fields.yaml").string());
  for (const MapEntry& reason : root.entries) {
    for (const Node& item : reason.value.items) {
      const std::string& name = item.as_text(reason.key);
      if (starts_with(name, "*")) {
        plain.endings.push_back(name.substr(1));
      } else if (ends_with(name, "*")) {
        plain.beginnings.push_back(name.substr(0, name.size() - 1));
      } else {
        plain.names.insert(name);
      }
    }
  }
  return plain;
}

}  // namespace

std::vector<std::string> fields_that_may_matter(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const PlainFields plain = load_plain_fields();
  std::vector<std::string> matter;
  for (const std::string& name : names) {
    const auto ends = [&name](const std::string& ending) { return ends_with(name, ending); };
    const auto begins = [&name](const std::string& start) { return starts_with(name, start); };
    if (plain.names.count(name) == 0 &&
        std::none_of(plain.endings.begin(), plain.endings.end(), ends) &&
        std::none_of(plain.beginnings.begin(), plain.beginnings.end(), begins)) {
      matter.push_back(name);
    }
  }
  return matter;
}

std::string missing_part(std::string_view model_type) {
  const Node root =
      load_document((data_root() / "workloads" / "import" / "hf" / "missing_parts.yaml").string());
  for (const MapEntry& kind : root.entries) {
    if (const Node* part = kind.value.find(model_type)) return part->as_text(kind.key);
  }
  return "";
}

}  // namespace foretell
