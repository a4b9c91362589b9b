#include "calib/fit/pooled_fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "model/base/errors.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr double kExcess = 20;            // what loss beyond the most of a table weighs
constexpr double kSame = 1e-6;            // relative; values that differ by less are one
constexpr double kCostsNothing = 1e-5;    // of the sum of losses
constexpr std::size_t kSearched = 2;      // of what may be given up, how many are searched anew
constexpr std::size_t kMostSearched = 5;  // where none of them is good enough
constexpr double kFirstSteps[] = {0.1, 0.03};  // of logarithms
constexpr double kNextSteps[] = {0.1, 0.03};
constexpr double kLastSteps[] = {0.02};
constexpr int kSweeps = 2;   // with steps of one size
constexpr int kStrides = 4;  // in one direction

struct Place {  // of a value
  std::size_t table;
  std::string name;
  bool operator==(const Place& other) const { return table == other.table && name == other.name; }
  bool operator<(const Place& other) const {
    return std::tie(table, name) < std::tie(other.table, other.name);
  }
};

class Pool {
 public:
  Pool(const std::vector<PooledTable>& tables, const PoolOptions& options)
      : tables_(tables), own_(tables.size()), losses_(tables.size()), changes_(tables.size(), 0) {
    double sum = 0;
    std::size_t judged = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) chains_.push_back(chain_of(t));
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (const auto& [name, value] : tables_[t].start) {
        const double shared = is_common(t) ? 0 : shared_start(t, name);
        if (std::abs(value - shared) > kSame * value) own_[t][name] = value;
      }
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (!is_common(t)) ++judged;
      sum += losses_[t] = loss_of(t);
    }
    budget_ = sum + options.mean_gives * static_cast<double>(judged);
  }

  PooledFit run() {
    refine(all_places(), {std::begin(kFirstSteps), std::end(kFirstSteps)});
    while (save()) {
    }
    refine(all_places(), {std::begin(kLastSteps), std::end(kLastSteps)});
    PooledFit fit;
    fit.own = own_;
    fit.losses = losses_;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      fit.values.emplace_back();
      for (const auto& entry : tables_[t].start) {
        fit.values.back()[entry.first] = value_of(t, entry.first);
      }
    }
    return fit;
  }

 private:
  // A table's own value goes; or, of a common table, values of their own of tables that take from
  // it, all but that of `but`.
  struct Saving {
    double cost;        // of the total, for each value that is saved
    Place place;        // whose value goes; of a common table: whose value comes
    std::size_t but;    // kNone: of no table
    std::size_t saved;  // values
    double value;       // of who has it then; of no use where it is given
    bool operator<(const Saving& other) const {
      return std::tie(cost, place, but) < std::tie(other.cost, other.place, other.but);
    }
  };
  struct Held {  // to put back
    std::vector<std::map<std::string, double>> own;
    std::vector<double> losses;
  };
  struct Trial {
    Place place;
    std::size_t but;
    bool operator<(const Trial& other) const {
      return std::tie(place, but) < std::tie(other.place, other.but);
    }
  };
  struct Tried {
    Saving saving;
    std::size_t change;  // of the tables that it is about
  };
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  bool is_common(std::size_t t) const { return !tables_[t].loss; }

  // Where a table looks for values that it does not state, in this order.
  std::vector<std::size_t> chain_of(std::size_t t) const {
    std::vector<std::size_t> chain;
    std::size_t at = t;
    while (true) {
      FORETELL_CHECK(chain.size() <= 2 * tables_.size(),
                     "parents of pooled tables do not lead back");
      const auto& [parent, common] = std::tie(tables_.at(at).parent, tables_[at].common);
      const bool stays = parent && tables_.at(*parent).common == common;
      if (common && !stays) chain.push_back(*common);
      if (!parent) return chain;
      chain.push_back(*parent);
      at = *parent;
    }
  }

  bool applies(std::size_t t, const std::string& name) const {
    return tables_[t].start.count(name) > 0;
  }

  double given(std::size_t t, const std::string& name) const {
    for (const std::size_t at : chains_[t]) {
      if (!is_common(at)) t = at;
    }
    const auto found = tables_[t].given.find(name);
    return found == tables_[t].given.end() ? 0 : found->second;
  }

  // What a table would have for a factor without a value of its own, at the start; 0: nothing.
  double shared_start(std::size_t t, const std::string& name) const {
    for (const std::size_t at : chains_[t]) {
      const auto known = tables_[at].start.find(name);
      if (known != tables_[at].start.end()) return known->second;
      if (!is_common(at)) return 0;
    }
    return given(t, name);
  }

  // Where a table without a value of its own finds one among the tables.
  std::optional<std::size_t> provider(std::size_t t, const std::string& name) const {
    if (!applies(t, name)) return std::nullopt;
    if (own_[t].count(name) > 0) return t;
    for (const std::size_t at : chains_[t]) {
      if (!is_common(at) && !applies(at, name)) return std::nullopt;
      if (own_[at].count(name) > 0) return at;
    }
    return std::nullopt;
  }

  // Would a table without a value of its own have one?
  bool can_share(std::size_t t, const std::string& name) const {
    for (const std::size_t at : chains_[t]) {
      if (!is_common(at)) return applies(at, name);
      if (own_[at].count(name) > 0) return true;
    }
    return given(t, name) > 0;
  }

  double value_of(std::size_t t, const std::string& name) const {
    if (const auto from = provider(t, name)) return own_[*from].at(name);
    return given(t, name);
  }

  double loss_of(std::size_t t) const {
    if (is_common(t)) return 0;
    for (const auto& entry : tables_[t].start) {
      const Field& field = tables_[t].fields->at(entry.first);
      const double value = std::clamp(value_of(t, entry.first), field.min, field.max);
      field.assign(format_quantity(value, field.dimension));
    }
    const double loss = tables_[t].loss();
    return std::isfinite(loss) ? loss : std::numeric_limits<double>::max() / 1e6;
  }

  std::vector<std::size_t> users_of(const Place& place) const {
    std::vector<std::size_t> users;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (!is_common(t) && provider(t, place.name) == place.table) users.push_back(t);
    }
    return users;
  }

  double total() const {
    double sum = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      sum += losses_[t] + kExcess * std::max(0.0, losses_[t] - tables_[t].most);
    }
    return sum;
  }

  void judge(const std::vector<std::size_t>& which) {
    for (const std::size_t t : which) losses_[t] = loss_of(t);
  }

  Held held() const { return {own_, losses_}; }
  void put_back(const Held& held) {
    own_ = held.own;
    losses_ = held.losses;
  }

  bool is_free(const Place& place) const {
    const PooledTable& table = tables_[place.table];
    return !table.is_closed && table.fixed.count(place.name) == 0;
  }

  std::vector<Place> all_places() const {
    std::vector<Place> places;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (const auto& entry : own_[t]) places.push_back({t, entry.first});
    }
    return places;
  }

  // Moves one value as long as that helps.
  bool stride(const Place& place, const std::vector<std::size_t>& users, double step) {
    bool any = false;
    const Field& field = tables_[place.table].fields->at(place.name);
    double& value = own_[place.table].at(place.name);
    for (const double direction : {1.0, -1.0}) {
      for (int i = 0; i < kStrides; ++i) {
        const double before = value;
        const double least = total();
        const std::vector<double> losses = losses_;
        value = std::clamp(value * std::exp(direction * step), field.min, field.max);
        judge(users);
        if (total() < least) {
          any = true;
          continue;
        }
        value = before;
        losses_ = losses;
        break;
      }
      if (any) break;
    }
    return any;
  }

  void refine(const std::vector<Place>& places, const std::vector<double>& steps) {
    for (const double step : steps) {
      for (int sweep = 0; sweep < kSweeps; ++sweep) {
        bool any = false;
        for (const Place& place : places) {
          if (is_free(place) && stride(place, users_of(place), step)) any = true;
        }
        if (!any) break;
      }
    }
  }

  // The best of the values that a table and who provides it then can have together.
  Saving try_removal(const Place& place) {
    const Held before = held();
    const double own = own_[place.table].at(place.name);
    const std::vector<std::size_t> users = users_of(place);
    own_[place.table].erase(place.name);
    const auto from = provider(place.table, place.name);
    std::vector<double> values{value_of(place.table, place.name)};
    std::vector<std::size_t> moved = users;
    if (from && is_free({*from, place.name})) {
      values.push_back(std::sqrt(values.front() * own));
      values.push_back(own);
    }
    Saving best{std::numeric_limits<double>::infinity(), place, kNone, 1, values.front()};
    for (const double value : values) {
      if (from) {
        own_[*from][place.name] = value;
        moved = users_of({*from, place.name});
      }
      judge(value == values.front() ? users : moved);
      best = std::min(best, {total(), place, kNone, 1, value});
    }
    put_back(before);
    best.cost -= total();
    return best;
  }

  // Tables that take from a common one before any other: where its values would be read.
  std::vector<std::size_t> members_of(std::size_t common) const {
    std::vector<std::size_t> members;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (!chains_[t].empty() && chains_[t].front() == common) members.push_back(t);
    }
    return members;
  }

  // Tables whose value would be another.
  std::vector<std::size_t> readers_of(const Place& common) const {
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

  void gather(const Saving& saving) {
    for (const std::size_t member : members_of(saving.place.table)) {
      if (member != saving.but) own_[member].erase(saving.place.name);
    }
    own_[saving.place.table][saving.place.name] = saving.value;
    judge(readers_of(saving.place));
  }

  // The members of a common table have a factor in common from now on, all but one of them.
  std::optional<Saving> gathering(const Place& place, std::size_t but) const {
    Saving saving{0, place, but, 0, 0};
    double logs = 0;
    for (const std::size_t member : members_of(place.table)) {
      if (!applies(member, place.name)) return std::nullopt;
      const auto own = own_[member].find(place.name);
      if (member == but || own == own_[member].end()) continue;
      ++saving.saved;
      logs += std::log(own->second);
    }
    if (saving.saved < 2) return std::nullopt;
    saving.value = std::exp(logs / static_cast<double>(saving.saved--));
    return saving;
  }

  // Tables whose numbers a removal is about.
  std::size_t change_of(const Place& place) const {
    std::size_t sum = 0;
    for (const std::size_t t : is_common(place.table) ? readers_of(place) : users_of(place)) {
      sum += changes_[t];
    }
    for (const std::size_t at : chains_[place.table]) sum += changes_[at];
    return sum;
  }

  // What can be tried: of a place its removal, or of a common table's what brings it there.
  std::vector<Trial> trials() const {
    std::vector<Trial> found;
    for (const Place& place : all_places()) {
      if (!is_common(place.table) && can_share(place.table, place.name)) {
        found.push_back({place, kNone});
      }
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (is_common(t) && !tables_[t].is_closed) add_gatherings(t, found);
    }
    return found;
  }

  void add_gatherings(std::size_t common, std::vector<Trial>& found) const {
    std::vector<std::size_t> left_out = members_of(common);
    std::set<std::string> names;
    for (const std::size_t member : left_out) {
      for (const auto& entry : own_[member]) names.insert(entry.first);
    }
    left_out.push_back(kNone);
    for (const std::string& name : names) {
      if (own_[common].count(name) > 0) continue;
      for (const std::size_t but : left_out) {
        if (but != kNone && own_[but].count(name) == 0) continue;
        if (gathering({common, name}, but)) found.push_back({{common, name}, but});
      }
    }
  }

  Saving saving_of(const Trial& trial) {
    if (!is_common(trial.place.table)) return try_removal(trial.place);
    Saving saving = *gathering(trial.place, trial.but);
    const Held before = held();
    gather(saving);
    const double after = total();
    put_back(before);
    saving.cost = (after - total()) / static_cast<double>(saving.saved);
    return saving;
  }

  // Takes the cheapest out of `left`. What was tried earlier is tried again only where it would be
  // the cheapest.
  Saving cheapest(std::vector<Trial>& left) {
    while (true) {
      auto least = left.begin();
      for (auto trial = left.begin(); trial != left.end(); ++trial) {
        if (tried_.count(*trial) == 0)
          tried_[*trial] = {saving_of(*trial), change_of(trial->place)};
        if (tried_.at(*trial).saving < tried_.at(*least).saving) least = trial;
      }
      Tried& tried = tried_.at(*least);
      const std::size_t change = change_of(least->place);
      if (tried.change == change) {
        left.erase(least);
        return tried.saving;
      }
      tried = {saving_of(*least), change};
    }
  }

  // Returns the values that can make up for it.
  std::vector<Place> take(const Saving& saving) {
    const Place& place = saving.place;
    std::vector<Place> around;
    std::vector<std::size_t> users;
    if (is_common(place.table)) {
      gather(saving);
      users = members_of(place.table);
      around.push_back(place);
    } else {
      users = users_of(place);
      own_[place.table].erase(place.name);
      std::vector<std::size_t> moved = users;
      if (const auto from = provider(place.table, place.name)) {
        own_[*from][place.name] = saving.value;
        moved = users_of({*from, place.name});
        around.push_back({*from, place.name});
      }
      judge(moved);
    }
    for (const std::size_t t : users) {
      for (const auto& entry : own_[t]) around.push_back({t, entry.first});
    }
    return around;
  }

  bool save() {
    std::vector<Trial> left = trials();
    const Held before = held();
    std::optional<Held> best;
    const double now = total();
    const double most = std::max(budget_, now);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < kMostSearched && !left.empty() && !(best && i >= kSearched); ++i) {
      const Saving saving = cheapest(left);
      const std::vector<Place> around = take(saving);
      if (saving.cost <= kCostsNothing && total() <= most) {
        count_changes(before);
        return true;
      }
      refine(around, {std::begin(kNextSteps), std::end(kNextSteps)});
      const double cost = (total() - now) / static_cast<double>(saving.saved);
      if (total() <= most && cost < least) {
        least = cost;
        best = held();
      }
      put_back(before);
    }
    if (!best) return false;
    put_back(*best);
    count_changes(before);
    return true;
  }

  void count_changes(const Held& before) {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (losses_[t] != before.losses[t] || own_[t] != before.own[t]) ++changes_[t];
    }
  }

  const std::vector<PooledTable>& tables_;
  std::vector<std::vector<std::size_t>> chains_;
  std::vector<std::map<std::string, double>> own_;
  std::vector<double> losses_;
  std::vector<std::size_t> changes_;  // of each table, how often
  std::map<Trial, Tried> tried_;
  double budget_ = 0;  // of the sum of losses
};

}  // namespace

PooledFit fit_pooled(const std::vector<PooledTable>& tables, const PoolOptions& options) {
  return Pool(tables, options).run();
}

}  // namespace foretell
