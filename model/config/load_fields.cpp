#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {

namespace {

class FieldLoader {
 public:
  FieldLoader(FieldList& list, const LeafReader& read, Problems& problems)
      : list_(list), read_(read), problems_(problems) {}

  void load(const Node& map, const std::string& group, const std::vector<std::string>& skip) {
    for (const MapEntry& entry : map.entries) {
      if (std::find(skip.begin(), skip.end(), entry.key) != skip.end()) continue;
      load_entry(entry, group.empty() ? entry.key : group + "." + entry.key, group);
    }
  }

  // Reports each group that is missing as a whole once, and single parameters by name.
  void report_missing(const Node& root) {
    std::set<std::string> reported;
    for (const Field& field : list_.all()) {
      if (field.is_optional || given_.count(field.path) != 0) continue;
      if (inside_unreadable(field.path)) continue;
      const std::string missing = first_missing(field.path);
      if (!reported.insert(missing).second) continue;
      const Node& parent = deepest_given(root, field.path);
      problems_.add(parent, missing,
                    missing == field.path ? fmt::format("missing; allowed is {}", field.allowed())
                                          : fmt::format("missing; in it are: {}",
                                                        join(list_.children(missing), ", ")));
    }
  }

 private:
  void load_entry(const MapEntry& entry, const std::string& path, const std::string& group) {
    const std::string where = fmt::format("{}:{}", entry.value.file, entry.line);
    const Field* field = nullptr;
    try {
      field = list_.find(path);
    } catch (const UserError& error) {  // a key that an open table refuses
      problems_.add(where, path, error.what());
      return;
    }
    if (field != nullptr) {
      given_.insert(path);
      // A copy: reading may add entries to the list and move the fields.
      read_(Field(*field), entry.value, problems_);
    } else if (list_.is_group(path)) {
      given_.insert(path);
      load_group(entry.value, path);
    } else {
      problems_.add(where, path, unknown(entry.key, group));
    }
  }

  void load_group(const Node& node, const std::string& path) {
    if (node.is_map()) {
      load(node, path, {});
    } else {
      problems_.add(node, path,
                    fmt::format("expected a mapping with {}; here is {}",
                                join(list_.children(path), ", "), describe(node.kind)));
      unreadable_.insert(path);
    }
  }

  std::string unknown(const std::string& key, const std::string& group) const {
    const std::vector<std::string> names = list_.children(group);
    const std::string nearest = nearest_name(key, names);
    if (!nearest.empty()) return "no such parameter; nearest is '" + nearest + "'";
    return "no such parameter; here are: " + join(names, ", ");
  }

  bool inside_unreadable(const std::string& path) const {
    return std::any_of(unreadable_.begin(), unreadable_.end(),
                       [&](const std::string& group) { return starts_with(path, group + "."); });
  }

  // "core.dma.engines" when that is missing, "core.dma" when nothing of it is there.
  std::string first_missing(const std::string& path) const {
    for (std::size_t dot = path.find('.'); dot != std::string::npos;
         dot = path.find('.', dot + 1)) {
      std::string group = path.substr(0, dot);
      if (given_.count(group) == 0) return group;
    }
    return path;
  }

  static const Node& deepest_given(const Node& root, const std::string& path) {
    const Node* node = &root;
    for (const std::string& name : split(path, '.')) {
      const Node* next = node->find(name);
      if (next == nullptr) break;
      node = next;
    }
    return *node;
  }

  FieldList& list_;
  const LeafReader& read_;
  Problems& problems_;
  std::set<std::string> given_;       // paths of parameters and groups that the document names
  std::set<std::string> unreadable_;  // groups that are there but are no mapping; already reported
};

}  // namespace

namespace {

// Adds what is wrong with an item of a list where it stands.
void read_list(const Field& field, const Node& node, Problems& problems) {
  std::vector<std::string> texts;
  const bool good = problems.collect([&] {
    for (const Node& item : node.items) texts.push_back(item.as_text(field.path));
  });
  if (good) field.assign_list(std::move(texts));
}

}  // namespace

void read_plain_value(const Field& field, const Node& node, Problems& problems) {
  try {
    if (field.is_list && node.is_list()) return read_list(field, node, problems);
    if (node.is_scalar()) return field.assign(node.text);
  } catch (const UserError& error) {
    problems.add(node, field.path, error.what());
    return;
  }
  problems.add(
      node, field.path,
      fmt::format("expected {} ({}); here is {}", field.is_list ? "a list" : "a single value",
                  field.allowed(), describe(node.kind)));
}

void load_fields(const Node& map, FieldList& list, const std::vector<std::string>& skip,
                 const LeafReader& read, Problems& problems, Missing missing) {
  if (!map.is_map()) {
    problems.add(map, "",
                 fmt::format("expected a mapping with {}; here is {}",
                             join(list.children(""), ", "), describe(map.kind)));
    return;
  }
  FieldLoader loader(list, read, problems);
  loader.load(map, "", skip);
  if (missing == Missing::kReported) loader.report_missing(map);
}

}  // namespace foretell
