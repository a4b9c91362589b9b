#include "hw/spec/gpu/kernel_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/library_host.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/entry_reader.hpp"
#include "model/config/node_text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kChoiceFile = "choice";
constexpr double kFastestHost = 0.1;
constexpr double kSlowestHost = 10;

const RuleDomain& pass_domain() {
  static const RuleDomain kDomain = {{"operation", FactName::Kind::kText},
                                     {"elements", FactName::Kind::kText},
                                     {"library", FactName::Kind::kText}};
  return kDomain;
}

const RuleDomain& stream_domain() {
  static const RuleDomain kDomain = {{"launch", FactName::Kind::kText},
                                     {"tokens", FactName::Kind::kNumber}};
  return kDomain;
}

const RuleDomain& latent_domain() {
  static const RuleDomain kDomain = {{"architecture", FactName::Kind::kText},
                                     {"queries", FactName::Kind::kNumber},
                                     {"cached", FactName::Kind::kNumber}};
  return kDomain;
}

void check_source(const Node& root, const Bibliography& bibliography) {
  for (const std::string& source : texts_at(root.required("source", ""), "source")) {
    const std::string wrong = bibliography.problem_with(source);
    if (!wrong.empty()) throw UserError(root.find("source")->where() + ": source: " + wrong);
  }
}

std::vector<StreamRule> read_streams(const Node* section, const Bibliography& bibliography) {
  std::vector<StreamRule> streams;
  const RuleSection rules(section, stream_domain());
  for (const RuleSection::Rule& rule : rules.rules()) {
    StreamRule stream{rule.conditions, ""};
    EntryReader reader(rule.node, "streams", {"when", "source"});
    reader.text("branch", stream.branch);
    reader.finish();
    if (stream.branch.empty())
      throw UserError(rule.node.where() + ": streams: each names a branch, as shared_experts");
    check_source(rule.node, bibliography);
    streams.push_back(std::move(stream));
  }
  return streams;
}

std::optional<std::vector<RuleConditions>> read_latent_rules(const Node* section,
                                                             const Bibliography& bibliography) {
  if (section == nullptr) return std::nullopt;
  std::vector<RuleConditions> asks;
  const RuleSection rules(section, latent_domain());
  for (const RuleSection::Rule& rule : rules.rules()) {
    rule.node.only_keys({"source", "when", "why"}, "asks_latents");
    check_source(rule.node, bibliography);
    asks.push_back(rule.conditions);
  }
  return asks;
}

// UserError with the nearest name: one that no device has would never match.
void check_architecture(const Node& node, const char* key, const std::string& name) {
  try {
    gpu_architecture(name);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}: {}", node.where(), key, error.what()));
  }
}

void read_small_groups(const Node& node, KernelLibrary& library) {
  SmallGroups& small = library.one_head_small;
  EntryReader reader(node, "one_head.small_groups");
  reader.text("architecture", small.architecture);
  reader.whole("below", small.below);
  reader.text("until", small.until);
  reader.finish();
  if (!small.architecture.empty())
    check_architecture(node, "one_head.small_groups", small.architecture);
  if (!small.architecture.empty() && small.below >= 2 && !small.until.empty()) return;
  throw UserError(node.where() +
                  ": one_head.small_groups: names an architecture, below how many query heads to a "
                  "key (2 or more) and until which release, as {architecture: NAME, below: 8, "
                  "until: \"0.11\"}");
}

void read_chunked_keys(const Node& node, KernelLibrary& library) {
  ChunkedKeys& chunks = library.one_head_chunks;
  EntryReader reader(node, "one_head.chunks");
  reader.text("since", chunks.since);
  reader.text("until", chunks.until);
  reader.text("except", chunks.except);
  reader.finish();
  if (!chunks.except.empty()) check_architecture(node, "one_head.chunks", chunks.except);
  if (chunks.since.empty() || chunks.until.empty() ||
      compare_releases(chunks.since, chunks.until) >= 0) {
    throw UserError(node.where() +
                    ": one_head.chunks: names two releases, the earlier first, and an architecture "
                    "it does not concern, as {since: \"0.21\", until: \"1.1\", except: NAME}");
  }
}

// How many passes an operator takes, by its kind.
void read_passes(const Node& node, const char* key, std::map<std::string, int>& counts) {
  EntryReader passes(node, key);
  for (const MapEntry& entry : node.entries) passes.whole(entry.key.c_str(), counts[entry.key]);
  passes.finish();
}

void read_apart(const Node& node, KernelLibrary& library) {
  library.attention_apart = texts_at(node, "attention_apart");
  for (const std::string& name : library.attention_apart)
    check_architecture(node, "attention_apart", name);
}

void read_softmax(const Node& node, KernelLibrary& library) {
  EntryReader reader(node, "softmax");
  std::string row;
  reader.number("share", library.softmax_share);
  reader.text("row", row);
  reader.finish();
  if (!(library.softmax_share > 0 && library.softmax_share <= 1))
    throw UserError(node.where() + ": softmax.share: must be above 0 and at most 1");
  if (!row.empty()) library.softmax_row = read_host_time(node, "softmax.row", row);
}

double read_share(const Node& node, const std::string& path, const char* key) {
  double share = 0;
  EntryReader(node, path).number(key, share);
  if (share > 0 && share <= 1) return share;
  throw UserError(
      fmt::format("{}: {}.{}: {:g} is not allowed; it must be above 0 and at most 1, a share of "
                  "the dense rate",
                  node.where(), path, key, share));
}

// By architecture of the board: shares of its dense rate.
std::map<std::string, double> read_shares(const Node* node, const char* key) {
  std::map<std::string, double> shares;
  if (node == nullptr) return shares;
  for (const MapEntry& entry : node->entries) {
    check_architecture(*node, key, entry.key);
    shares[entry.key] = read_share(*node, key, entry.key.c_str());
  }
  return shares;
}

// … and by width of the heads, or one for all widths.
std::map<std::string, SharesByWidth> read_shares_by_width(const Node* node, const char* key) {
  std::map<std::string, SharesByWidth> shares;
  if (node == nullptr) return shares;
  for (const MapEntry& entry : node->entries) {
    check_architecture(*node, key, entry.key);
    const std::string path = std::string(key) + "." + entry.key;
    SharesByWidth& by_width = shares[entry.key];
    if (entry.value.entries.empty()) by_width[0] = read_share(*node, key, entry.key.c_str());
    for (const MapEntry& width : entry.value.entries) {
      if (width.key.empty() || width.key.find_first_not_of("0123456789") != std::string::npos) {
        throw UserError(fmt::format("{}: {}: '{}' is no width of heads, as 64 or 128",
                                    node->where(), path, width.key));
      }
      const double share = read_share(entry.value, path, width.key.c_str());
      by_width[static_cast<int>(parse_integer(width.key))] = share;
    }
  }
  return shares;
}

KernelLibrary read_library(const fs::path& path, const Bibliography& bibliography) {
  KernelLibrary library;
  library.root = load_document(path, path.string());
  const Node& root = library.root;
  check_id(root, path);
  check_source(root, bibliography);
  library.id = text_of(root, "id");
  library.name = text_of(root, "name");
  EntryReader reader(root, "library",
                     {"id", "name", "source", "why", "products", "vector_products", "collector",
                      "attention", "attention_tiles", "attention_kernels", "collectives"});
  reader.texts("builds_on", library.builds_on);
  reader.flag("runs_networks", library.runs_networks);
  reader.flag("measured_alone", library.measured_alone);
  reader.text("custom_sums", library.custom_sums);
  reader.text("quantises", library.quantises);
  reader.flag("quantises_by_row", library.quantises_by_row);
  reader.whole("cold_copies", library.cold_copies);
  library.streams = read_streams(reader.node("streams"), bibliography);
  library.asks_latents = read_latent_rules(reader.node("asks_latents"), bibliography);
  if (const Node* releases = reader.node("releases")) {
    EntryReader of_releases(*releases, "releases");
    of_releases.text("first", library.first_release);
    of_releases.text("last", library.last_release);
    of_releases.finish();
  }
  if (const Node* one_by_one = reader.node("one_by_one")) {
    library.one_by_one = true;
    read_passes(*one_by_one, "one_by_one", library.passes);
  }
  if (const Node* passes = reader.node("passes")) read_passes(*passes, "passes", library.passes);
  reader.flag("epilogues", library.epilogues);
  reader.flag("narrow_residuals", library.narrow_residuals);
  reader.flag("strided_products", library.strided_products);
  reader.flag("fastest_type", library.fastest_type);
  if (const Node* apart = reader.node("attention_apart")) read_apart(*apart, library);
  reader.texts("epilogue_activations", library.epilogue_activations);
  using Fused = KernelLibrary::FusedAttention;
  reader.word("fused_attention",
              {{"yes", Fused::kYes}, {"no", Fused::kNo}, {"narrow", Fused::kNarrow}},
              library.fused_attention);
  reader.whole("fused_keys", library.fused_keys);
  if (const Node* softmax = reader.node("softmax")) read_softmax(*softmax, library);
  library.attention_share = read_shares_by_width(reader.node("attention_share"), "attention_share");
  library.convolution_share = read_shares(reader.node("convolution_share"), "convolution_share");
  if (const Node* host = reader.node("host")) read_host_of_library(*host, library);
  if (const Node* one_head = reader.node("one_head")) {
    EntryReader of_one_head(*one_head, "one_head");
    of_one_head.text("kernels", library.one_head);
    of_one_head.text("until", library.one_head_until);
    of_one_head.text("odd_groups_until", library.one_head_odd_until);
    if (const Node* small = of_one_head.node("small_groups")) read_small_groups(*small, library);
    if (const Node* chunks = of_one_head.node("chunks")) read_chunked_keys(*chunks, library);
    of_one_head.finish();
  }
  reader.finish();
  return library;
}

std::vector<PassSource> read_sources(const Node& node) {
  std::vector<PassSource> sources;
  for (const Node& item : node.items) {
    PassSource source;
    EntryReader reader(item, "sources");
    reader.text("table", source.table);
    reader.text("op", source.op);
    reader.finish();
    if (source.table.empty() || source.op.empty())
      throw UserError(item.where() + ": sources: each names a table and an op");
    sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<std::string> words_at(const Node& root, const char* key) {
  return texts_at(root.required(key, ""), key);
}

}  // namespace

double share_of_width(const SharesByWidth& shares, double width) {
  const auto above = shares.lower_bound(static_cast<int>(std::ceil(width)));
  if (above == shares.end()) return shares.rbegin()->second;
  if (above == shares.begin()) return above->second;
  const auto below = std::prev(above);
  const double narrow = below->first / below->second;
  const double wide = above->first / above->second;
  const double place = (width - below->first) / (above->first - below->first);
  return width / (narrow + place * (wide - narrow));
}

void KernelLibraries::read_choice(const Node& root) {
  root.only_keys({"id", "source", "why", "networks", "common", "attention", "attention_of_tokens",
                  "operators", "eager", "collectives", "custom_sums", "scaled_in_pipe", "branches",
                  "host_slowness", "passes"},
                 "");
  choice_.networks = text_of(root, "networks");
  choice_.common = words_at(root, "common");
  choice_.attention = words_at(root, "attention");
  if (const Node* orders = root.find("attention_of_tokens")) {
    for (const MapEntry& entry : orders->entries) {
      check_architecture(*orders, "attention_of_tokens", entry.key);
      std::vector<std::string> order = texts_at(entry.value, "attention_of_tokens");
      if (!std::is_permutation(order.begin(), order.end(), choice_.attention.begin(),
                               choice_.attention.end())) {
        throw UserError(fmt::format("{}: attention_of_tokens.{}: must be an order of {}",
                                    entry.value.where(), entry.key, join(choice_.attention, ", ")));
      }
      choice_.attention_of_tokens[entry.key] = std::move(order);
    }
  }
  choice_.operators = words_at(root, "operators");
  choice_.eager = text_of(root, "eager");
  choice_.collectives = text_of(root, "collectives");
  choice_.custom_sums = text_of(root, "custom_sums");
  choice_.scaled_in_pipe = text_of(root, "scaled_in_pipe");
  for (const MapEntry& branch : root.required("branches", "").entries) {
    choice_.branches[branch.key] = text_of(root.required("branches", ""), branch.key.c_str());
  }
  if (const Node* slowness = root.find("host_slowness")) {
    EntryReader reader(*slowness, "host_slowness");
    for (const MapEntry& entry : slowness->entries) {
      double& times = choice_.host_slowness[entry.key];
      reader.number(entry.key.c_str(), times);
      if (times < kFastestHost || times > kSlowestHost) {
        throw UserError(fmt::format("{}: host_slowness.{}: must be from {} to {}",
                                    slowness->where(), entry.key, kFastestHost, kSlowestHost));
      }
    }
    reader.finish();
  }
  for (const Node& rule : root.required("passes", "").items) {
    EntryReader reader(rule, "passes", {"when"});
    const Node* sources = reader.node("sources");
    reader.finish();
    if (sources == nullptr) throw UserError(rule.where() + ": passes: names no sources");
    passes_.push_back({RuleConditions::read(rule, pass_domain()), read_sources(*sources)});
  }
}

KernelLibraries KernelLibraries::load(const std::string& folder) {
  const fs::path path(folder);
  const Bibliography bibliography = Bibliography::of(path.parent_path());
  KernelLibraries loaded;
  Problems problems;
  for (const std::string& id : ids_in(path)) {
    problems.collect([&] {
      const fs::path file = file_of(path, id);
      if (id == kChoiceFile) {
        const Node root = load_document(file, file.string());
        check_source(root, bibliography);
        loaded.read_choice(root);
      } else {
        loaded.libraries_.push_back(read_library(file, bibliography));
      }
    });
  }
  problems.throw_if_any();
  std::vector<std::string> known;
  for (const KernelLibrary& library : loaded.libraries_) known.push_back(library.id);
  std::vector<std::string> named = loaded.choice_.common;
  named.push_back(loaded.choice_.networks);
  named.push_back(loaded.choice_.scaled_in_pipe);
  for (const KernelLibrary& library : loaded.libraries_) {
    named.insert(named.end(), library.builds_on.begin(), library.builds_on.end());
  }
  for (const std::string& name : named) {
    if (loaded.find(name) == nullptr) {
      problems.add(folder + ": " + unknown_name("kernel library", name, known).what());
    }
  }
  std::vector<std::string> branches;
  for (const auto& [branch, operators] : loaded.choice_.branches) branches.push_back(branch);
  for (const KernelLibrary& library : loaded.libraries_) {
    for (const StreamRule& rule : library.streams) {
      if (loaded.choice_.branches.count(rule.branch) == 0) {
        problems.add(library.root.where() + ": " +
                     unknown_name("branch", rule.branch, branches).what());
      }
    }
  }
  problems.throw_if_any();
  return loaded;
}

const KernelLibrary* KernelLibraries::find(std::string_view id) const {
  for (const KernelLibrary& library : libraries_) {
    if (library.id == id) return &library;
  }
  return nullptr;
}

const KernelLibrary& KernelLibraries::of_networks(const std::string& id) const {
  const KernelLibrary* found = find(id.empty() ? choice_.networks : id);
  if (found != nullptr && found->runs_networks) return *found;
  std::vector<std::string> names;
  for (const KernelLibrary& library : libraries_) {
    if (library.runs_networks) names.push_back(library.id);
  }
  throw unknown_name("--library", id, names);
}

std::vector<const KernelLibrary*> KernelLibraries::chain(const std::string& id) const {
  const KernelLibrary* own = find(id);
  std::vector<const KernelLibrary*> libraries;
  for (const std::string& name : own == nullptr ? choice_.common : own->builds_on) {
    libraries.push_back(find(name));
  }
  if (own != nullptr) libraries.push_back(own);
  return libraries;
}

CollectiveKernel KernelLibraries::custom_collective(const std::string& name,
                                                    const std::string& release) const {
  static const RuleDomain kDomain = {{"release", FactName::Kind::kRelease}};
  std::vector<std::string> known{choice_.collectives};
  const KernelLibrary* library = nullptr;
  for (const KernelLibrary& one : libraries_) {
    const std::string own = one.id + "_custom";
    if (one.custom_sums != own && one.root.find("collectives") == nullptr) continue;
    known.push_back(own);
    if (own == name) library = &one;
  }
  if (library == nullptr) throw unknown_name("library of collectives", name, known);
  const Node* section = library->root.find("collectives");
  const RuleSection rules(section, kDomain);
  for (const RuleSection::Rule& rule : rules.rules()) {
    CollectiveKernel kernel;
    EntryReader reader(rule.node, "collectives", {"when"});
    reader.text("table", kernel.table);
    reader.flag("shots_by_size", kernel.shots_by_size);
    reader.finish();
    if (rule.conditions.hold({release})) return kernel;
  }
  return {name, false};
}

bool KernelLibrary::has_products() const {
  return measured_alone && !builds_on.empty() &&
         (runs_networks || root.find("collector") != nullptr);
}

bool KernelLibrary::runs_beside(const std::string& branch, const std::string& launch,
                                double tokens) const {
  return std::any_of(streams.begin(), streams.end(), [&](const StreamRule& rule) {
    return rule.branch == branch && rule.conditions.hold({launch, tokens});
  });
}

std::optional<bool> KernelLibrary::asks_latents_of(const std::string& architecture, double queries,
                                                   double cached) const {
  if (!asks_latents) return std::nullopt;
  return std::any_of(asks_latents->begin(), asks_latents->end(), [&](const RuleConditions& rule) {
    return rule.hold({architecture, queries, cached});
  });
}

std::vector<PassSource> KernelLibraries::passes(const std::string& library,
                                                const std::string& operation, bool wide) const {
  const std::vector<RuleFact> facts = {operation, wide ? "wide" : "narrow", library};
  for (const PassRule& rule : passes_) {
    if (!rule.conditions.hold(facts)) continue;
    std::vector<PassSource> sources = rule.sources;
    const KernelLibrary* own = find(library);
    const KernelLibrary* usual = find(choice_.networks);
    if (own != nullptr && own != usual && !own->quantises.empty() &&
        sources.front().table == usual->quantises) {
      sources.insert(sources.begin(), {own->quantises, sources.front().op});
    }
    return sources;
  }
  return {};
}

Seconds KernelLibraries::launch_time(const KernelLibrary& library,
                                     const std::string& architecture) const {
  const auto slower = choice_.host_slowness.find(architecture);
  return library.per_launch.value() *
         (slower == choice_.host_slowness.end() ? 1.0 : slower->second);
}

const KernelLibraries& kernel_libraries() {
  static const KernelLibraries kAll = KernelLibraries::load((hw_folder() / "kernels").string());
  return kAll;
}

}  // namespace foretell
