#include "hw/spec/shared/provenance.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/config/node_number.hpp"

namespace foretell {

namespace {

// What values of the user's state, who has no publication of them.
constexpr const char* kOwnSource = "PROJECT";
constexpr const char* kOfOnesOwn =
    "; a value of your own has 'source: PROJECT, kind: assumed, why: made up'";

struct KeptBibliographies : KeptValues<Bibliography, 8> {};

const std::vector<std::string> kValueKeys = {"value", "source", "kind", "why"};
const std::vector<std::string> kWrittenKinds = {"datasheet", "documented", "measured", "assumed"};

bool parse_kind(const std::string& text, ValueKind& kind) {
  for (const ValueKind candidate :
       {ValueKind::kDatasheet, ValueKind::kDocumented, ValueKind::kMeasured, ValueKind::kAssumed}) {
    if (text != to_string(candidate)) continue;
    kind = candidate;
    return true;
  }
  return false;
}

// "A2:21" is id "A2" and place "21".
std::string id_of(std::string_view source) {
  return std::string(trim(source.substr(0, source.find(':'))));
}

}  // namespace

std::string_view to_string(ValueKind kind) {
  switch (kind) {
    case ValueKind::kDatasheet:
      return "datasheet";
    case ValueKind::kDocumented:
      return "documented";
    case ValueKind::kMeasured:
      return "measured";
    case ValueKind::kAssumed:
      return "assumed";
    case ValueKind::kFitted:
      return "fitted";
    case ValueKind::kNeutral:
      return "neutral";
    case ValueKind::kOverride:
      return "override";
  }
  throw InternalError(__FILE__, __LINE__, "a value kind without name");
}

double sourced_number(const Node& map, const std::string& key, double min, double max) {
  const Node& entry = map.required(key, "");
  entry.only_keys(kValueKeys, key);
  entry.required("source", key);
  entry.required("kind", key);
  return number_at(entry.required("value", key), key, min, max);
}

Bibliography Bibliography::load(const Node& document) {
  document.only_keys({"collections", "sources"}, "");
  std::map<std::string, Source> collections;
  for (const MapEntry& entry : document.required("collections", "").entries) {
    const std::string path = "collections." + entry.key;
    entry.value.only_keys({"title", "location", "edition"}, path);
    collections[entry.key] = {entry.value.required("title", path).as_text(path),
                              entry.value.required("location", path).as_text(path),
                              entry.value.required("edition", path).as_text(path)};
  }
  std::vector<std::string> collection_names;
  for (const auto& entry : collections) collection_names.push_back(entry.first);

  Sources sources;
  for (const MapEntry& entry : document.required("sources", "").entries) {
    const std::string path = "sources." + entry.key;
    entry.value.only_keys({"in", "title", "location", "edition"}, path);
    Source source;
    source.title = entry.value.required("title", path).as_text(path);
    source.location = entry.value.required("location", path).as_text(path);
    if (const Node* in = entry.value.find("in")) {
      const auto collection = collections.find(in->as_text(path + ".in"));
      if (collection == collections.end()) {
        throw UserError(in->where() + ": " + path +
                        ".in: " + unknown_name("collection", in->text, collection_names).what());
      }
      source.location = collection->second.title + ", " + source.location;
      source.edition = collection->second.edition;
    }
    if (const Node* edition = entry.value.find("edition")) {
      source.edition = edition->as_text(path + ".edition");
    }
    if (source.edition.empty()) {
      throw UserError(entry.value.where() + ": " + path + ": 'in' or 'edition' is missing");
    }
    sources[entry.key] = source;
  }
  Bibliography result;
  result.sources_ = std::make_shared<const Sources>(std::move(sources));
  return result;
}

Bibliography Bibliography::of(const std::filesystem::path& hw) {
  return kept_input<KeptBibliographies>(hw.string(), [&] {
    const std::string shown = (hw.filename() / "sources.yaml").string();
    return load(load_document(hw / "sources.yaml", shown));
  });
}

std::vector<std::string> Bibliography::ids() const {
  std::vector<std::string> names;
  for (const auto& entry : *sources_) names.push_back(entry.first);
  return names;
}

std::string Bibliography::problem_with(std::string_view source) const {
  const std::string id = id_of(source);
  if (id.empty()) return "the source is empty; name an id of hw/sources.yaml";
  if (sources_->count(id) == 0) {
    const std::string nearest = nearest_name(id, ids());
    return fmt::format("'{}' is not in hw/sources.yaml{}{}", id,
                       nearest.empty() ? "" : "; nearest is '" + nearest + "'",
                       sources_->count(kOwnSource) > 0 ? kOfOnesOwn : "");
  }
  if (source.back() == ':') return fmt::format("'{}' names no place after the colon", source);
  return "";
}

std::string Bibliography::cite(std::string_view source) const {
  if (const std::string problem = problem_with(source); !problem.empty()) throw UserError(problem);
  const Source& entry = sources_->at(id_of(source));
  const std::size_t colon = source.find(':');
  const std::string_view place = colon == std::string_view::npos ? "" : source.substr(colon);
  return fmt::format("{}: {}{} ({})", entry.title, entry.location, place, entry.edition);
}

bool SourcedReader::read_value(const Field& field, const std::string& path, const Node& node,
                               Problems& problems, SourcedValue& value) const {
  const std::size_t problems_before = problems.lines().size();
  if (!node.is_map()) {
    problems.add(
        node, path,
        fmt::format("expected {{value: …, source: …, kind: …}}; here is {}; one of your own is "
                    "{{value: {}, source: {}, kind: assumed, why: made up}}",
                    describe(node.kind), node.is_scalar() ? node.text : "…", kOwnSource));
    return false;
  }
  problems.collect([&] { node.only_keys(kValueKeys, path); });

  const auto text_of = [&](const std::string& key, bool is_required, std::string& text) {
    const Node* found = node.find(key);
    if (found == nullptr) {
      const bool is_own = key == "source" && bibliography_.problem_with(kOwnSource).empty();
      if (is_required)
        problems.add(node, path, "'" + key + "' is missing" + (is_own ? kOfOnesOwn : ""));
      return false;
    }
    return problems.collect([&] { text = found->as_text(path + "." + key); });
  };
  if (text_of("value", true, value.value)) {
    try {
      field.assign(value.value);
    } catch (const UserError& error) {
      problems.add(*node.find("value"), path, error.what());
    }
  }
  if (text_of("source", true, value.source)) {
    const std::string problem = bibliography_.problem_with(value.source);
    if (!problem.empty()) problems.add(*node.find("source"), path + ".source", problem);
  }
  text_of("why", false, value.why);
  std::string kind;
  if (text_of("kind", true, kind) && !parse_kind(kind, value.kind)) {
    problems.add(*node.find("kind"), path + ".kind",
                 unknown_name("kind", kind, kWrittenKinds).what());
  } else if (kind == "assumed" && trim(value.why).empty()) {
    problems.add(node, path, "an assumed value needs a 'why'");
  }
  return problems.lines().size() == problems_before;
}

void SourcedReader::read_alternatives(const Field& field, const Node& node,
                                      Problems& problems) const {
  problems.collect([&] { node.only_keys({"use", "alternatives"}, field.path); });
  const Node* list = node.find("alternatives");
  if (list == nullptr || !list->is_map() || list->entries.size() < 2) {
    problems.add(node, field.path, "'use' needs 'alternatives' with at least two named values");
    return;
  }
  Provenance provenance;
  std::vector<std::string> names;
  for (const MapEntry& entry : list->entries) {
    Alternative alternative{entry.key, {}};
    read_value(field, field.path + "." + entry.key, entry.value, problems, alternative.value);
    provenance.alternatives.push_back(std::move(alternative));
    names.push_back(entry.key);
  }
  const Node* use = node.find("use");
  if (use == nullptr) {
    problems.add(node, field.path, "'use' is missing; it names one of: " + join(names, ", "));
    return;
  }
  for (const Alternative& alternative : provenance.alternatives) {
    if (alternative.name != use->text) continue;
    provenance.chosen = alternative.value;
    provenance.use = alternative.name;
  }
  if (provenance.use.empty()) {
    problems.add(*use, field.path + ".use", unknown_name("alternative", use->text, names).what());
    return;
  }
  try {
    field.assign(provenance.chosen.value);
  } catch (const UserError&) {
    return;  // reported when the alternative was read
  }
  provenance_[field.path] = std::move(provenance);
}

void SourcedReader::operator()(const Field& field, const Node& node, Problems& problems) const {
  if (node.find("use") != nullptr || node.find("alternatives") != nullptr) {
    read_alternatives(field, node, problems);
    return;
  }
  Provenance provenance;
  if (read_value(field, field.path, node, problems, provenance.chosen)) {
    provenance_[field.path] = std::move(provenance);
  }
}

}  // namespace foretell
