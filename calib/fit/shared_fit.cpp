#include "calib/fit/shared_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "calib/fit/plan.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

constexpr double kFirstStep = 0.2;
constexpr double kTries[] = {0.3, 0.6, 0.8, 0.9, 1.1, 1.25, 1.6, 3};  // times the shared value
constexpr std::size_t kMaxOwn = 30;

void assign(const Field& field, double value) {
  field.assign(format_quantity(std::clamp(value, field.min, field.max), field.dimension));
}

class Search {
 public:
  Search(FieldList& fields, const SharedFitOptions& options,
         const std::vector<Observation>& observations, const FieldForecast& forecast)
      : fields_(fields), options_(options), observations_(observations), forecast_(forecast) {}

  double loss() const { return mean_relative_error(forecast_(), observations_); }

  // Least loss over `names`, from where they are; leaves them there.
  double refine(const std::vector<std::string>& names) {
    FitProblem problem = problem_around(fields_, names, observations_, forecast_, kNoBelief);
    for (FreeFactor& factor : problem.factors) {
      // Around where the factor started, however often it is searched.
      const auto [origin, is_new] = origin_.try_emplace(factor.name, factor.low, factor.high);
      factor.low = std::min(origin->second.first, factor.prior);
      factor.high = std::max(origin->second.second, factor.prior);
    }
    FitOptions options;
    options.starts = 1;
    options.evaluations = options_.evaluations * static_cast<int>(names.size());
    options.first_step = kFirstStep;
    const FitResult found = fit(problem, options);
    std::vector<double> values;
    for (const FactorEstimate& estimate : found.factors) values.push_back(estimate.value);
    assign_logarithms(fields_, names, values);
    return found.loss;
  }

  // The best of a few values of one factor; the factor is left as it was.
  std::pair<double, double> best_of(const std::string& name, double hint) {
    const Field& field = fields_.at(name);
    const double before = field.number();
    std::vector<double> values;
    const double around = before > 0 ? before : hint;
    for (const double times : kTries) values.push_back(around * times);
    if (hint > 0) values.push_back(hint);
    std::pair<double, double> best{std::numeric_limits<double>::infinity(), before};
    for (const double value : values) {
      if (!(value > 0)) continue;
      assign(field, value);
      best = std::min(best, {loss(), field.number()});
    }
    assign(field, before);
    return best;
  }

  void assign_value(const std::string& name, double value) { assign(fields_.at(name), value); }

  std::map<std::string, double> values(const std::vector<std::string>& names) {
    std::map<std::string, double> held;
    for (const std::string& name : names) held[name] = fields_.at(name).number();
    return held;
  }
  void restore(const std::map<std::string, double>& held) {
    for (const auto& [name, value] : held) assign(fields_.at(name), value);
  }

 private:
  FieldList& fields_;
  const SharedFitOptions& options_;
  const std::vector<Observation>& observations_;
  const FieldForecast& forecast_;
  std::map<std::string, std::pair<double, double>> origin_;  // how far each may go, logarithms
};

double hint_of(FieldList& fields, const FactorTexts& hints, const std::string& name) {
  for (const auto& [known, text] : hints) {
    if (known == name) return parse_quantity(text, fields.at(name).dimension);
  }
  return 0;
}

struct Trial {
  double loss;
  std::string name;
  double value;
  bool operator<(const Trial& other) const { return loss < other.loss; }
};

// Each factor alone, the most promising first.
std::vector<Trial> trials_of(Search& search, FieldList& fields,
                             const std::vector<std::string>& candidates, const FactorTexts& hints,
                             const std::vector<std::string>& own) {
  std::vector<Trial> trials;
  for (const std::string& name : candidates) {
    if (std::find(own.begin(), own.end(), name) != own.end()) continue;
    const auto [loss, value] = search.best_of(name, hint_of(fields, hints, name));
    if (std::isfinite(loss)) trials.push_back({loss, name, value});
  }
  std::stable_sort(trials.begin(), trials.end());
  return trials;
}

// Takes one value more after another.
void take_values(Search& search, FieldList& fields, const std::vector<std::string>& candidates,
                 const FactorTexts& hints, const SharedFitOptions& options, SharedFit& fit) {
  while (fit.own.size() < options.most && fit.loss > options.enough) {
    const std::vector<Trial> trials = trials_of(search, fields, candidates, hints, fit.own);
    const auto before = search.values(candidates);
    double least = fit.loss - options.gain;
    std::optional<std::pair<std::string, std::map<std::string, double>>> best;
    for (std::size_t i = 0; i < std::min(options.tried_together, trials.size()); ++i) {
      assign(fields.at(trials[i].name), trials[i].value);
      std::vector<std::string> moved = fit.own;
      moved.push_back(trials[i].name);
      const double found = search.refine(moved);
      if (found < least) {
        least = found;
        best = {trials[i].name, search.values(moved)};
      }
      search.restore(before);
    }
    if (!best) break;
    fit.own.push_back(best->first);
    search.restore(best->second);
    fit.loss = least;
  }
}

// Starts with a value for each factor that a hint has one for and gives up one after another, each
// time the one that costs least, as long as the loss stays enough. False when it is not at first.
bool give_up_values(Search& search, FieldList& fields, const std::vector<std::string>& candidates,
                    const FactorTexts& hints, const SharedFitOptions& options, SharedFit& fit) {
  const auto shared = search.values(candidates);
  fit.own.clear();
  for (const std::string& name : candidates) {
    const double hint = hint_of(fields, hints, name);
    if (!(hint > 0)) continue;
    search.assign_value(name, hint);
    fit.own.push_back(name);
  }
  fit.loss = search.loss();
  while (fit.loss <= options.enough) {
    const auto before = search.values(candidates);
    std::vector<Trial> trials;
    for (const std::string& name : fit.own) {
      search.assign_value(name, shared.at(name));
      trials.push_back({search.loss(), name, shared.at(name)});
      search.assign_value(name, before.at(name));
    }
    std::stable_sort(trials.begin(), trials.end());
    double least = options.enough;
    std::optional<std::pair<std::string, std::map<std::string, double>>> best;
    for (std::size_t i = 0; i < std::min(options.tried_together, trials.size()); ++i) {
      search.assign_value(trials[i].name, trials[i].value);
      std::vector<std::string> moved = fit.own;
      moved.erase(std::find(moved.begin(), moved.end(), trials[i].name));
      const double found = moved.empty() ? trials[i].loss : search.refine(moved);
      if (found <= least) {
        least = found;
        best = {trials[i].name, search.values(candidates)};
      }
      search.restore(before);
    }
    if (!best) return true;
    fit.own.erase(std::find(fit.own.begin(), fit.own.end(), best->first));
    search.restore(best->second);
    fit.loss = least;
  }
  return false;
}

}  // namespace

std::optional<SharingRule> load_sharing_rule(const std::string& path, const std::string& device,
                                             const std::string& table, const TableExists& exists) {
  const Node root = load_kernel_plan(path);
  const Node* rules = root.find("sharing");
  if (rules == nullptr) return std::nullopt;
  for (const Node& entry : rules->items) {
    entry.only_keys({"devices", "tables", "like", "own", "why"}, "sharing");
    if (!plan_names(entry.find("devices"), device) || !plan_names(entry.find("tables"), table)) {
      continue;
    }
    const Node& like = entry.required("like", "sharing");
    like.only_keys({"device", "table"}, "sharing.like");
    SharingRule rule;
    const Node* of_device = like.find("device");
    const Node* of_table = like.find("table");
    rule.like.device = of_device == nullptr ? device : of_device->as_text("like.device");
    rule.like.table = of_table == nullptr ? table : of_table->as_text("like.table");
    rule.own = static_cast<std::size_t>(
        entry.required("own", "sharing").as_integer("own", 0, static_cast<long long>(kMaxOwn)));
    const bool itself = rule.like.device == device && rule.like.table == table;
    if (!itself && exists(rule.like.device, rule.like.table)) return rule;
  }
  return std::nullopt;
}

std::vector<std::vector<std::string>> sharing_order(
    const std::vector<std::string>& tables,
    const std::function<std::string(const std::string& table)>& parent) {
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> left = tables;
  while (!left.empty()) {
    std::vector<std::string> group;
    std::vector<std::string> later;
    for (const std::string& table : left) {
      const bool waits = std::find(left.begin(), left.end(), parent(table)) != left.end();
      (waits ? later : group).push_back(table);
    }
    if (group.empty()) {
      throw UserError(fmt::format("sharing: '{}' is like tables that are like it", left.front()));
    }
    groups.push_back(std::move(group));
    left = std::move(later);
  }
  return groups;
}

SharedFit fit_shared(FieldList& fields, const std::vector<std::string>& candidates,
                     const FactorTexts& hints, const SharedFitOptions& options,
                     const std::vector<Observation>& observations, const FieldForecast& forecast) {
  Search search(fields, options, observations, forecast);
  SharedFit fit;
  fit.shared_loss = fit.loss = search.loss();
  const auto shared = search.values(candidates);
  take_values(search, fields, candidates, hints, options, fit);
  if (fit.loss <= options.enough || options.enough <= 0) return fit;
  // One after another came to an end too early: the other way round.
  const auto taken = search.values(candidates);
  search.restore(shared);
  SharedFit left = fit;
  const bool enough = give_up_values(search, fields, candidates, hints, options, left);
  if (enough && left.own.size() <= options.most) return left;
  search.restore(taken);
  return fit;
}

}  // namespace foretell
