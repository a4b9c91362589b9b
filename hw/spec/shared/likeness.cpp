#include "hw/spec/shared/likeness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/names.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kSameNumber = 1e-9;
constexpr double kOtherText = 1;  // in the measure of numbers: a factor of e
constexpr std::size_t kNamedPaths = 8;
constexpr int kTableEntries = 3;

// 0 where they are the same.
double difference(const Field& own, const Field& other) {
  if (!other.has_value()) return kOtherText;
  if (own.is_text) return own.text() == other.text() ? 0 : kOtherText;
  const double one = own.number();
  const double two = other.number();
  if (std::abs(one - two) <= kSameNumber * std::max(std::abs(one), std::abs(two))) return 0;
  return one > 0 && two > 0 ? std::abs(std::log(one / two)) : kOtherText;
}

// "device.matrix_rate.*" for several entries of it.
std::vector<std::string> with_tables_as_one(const std::vector<std::string>& paths) {
  const auto group_of = [](const std::string& path) { return path.substr(0, path.rfind('.')); };
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    const std::string group = group_of(path);
    const auto members = std::count_if(paths.begin(), paths.end(), [&](const std::string& other) {
      return group_of(other) == group;
    });
    std::string shown = members >= kTableEntries && group != "device" ? group + ".*" : path;
    if (result.empty() || result.back() != shown) result.push_back(std::move(shown));
  }
  return result;
}

}  // namespace

fs::path project_hw_folder() { return data_root() / "hw"; }

bool is_project_hw(const fs::path& hw) {
  std::error_code error;
  return hw == project_hw_folder() || fs::equivalent(hw, project_hw_folder(), error);
}

Likeness stated_likeness(const Node& root, const std::vector<std::string>& measured,
                         const char* kind) {
  Likeness like;
  const Node* stated = root.find("like");
  if (stated == nullptr) return like;
  const std::string& name = stated->as_text("like");
  like.is_own = true;
  like.device = name_spelt(name, measured);
  like.is_stated = true;
  if (!like.device.empty()) return like;
  throw UserError(stated->where() + ": like: " + unknown_name(kind, name, measured).what());
}

Likeness likeness_of(const FieldList& own, const std::string& id, const FieldList& other) {
  Likeness like;
  like.device = id;
  like.is_own = true;
  for (std::size_t i = 0; i < own.all().size(); ++i) {
    const Field& field = own.all()[i];
    if (starts_with(field.path, "system.") || !field.has_value()) continue;
    if (field.is_text && field.text().empty()) continue;
    const double size = difference(field, other.all().at(i));
    if (size == 0) continue;
    like.differs.push_back(field.path);
    like.measured[field.path] = other.all().at(i).text();
    like.size += size;
  }
  return like;
}

bool is_nearer(const Likeness& one, const Likeness& other) {
  return std::make_tuple(one.differs.size(), one.size) <
         std::make_tuple(other.differs.size(), other.size);
}

std::string likeness_note(const std::string& name, const Likeness& like) {
  if (!like.is_own) return "";
  if (like.device.empty()) {
    return fmt::format(
        "{} was not measured, and no machine of its generation is known that it could be taken "
        "for; 'like: DEVICE' in its file names one",
        name);
  }
  if (like.differs.empty()) {
    return name == like.device ? ""
                               : fmt::format("{}: every value is that of {}, whose factors count",
                                             name, like.device);
  }
  std::vector<std::string> paths = with_tables_as_one(like.differs);
  if (paths.size() > kNamedPaths) {
    const std::size_t more = paths.size() - kNamedPaths;
    paths.resize(kNamedPaths);
    paths.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{} was not measured: it is taken for {}{} with other values of {}{}", name,
                     like.device, like.is_stated ? ", as 'like' in its file states," : "",
                     join(paths, ", "),
                     like.is_stated ? "" : "; 'like: DEVICE' in its file names another one");
}

}  // namespace foretell
