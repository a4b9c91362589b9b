#include "hw/spec/shared/data_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/spec/shared/likeness.hpp"
#include "hw/spec/shared/own_parents.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/names.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".yaml";

constexpr std::pair<const char*, SystemFileKind> kKindKeys[] = {
    {"topology", SystemFileKind::kNeuron},
    {"interconnect", SystemFileKind::kGpu},
    {"sms", SystemFileKind::kGpu},
    {"sockets", SystemFileKind::kCpu}};

}  // namespace

namespace {

constexpr std::size_t kMaxFolders = 100;

struct KeptFolders : KeptValues<std::vector<std::string>, kMaxFolders> {};

std::vector<std::string> list_ids(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> ids;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kExtension) ids.push_back(entry.path().stem().string());
  }
  if (error) throw UserError(fmt::format("{}: cannot be listed", folder.string()));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::vector<std::string> ids_in(const fs::path& folder) {
  return kept_input<KeptFolders>(folder.string(), [&] { return list_ids(folder); });
}

bool is_file_name(std::string_view id) { return fs::path(id).extension() == kExtension; }

std::string name_in_file(std::string_view id) {
  return is_file_name(id) ? fs::path(id).stem().string() : std::string(id);
}

std::string beside(const fs::path& file, const std::string& id) {
  return is_file_name(id) ? (file.parent_path() / id).string() : id;
}

bool is_gpu_device(const Node& root) {
  if (root.find("sms") != nullptr) return true;
  const Node* like = root.find("like");
  if (like == nullptr || !like->is_scalar()) return false;
  return !name_spelt(like->text, ids_in(project_hw_folder() / "devices" / "gpu")).empty();
}

bool is_system_file(std::string_view id, SystemFileKind kind) {
  if (!is_file_name(id)) return false;
  const Node root = load_with_own_parents(id);
  if (kind == SystemFileKind::kGpu && is_gpu_device(root)) return true;
  return std::any_of(std::begin(kKindKeys), std::end(kKindKeys), [&](const auto& entry) {
    return entry.second == kind && root.find(entry.first) != nullptr;
  });
}

std::string misspelt_kind_key(const std::string& file) {
  std::vector<std::string> known;
  for (const auto& entry : kKindKeys) known.emplace_back(entry.first);
  const Node root = load_document(file);
  for (const MapEntry& entry : root.entries) {
    const std::string nearest = nearest_name(entry.key, known);
    if (nearest.empty() || entry.key.size() <= 2) continue;
    return fmt::format("{}:{}: {}: no such parameter; nearest is '{}'", root.file, entry.line,
                       entry.key, nearest);
  }
  return "";
}

std::string bytes_of_system_files(const std::string& id) {
  if (!is_file_name(id)) return "";
  std::string bytes = read_text_file(id);
  const Node root = with_own_parents(parse_document(bytes, id), id, bytes);
  for (const char* key : {"device", "core"}) {
    const Node* node = root.find(key);
    if (node != nullptr && node->is_scalar())
      bytes += bytes_of_system_files(beside(id, node->text));
  }
  return bytes;
}

fs::path file_of(const fs::path& folder, std::string_view id) {
  if (is_file_name(id)) return id;
  return folder / (std::string(id) + kExtension);
}

std::string text_of(const Node& root, std::string_view key) {
  return root.required(key, "").as_text(key);
}

void check_id(const Node& root, const fs::path& path) {
  const std::string id = text_of(root, "id");
  if (id != path.stem().string()) {
    throw UserError(fmt::format("{}: id: '{}' has to be the name of the file, '{}'",
                                root.find("id")->where(), id, path.stem().string()));
  }
}

}  // namespace foretell
