// KernelCalibration::pool(): the tables of a chip share what they can.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calib/fit/evidence.hpp"
#include "calib/fit/field_values.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fit/pooled_fit.hpp"
#include "calib/fit/row_division.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kPooledRows = 250;  // of a table, that its values are chosen on
constexpr double kPoint = 0.01;           // of percentage
constexpr double kMostPoints = 100;

double points(const std::string& option, const std::string& text) {
  const auto number = to_number(text);
  if (!number || *number < 0 || *number > kMostPoints) {
    throw UserError(fmt::format("{}: '{}' is no number of percentage points from 0 to {:g}", option,
                                text, kMostPoints));
  }
  return *number * kPoint;
}

double loss_of(const KernelFitTask& task, const std::vector<std::size_t>& rows) {
  const KernelFitTask::Predict predict = task.predictor();
  double sum = 0;
  for (const std::size_t i : rows) {
    const double measured = task.fit[i].measured.value();
    sum += std::abs(predict(false, i).value() - measured) / measured;
  }
  return sum / static_cast<double>(rows.size());
}

std::map<std::string, double> numbers_of(const FactorTexts& texts, FieldList& fields) {
  std::map<std::string, double> numbers;
  for (const auto& [name, text] : texts) {
    numbers[name] = parse_quantity(text, fields.at(name).dimension);
  }
  return numbers;
}

void assign(FieldList& fields, const std::map<std::string, double>& values) {
  clear_fields(fields);
  for (const auto& [name, value] : values) {
    const Field& field = fields.at(name);
    field.assign(format_quantity(std::clamp(value, field.min, field.max), field.dimension));
  }
}

std::size_t family_count(const KernelFitTask& task) {
  std::set<std::string> families;
  for (const KernelSample& row : task.fit) families.insert(row.family);
  return families.size();
}

}  // namespace

void KernelCalibration::pool(const std::vector<KernelFitTask*>& tasks) {
  read_known_factors();
  const KernelFactorsLibrary so_far(folder_);  // what lies in the folder of --output is no input
  PoolOptions options;
  options.mean_gives = command_.pool_mean.empty() ? 0 : points("--pool-mean", command_.pool_mean);
  const double gives = points("--pool", command_.pool);
  std::map<std::string, std::size_t> places;
  for (std::size_t t = 0; t < tasks.size(); ++t) places[tasks[t]->name] = t;
  std::vector<PooledTable> tables;
  std::vector<std::optional<FactorParent>> like;
  for (KernelFitTask* task : tasks) {
    const KernelFactorSet* set = so_far.find(device_.id, task->name);
    if (set == nullptr) {
      throw UserError(
          fmt::format("--pool: {} on {} has no factors yet; fit it without --pool first",
                      task->name, device_.id));
    }
    PooledTable table;
    table.name = task->name;
    table.fields = task->fields;
    const std::vector<std::string> fixed = load_start(*task);
    table.fixed.insert(fixed.begin(), fixed.end());
    table.start = numbers_of(set->factors, *task->fields);
    const std::optional<SharingRule> rule = sharing_rule(task->name);
    like.push_back(rule ? std::optional(rule->like) : set->stated.like);
    if (like.back()) {
      const auto place = places.find(like.back()->table);
      if (like.back()->device == device_.id && place != places.end()) {
        table.parent = place->second;
      } else {
        const auto* given = known_->find(like.back()->device, like.back()->table);
        if (given == nullptr) throw missing_parent(device_.id, task->name, *like.back());
        table.given = numbers_of(given->factors, *task->fields);
      }
    }
    const std::vector<std::size_t> rows = draw_rows(task->fit.size(), kPooledRows, seed());
    table.loss = [task, rows] { return loss_of(*task, rows); };
    assign(*task->fields, table.start);
    table.most = table.loss() + gives;
    tables.push_back(std::move(table));
  }
  const PooledFit fit = fit_pooled(tables, options);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    KernelFitTask& task = *tasks[t];
    KernelFactorSet set = *so_far.find(device_.id, task.name);
    assign(*task.fields, tables[t].start);
    const std::vector<std::size_t> drawn = draw_rows(task.fit.size(), settings_.rows, seed());
    const double before = loss_of(task, drawn);
    assign(*task.fields, fit.values[t]);
    const double loss = loss_of(task, drawn);
    set.factors = factor_texts(*task.fields);
    set.stated.own.clear();
    for (const auto& text : set.factors) {
      if (fit.own[t].count(text.first) > 0) set.stated.own.push_back(text);
    }
    set.stated.like = like[t];
    if (like[t]) {
      set.stated.like->without.clear();
      const auto& others = tables[t].parent ? tables[*tables[t].parent].start : tables[t].given;
      for (const auto& entry : others) {
        if (tables[t].start.count(entry.first) == 0) {
          set.stated.like->without.push_back(entry.first);
        }
      }
    }
    set.fitted_on = fmt::format(
        "{} of {} rows of {} {}, MAPE {:.2f} %, {} values of its own, fitted with {} tables of the "
        "chip",
        drawn.size(), task.fit.size(), family_count(task), settings_.families, loss * 100,
        set.stated.own.size(), tables.size());
    command_.output_lines->say(
        fmt::format("{} {}: {} values of its own, MAPE {:.2f} % (was {:.2f})\n", device_.id,
                    task.name, set.stated.own.size(), loss * 100, before * 100));
    put_factor_set(file_, std::move(set));
  }
  write_text(path_.string(), kernel_factors_text(file_));
}

}  // namespace foretell
