#include "model/app/study/what_if/study_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/app/request/family/device_family.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/problems.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

constexpr std::uint64_t kTriedPoints = 16;  // for formulas: the first, the last and some between
constexpr std::string_view kEnginePath = "engine.";
constexpr std::size_t kTriedValues = 64;  // of one key; the ends of a longer list are among them

class StudyChecker {
 public:
  StudyChecker(const Study& study, const DefaultValue& defaults)
      : study_(study), defaults_(defaults) {}

  void run() {
    collect_values();
    const auto require = [this](const char* key, const char* message) {
      if (values_.count(key) == 0) problems_.add(message);
    };
    require("on", "the study names no system: on: inf2.xlarge");
    require("workload", "the study names no workload: workload: bert-large-uncased");
    for (const auto& [key, values] : values_) {
      if (!is_path(key)) check_key(key, values, problems_);
    }
    check_names();
    problems_.throw_if_any();
    for (const auto& [key, values] : values_) {
      // Which engine takes a parameter is known when it is loaded.
      if (is_path(key) && !starts_with(key, kEnginePath)) check_path(key, values, problems_);
    }
    problems_.throw_if_any();
    check_formulas();
  }

 private:
  void collect_values() {
    for (const auto& [key, value] : study_.base) values_[key] = {value};
    for (const StudyAxis& axis : study_.axes) {
      for (std::size_t k = 0; k < axis.keys.size(); ++k) {
        std::set<std::string> distinct;
        for (const auto& row : axis.rows) distinct.insert(row[k]);
        std::vector<std::string>& values = values_[axis.keys[k]];
        if (distinct.size() <= kTriedValues) {
          values.assign(distinct.begin(), distinct.end());
          continue;
        }
        for (std::size_t i = 0; i < kTriedValues; ++i)
          values.push_back(axis.rows[i * (axis.rows.size() - 1) / (kTriedValues - 1)][k]);
      }
    }
  }

  std::string where(const std::string& key) const {
    const auto found = study_.stated_at.find(key);
    return found == study_.stated_at.end() ? "" : found->second;
  }

  template <class Check>
  void check_each(const char* key, const Check& check) {
    for (const std::string& value : values_[key]) {
      try {
        check(value);
      } catch (const UserError& error) {
        problems_.add(where(key), key, error.what());
      }
    }
  }

  void check_names() {
    check_each("on", [](const std::string& value) { family_of(value); });
    check_each("workload", [](const std::string& value) { WorkloadLibrary().load(value); });
    check_each("dtype", [](const std::string& value) { find_precision(value); });
  }

  static bool is_path(const std::string& key) { return key.find('.') != std::string::npos; }

  void check_key(const std::string& key, const std::vector<std::string>& values,
                 Problems& problems) {
    for (const std::string& value : values) {
      try {
        Request request;
        set_study_key(request, key, value);
      } catch (const UserError& error) {
        problems.add(where(key), "", error.what());
        if (values.size() > 1 &&
            std::find(scenario_keys().begin(), scenario_keys().end(), key) == scenario_keys().end())
          return;  // the key itself is wrong: once is enough
      }
    }
  }

  // A path may be one of some systems only, but not of none.
  void check_path(const std::string& key, const std::vector<std::string>& values,
                  Problems& problems) {
    for (const std::string& value : values) {
      std::string refusal;
      const bool somewhere =
          std::any_of(values_["on"].begin(), values_["on"].end(), [&](const std::string& system) {
            const std::string reason = refused(system, key, value);
            if (refusal.empty()) refusal = reason;
            return reason.empty();
          });
      if (somewhere) continue;
      problems.add(where(key), "", refusal);
      if (refusal.find("no such parameter") != std::string::npos) return;
    }
  }

  // Why a system refuses the value of a parameter; "" when it does not. What contradicts another
  // parameter is no matter of this value alone.
  std::string refused(const std::string& system, const std::string& key, const std::string& value) {
    PointValues values = {{"on", system}, {"workload", values_["workload"].front()}};
    Request request = parameter_request(values);
    set_study_key(request, key, value);
    try {
      family_of(system).parameters(request);
    } catch (const UserError& error) {
      const std::string message = error.what();
      const std::string prefix = "--set " + request.set.front() + ": ";
      if (starts_with(message, prefix)) return message.substr(prefix.size());
    }
    return "";
  }

  // What is wrong at every point that is tried; a formula that divides by zero at one of them costs
  // that point, when it is predicted.
  void check_formulas() {
    const std::uint64_t last = study_.points() - 1;
    const std::uint64_t tried = std::min(last, kTriedPoints - 1);
    std::optional<Problems> first;
    for (std::uint64_t i = 0; i <= tried; ++i) {
      Problems found;
      check_formulas_at(tried == 0 ? 0 : last / tried * i + last % tried * i / tried, found);
      if (found.empty()) return;
      if (!first) first = found;
    }
    if (first) first->throw_if_any();
  }

  void check_formulas_at(std::uint64_t number, Problems& problems) {
    problems.collect([&] {
      const StudyPoint point = plan_point(study_, number, defaults_);
      for (const StudyFormula& formula : study_.derived) {
        const std::string& value = point.values.at(formula.key);
        if (is_path(formula.key)) {
          check_path(formula.key, {value}, problems);
        } else {
          check_key(formula.key, {value}, problems);
        }
      }
      // Whatever results are: only names and units matter here.
      const RunSummary summary = example_summary();
      judge_point(study_, point.values, point_metrics(summary), defaults_);
    });
  }

  const Study& study_;
  const DefaultValue& defaults_;
  Problems problems_;
  std::map<std::string, std::vector<std::string>> values_;
};

}  // namespace

void check_study(const Study& study, const DefaultValue& defaults) {
  StudyChecker(study, defaults).run();
}

}  // namespace foretell
