#include "hw/engines/engine_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "hw/engines/size_list.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngineFolder = "engines";

std::vector<int> numbers_of(std::string_view release) {
  std::vector<int> numbers;
  std::string digits;
  for (const char c : release) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
      continue;
    }
    if (digits.empty()) break;
    numbers.push_back(static_cast<int>(to_count(digits.substr(0, 8)).value_or(0)));
    digits.clear();
    if (c != '.') return numbers;
  }
  if (!digits.empty())
    numbers.push_back(static_cast<int>(to_count(digits.substr(0, 8)).value_or(0)));
  return numbers;
}

// Numbers with dots between them, and what may follow them: "1.2.0rc6.post2", "0.5.1-rc0".
bool is_release(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (numbers_of(text).empty() || text.front() == '.') return false;
  if (end == text.size()) return text.back() != '.';
  std::string_view rest = text.substr(end);
  if (rest.front() == '-' || rest.front() == '+') return rest.size() > 1;
  for (const std::string_view mark : {"rc", "post", "dev", "a", "b"}) {
    if (!starts_with(rest, mark)) continue;
    rest.remove_prefix(mark.size());
    return rest.empty() || std::isalpha(static_cast<unsigned char>(rest.front())) == 0;
  }
  return false;
}

struct EngineFile {
  std::string engine;
  std::string since;
};

// "vllm-0.8" describes vllm from 0.8 on.
EngineFile parts_of(const std::string& id) {
  const std::size_t dash = id.rfind('-');
  if (dash == std::string::npos) return {id, "0"};
  return {id.substr(0, dash), id.substr(dash + 1)};
}

// Values that no list of the fields can judge. Each message names the file of the engine, or --set
// where the value is from there.
void check_values(const EngineSpec& spec, const std::string& file,
                  const std::set<std::string>& overridden, Problems& problems) {
  const auto place = [&](const std::string& path) {
    return (overridden.count(path) > 0 ? "--set" : file + ":") + " " + path;
  };
  problems.collect([&] { parse_size_list(spec.graphs.sizes); });
  problems.collect([&] {
    const std::string& room = spec.schedule.room_first;
    if (room.empty() || room == "no" || to_count(room)) return;
    throw UserError(fmt::format("{}: '{}' is neither 'no' nor a number of tokens",
                                place("engine.schedule.room_first"), room));
  });
  problems.collect([&] {
    if (spec.host.first_on.empty()) return;
    try {
      gpu_architecture(spec.host.first_on);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", place("engine.host.first_on"), error.what()));
    }
  });
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  std::vector<int> left = numbers_of(a);
  std::vector<int> right = numbers_of(b);
  const std::size_t size = std::max(left.size(), right.size());
  left.resize(size, 0);
  right.resize(size, 0);
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

EngineCatalog::EngineCatalog(std::filesystem::path hw) : hw_(std::move(hw)) {
  bibliography_ = Bibliography::of(hw_);
}

std::vector<std::string> EngineCatalog::ids() const { return ids_in(hw_ / kEngineFolder); }

std::vector<std::string> EngineCatalog::engines() const {
  std::set<std::string> names;
  for (const std::string& id : ids()) names.insert(parts_of(id).engine);
  return {names.begin(), names.end()};
}

std::string EngineCatalog::default_engine(std::string_view family) const {
  const fs::path path = hw_ / kEngineFolder / "choice" / "default.yaml";
  const Node root = load_document(path, "hw/engines/choice/default.yaml");
  const Node* families = root.find("of_family");
  const Node* own = families == nullptr ? nullptr : families->find(std::string(family));
  return own != nullptr ? own->as_text(std::string(family)) : text_of(root, "engine");
}

std::string EngineCatalog::id_of(std::string_view name, std::string_view family) const {
  if (name.empty()) return id_of(default_engine(family), family);
  if (is_file_name(name)) return std::string(name);
  const std::vector<std::string> known = ids();
  const std::string text = to_lower(trim(name));
  if (std::find(known.begin(), known.end(), text) != known.end()) return text;
  const std::size_t at = text.find('@');
  const std::string engine = text.substr(0, at);
  const std::string release = at == std::string::npos ? "" : text.substr(at + 1);
  const std::vector<std::string> names = engines();
  if (std::find(names.begin(), names.end(), engine) == names.end()) {
    throw unknown_name("engine", engine, names);
  }
  if (at != std::string::npos && !is_release(release)) {
    throw UserError(fmt::format("--engine {}: '{}' is no release; it looks like {}@0.8", name,
                                release, engine));
  }
  std::string best;
  std::string oldest;
  for (const std::string& id : known) {
    const EngineFile file = parts_of(id);
    if (file.engine != engine) continue;
    if (oldest.empty() || compare_versions(file.since, parts_of(oldest).since) < 0) oldest = id;
    if (!release.empty() && compare_versions(file.since, release) > 0) continue;
    if (best.empty() || compare_versions(file.since, parts_of(best).since) > 0) best = id;
  }
  if (best.empty()) {
    throw UserError(fmt::format("--engine {}: {} is described from release {} on", name, engine,
                                parts_of(oldest).since));
  }
  return best;
}

LoadedEngine EngineCatalog::load(std::string_view name, const std::vector<std::string>& set,
                                 std::string_view family) const {
  const std::string id = id_of(name, family);
  const fs::path path = file_of(hw_ / kEngineFolder, id);
  const std::string shown = is_file_name(id) ? id : fmt::format("hw/engines/{}.yaml", id);
  const std::string text = read_text_file(path, shown);
  const Node root = parse_document(text, shown);
  LoadedEngine loaded;
  Problems problems;
  problems.collect([&] { check_id(root, path); });
  problems.collect([&] { loaded.spec.name = text_of(root, "name"); });
  problems.collect([&] { loaded.spec.library = text_of(root, "library"); });
  loaded.spec.id = name_in_file(id);
  const EngineFile file = parts_of(loaded.spec.id);
  loaded.spec.engine = file.engine;
  loaded.spec.since = file.since;
  std::map<std::string, Provenance> provenance;
  {
    FieldList list;
    fields(list, loaded.spec);
    load_fields(root, list, {"id", "name", "library"}, SourcedReader(bibliography_, provenance),
                problems);
  }
  problems.throw_if_any();
  std::map<std::string, Provenance> prefixed;
  for (auto& entry : provenance) prefixed["engine." + entry.first] = std::move(entry.second);
  FieldList list;
  list.group("engine", loaded.spec);
  const std::set<std::string> overridden = apply_overrides(list, set, prefixed, problems);
  check_values(loaded.spec, shown, overridden, problems);
  problems.throw_if_any();
  loaded.spec_id = fmt::format("{}@{}", loaded.spec.id, content_hash(text));
  loaded.parameters = parameters_of(list, prefixed, overridden);
  loaded.assumed_values = assumed_values_in(loaded.parameters);
  return loaded;
}

}  // namespace foretell
