#include "calib/fit/pooled_values.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kSame = 1e-6;           // relative; values that differ by less are one
constexpr std::size_t kFewestUsual = 3;  // tables that state a factor, for it to have a usual value

}  // namespace

PooledValues::PooledValues(const std::vector<PooledTable>& tables, std::optional<std::size_t> usual)
    : tables_(tables), usual_(usual) {
  state.own.resize(tables.size());
  state.usual.resize(tables.size());
  state.ceased.resize(tables.size());
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    state.usual[t] = tables_[t].usual;
    chains_.push_back(chain_of(t));
  }
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (const auto& [name, value] : tables_[t].start) {
      if (usual_ && state.usual[t].count(name) > 0) continue;
      const double shared = is_common(t) ? 0 : shared_start(t, name);
      if (std::abs(value - shared) > kSame * value) state.own[t][name] = value;
    }
  }
}

std::vector<std::size_t> PooledValues::chain_of(std::size_t t) const {
  std::vector<std::size_t> chain;
  std::size_t at = t;
  while (true) {
    FORETELL_CHECK(chain.size() <= 2 * tables_.size(), "parents of pooled tables do not lead back");
    const auto& [parent, common] = std::tie(tables_.at(at).parent, tables_[at].common);
    const bool stays = parent && tables_.at(*parent).common == common;
    if (common && !stays) chain.push_back(*common);
    if (!parent) return chain;
    chain.push_back(*parent);
    at = *parent;
  }
}

bool PooledValues::applies(std::size_t t, const std::string& name) const {
  return tables_[t].start.count(name) > 0 && state.ceased[t].count(name) == 0;
}

double PooledValues::given(std::size_t t, const std::string& name) const {
  for (const std::size_t at : chains_[t]) {
    if (!is_common(at)) t = at;
  }
  const auto found = tables_[t].given.find(name);
  return found == tables_[t].given.end() ? 0 : found->second;
}

// What a table would have for a factor without a value of its own, at the start; 0: nothing.
double PooledValues::shared_start(std::size_t t, const std::string& name) const {
  for (const std::size_t at : chains_[t]) {
    const auto known = tables_[at].start.find(name);
    if (known != tables_[at].start.end()) return known->second;
    if (!is_common(at)) return 0;
  }
  return given(t, name);
}

std::optional<std::size_t> PooledValues::provider(std::size_t t, const std::string& name) const {
  if (!applies(t, name)) return std::nullopt;
  if (state.own[t].count(name) > 0) return t;
  if (state.usual[t].count(name) > 0) return usual_;
  for (const std::size_t at : chains_[t]) {
    if (!is_common(at) && !applies(at, name)) return std::nullopt;
    if (state.own[at].count(name) > 0) return at;
    if (state.usual[at].count(name) > 0) return usual_;
  }
  return std::nullopt;
}

bool PooledValues::can_share(std::size_t t, const std::string& name) const {
  for (const std::size_t at : chains_[t]) {
    if (!is_common(at)) return applies(at, name);
    if (state.own[at].count(name) > 0) return true;
  }
  return given(t, name) > 0;
}

bool PooledValues::can_cease(std::size_t t, const std::string& name) const {
  if (tables_[t].fixed.count(name) > 0) return false;
  const bool has_common = !chains_[t].empty() && is_common(chains_[t].front());
  return !has_common || state.own[chains_[t].front()].count(name) == 0;
}

double PooledValues::value_of(std::size_t t, const std::string& name) const {
  if (!applies(t, name)) return 0;
  if (const auto from = provider(t, name)) return state.own[*from].at(name);
  for (const std::size_t at : chains_[t]) {
    if (!is_common(at) && !applies(at, name)) return 0;
  }
  return given(t, name);
}

std::vector<std::size_t> PooledValues::users_of(const PooledPlace& place) const {
  std::vector<std::size_t> users;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (!is_common(t) && provider(t, place.name) == place.table) users.push_back(t);
  }
  return users;
}

std::vector<PooledPlace> PooledValues::all_places() const {
  std::vector<PooledPlace> places;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (const auto& entry : state.own[t]) places.push_back({t, entry.first});
  }
  return places;
}

std::vector<std::size_t> PooledValues::members_of(std::size_t common) const {
  std::vector<std::size_t> members;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (!chains_[t].empty() && chains_[t].front() == common) members.push_back(t);
  }
  return members;
}

std::vector<std::size_t> PooledValues::readers_of(const PooledPlace& common) const {
  std::vector<std::size_t> readers;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (is_common(t) || !applies(t, common.name)) continue;
    for (const std::size_t member : members_of(common.table)) {
      const bool in_chain = std::count(chains_[t].begin(), chains_[t].end(), member) > 0;
      if (t == member || in_chain) {
        readers.push_back(t);
        break;
      }
    }
  }
  return readers;
}

void PooledValues::seed_usual() {
  if (!usual_ || tables_[*usual_].is_closed) return;
  std::map<std::string, std::vector<double>> stated;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    if (is_common(t)) continue;
    for (const auto& [name, value] : state.own[t]) stated[name].push_back(value);
  }
  for (auto& [name, values] : stated) {
    if (values.size() < kFewestUsual || state.own[*usual_].count(name) > 0) continue;
    std::sort(values.begin(), values.end());
    state.own[*usual_][name] = values[values.size() / 2];
  }
}

void PooledValues::settle_usual() {
  if (!usual_ || tables_[*usual_].is_closed) return;
  std::map<std::string, std::vector<std::size_t>> takers;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    for (const std::string& name : state.usual[t]) takers[name].push_back(t);
  }
  std::map<std::string, double>& values = state.own[*usual_];
  for (auto value = values.begin(); value != values.end();) {
    const std::vector<std::size_t>& by = takers[value->first];
    if (by.size() == 1) {
      state.own[by.front()][value->first] = value->second;
      state.usual[by.front()].erase(value->first);
    }
    value = by.size() < 2 ? values.erase(value) : std::next(value);
  }
}

}  // namespace foretell
