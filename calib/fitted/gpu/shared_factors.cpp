#include "calib/fitted/gpu/shared_factors.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace foretell {
namespace {

bool is_stated(const FactorTexts& texts, const std::string& name) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const auto& text) { return text.first == name; });
}

FactorTexts only(const FactorTexts& texts, const std::vector<std::string>& names) {
  FactorTexts found;
  for (const auto& text : texts) {
    if (std::count(names.begin(), names.end(), text.first) > 0) found.push_back(text);
  }
  return found;
}

}  // namespace

std::optional<ResolvedFactors> resolve_factors(const std::string& device, const std::string& table,
                                               const FindStated& find, const FindCommon& common) {
  ResolvedFactors resolved;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> without;
  const auto add = [&](const FactorTexts& texts) {
    for (const auto& [name, value] : texts) {
      if (without.count(name) == 0 && !is_stated(resolved.factors, name)) {
        resolved.factors.emplace_back(name, value);
      }
    }
  };
  std::pair<std::string, std::string> place(device, table);
  while (true) {
    if (!seen.insert(place).second) {
      throw UserError(fmt::format("factors of {} on {}: `like` leads back to {} on {}", table,
                                  device, place.second, place.first));
    }
    const StatedFactors* stated = find(place.first, place.second);
    if (stated == nullptr) return std::nullopt;
    resolved.devices.insert(place.first);
    add(stated->own);
    if (!stated->usual.empty()) {
      const FactorTexts* texts = common(kUsualTable);
      if (texts == nullptr) return std::nullopt;
      add(only(*texts, stated->usual));
    }
    const bool stays = stated->like && stated->like->table == place.second;
    if (stated->has_common && !stays) {
      const FactorTexts* texts = common(place.second);
      if (texts == nullptr) return std::nullopt;
      add(*texts);
    }
    if (!stated->like) return resolved;
    without.insert(stated->like->without.begin(), stated->like->without.end());
    place = {stated->like->device, stated->like->table};
  }
}

UserError missing_parent(const std::string& device, const std::string& table,
                         const FactorParent& like) {
  return UserError(fmt::format(
      "factors of {} on {} are like those of {} on {}, which are not there or not whole; "
      "`foretell calibrate fit --device {}` makes them",
      table, device, like.table, like.device, like.device));
}

UserError missing_sets(const std::string& device, const std::string& table,
                       const StatedFactors& stated) {
  if (!stated.has_common && stated.usual.empty()) {
    return missing_parent(device, table, *stated.like);
  }
  return UserError(
      fmt::format("factors of {} on {} say `{}`, and common.yaml beside them has no such table{}: "
                  "state it there, or leave `{}` out",
                  table, device, stated.has_common ? "common: true" : "usual",
                  stated.like ? ", or what they are like is not there" : "",
                  stated.has_common ? "common" : "usual"));
}

}  // namespace foretell
