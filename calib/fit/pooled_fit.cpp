#include "calib/fit/pooled_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "calib/fit/pooled_values.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr double kExcess = 20;            // what loss beyond the most of a table weighs
constexpr double kCostsNothing = 1e-5;    // of the sum of losses
constexpr std::size_t kSearched = 2;      // of what may be given up, how many are searched anew
constexpr std::size_t kMostSearched = 5;  // where none of them is good enough
constexpr double kFirstSteps[] = {0.1, 0.03};  // of logarithms
constexpr double kNextSteps[] = {0.1, 0.03};
constexpr double kLastSteps[] = {0.04, 0.015};
constexpr int kSweeps = 2;   // with steps of one size
constexpr int kStrides = 4;  // in one direction

using Place = PooledPlace;

// How a value that a table states is saved.
enum class Way {
  kShare,   // the table takes what it would without it
  kGather,  // tables take one that they have in common, all but one of them
  kUsual,   // it takes the usual one
  kCease,   // the factor does not apply to it
};

class Pool {
 public:
  Pool(const std::vector<PooledTable>& tables, const PoolOptions& options)
      : tables_(tables),
        values_(tables, options.usual),
        gives_up_(options.gives_up),
        ceases_below_(options.ceases_below),
        losses_(tables.size()),
        changes_(tables.size(), 0) {
    double sum = 0;
    std::size_t judged = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (!values_.is_common(t)) ++judged;
      sum += losses_[t] = loss_of(t);
    }
    budget_ = sum + options.mean_gives * static_cast<double>(judged);
    values_.seed_usual();
  }

  PooledFit run() {
    if (gives_up_) give_up();
    values_.settle_usual();
    is_last_ = true;
    for (std::size_t t = 0; t < tables_.size(); ++t) losses_[t] = loss_of(t);
    refine_pairs(kLastSteps[0]);
    refine(values_.all_places(), {std::begin(kLastSteps), std::end(kLastSteps)});
    PooledFit fit;
    fit.own = values_.state.own;
    fit.usual = values_.state.usual;
    fit.losses = losses_;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      fit.values.emplace_back();
      for (const auto& entry : tables_[t].start) {
        const double value = values_.value_of(t, entry.first);
        if (value != 0) fit.values.back()[entry.first] = value;
      }
    }
    return fit;
  }

 private:
  // A table's own value goes; or, of a common table, values of their own of tables that take from
  // it, all but that of `but`.
  struct Trial {
    Way way;
    Place place;      // whose value goes; gathered: whose value comes
    std::size_t but;  // kNone: of no table
    bool operator<(const Trial& other) const {
      return std::tie(place, but, way) < std::tie(other.place, other.but, other.way);
    }
  };
  struct Saving : Trial {
    double cost;        // of the total, for each value that is saved
    std::size_t saved;  // values
    double value;       // of who has it then; of no use where it is given
    bool operator<(const Saving& other) const {
      return std::tie(cost, place, but, way) <
             std::tie(other.cost, other.place, other.but, other.way);
    }
  };
  struct Held {  // to put back
    PooledValues::State state;
    std::vector<double> losses;
  };
  struct Tried {
    Saving saving;
    std::size_t change;  // of the tables that it is about
  };
  static constexpr std::size_t kNone = PooledValues::kNone;

  std::map<std::string, double>& own(std::size_t t) { return values_.state.own[t]; }
  const std::map<std::string, double>& own(std::size_t t) const { return values_.state.own[t]; }

  void give_up() {
    refine_all();
    for (bool any = true; any;) {
      any = false;
      while (save()) any = true;
      if (any) refine_all();
    }
  }

  double loss_of(std::size_t t) const {
    const PooledTable& table = tables_[t];
    if (values_.is_common(t)) return 0;
    for (const auto& entry : table.start) {
      const Field& field = table.fields->at(entry.first);
      const double value = std::clamp(values_.value_of(t, entry.first), field.min, field.max);
      field.assign(format_quantity(value, field.dimension));
    }
    const double loss = is_last_ && table.last_loss ? table.last_loss() : table.loss();
    return std::isfinite(loss) ? loss : std::numeric_limits<double>::max() / 1e6;
  }

  double total() const {
    double sum = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const double most = is_last_ && tables_[t].last_loss ? tables_[t].last_most : tables_[t].most;
      sum += losses_[t] + kExcess * std::max(0.0, losses_[t] - most);
    }
    return sum;
  }

  void judge(const std::vector<std::size_t>& which) {
    for (const std::size_t t : which) losses_[t] = loss_of(t);
  }

  Held held() const { return {values_.state, losses_}; }
  void put_back(const Held& held) {
    values_.state = held.state;
    losses_ = held.losses;
  }

  bool is_free(const Place& place) const {
    const PooledTable& table = tables_[place.table];
    if (table.is_closed || table.fixed.count(place.name) > 0) return false;
    if (values_.usual() != place.table) return true;
    const std::vector<std::size_t> users = values_.users_of(place);
    return std::none_of(users.begin(), users.end(), [&](std::size_t user) {
      return tables_[user].fixed.count(place.name) > 0;
    });
  }

  // Moves one value as long as that helps.
  bool stride(const Place& place, const std::vector<std::size_t>& users, double step) {
    if (users.empty()) return false;
    bool any = false;
    const Field& field = tables_[users.front()].fields->at(place.name);
    double& value = own(place.table).at(place.name);
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
          if (is_free(place) && stride(place, values_.users_of(place), step)) any = true;
        }
        if (!any) break;
      }
    }
  }

  void refine_all() {
    refine(values_.all_places(), {std::begin(kFirstSteps), std::end(kFirstSteps)});
    for (const double step : kFirstSteps) refine_pairs(step);
    refine(values_.all_places(), {std::begin(kLastSteps), std::end(kLastSteps)});
  }

  // Values of one table that make up for one another move together, or against one another.
  void refine_pairs(double step) {
    const std::vector<Place> places = values_.all_places();
    for (const Place& first : places) {
      if (!is_free(first) || values_.users_of(first).empty()) continue;
      for (const Place& second : places) {
        if (second.table == first.table && first.name < second.name && is_free(second) &&
            !values_.users_of(second).empty()) {
          move_pair(first, second, step);
        }
      }
    }
  }

  void move_pair(const Place& first, const Place& second, double step) {
    std::vector<std::size_t> users = values_.users_of(first);
    for (const std::size_t user : values_.users_of(second)) {
      if (std::count(users.begin(), users.end(), user) == 0) users.push_back(user);
    }
    if (users.empty()) return;
    for (const double up : {1.0, -1.0}) {
      for (const double along : {1.0, -1.0}) {
        for (int i = 0; i < kStrides; ++i) {
          const Held before = held();
          const double least = total();
          shift(first, up * step);
          shift(second, up * along * step);
          judge(users);
          if (total() < least) continue;
          put_back(before);
          break;
        }
      }
    }
  }

  void shift(const Place& place, double step) {
    const Field& field = field_of(place);
    double& value = own(place.table).at(place.name);
    value = std::clamp(value * std::exp(step), field.min, field.max);
  }

  // Of one who uses it: what is usual has none.
  const Field& field_of(const Place& place) const {
    return tables_[values_.users_of(place).front()].fields->at(place.name);
  }

  // The best of the values that a table and who provides it then can have together.
  Saving try_removal(const Trial& trial) {
    const Place& place = trial.place;
    const Held before = held();
    const double stated = own(place.table).at(place.name);
    const std::vector<std::size_t> users = values_.users_of(place);
    own(place.table).erase(place.name);
    const auto from = values_.provider(place.table, place.name);
    std::vector<double> values{values_.value_of(place.table, place.name)};
    std::vector<std::size_t> moved = users;
    if (from && is_free({*from, place.name})) {
      values.push_back(std::sqrt(values.front() * stated));
      values.push_back(stated);
    }
    Saving best{trial, std::numeric_limits<double>::infinity(), 1, values.front()};
    for (const double value : values) {
      if (from) {
        own(*from)[place.name] = value;
        moved = values_.users_of({*from, place.name});
      }
      judge(value == values.front() ? users : moved);
      best = std::min(best, {trial, total(), 1, value});
    }
    put_back(before);
    best.cost -= total();
    return best;
  }

  void gather(const Saving& saving) {
    for (const std::size_t member : values_.members_of(saving.place.table)) {
      if (member != saving.but) own(member).erase(saving.place.name);
    }
    own(saving.place.table)[saving.place.name] = saving.value;
    judge(values_.readers_of(saving.place));
  }

  // A table's own value goes for the usual one, or for none.
  void drop(const Trial& trial) {
    const auto& [table, name] = trial.place;
    const std::vector<std::size_t> users = values_.users_of(trial.place);
    own(table).erase(name);
    (trial.way == Way::kUsual ? values_.state.usual : values_.state.ceased)[table].insert(name);
    judge(users);
  }

  // The members of a common table have a factor in common from now on, all but one of them.
  std::optional<Saving> gathering(const Place& place, std::size_t but) const {
    Saving saving{{Way::kGather, place, but}, 0, 0, 0};
    double logs = 0;
    for (const std::size_t member : values_.members_of(place.table)) {
      if (!values_.applies(member, place.name)) return std::nullopt;
      const auto stated = own(member).find(place.name);
      if (member == but || stated == own(member).end()) continue;
      ++saving.saved;
      logs += std::log(stated->second);
    }
    if (saving.saved < 2) return std::nullopt;
    saving.value = std::exp(logs / static_cast<double>(saving.saved--));
    return saving;
  }

  // Tables whose numbers a removal is about.
  std::size_t change_of(const Place& place) const {
    std::size_t sum = 0;
    for (const std::size_t t :
         values_.is_common(place.table) ? values_.readers_of(place) : values_.users_of(place)) {
      sum += changes_[t];
    }
    for (const std::size_t at : values_.chain(place.table)) sum += changes_[at];
    return sum;
  }

  // What can be tried: of a place its removal, or of a common table's what brings it there.
  std::vector<Trial> trials() const {
    std::vector<Trial> found;
    for (const Place& place : values_.all_places()) {
      const auto& [t, name] = place;
      if (values_.is_common(t)) continue;
      const auto usual = values_.usual();
      if (values_.can_share(t, name)) found.push_back({Way::kShare, place, kNone});
      if (usual && own(*usual).count(name) > 0) found.push_back({Way::kUsual, place, kNone});
      if (values_.can_cease(t, name)) found.push_back({Way::kCease, place, kNone});
    }
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      if (values_.is_common(t) && !tables_[t].is_closed) add_gatherings(t, found);
    }
    return found;
  }

  void add_gatherings(std::size_t common, std::vector<Trial>& found) const {
    std::vector<std::size_t> left_out = values_.members_of(common);
    std::set<std::string> names;
    for (const std::size_t member : left_out) {
      for (const auto& entry : own(member)) names.insert(entry.first);
    }
    left_out.push_back(kNone);
    for (const std::string& name : names) {
      if (own(common).count(name) > 0) continue;
      for (const std::size_t but : left_out) {
        if (but != kNone && own(but).count(name) == 0) continue;
        if (gathering({common, name}, but)) found.push_back({Way::kGather, {common, name}, but});
      }
    }
  }

  Saving saving_of(const Trial& trial) {
    if (trial.way == Way::kShare) return try_removal(trial);
    const Held before = held();
    Saving saving{trial, 0, 1, 0};
    if (trial.way == Way::kGather) {
      saving = *gathering(trial.place, trial.but);
      gather(saving);
    } else {
      drop(trial);
    }
    const double after = total();
    bool is_felt = false;
    for (std::size_t t = 0; t < tables_.size() && trial.way == Way::kCease; ++t) {
      if (losses_[t] > before.losses[t] + ceases_below_) is_felt = true;
    }
    put_back(before);
    if (is_felt) return {trial, std::numeric_limits<double>::infinity(), 1, 0};
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
    if (saving.way == Way::kGather) {
      gather(saving);
      users = values_.members_of(place.table);
      around.push_back(place);
    } else if (saving.way == Way::kShare) {
      users = values_.users_of(place);
      own(place.table).erase(place.name);
      std::vector<std::size_t> moved = users;
      if (const auto from = values_.provider(place.table, place.name)) {
        own(*from)[place.name] = saving.value;
        moved = values_.users_of({*from, place.name});
        around.push_back({*from, place.name});
      }
      judge(moved);
    } else {
      users = values_.users_of(place);
      drop(saving);
      if (saving.way == Way::kUsual) around.push_back({*values_.usual(), place.name});
    }
    for (const std::size_t t : users) {
      for (const auto& entry : own(t)) around.push_back({t, entry.first});
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
      if (!std::isfinite(saving.cost)) break;
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
      if (losses_[t] != before.losses[t] || own(t) != before.state.own[t]) ++changes_[t];
    }
  }

  const std::vector<PooledTable>& tables_;
  PooledValues values_;
  bool gives_up_;
  double ceases_below_;
  std::vector<double> losses_;
  std::vector<std::size_t> changes_;  // of each table, how often
  std::map<Trial, Tried> tried_;
  double budget_ = 0;     // of the sum of losses
  bool is_last_ = false;  // of the searches, on more rows
};

}  // namespace

PooledFit fit_pooled(const std::vector<PooledTable>& tables, const PoolOptions& options) {
  return Pool(tables, options).run();
}

}  // namespace foretell
