#include "model/app/tables/report_classes.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr long long kMostEvery = 1'000'000;
constexpr long long kMostSeconds = 100'000;

ReportClass read_class(const Node& node) {
  node.only_keys({"name", "table", "where", "all_rows", "quantities", "every", "prefix", "device",
                  "dtype", "class", "seconds"},
                 "classes");
  ReportClass one;
  one.name = node.required("name", "classes").as_text("name");
  one.table = node.required("table", "classes").as_text("table");
  one.where = text_or_none(node, "where");
  one.all_rows = text_or_none(node, "all_rows") == "yes";
  if (const Node* quantities = node.find("quantities"))
    one.quantities = item_texts(*quantities, "quantities");
  if (const Node* every = node.find("every")) one.every = every->as_integer("every", 1, kMostEvery);
  one.prefix = text_or_none(node, "prefix");
  one.device = text_or_none(node, "device");
  one.dtype = text_or_none(node, "dtype");
  one.op_class = text_or_none(node, "class");
  const Node& seconds = node.required("seconds", "classes");
  one.seconds = static_cast<double>(seconds.as_integer("seconds", 1, kMostSeconds));
  return one;
}

}  // namespace

std::vector<ReportClass> read_report_classes(const Node& root) {
  root.only_keys({"classes"}, "");
  std::vector<ReportClass> classes;
  for (const Node& item : root.required("classes", "").items) {
    classes.push_back(read_class(item));
    const std::string& name = classes.back().name;
    const auto same = [&name](const ReportClass& other) { return other.name == name; };
    if (std::count_if(classes.begin(), classes.end(), same) > 1) {
      throw UserError(fmt::format("{}: '{}' stands there twice", item.where(), name));
    }
  }
  return classes;
}

std::vector<ReportClass> load_report_classes() {
  const auto path = data_root() / "calib" / "validate" / "report_classes.yaml";
  return read_report_classes(load_document(path, "calib/validate/" + path.filename().string()));
}

std::vector<ReportClass> chosen_classes(const std::vector<ReportClass>& classes,
                                        const std::vector<std::string>& names) {
  if (names.empty()) return classes;
  const auto fits = [](const std::string& name, const ReportClass& one) {
    return fnmatch(name.c_str(), one.name.c_str(), 0) == 0;
  };
  std::vector<std::string> known;
  for (const ReportClass& one : classes) known.push_back(one.name);
  for (const std::string& name : names) {
    const bool any = std::any_of(classes.begin(), classes.end(),
                                 [&](const ReportClass& one) { return fits(name, one); });
    if (any) continue;
    throw UserError(std::string(unknown_name("class", name, known).what()) +
                    "; the first column of `foretell validate --all` names them, as '" +
                    known.front() + "', and 'networks*' takes all that begin so");
  }
  std::vector<ReportClass> chosen;
  for (const ReportClass& one : classes) {
    const bool any = std::any_of(names.begin(), names.end(),
                                 [&](const std::string& name) { return fits(name, one); });
    if (any) chosen.push_back(one);
  }
  return chosen;
}

}  // namespace foretell
