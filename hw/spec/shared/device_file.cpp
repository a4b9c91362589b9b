#include "hw/spec/shared/device_file.hpp"

#include <algorithm>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// A value of the user's: plain, or with a source that is better than an assumption.
class OwnValueReader {
 public:
  OwnValueReader(const Bibliography& bibliography, std::map<std::string, Provenance>& provenance,
                 bool is_part)
      : sourced_(bibliography, provenance), provenance_(provenance), is_part_(is_part) {}

  void operator()(const Field& field, const Node& node, Problems& problems) const {
    if (node.is_scalar()) {
      read_plain_value(field, node, problems);
      provenance_[field.path] = {{node.text, node.where(), ValueKind::kOverride, ""}, "", {}};
      return;
    }
    sourced_(field, node, problems);
    const auto found = provenance_.find(field.path);
    if (!is_part_ || found == provenance_.end()) return;
    SourcedValue& value = found->second.chosen;
    if (value.kind != ValueKind::kAssumed) return;
    value.kind = ValueKind::kOverride;
    value.source = node.where();
  }

 private:
  SourcedReader sourced_;
  std::map<std::string, Provenance>& provenance_;
  bool is_part_;  // what is not stated comes from elsewhere
};

}  // namespace

DeviceFile::DeviceFile(const Node& root, const std::filesystem::path& folder,
                       const std::string& like)
    : root_(root),
      takes_from_own_(
          std::any_of(root.entries.begin(), root.entries.end(),
                      [&root](const MapEntry& entry) { return entry.value.file != root.file; })) {
  if (like.empty()) {
    if (takes_from_own_) leave_out_entries(root_, parent_);
    return;
  }
  parent_file_ = file_of(folder, like);
  parent_ = load_document(parent_file_, shown_path(parent_file_));
  leave_out_entries(root_, parent_);
}

const Node& DeviceFile::stating(std::string_view key) const {
  if (const Node* own = root_.find(key)) return *own;
  if (const Node* other = parent_.find(key)) return *other;
  return root_.required(key, "");
}

std::string DeviceFile::text(std::string_view key) const { return stating(key).as_text(key); }

std::string DeviceFile::name() const {
  return text(parent_file_.empty() || states("name") ? "name" : "id");
}

bool DeviceFile::states_all(const FieldList& list) const {
  return std::all_of(list.all().begin(), list.all().end(), [this](const Field& field) {
    if (field.is_optional) return true;
    const Node* node = &root_;
    for (const std::string& name : split(field.path, '.')) {
      node = node->find(name);
      if (node == nullptr) return false;
    }
    return true;
  });
}

std::string DeviceFile::bytes_taken(const FieldList& list) const {
  return parent_file_.empty() || states_all(list) ? "" : read_text_file(parent_file_);
}

std::set<std::string> DeviceFile::load(FieldList& list, const std::vector<std::string>& skip,
                                       const Bibliography& bibliography,
                                       std::map<std::string, Provenance>& provenance,
                                       Problems& problems) const {
  if (parent_file_.empty() && takes_from_own_) {
    load_fields(root_, list, skip, OwnValueReader(bibliography, provenance, false), problems);
    return {};
  }
  if (parent_file_.empty()) {
    load_fields(root_, list, skip, SourcedReader(bibliography, provenance), problems);
    return {};
  }
  const bool is_part = !states_all(list);
  if (is_part) {
    const Bibliography of_project = Bibliography::of(project_hw_folder());
    load_fields(parent_, list, skip, SourcedReader(of_project, provenance), problems);
  }
  std::map<std::string, Provenance> own;
  load_fields(root_, list, skip, OwnValueReader(bibliography, own, is_part), problems,
              is_part ? Missing::kAllowed : Missing::kReported);
  std::set<std::string> stated;
  for (auto& [path, value] : own) {
    if (is_part) stated.insert(path);
    provenance[path] = std::move(value);
  }
  return stated;
}

}  // namespace foretell
