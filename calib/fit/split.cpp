#include "calib/fit/split.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

void add(std::map<std::string, NetworkSide>& networks, const Node& at, const std::string& name,
         NetworkSide side) {
  if (!networks.emplace(name, std::move(side)).second) {
    throw UserError(fmt::format("{}: {} is named twice; a network has one side", at.where(), name));
  }
}

void read_side(std::map<std::string, NetworkSide>& networks, const Node& map, Side side) {
  const std::string key(side == Side::kFit ? "fit" : "held_out");
  if (!map.is_map()) {
    throw UserError(
        fmt::format("{}: {}: expected a mapping of architectures to networks, as in 'gpt2: [gpt2]'",
                    map.where(), key));
  }
  for (const MapEntry& entry : map.entries) {
    if (!entry.value.is_list() || entry.value.items.empty()) {
      throw UserError(fmt::format("{}: {}.{}: expected a list of networks, as in '[gpt2]'",
                                  entry.value.where(), key, entry.key));
    }
    for (const Node& network : entry.value.items) {
      add(networks, network, network.as_text(key), {side, entry.key});
    }
  }
}

}  // namespace

std::string_view to_string(Side side) {
  switch (side) {
    case Side::kFit:
      return "fit";
    case Side::kHeldOut:
      return "held out";
    case Side::kApart:
      return "apart";
  }
  throw InternalError(__FILE__, __LINE__, "a side without a name");
}

Split Split::parse(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"family", "fit", "held_out", "apart"}, "");
  Split split;
  split.family_ = root.required("family", "").as_text("family");
  read_side(split.networks_, root.required("fit", ""), Side::kFit);
  read_side(split.networks_, root.required("held_out", ""), Side::kHeldOut);
  if (const Node* apart = root.find("apart"); apart != nullptr) {
    for (const MapEntry& entry : apart->entries) {
      entry.value.as_text("apart." + entry.key);  // the reason has to be there
      add(split.networks_, entry.value, entry.key, {Side::kApart, entry.key});
    }
  }
  return split;
}

Split Split::load(const std::string& path) { return parse(read_text_file(path), path); }

NetworkSide Split::find(const std::string& network) const {
  const auto found = networks_.find(network);
  return found == networks_.end() ? NetworkSide{Side::kHeldOut, network} : found->second;
}

std::vector<std::string> Split::networks(Side side) const {
  std::vector<std::string> names;
  for (const auto& [network, its] : networks_) {
    if (its.side == side) names.push_back(network);
  }
  return names;
}

std::string Split::text() const {
  std::string text = "fit on " + join(networks(Side::kFit), ", ") + "; held out " +
                     join(networks(Side::kHeldOut), ", ") + " and every other network";
  const std::vector<std::string> apart = networks(Side::kApart);
  if (!apart.empty()) text += "; neither: " + join(apart, ", ");
  return text;
}

}  // namespace foretell
