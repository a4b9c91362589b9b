#include "calib/fit/pooled_fit.hpp"

#include <algorithm>
#include <cmath>
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
constexpr std::size_t kSearched = 3;      // of what may be given up, how many are searched anew
constexpr std::size_t kMostSearched = 6;  // where none of them is good enough
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
    check_parents();
    double sum = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (const auto& [name, value] : tables_[t].start) {
        const double shared = shared_start(t, name);
        if (std::abs(value - shared) > kSame * value) own_[t][name] = value;
      }
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) sum += losses_[t] = loss_of(t);
    budget_ = sum + options.mean_gives * static_cast<double>(tables_.size());
  }

  PooledFit run() {
    refine(all_places(), {std::begin(kFirstSteps), std::end(kFirstSteps)});
    while (give_up_one()) {
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
  struct Removal {
    double total;
    Place place;
    double value;  // of who has it then; of no use where it is given
    bool operator<(const Removal& other) const {
      return std::tie(total, place) < std::tie(other.total, other.place);
    }
  };
  struct Held {  // to put back
    std::vector<std::map<std::string, double>> own;
    std::vector<double> losses;
  };
  struct Tried {
    Removal removal;
    std::size_t change;  // of the tables that it is about
  };

  void check_parents() const {
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      std::size_t steps = 0;
      for (auto at = tables_[t].parent; at; at = tables_.at(*at).parent) {
        FORETELL_CHECK(++steps <= tables_.size(), "parents of pooled tables do not lead back");
      }
    }
  }

  bool applies(std::size_t t, const std::string& name) const {
    return tables_[t].start.count(name) > 0;
  }

  // What a table would have for a factor without a value of its own, at the start; 0: nothing.
  double shared_start(std::size_t t, const std::string& name) const {
    if (const auto parent = tables_[t].parent) {
      const auto known = tables_[*parent].start.find(name);
      return known == tables_[*parent].start.end() ? 0 : known->second;
    }
    const auto given = tables_[t].given.find(name);
    return given == tables_[t].given.end() ? 0 : given->second;
  }

  // Where a table without a value of its own finds one among the tables.
  std::optional<std::size_t> provider(std::size_t t, const std::string& name) const {
    for (std::optional<std::size_t> at = t; at; at = tables_[*at].parent) {
      if (!applies(*at, name)) return std::nullopt;
      if (own_[*at].count(name) > 0) return at;
    }
    return std::nullopt;
  }

  bool can_share(std::size_t t, const std::string& name) const {
    if (const auto parent = tables_[t].parent) return applies(*parent, name);
    return tables_[t].given.count(name) > 0;
  }

  double value_of(std::size_t t, const std::string& name) const {
    if (const auto from = provider(t, name)) return own_[*from].at(name);
    std::size_t root = t;
    while (tables_[root].parent) root = *tables_[root].parent;
    const auto given = tables_[root].given.find(name);
    return given == tables_[root].given.end() ? 0 : given->second;
  }

  double loss_of(std::size_t t) const {
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
      if (applies(t, place.name) && provider(t, place.name) == place.table) users.push_back(t);
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
    return tables_[place.table].fixed.count(place.name) == 0;
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
  Removal try_removal(const Place& place) {
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
    Removal best{std::numeric_limits<double>::infinity(), place, values.front()};
    for (const double value : values) {
      if (from) {
        own_[*from][place.name] = value;
        moved = users_of({*from, place.name});
      }
      judge(value == values.front() ? users : moved);
      best = std::min(best, {total(), place, value});
    }
    put_back(before);
    best.total -= total();
    return best;
  }

  // Tables whose numbers a removal is about.
  std::size_t change_of(const Place& place) const {
    std::size_t sum = 0;
    for (const std::size_t t : users_of(place)) sum += changes_[t];
    for (auto at = tables_[place.table].parent; at; at = tables_[*at].parent) sum += changes_[*at];
    return sum;
  }

  std::vector<Removal> removals() {
    std::vector<Removal> found;
    for (const Place& place : all_places()) {
      if (!can_share(place.table, place.name)) continue;
      const std::size_t change = change_of(place);
      const auto known = tried_.find(place);
      if (known == tried_.end() || known->second.change != change) {
        tried_[place] = {try_removal(place), change};
      }
      found.push_back(tried_.at(place).removal);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Returns the values that can make up for it.
  std::vector<Place> take_out(const Removal& removal) {
    const Place& place = removal.place;
    const std::vector<std::size_t> users = users_of(place);
    own_[place.table].erase(place.name);
    std::vector<std::size_t> moved = users;
    std::vector<Place> around;
    if (const auto from = provider(place.table, place.name)) {
      own_[*from][place.name] = removal.value;
      moved = users_of({*from, place.name});
      around.push_back({*from, place.name});
    }
    judge(moved);
    for (const std::size_t t : users) {
      for (const auto& entry : own_[t]) around.push_back({t, entry.first});
    }
    return around;
  }

  bool give_up_one() {
    const std::vector<Removal> found = removals();
    const Held before = held();
    std::optional<Held> best;
    double least = std::max(budget_, total());
    if (!found.empty() && found.front().total <= kCostsNothing &&
        total() + found.front().total <= least) {
      take_out(found.front());
      count_changes(before);
      return true;
    }
    for (std::size_t i = 0; i < std::min(kMostSearched, found.size()); ++i) {
      if (i >= kSearched && best) break;
      refine(take_out(found[i]), {std::begin(kNextSteps), std::end(kNextSteps)});
      if (total() <= least) {
        least = total();
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
  std::vector<std::map<std::string, double>> own_;
  std::vector<double> losses_;
  std::vector<std::size_t> changes_;  // of each table, how often
  std::map<Place, Tried> tried_;
  double budget_ = 0;  // of the sum of losses
};

}  // namespace

PooledFit fit_pooled(const std::vector<PooledTable>& tables, const PoolOptions& options) {
  return Pool(tables, options).run();
}

}  // namespace foretell
