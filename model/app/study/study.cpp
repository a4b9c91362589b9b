#include "model/app/study/study.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "reports/record/summary.hpp"

namespace foretell {
namespace {

constexpr int kDeepestDefinition = 32;

const StudyFormula* find_formula(const std::vector<StudyFormula>& formulas,
                                 const std::string& key) {
  const auto found = std::find_if(formulas.begin(), formulas.end(),
                                  [&key](const StudyFormula& f) { return f.key == key; });
  return found == formulas.end() ? nullptr : &*found;
}

// What the names in the formulas of one point mean.
class PointNames {
 public:
  PointNames(const Study& study, const PointValues& values, const DefaultValue& defaults,
             const PointMetrics* metrics = nullptr)
      : study_(study), values_(values), defaults_(defaults), metrics_(metrics) {}

  StudyValue value(const std::string& name) {
    const std::string key = canonical_key(name);
    if (const auto found = values_.find(key); found != values_.end())
      return parse_study_value(found->second);
    if (const StudyFormula* formula = find_formula(study_.derived, key)) return of(*formula);
    if (const StudyFormula* formula = find_formula(study_.defined, name)) return of(*formula);
    if (metrics_ != nullptr && is_study_metric(name)) {
      const auto found = metrics_->find(name);
      if (found == metrics_->end())
        throw UserError("'" + name + "' does not apply to what is predicted");
      return found->second;
    }
    return defaults_(values_, key);
  }

  StudyValue of(const StudyFormula& formula) {
    if (++depth_ > kDeepestDefinition)
      throw UserError(formula.where + ": " + formula.key + " is defined by itself");
    StudyValue result;
    try {
      result = evaluate(formula.text, [this](const std::string& name) { return value(name); });
    } catch (const UserError& error) {
      const std::string message = error.what();
      if (message.rfind(formula.where, 0) == 0 || depth_ > 1) throw;
      throw UserError(formula.where + ": " + (formula.key.empty() ? "" : formula.key + ": ") +
                      message);
    }
    --depth_;
    return result;
  }

 private:
  const Study& study_;
  const PointValues& values_;
  const DefaultValue& defaults_;
  const PointMetrics* metrics_;
  int depth_ = 0;
};

// Does a formula need results, itself or through definitions?
bool needs_metrics(const Study& study, const std::string& text, int depth = 0) {
  for (const std::string& name : names_in(text)) {
    if (is_study_metric(name)) return true;
    const StudyFormula* formula = find_formula(study.defined, name);
    if (formula != nullptr && depth < kDeepestDefinition &&
        needs_metrics(study, formula->text, depth + 1))
      return true;
  }
  return false;
}

bool holds(PointNames& names, const StudyFormula& constraint) {
  const StudyValue value = names.of(constraint);
  if (!value.is_number || !(value.dimension == Dimension{})) {
    throw UserError(constraint.where + ": '" + constraint.text +
                    "' is no condition; compare two values, for example ${price} <= 2 USD/h");
  }
  return value.number < 0 || value.number > 0;
}

}  // namespace

bool is_study_metric(std::string_view name) {
  const SummaryMetric* metric = find_metric(name);
  return metric != nullptr && name == metric->name;
}

std::uint64_t Study::points() const {
  std::uint64_t count = 1;
  for (const StudyAxis& axis : axes) count *= axis.rows.size();
  return count;
}

std::vector<std::string> Study::keys() const {
  std::vector<std::string> keys;
  for (const StudyAxis& axis : axes) keys.insert(keys.end(), axis.keys.begin(), axis.keys.end());
  return keys;
}

std::uint64_t point_number(const Study& study, const std::vector<std::uint64_t>& positions) {
  std::uint64_t number = 0;
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    number = number * study.axes[a].rows.size() + positions[a];
  return number;
}

PointValues varied_values(const Study& study, std::uint64_t number) {
  PointValues values = study.base;
  for (auto axis = study.axes.rbegin(); axis != study.axes.rend(); ++axis) {
    const std::vector<std::string>& row = axis->rows[number % axis->rows.size()];
    number /= axis->rows.size();
    for (std::size_t k = 0; k < row.size(); ++k) values[axis->keys[k]] = row[k];
  }
  return values;
}

StudyPoint plan_point(const Study& study, std::uint64_t number, const DefaultValue& defaults) {
  StudyPoint point;
  point.values = varied_values(study, number);
  PointNames names(study, point.values, defaults);
  PointValues derived;
  for (const StudyFormula& formula : study.derived) {
    try {
      derived[formula.key] = to_study_text(names.of(formula));
    } catch (const UserError& error) {
      const std::string message = error.what();
      if (message.rfind(formula.where, 0) == 0) throw;
      throw UserError(formula.where + ": " + formula.key + ": " + message);
    }
  }
  for (const StudyFormula& constraint : study.constraints) {
    if (needs_metrics(study, constraint.text) || holds(names, constraint)) continue;
    point.skipped_by = constraint.text;
    break;
  }
  point.values.merge(derived);
  return point;
}

JudgedPoint judge_point(const Study& study, const PointValues& values, const PointMetrics& metrics,
                        const DefaultValue& defaults) {
  JudgedPoint judged;
  PointNames names(study, values, defaults, &metrics);
  for (const StudyFormula& constraint : study.constraints)
    judged.inside = holds(names, constraint) && judged.inside;  // of all: a mistake does not hide
  for (const StudyValue& value : objective_values(study, values, metrics, defaults))
    judged.objectives.push_back(value.number);
  return judged;
}

std::vector<StudyValue> objective_values(const Study& study, const PointValues& values,
                                         const PointMetrics& metrics,
                                         const DefaultValue& defaults) {
  PointNames names(study, values, defaults, &metrics);
  std::vector<StudyValue> result;
  for (const StudyObjective& objective : study.objectives) {
    if (is_study_metric(objective.name) && metrics.count(objective.name) == 0) return {};
    result.push_back(names.value(objective.name));
    if (!result.back().is_number)
      throw UserError("objective '" + objective.name + "' is no number");
  }
  return result;
}

}  // namespace foretell
