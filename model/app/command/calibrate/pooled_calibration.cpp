// KernelCalibration::pool(): the tables of a chip share what they can.
#include <fmt/format.h>

#include <algorithm>
#include <set>

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
      "{} of {} rows of {} {}, MAPE {:.2f} %, {} values of its own, fitted with the other tables",
      drawn.size(), task.fit.size(), family_count(task), settings_.families, loss * 100,
      own.size());
  command_.output_lines->say(
      fmt::format("{} {}: {} values of its own, MAPE {:.2f} % (was {:.2f})\n", device_.id,
                  task.name, own.size(), loss * 100, before * 100));
  return set;
}

// The tables of the chips, what they have in common, and which of them each is like.
class KernelCalibration::Pool {
 public:
  // UserError where a table was not fitted yet.
  explicit Pool(const std::vector<PooledTasks::Member>& members)
      : members_(members),
        command_(members.front().calibration->command_),
        so_far_(members.front().calibration->folder_) {
    options_.mean_gives =
        command_.pool_mean.empty() ? 0 : points("--pool-mean", command_.pool_mean);
    options_.ceases_below = kCeasesBelow;
    gives_ = points("--pool", command_.pool);
    options_.gives_up = gives_ > 0;
    for (const PooledTasks::Member& member : members_) add_table(member);
    for (std::size_t t = 0; t < members_.size(); ++t) find_parent(t);
    commons_ = add_common(so_far_, places_, tables_);
    options_.usual = add_usual(so_far_, places_, tables_);
  }

  // Fits all of them and writes their files.
  void run() {
    const PooledFit fit = fit_pooled(tables_, options_);
    const fs::path path =
        members_.front().calibration->path_.parent_path() / (std::string(kCommonDevice) + ".yaml");
    const FactorFile common = common_file(path, fit);
    for (std::size_t t = 0; t < members_.size(); ++t) {
      put_factor_table(members_[t].calibration->file_, set_of(t, fit));
    }
    for (const PooledTasks::Member& member : members_) {
      write_text(member.calibration->path_.string(), factor_file_text(member.calibration->file_));
    }
    if (!common.tables.empty()) write_text(path.string(), factor_file_text(common));
  }

 private:
  void add_table(const PooledTasks::Member& member) {
    KernelCalibration& calibration = *member.calibration;
    KernelFitTask& task = *member.task;
    places_[{calibration.device_.id, task.name}] = tables_.size();
    calibration.read_known_factors();
    const FactorTable* set = so_far_.find(calibration.device_.id, task.name);
    if (set == nullptr) {
      throw UserError(
          fmt::format("--pool: {} on {} has no factors yet; fit it without --pool first", task.name,
                      calibration.device_.id));
    }
    PooledTable table;
    table.name = task.name;
    table.fields = task.fields;
    const std::vector<std::string> fixed = calibration.load_start(task);
    table.fixed.insert(fixed.begin(), fixed.end());
    table.start = numbers_of(set->factors, *task.fields);
    table.usual.insert(set->stated.usual.begin(), set->stated.usual.end());
    const std::size_t rows = calibration.settings_.pooled_rows;
    table.loss = loss_on(member, rows);
    table.last_loss = loss_on(member, std::max(calibration.settings_.rows, kLastRows * rows));
    assign(*task.fields, table.start);
    table.most = table.loss() + gives_;
    table.last_most = table.last_loss() + gives_;
    tables_.push_back(std::move(table));
    const std::optional<SharingRule> rule = calibration.sharing_rule(task.name);
    like_.push_back(rule ? std::optional(rule->like) : set->stated.like);
  }

  static std::function<double()> loss_on(const PooledTasks::Member& member, std::size_t most) {
    const KernelFitTask* task = member.task;
    return [task, rows = draw_rows(task->fit.size(), most, member.calibration->seed())] {
      return loss_of(*task, rows);
    };
  }

  // What the table takes values from: another of the pool, or numbers that are known.
  void find_parent(std::size_t t) {
    if (!like_[t]) return;
    const auto place = places_.find({like_[t]->device, like_[t]->table});
    if (place != places_.end()) {
      tables_[t].parent = place->second;
      return;
    }
    const KernelCalibration& calibration = *members_[t].calibration;
    const auto* given = calibration.known_->find(like_[t]->device, like_[t]->table);
    if (given == nullptr) throw missing_parent(calibration.device_.id, tables_[t].name, *like_[t]);
    tables_[t].given = numbers_of(given->factors, *tables_[t].fields);
  }

  // The file of what chips have in common, as it is at `path`, with what was fitted.
  FactorFile common_file(const fs::path& path, const PooledFit& fit) const {
    FactorFile file{kCommonDevice, "", {}, {}};
    if (fs::exists(path)) file = parse_kernel_factors(read_text_file(path), path.string());
    for (const auto& [name, place] : commons_) {
      if (fit.own[place].empty() || tables_[place].is_closed) continue;
      FactorTable set;
      set.table = name;
      assign(*tables_[place].fields, fit.own[place]);
      set.factors = stated_of(*tables_[place].fields, fit.own[place]);
      std::vector<std::string> chips;
      for (const PooledTasks::Member& member : members_) {
        if (member.task->name == name) chips.push_back(member.calibration->device_.id);
      }
      set.fitted_on = join(chips, ", ");
      put_factor_table(file, std::move(set));
    }
    if (!tables_[*options_.usual].is_closed) put_usual(file, fit);
    return file;
  }

  void put_usual(FactorFile& file, const PooledFit& fit) const {
    const auto is_usual = [](const FactorTable& table) { return table.table == kUsualTable; };
    file.tables.erase(std::remove_if(file.tables.begin(), file.tables.end(), is_usual),
                      file.tables.end());
    FactorTable set;
    set.table = kUsualTable;
    set.factors = usual_texts(fit, *options_.usual, tables_);
    if (set.factors.empty()) return;
    std::set<std::string> chips;
    for (const PooledTasks::Member& member : members_) chips.insert(member.calibration->device_.id);
    set.fitted_on = join({chips.begin(), chips.end()}, ", ");
    put_factor_table(file, std::move(set));
  }

  FactorTable set_of(std::size_t t, const PooledFit& fit) const {
    const PooledTable& table = tables_[t];
    FactorTable set = members_[t].calibration->pooled_set(*members_[t].task, fit.own[t],
                                                          fit.values[t], table.start);
    set.stated.like = like_[t];
    set.stated.usual.assign(fit.usual[t].begin(), fit.usual[t].end());
    if (like_[t]) {
      set.stated.like->without.clear();
      for (const auto& entry : table.parent ? fit.values[*table.parent] : table.given) {
        if (fit.values[t].count(entry.first) == 0) set.stated.like->without.push_back(entry.first);
      }
    }
    const auto common = commons_.find(table.name);
    const bool stays = like_[t] && like_[t]->table == table.name;
    set.stated.has_common = !stays && common != commons_.end() && !fit.own[common->second].empty();
    return set;
  }

  const std::vector<PooledTasks::Member>& members_;
  const FitCommand& command_;
  const KernelFactorsLibrary so_far_;  // what lies in the folder of --output is no input
  PoolOptions options_;
  double gives_ = 0;  // by which the loss of a table may rise
  Places places_;
  std::vector<PooledTable> tables_;                // the members', then what they have in common
  std::vector<std::optional<FactorParent>> like_;  // of the members
  std::map<std::string, std::size_t> commons_;     // places among tables_, by name
};

void KernelCalibration::pool(const std::vector<PooledTasks::Member>& members) {
  Pool(members).run();
}

}  // namespace foretell
