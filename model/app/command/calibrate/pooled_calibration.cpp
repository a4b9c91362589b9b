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
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kPoint = 0.01;  // of percentage
constexpr double kMostPoints = 100;
constexpr std::size_t kLastRows = 3;  // times those that values are chosen on, for the last search
constexpr double kCeasesBelow = 0.1 * kPoint;  // what rows do not feel

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

// The texts of what `fields` hold of the values of one's own.
FactorTexts stated_of(const FieldList& fields, const std::map<std::string, double>& own) {
  FactorTexts stated;
  for (const auto& text : factor_texts(fields)) {
    if (own.count(text.first) > 0) stated.push_back(text);
  }
  return stated;
}

std::size_t family_count(const KernelFitTask& task) {
  std::set<std::string> families;
  for (const KernelSample& row : task.fit) families.insert(row.family);
  return families.size();
}

using Places = std::map<std::pair<std::string, std::string>, std::size_t>;  // by device and table

// Tables that have values in common with chips that are not among `places`.
std::set<std::string> shared_with_others(const KernelFactorsLibrary& so_far, const Places& places) {
  std::set<std::string> names;
  for (const FactorFile& file : so_far.files()) {
    for (const FactorTable& set : file.tables) {
      const bool is_here = places.count({file.device, set.table}) > 0;
      if (set.stated.has_common && !is_here) names.insert(set.table);
    }
  }
  return names;
}

// Places among `tables` of what several chips have in common, by table. They are added.
std::map<std::string, std::size_t> add_common(const KernelFactorsLibrary& so_far,
                                              const Places& places,
                                              std::vector<PooledTable>& tables) {
  std::map<std::string, std::size_t> chips;
  for (const PooledTable& table : tables) ++chips[table.name];
  const std::set<std::string> closed = shared_with_others(so_far, places);
  std::map<std::string, std::size_t> commons;
  for (const auto& entry : places) {
    const auto& [device, name] = entry.first;
    PooledTable& table = tables[entry.second];
    const bool is_closed = closed.count(name) > 0;
    if (is_closed ? !so_far.find(device, name)->stated.has_common : chips.at(name) < 2) continue;
    const auto [place, is_new] = commons.emplace(name, tables.size());
    table.common = place->second;
    const std::set<std::string> fixed = table.fixed;
    if (is_new) {
      PooledTable common;
      common.name = name;
      common.fields = table.fields;
      common.is_closed = is_closed;
      if (const FactorTexts* texts = so_far.common(name)) {
        common.start = numbers_of(*texts, *common.fields);
      }
      tables.push_back(std::move(common));
    }
    tables[place->second].fixed.insert(fixed.begin(), fixed.end());
  }
  return commons;
}

// The place of the usual values of the kind among `tables`, to which it is added.
std::size_t add_usual(const KernelFactorsLibrary& so_far, const Places& places,
                      std::vector<PooledTable>& tables) {
  PooledTable usual;
  usual.name = kUsualTable;
  for (const FactorFile& file : so_far.files()) {
    for (const FactorTable& set : file.tables) {
      const bool is_here = places.count({file.device, set.table}) > 0;
      if (!is_here && !set.stated.usual.empty()) usual.is_closed = true;
    }
  }
  if (const FactorTexts* texts = so_far.common(kUsualTable)) {
    for (const auto& [name, text] : *texts) {
      for (const PooledTable& table : tables) {
        const Field* field = table.fields->find(name);
        if (field == nullptr) continue;
        usual.start[name] = parse_quantity(text, field->dimension);
        break;
      }
    }
  }
  tables.push_back(std::move(usual));
  return tables.size() - 1;
}

// The texts of usual values that tables take.
FactorTexts usual_texts(const PooledFit& fit, std::size_t usual,
                        const std::vector<PooledTable>& tables) {
  FactorTexts texts;
  for (const auto& [name, value] : fit.own[usual]) {
    for (std::size_t t = 0; t < tables.size(); ++t) {
      if (fit.usual[t].count(name) == 0) continue;
      texts.emplace_back(
          name, format_quantity(rounded_to(value, 4), tables[t].fields->at(name).dimension));
      break;
    }
  }
  return texts;
}

}  // namespace

// The set of a table with the values that it states.
FactorTable KernelCalibration::pooled_set(KernelFitTask& task,
                                          const std::map<std::string, double>& own,
                                          const std::map<std::string, double>& values,
                                          const std::map<std::string, double>& start) const {
  FactorTable set = *KernelFactorsLibrary(folder_).find(device_.id, task.name);
  assign(*task.fields, start);
  const std::vector<std::size_t> drawn = draw_rows(task.fit.size(), settings_.rows, seed());
  const double before = loss_of(task, drawn);
  assign(*task.fields, values);
  const double loss = loss_of(task, drawn);
  set.factors = factor_texts(*task.fields);
  set.stated.own = stated_of(*task.fields, own);
  set.fitted_on = fmt::format(
      "{} of {} rows of {} {}, MAPE {:.2f} %, {} values of its own, fitted "
      "with the other tables",
      drawn.size(), task.fit.size(), family_count(task), settings_.families, loss * 100,
      own.size());
  command_.output_lines->say(
      fmt::format("{} {}: {} values of its own, MAPE {:.2f} % (was {:.2f})\n", device_.id,
                  task.name, own.size(), loss * 100, before * 100));
  return set;
}

void KernelCalibration::pool(const std::vector<PooledTasks::Member>& members) {
  const KernelFitCommand& command = members.front().calibration->command_;
  PoolOptions options;
  options.mean_gives = command.pool_mean.empty() ? 0 : points("--pool-mean", command.pool_mean);
  options.ceases_below = kCeasesBelow;
  const double gives = points("--pool", command.pool);
  options.gives_up = gives > 0;
  // What lies in the folder of --output is no input.
  const KernelFactorsLibrary so_far(members.front().calibration->folder_);
  Places places;
  std::vector<PooledTable> tables;
  std::vector<std::optional<FactorParent>> like;
  for (const auto& [calibration, task] : members) {
    places[{calibration->device_.id, task->name}] = tables.size();
    calibration->read_known_factors();
    const FactorTable* set = so_far.find(calibration->device_.id, task->name);
    if (set == nullptr) {
      throw UserError(
          fmt::format("--pool: {} on {} has no factors yet; fit it without --pool first",
                      task->name, calibration->device_.id));
    }
    PooledTable table;
    table.name = task->name;
    table.fields = task->fields;
    const std::vector<std::string> fixed = calibration->load_start(*task);
    table.fixed.insert(fixed.begin(), fixed.end());
    table.start = numbers_of(set->factors, *task->fields);
    const std::optional<SharingRule> rule = calibration->sharing_rule(task->name);
    like.push_back(rule ? std::optional(rule->like) : set->stated.like);
    const std::vector<std::size_t> rows =
        draw_rows(task->fit.size(), calibration->settings_.pooled_rows, calibration->seed());
    table.loss = [task = task, rows] { return loss_of(*task, rows); };
    assign(*task->fields, table.start);
    table.most = table.loss() + gives;
    const std::vector<std::size_t> more = draw_rows(
        task->fit.size(),
        std::max(calibration->settings_.rows, kLastRows * calibration->settings_.pooled_rows),
        calibration->seed());
    table.last_loss = [task = task, more] { return loss_of(*task, more); };
    table.last_most = table.last_loss() + gives;
    table.usual.insert(set->stated.usual.begin(), set->stated.usual.end());
    tables.push_back(std::move(table));
  }
  for (std::size_t t = 0; t < members.size(); ++t) {
    if (!like[t]) continue;
    const auto place = places.find({like[t]->device, like[t]->table});
    if (place != places.end()) {
      tables[t].parent = place->second;
      continue;
    }
    const KernelCalibration& calibration = *members[t].calibration;
    const auto* given = calibration.known_->find(like[t]->device, like[t]->table);
    if (given == nullptr) throw missing_parent(calibration.device_.id, tables[t].name, *like[t]);
    tables[t].given = numbers_of(given->factors, *tables[t].fields);
  }
  const std::map<std::string, std::size_t> commons = add_common(so_far, places, tables);
  options.usual = add_usual(so_far, places, tables);
  const PooledFit fit = fit_pooled(tables, options);
  const fs::path common_path =
      members.front().calibration->path_.parent_path() / (std::string(kCommonDevice) + ".yaml");
  FactorFile common{kCommonDevice, "", {}, {}};
  if (fs::exists(common_path)) {
    common = parse_kernel_factors(read_text_file(common_path), common_path.string());
  }
  for (const auto& [name, place] : commons) {
    if (fit.own[place].empty() || tables[place].is_closed) continue;
    FactorTable set;
    set.table = name;
    assign(*tables[place].fields, fit.own[place]);
    set.factors = stated_of(*tables[place].fields, fit.own[place]);
    std::vector<std::string> chips;
    for (const auto& member : members) {
      if (member.task->name == name) chips.push_back(member.calibration->device_.id);
    }
    set.fitted_on = join(chips, ", ");
    put_factor_table(common, std::move(set));
  }
  if (!tables[*options.usual].is_closed) {
    FactorTable set;
    set.table = kUsualTable;
    set.factors = usual_texts(fit, *options.usual, tables);
    std::set<std::string> chips;
    for (const auto& member : members) chips.insert(member.calibration->device_.id);
    set.fitted_on = join({chips.begin(), chips.end()}, ", ");
    common.tables.erase(
        std::remove_if(common.tables.begin(), common.tables.end(),
                       [](const FactorTable& table) { return table.table == kUsualTable; }),
        common.tables.end());
    if (!set.factors.empty()) put_factor_table(common, std::move(set));
  }
  for (std::size_t t = 0; t < members.size(); ++t) {
    KernelCalibration& calibration = *members[t].calibration;
    FactorTable set =
        calibration.pooled_set(*members[t].task, fit.own[t], fit.values[t], tables[t].start);
    set.stated.like = like[t];
    set.stated.usual.assign(fit.usual[t].begin(), fit.usual[t].end());
    if (like[t]) {
      set.stated.like->without.clear();
      const auto& others = tables[t].parent ? fit.values[*tables[t].parent] : tables[t].given;
      for (const auto& entry : others) {
        if (fit.values[t].count(entry.first) == 0) {
          set.stated.like->without.push_back(entry.first);
        }
      }
    }
    const auto has_place = commons.find(tables[t].name);
    const bool stays = like[t] && like[t]->table == tables[t].name;
    set.stated.has_common =
        !stays && has_place != commons.end() && !fit.own[has_place->second].empty();
    put_factor_table(calibration.file_, std::move(set));
  }
  for (const auto& member : members) {
    const KernelCalibration& calibration = *member.calibration;
    write_text(calibration.path_.string(), factor_file_text(calibration.file_));
  }
  if (!common.tables.empty()) {
    write_text(common_path.string(), factor_file_text(common));
  }
}

}  // namespace foretell
