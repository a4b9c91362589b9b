#include "model/app/serving/request/recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "hw/engines/engine_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolve/distribution_text.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/entry_reader.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr const char* kRecipeFile = "hw/engines/recipes/public_benchmark.yaml";
constexpr std::int64_t kMaxTokensOfRow = 10'000'000;
constexpr std::int64_t kMaxClientsOfRow = 1'000'000;
constexpr std::int64_t kMaxDevicesOfRow = 10'000;
constexpr std::int64_t kWholeTokens = 64;  // in which scripts round tokens of a step up

std::int64_t count_in(const ServedCells& cells, const char* column, std::int64_t high) {
  const std::string text = served_cell(cells, column);
  if (text.empty()) throw UserError(fmt::format("{}: is empty; a served point states it", column));
  return parse_count(column, text, 1, high);
}

std::int64_t count_or(const ServedCells& cells, const char* column, std::int64_t otherwise) {
  const std::string text = served_cell(cells, column);
  return text.empty() ? otherwise : parse_count(column, text, 1, kMaxDevicesOfRow);
}

std::int64_t rounded_up(std::int64_t count, std::int64_t whole) {
  return (count + whole - 1) / whole * whole;
}

// UserError for what a row states twice, or against itself.
void check_stated(const ServedCells& cells) {
  const std::string mode = served_cell(cells, "mode");
  if (!mode.empty() && mode != "agg" && mode != "disagg")
    throw unknown_name("mode", mode, {"agg", "disagg"});
  const std::int64_t gpus = count_or(cells, "gpus", 0);
  const std::int64_t tp = count_or(cells, "tp", 1);
  const std::int64_t pp = count_or(cells, "pp", 1);
  if (gpus > 0 && mode != "disagg" && tp * pp > gpus) {
    throw UserError(
        fmt::format("gpus: {} are fewer than a copy of tp {} and pp {} takes", gpus, tp, pp));
  }
  for (const auto& [stated, again] :
       {std::pair{"isl", "input_len"}, std::pair{"osl", "output_len"}}) {
    if (served_cell(cells, again).empty()) continue;
    throw UserError(fmt::format("{}: {} states it here; leave {} out", again, stated, again));
  }
  const std::string framework = served_cell(cells, "framework");
  const std::string engine = served_cell(cells, "engine");
  const std::vector<std::string> engines = EngineCatalog().engines();
  if (!engine.empty() && is_one_of(engines, framework) && !starts_with(engine, framework)) {
    throw UserError(fmt::format("engine: '{}' is none of framework {}; state one of the two",
                                engine, framework));
  }
}

}  // namespace

Recipes Recipes::load() {
  const auto path = hw_folder() / "engines/recipes/public_benchmark.yaml";
  const Node root = load_document(path, kRecipeFile);
  Recipes recipes;
  EntryReader reader(root, "",
                     {"source", "networks", "systems", "precisions", "network_precisions",
                      "layer_releases", "places", "splits"});
  reader.require({"lengths", "laboratory", "releases", "limits", "separate_workers"});
  recipes.networks_ = served_names(root, "networks");
  recipes.systems_ = served_names(root, "systems");
  recipes.precisions_ = served_names(root, "precisions");
  recipes.network_precisions_ = served_names(root, "network_precisions");
  reader.whole("requests_per_client", recipes.requests_per_client_);
  reader.text("warmed_since", recipes.warmed_since_);
  for (const Node& node : reader.items("releases")) {
    Release& release = recipes.releases_.emplace_back();
    EntryReader of_release(node, "releases");
    of_release.text("framework", release.framework);
    of_release.text("since", release.since);
    of_release.text("engine", release.engine);
    of_release.finish();
  }
  for (const Node& node : root.required("layer_releases", "").items) {
    recipes.layer_below_[text_or_none(node, "framework")] = text_or_none(node, "below");
  }
  for (const Node& node : reader.items("limits")) recipes.read_limits(node);
  if (const Node* lengths = reader.node("lengths"))
    recipes.low_share_ = required_number(*lengths, "low_share", 0, 1);
  if (const Node* node = reader.node("laboratory")) {
    EntryReader laboratory(*node, "laboratory", {"source"});
    laboratory.require({"dump"});
    laboratory.text("dump", recipes.laboratory_);
    laboratory.whole("requests_per_client", recipes.laboratory_requests_);
    laboratory.finish();
  }
  if (const Node* node = reader.node("separate_workers")) {
    EntryReader separate(*node, "separate_workers", {"why", "source"});
    separate.flag("spread_experts", recipes.spread_experts_);
    separate.finish();
  }
  reader.finish();
  recipes.read_places(root.required("places", ""));
  recipes.read_splits(root.required("splits", ""));
  return recipes;
}

void Recipes::read_limits(const Node& node) {
  Limits& limits = limits_.emplace_back();
  EntryReader reader(node, "limits", {"why"});
  reader.text("framework", limits.framework);
  reader.text("laboratory", limits.laboratory);
  reader.text("since", limits.since);
  reader.text("before", limits.before);
  reader.whole("max_tokens", limits.max_tokens);
  reader.whole("max_tokens_per_input", limits.max_tokens_per_input);
  reader.number("kv_fraction", limits.kv_fraction);
  reader.whole("isl", limits.isl);
  reader.whole("osl", limits.osl);
  reader.text("start", limits.start);
  reader.texts("set", limits.set);
  reader.text("precision", limits.precision);
  reader.text("network", limits.network);
  reader.text("gpu", limits.gpu);
  reader.text("mode", limits.mode);
  reader.text("kv_dtype", limits.kv_dtype);
  reader.whole("concurrency_below", limits.concurrency_below);
  reader.whole("gpus_below", limits.gpus_below);
  reader.whole("moe_ep", limits.moe_ep);
  reader.whole("over_prompt", limits.over_prompt);
  reader.finish();
}

void Recipes::read_splits(const Node& section) {
  section.only_keys({"source", "rows"}, "splits");
  for (const Node& node : section.required("rows", "splits").items) {
    Split split;
    EntryReader reader(node, "splits", {"why", "source"});
    reader.require({"framework"});
    reader.text("framework", split.framework);
    reader.text("network", split.network);
    reader.text("gpu", split.gpu);
    reader.text("precision", split.precision);
    reader.text("since", split.since);
    reader.text("before", split.before);
    reader.one_of("workers", {"all", "prefill", "decode"}, split.workers);
    reader.whole("isl", split.isl);
    reader.whole("osl", split.osl);
    reader.whole("tp", split.tp);
    reader.whole("concurrency_from", split.concurrency_from);
    reader.one_of("attention", {"own", "shared"}, split.attention);
    reader.one_of("experts", {"spread", "shared"}, split.experts);
    reader.finish();
    if (split.attention.empty() && split.experts.empty())
      throw UserError(node.where() + ": splits: states neither attention nor experts");
    splits_.push_back(std::move(split));
  }
}

const Recipes::Split* Recipes::split_of(const ServedCells& cells,
                                        const std::string& workers) const {
  if (served_cell(cells, "dump") == laboratory_) return nullptr;
  const auto is = [&cells](const char* column, const std::string& wanted) {
    return wanted.empty() || served_cell(cells, column) == wanted;
  };
  const auto counts = [&cells](const std::string& column, std::int64_t wanted) {
    return wanted == 0 || count_or(cells, column.c_str(), 1) == wanted;
  };
  const std::string measured = served_cell(cells, "measured");
  const std::int64_t clients = count_in(cells, "concurrency", kMaxClientsOfRow);
  const auto length = [&cells](const char* column, std::int64_t wanted) {
    return wanted == 0 || count_in(cells, column, kMaxTokensOfRow) == wanted;
  };
  for (const Split& one : splits_) {
    const bool dated = measured >= one.since &&
                       (one.before.empty() || (!measured.empty() && measured < one.before));
    if (one.workers == workers && dated && clients >= one.concurrency_from &&
        is("framework", one.framework) && is("model", one.network) && is("gpu", one.gpu) &&
        is("precision", one.precision) && length("isl", one.isl) && length("osl", one.osl) &&
        counts(workers == "all" ? "tp" : workers + "_tp", one.tp)) {
      return &one;
    }
  }
  return nullptr;
}

// Of a copy that computes prompts and tokens.
void Recipes::divide_copy(const ServedCells& cells, ServeRequest& request) const {
  std::int64_t tp = count_in(cells, "tp", kMaxDevicesOfRow);
  std::int64_t ranks = count_or(cells, "attention_dp", 1);
  std::int64_t experts = count_or(cells, "moe_ep", 1);
  const std::int64_t gpus = tp * ranks;
  if (const Split* known = split_of(cells, "all")) {
    if (known->attention == "own") ranks = gpus;
    if (known->attention == "shared") ranks = 1;
    tp = gpus / ranks;
    if (!known->experts.empty()) experts = known->experts == "spread" ? gpus : 1;
  }
  request.machine.tp = static_cast<int>(tp);
  request.machine.pp = static_cast<int>(count_or(cells, "pp", 1));
  request.attention_dp = static_cast<int>(ranks);
  if (experts > 1) request.machine.ep = static_cast<int>(experts);
}

// Of workers for prompts, or for tokens.
std::string Recipes::workers_of(const ServedCells& cells, const std::string& kind) const {
  const auto column = [&kind](const char* name) { return kind + "_" + name; };
  std::int64_t ranks = count_or(cells, column("attention_dp").c_str(), 1);
  std::int64_t tp = count_in(cells, column("tp").c_str(), kMaxDevicesOfRow);
  std::int64_t experts = count_or(cells, column("moe_ep").c_str(), 1);
  const std::int64_t gpus = tp * ranks;
  const Split* known = split_of(cells, kind);
  if (known != nullptr && known->attention == "own") ranks = gpus;
  if (known != nullptr && known->attention == "shared") ranks = 1;
  tp = gpus / ranks;
  if (known != nullptr && !known->experts.empty()) {
    experts = known->experts == "spread" ? gpus : 1;
  } else if (spread_experts_ && ranks > 1) {
    experts = gpus;
  }
  return fmt::format("tp={},pp={},workers={},attention-dp={},ep={}", tp,
                     count_or(cells, column("pp").c_str(), 1),
                     count_or(cells, column("workers").c_str(), 1), ranks, experts);
}

void Recipes::read_places(const Node& section) {
  section.only_keys({"framework", "network", "source", "recipes"}, "places");
  placed_framework_ = section.required("framework", "places").as_text("framework");
  placed_network_ = section.required("network", "places").as_text("network");
  for (const Node& node : section.required("recipes", "places").items) {
    Places places;
    EntryReader reader(node, "places");
    reader.require(
        {"gpu", "precision", "isl", "osl", "prefill", "decode", "ranks", "clients", "batch"});
    reader.text("gpu", places.gpu);
    reader.text("precision", places.precision);
    reader.whole("isl", places.isl, 1, kMaxTokensOfRow);
    reader.whole("osl", places.osl, 1, kMaxTokensOfRow);
    reader.whole("prefill", places.prefill_workers, 1, kMaxTokensOfRow);
    reader.whole("decode", places.decode_workers, 1, kMaxTokensOfRow);
    reader.whole("ranks", places.decode_ranks, 1, kMaxTokensOfRow);
    reader.whole("batch", places.batch, 1, kMaxTokensOfRow);
    std::vector<std::string> clients;
    reader.texts("clients", clients);
    reader.finish();
    for (const std::string& count : clients)
      places.clients.insert(parse_count(node.where() + ": clients", count, 1, kMaxClientsOfRow));
    places_.push_back(std::move(places));
  }
}

std::int64_t Recipes::places_of(const ServedCells& cells, const ServeRequest& request) const {
  if (served_cell(cells, "framework") != placed_framework_ ||
      served_cell(cells, "model") != placed_network_ || served_cell(cells, "dump") == laboratory_) {
    return 0;
  }
  const auto is = [&cells](const char* column, std::int64_t number) {
    return count_or(cells, column, 1) == number;
  };
  for (const Places& one : places_) {
    if (one.gpu == served_cell(cells, "gpu") && one.precision == served_cell(cells, "precision") &&
        one.isl == count_in(cells, "isl", kMaxTokensOfRow) &&
        one.osl == count_in(cells, "osl", kMaxTokensOfRow) &&
        is("prefill_workers", one.prefill_workers) && is("decode_workers", one.decode_workers) &&
        is("decode_attention_dp", one.decode_ranks) && one.clients.count(request.concurrency) > 0) {
      return one.batch;
    }
  }
  return 0;
}

bool Recipes::is_of_layer(const std::string& framework, const std::string& release) const {
  const auto below = layer_below_.find(framework);
  return below != layer_below_.end() && compare_versions(release, below->second) < 0;
}

std::string Recipes::engine_of(const ServedCells& cells) const {
  const std::string framework = served_cell(cells, "framework");
  const std::string release = served_cell(cells, "framework_version");
  const bool is_number = !release.empty() && release.front() >= '0' && release.front() <= '9';
  if (is_number && !is_of_layer(framework, release)) return framework + "@" + release;
  const std::string measured = served_cell(cells, "measured");
  const Release* best = nullptr;
  for (const Release& one : releases_) {
    if (one.framework != framework) continue;
    const bool before = measured.empty() || one.since <= measured;
    if (before && (best == nullptr || one.since > best->since)) best = &one;
  }
  return best == nullptr ? framework : best->engine;
}

void Recipes::set_limits(const ServedCells& cells, std::int64_t input, std::int64_t output,
                         ServeRequest& request) const {
  const bool in_laboratory = served_cell(cells, "dump") == laboratory_;
  for (const Limits& one : limits_) {
    if (one.framework != served_cell(cells, "framework")) continue;
    if (!one.precision.empty() && one.precision != served_cell(cells, "precision")) continue;
    if (!one.network.empty() && one.network != served_cell(cells, "model")) continue;
    if (!one.gpu.empty() && one.gpu != served_cell(cells, "gpu")) continue;
    if (!one.mode.empty() && one.mode != served_cell(cells, "mode")) continue;
    if (one.concurrency_below > 0 && request.concurrency >= one.concurrency_below) continue;
    if (one.gpus_below > 0 && count_or(cells, "gpus", 1) >= one.gpus_below) continue;
    if (one.moe_ep > 0 && count_or(cells, "moe_ep", 1) != one.moe_ep) continue;
    if (!one.laboratory.empty() && (one.laboratory == "yes") != in_laboratory) continue;
    if ((one.isl > 0 && one.isl != input) || (one.osl > 0 && one.osl != output)) continue;
    const std::string measured = served_cell(cells, "measured");
    if (measured < one.since || (!one.before.empty() && measured >= one.before)) continue;
    request.max_tokens = std::max(one.max_tokens, one.max_tokens_per_input * input);
    if (one.over_prompt > 0) {
      const std::int64_t asked = request.concurrency + input + one.over_prompt;
      request.max_tokens = std::max(request.max_tokens, rounded_up(asked, kWholeTokens));
    }
    request.kv_fraction = one.kv_fraction;
    if (!one.start.empty()) request.start = one.start;
    if (!one.kv_dtype.empty()) request.machine.kv_dtype = one.kv_dtype;
    request.machine.set.insert(request.machine.set.end(), one.set.begin(), one.set.end());
    return;
  }
}

ServeRequest Recipes::request_of(const ServedCells& cells) const {
  check_stated(cells);
  ServeRequest request;
  const std::string network = served_cell(cells, "model");
  const std::string precision = served_cell(cells, "precision");
  const auto named = networks_.find(network_key(networks_, network, precision));
  request.machine.workload =
      named == networks_.end() ? network : workload_named(network, named->second);
  request.machine.system = served_system(systems_, "gpu", served_cell(cells, "gpu"));
  if (!precision.empty())  // else that of the network's file
    request.machine.dtype = looked_up(precisions_, "precision", precision);
  const auto own = network_precisions_.find(network);
  if (own != network_precisions_.end()) request.machine.dtype = own->second;
  const std::string& dtype = request.machine.dtype;
  if (!dtype.empty() && dtype != "bf16") request.machine.kv_dtype = "fp8";
  const std::int64_t input = count_in(cells, "isl", kMaxTokensOfRow);
  const std::int64_t output = count_in(cells, "osl", kMaxTokensOfRow);
  request.concurrency = count_in(cells, "concurrency", kMaxClientsOfRow);
  const bool in_laboratory = served_cell(cells, "dump") == laboratory_;
  request.requests =
      (in_laboratory ? laboratory_requests_ : requests_per_client_) * request.concurrency;
  const auto drawn = [&](std::int64_t length) {
    if (in_laboratory) return std::to_string(length);
    const auto low = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(low_share_ * static_cast<double>(length))));
    const std::int64_t step = (length - low) / static_cast<std::int64_t>(kMaxLengths) + 1;
    return fmt::format("uniform:{}..{}:{}", low, length, step);
  };
  request.input_len = drawn(input);
  request.output_len = drawn(output);
  request.engine = engine_of(cells);
  set_limits(cells, input, output, request);
  const std::string measured = served_cell(cells, "measured");
  const bool together = served_cell(cells, "mode") != "disagg";
  if (together && !in_laboratory && !measured.empty() && measured < warmed_since_)
    request.machine.set.emplace_back("engine.host.cold=yes");
  if (served_cell(cells, "mode") == "disagg") {
    request.prefill = workers_of(cells, "prefill");
    request.decode = workers_of(cells, "decode");
    const std::int64_t places = places_of(cells, request);
    if (places > 0) request.decode += fmt::format(",batch={}", places);
    return request;
  }
  divide_copy(cells, request);
  return request;
}

std::string Recipes::assumptions_of(const ServedCells& cells) const {
  std::vector<std::string> parts;
  const std::string release = served_cell(cells, "framework_version");
  if (release.empty() || is_of_layer(served_cell(cells, "framework"), release)) {
    parts.push_back("release not stated: " + engine_of(cells));
  }
  if (served_cell(cells, "dump") == laboratory_) {
    parts.push_back(
        fmt::format("number of requests not stated: {} per client", laboratory_requests_));
  }
  return join(parts, "; ");
}

void add_stated_columns(const ServedCells& cells, ServeRequest& request) {
  // What recipes read, and what published tables say otherwise than options do.
  static const std::set<std::string> kOfTables = {
      "concurrency", "tp", "pp", "ep", "dp", "moe_tp", "attention_dp", "max_batch", "kv_fraction"};
  for (const auto& [column, text] : cells) {
    if (text.empty() || kOfTables.count(column) > 0) continue;
    for (const RequestField& field : request_fields()) {
      const bool is_meant = column == field.key || column == key_of(field);
      if (field.serves && is_meant) set_field(request.machine, field, column, text);
    }
    if (!is_load_key(column)) set_serve_key(request, column, column, text);
  }
}

void add_settings(const std::vector<std::string>& given, ServeRequest& request) {
  const auto path_of = [](const std::string& one) {
    return std::string(trim(std::string_view(one).substr(0, one.find('='))));
  };
  std::vector<std::string>& set = request.machine.set;
  for (const std::string& one : given) {
    set.erase(std::remove_if(set.begin(), set.end(),
                             [&](const std::string& own) { return path_of(own) == path_of(one); }),
              set.end());
  }
  set.insert(set.end(), given.begin(), given.end());
}

}  // namespace foretell
