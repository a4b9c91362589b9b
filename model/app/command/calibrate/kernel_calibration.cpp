#include "model/app/command/calibrate/kernel_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "calib/fit/evidence.hpp"
#include "calib/fit/field_values.hpp"
#include "calib/fit/plan.hpp"
#include "calib/fit/row_division.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/statistics.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/parallel_fit.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMinForInterval = 10;  // rows
constexpr std::size_t kFewFamilies = 12;     // held out; fewer tell no interval
constexpr std::size_t kCrossParts = 4;
constexpr std::size_t kMinCrossFamilies = 3;
constexpr std::size_t kSharedRows = 500;  // that tell which factors need values of their own
constexpr int kSharedEvaluations = 80;    // for each of them, on all rows that are drawn
constexpr double kSharedWithin = 2e-3;    // of the loss of a fit of all values, to save some
constexpr int kResamples = 200;           // of the bootstrap over families

std::size_t count_families(const std::vector<KernelSample>& rows) {
  std::set<std::string> families;
  for (const KernelSample& row : rows) families.insert(row.family);
  return families.size();
}

std::size_t count_families(const std::vector<RatioSample>& samples) {
  std::set<std::string> families;
  for (const RatioSample& sample : samples) families.insert(sample.network);
  return families.size();
}

std::vector<Comparison> compare(const KernelFitTask& task, bool held_out,
                                const std::function<bool(const KernelSample&)>& wanted) {
  const KernelFitTask::Predict predict = task.predictor();
  const std::vector<KernelSample>& rows = held_out ? task.held_out : task.fit;
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!wanted(rows[i])) continue;
    comparisons.push_back({rows[i].measured.value(), predict(held_out, i).value(), std::nullopt});
  }
  return comparisons;
}

bool is_fitted_version(const KernelSample& row) { return row.version.empty(); }

// Residuals of each class on both sides of the split, and of other versions of the library.
std::vector<std::string> residual_lines(const KernelFitTask& task) {
  std::vector<std::string> lines;
  for (const bool held_out : {false, true}) {
    std::map<std::string, std::vector<Comparison>> classes;
    const KernelFitTask::Predict predict = task.predictor();
    const std::vector<KernelSample>& rows = held_out ? task.held_out : task.fit;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string name =
          rows[i].op_class + (rows[i].version.empty() ? "" : ", version " + rows[i].version);
      classes[name].push_back(
          {rows[i].measured.value(), predict(held_out, i).value(), std::nullopt});
    }
    for (const auto& [name, comparisons] : classes) {
      lines.push_back(fmt::format("{}, {}: {} rows, {}", name, held_out ? "held out" : "fitted on",
                                  comparisons.size(), accuracy_text(accuracy_of(comparisons), 2)));
    }
  }
  return lines;
}

std::vector<std::size_t> all_but(std::size_t size, const std::function<bool(std::size_t)>& left) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < size; ++i) {
    if (!left(i)) places.push_back(i);
  }
  return places;
}

// Rows held out from which the interval of a table is made.
std::vector<RatioSample> held_out_samples(const KernelFitTask& task) {
  const KernelFitTask::Predict predict = task.predictor();
  std::vector<RatioSample> half;
  std::vector<RatioSample> all;
  for (std::size_t i = 0; i < task.held_out.size(); ++i) {
    const KernelSample& row = task.held_out[i];
    const RatioSample sample{row.family, row.measured / predict(true, i)};
    all.push_back(sample);
    if (row.makes_interval) half.push_back(sample);
  }
  return half.size() < kMinForInterval ? all : half;
}

std::vector<Observation> observations_of(const KernelFitTask& task,
                                         const std::vector<std::size_t>& rows) {
  std::vector<Observation> observations;
  for (const std::size_t i : rows)
    observations.push_back({"all", task.fit[i].family, task.fit[i].measured.value()});
  return observations;
}

std::vector<double> seconds_of(const KernelFitTask& task, const std::vector<std::size_t>& rows) {
  const KernelFitTask::Predict predict = task.predictor();
  std::vector<double> seconds;
  seconds.reserve(rows.size());
  for (const std::size_t i : rows) seconds.push_back(predict(false, i).value());
  return seconds;
}

double loss_of(const KernelFitTask& task, const std::vector<std::size_t>& rows) {
  return mean_relative_error(seconds_of(task, rows), observations_of(task, rows));
}

double fit_rows(KernelFitTask& task, const std::vector<std::size_t>& rows,
                const std::vector<std::string>& free, const FitOptions& options,
                const Belief& belief) {
  return fit_around(
      *task.fields, free, observations_of(task, rows), [&] { return seconds_of(task, rows); },
      options, belief);
}

// What a search moves of factors that apply: those above zero.
std::vector<std::string> all_but_fixed(const FieldList& fields,
                                       const std::vector<std::string>& fixed) {
  std::vector<std::string> free;
  for (const std::string& name : positive_fields(fields)) {
    if (std::count(fixed.begin(), fixed.end(), name) == 0) free.push_back(name);
  }
  return free;
}

bool tells_interval(const KernelFitTask& task) {
  std::vector<KernelSample> making;
  for (const KernelSample& row : task.held_out) {
    if (row.makes_interval) making.push_back(row);
  }
  return count_families(making) >= kFewFamilies;
}

}  // namespace

KernelCalibration::KernelCalibration(const FitCommand& command, const GpuDeviceSpec& device,
                                     KernelFitSettings settings, const fs::path& folder,
                                     const std::string& split, const Session& session)
    : command_(command),
      device_(device),
      settings_(std::move(settings)),
      folder_(folder),
      session_(session) {
  const fs::path place =
      command.output.empty() ? folder : fs::path(command.output) / "gpu" / folder.filename();
  std::error_code error;
  fs::create_directories(place, error);
  path_ = place / (device.id + ".yaml");
  if (fs::exists(path_)) file_ = parse_kernel_factors(read_text_file(path_), path_.string());
  file_.device = device.id;
  file_.split = split;
}

void KernelCalibration::read_known_factors() {
  known_.emplace(path_.parent_path());
  if (path_.parent_path() != folder_) known_->add_missing(KernelFactorsLibrary(folder_));
}

std::string KernelCalibration::plan_path() const {
  return command_.plan.empty() ? (data_root() / "calib" / "fit" / settings_.plan).string()
                               : command_.plan;
}

std::optional<SharingRule> KernelCalibration::sharing_rule(const std::string& table) const {
  return load_sharing_rule(plan_path(), device_.id, table,
                           [&](const std::string& device, const std::string& other) {
                             return known_->find(device, other) != nullptr;
                           });
}

void KernelCalibration::take(const std::string& text) {
  FactorTable set = parse_kernel_factors(text, path_.string()).tables.front();
  command_.output_lines->say(fmt::format(
      "{} {} {}: {}; held out: {}; 80 % interval {:.3f} to {:.3f}\n", file_.device, set.table,
      set.version, set.fitted_on, set.held_out, set.interval_low, set.interval_high));
  if (!set.evidence.prior.empty()) command_.output_lines->say(evidence_text(set.evidence));
  command_.output_lines->add_set(file_.device, set.table + " " + set.version, set.factors,
                                 set.evidence, set.interval_low, set.interval_high, set.fitted_on,
                                 set.held_out);
  put_factor_table(file_, std::move(set));
}

bool KernelCalibration::is_enough(const std::string& name, const std::vector<KernelSample>& fit,
                                  bool has_held_out) const {
  const std::size_t families = count_families(fit);
  if (has_held_out || families >= kMinCrossFamilies) return true;
  session_.say(fmt::format(
      "foretell: {} is left out: its {} {} are too few to tell an interval from, which takes {}",
      name, families, settings_.families, kMinCrossFamilies));
  return false;
}

void KernelCalibration::run_all(const std::vector<std::string>& names,
                                const std::function<std::string(const std::string&)>& calibrate) {
  if (names.empty()) throw UserError("no row of the table is for " + device_.id);
  read_known_factors();
  const auto parent = [&](const std::string& table) -> std::string {
    const auto rule = sharing_rule(table);
    return rule && rule->like.device == device_.id ? rule->like.table : "";
  };
  bool is_written = false;
  for (const std::vector<std::string>& group : sharing_order(names, parent)) {
    bool any = false;
    for (const std::string& text : fit_all(group.size(), command_.jobs, session_,
                                           [&](std::size_t i) { return calibrate(group[i]); })) {
      if (text.empty()) continue;
      take(text);
      any = true;
    }
    if (!any) continue;
    write_text(path_.string(), factor_file_text(file_));
    read_known_factors();
    is_written = true;
  }
  if (is_written) session_.say("foretell: factors written to " + path_.string());
}

std::string KernelCalibration::calibrated_text(KernelFitTask& task) const {
  const auto known = std::find_if(file_.tables.begin(), file_.tables.end(),
                                  [&](const auto& set) { return set.table == task.name; });
  if (command_.keep_factors && known == file_.tables.end()) return "";
  if (command_.only_sharing && !sharing_rule(task.name)) return "";
  FactorFile file;
  file.device = file_.device;
  file.split = file_.split;
  file.tables = {calibrated_set(task, command_.keep_factors ? &*known : nullptr)};
  return factor_file_text(file);
}

// Where a search for the factors of the table starts, and what it does not move.
std::vector<std::string> KernelCalibration::load_start(KernelFitTask& task) const {
  const std::string& table = task.plan_name.empty() ? task.name : task.plan_name;
  return load_fit_plan(plan_path(), {device_.id, device_.architecture, table}, *task.fields).fixed;
}

std::uint64_t KernelCalibration::seed() const {
  return static_cast<std::uint64_t>(parse_count("--seed", command_.seed, 0, kMaxSeed));
}

// From where the plan says, on the rows at the places that are given; or with a belief in the
// factors of the nearest kernels.
KernelFit KernelCalibration::search(KernelFitTask& task,
                                    const std::vector<std::size_t>& rows) const {
  KernelFit found;
  FitOptions options;
  options.starts = settings_.starts;
  options.seed = seed();
  if (task.prior.empty()) {
    options.evaluations = settings_.evaluations;
    found.free = all_but_fixed(*task.fields, load_start(task));
    found.loss = fit_rows(task, rows, found.free, options, kNoBelief);
    return found;
  }
  for (const auto& [name, value] : task.start) task.fields->at(name).assign(value);
  found.free = free_factors(task, {});
  const std::size_t families = count_families(task.fit);
  if (families < found.free.size()) {
    throw UserError(fmt::format(
        "{}: {} {} cannot identify {} factors; {} of {} rows are of shapes that are held "
        "out and do not count; measure more shapes",
        task.name, families, settings_.families, found.free.size(), task.held_out.size(),
        task.fit.size() + task.held_out.size()));
  }
  options.resamples = kResamples;
  fit_rows(task, rows, found.free, options, {});
  found.loss = loss_of(task, rows);
  return found;
}

// The same of a set's own values alone, from where they are.
void KernelCalibration::search_own(KernelFitTask& task, const FactorTable& set,
                                   const std::vector<std::size_t>& rows) const {
  std::vector<std::string> own;
  for (const std::string& name : positive_fields(*task.fields)) {
    const bool is_own = std::any_of(set.stated.own.begin(), set.stated.own.end(),
                                    [&](const auto& text) { return text.first == name; });
    if (is_own) own.push_back(name);
  }
  if (own.empty()) return;
  FitOptions options;
  options.starts = 1;
  options.evaluations = kSharedEvaluations * static_cast<int>(set.stated.own.size());
  fit_rows(task, rows, own, options, kNoBelief);
}

// The loss of the best that is known with a value for each factor: of a search from where the plan
// says or of an earlier fit. `fields` hold those values.
double KernelCalibration::loss_of_all_values(KernelFitTask& task,
                                             const std::vector<std::size_t>& rows) const {
  const double found_loss = search(task, rows).loss;
  const KernelFactorsLibrary so_far(folder_);  // what lies in the folder of --output is no input
  const FactorTable* earlier = so_far.find(device_.id, task.name);
  if (earlier == nullptr) return found_loss;
  const FieldValues found(*task.fields);
  read_factor_set(*earlier, *task.fields);
  const double earlier_loss = loss_of(task, rows);
  if (earlier_loss < found_loss) return earlier_loss;
  found.restore();
  return found_loss;
}

// The factors of another table but for the few that it takes to come close to a fit of all.
FactorTable KernelCalibration::shared_set(KernelFitTask& task, const SharingRule& rule) const {
  FieldList& fields = *task.fields;
  const std::vector<std::string> fixed = load_start(task);
  const std::vector<std::string> candidates = all_but_fixed(fields, fixed);
  const FactorTexts starts = factor_texts(fields);
  const std::vector<std::size_t> some = draw_rows(task.fit.size(), kSharedRows, seed());
  double reached = loss_of_all_values(task, some);
  FactorTexts hints = factor_texts(fields);
  const FactorTable& like = *known_->find(rule.like.device, rule.like.table);
  FactorTable set;
  set.stated.like = rule.like;
  clear_fields(fields);
  for (const auto& entry : like.factors) {
    const std::string& name = entry.first;
    const bool applies = std::any_of(starts.begin(), starts.end(),
                                     [&name](const auto& start) { return start.first == name; });
    if (applies) {
      fields.at(name).assign(entry.second);
    } else {
      set.stated.like->without.push_back(name);
    }
  }
  const FieldValues shared(fields);
  FitOptions around;  // the shared values, with all of them its own
  around.starts = 1;
  around.evaluations = settings_.evaluations;
  const double close = fit_rows(task, some, all_but_fixed(fields, fixed), around, kNoBelief);
  if (close < reached) {
    reached = close;
    hints = factor_texts(fields);
  }
  shared.restore();
  SharedFitOptions options;
  options.most = rule.own;
  options.enough = reached + kSharedWithin;
  const SharedFit fit = fit_shared(fields, candidates, hints, options, observations_of(task, some),
                                   [&] { return seconds_of(task, some); });
  for (const std::string& name : fit.own) set.stated.own.emplace_back(name, "");
  const std::vector<std::size_t> drawn = draw_rows(task.fit.size(), settings_.rows, seed());
  search_own(task, set, drawn);
  set.stated.own.clear();
  set.factors = factor_texts(fields);
  for (const auto& text : set.factors) {
    if (std::count(fit.own.begin(), fit.own.end(), text.first) > 0) set.stated.own.push_back(text);
  }
  set.table = task.name;
  set.version = task.version;
  set.fitted_on = fmt::format(
      "{} of {} rows of {} {}, MAPE {:.2f} %, {} values of its own, {:.2f} % without them",
      drawn.size(), task.fit.size(), count_families(task.fit), settings_.families,
      loss_of(task, drawn) * 100, fit.own.size(), fit.shared_loss * 100);
  return set;
}

// What an earlier search of the same table found counts where it is better on the same rows.
void KernelCalibration::keep_better(KernelFitTask& task, const std::vector<std::size_t>& rows,
                                    KernelFit& fit) const {
  const KernelFactorsLibrary so_far(folder_);
  const FactorTable* earlier = so_far.find(device_.id, task.name);
  if (earlier == nullptr || !earlier->is_whole()) return;
  const FieldValues found(*task.fields);
  read_factor_set(*earlier, *task.fields);
  const double loss = loss_of(task, rows);
  if (loss < fit.loss) {
    fit.loss = loss;
  } else {
    found.restore();
  }
}

FactorTable KernelCalibration::fitted_set(KernelFitTask& task) const {
  const std::vector<std::size_t> drawn = draw_rows(task.fit.size(), settings_.rows, seed());
  KernelFit fit = search(task, drawn);
  if (task.prior.empty()) keep_better(task, drawn, fit);
  FactorTable set;
  set.table = task.name;
  set.version = task.version;
  set.factors = factor_texts(*task.fields);
  set.fitted_on = fmt::format("{} of {} rows of {} {}, MAPE {:.2f} %, {} free factors",
                              drawn.size(), task.fit.size(), count_families(task.fit),
                              settings_.families, fit.loss * 100, fit.free.size());
  return set;
}

// Every family that is fitted to, predicted by a fit to others.
std::vector<RatioSample> KernelCalibration::cross_samples(KernelFitTask& task,
                                                          const FactorTable& set) const {
  std::vector<RatioSample> samples;
  std::map<std::string, std::size_t> part;
  for (const KernelSample& row : task.fit) part.emplace(row.family, 0);
  std::size_t next = 0;
  for (auto& entry : part) entry.second = next++ % kCrossParts;
  const FieldValues before(*task.fields);
  for (std::size_t left = 0; left < std::min(kCrossParts, part.size()); ++left) {
    before.restore();
    const std::vector<std::size_t> others = all_but(
        task.fit.size(), [&](std::size_t i) { return part.at(task.fit[i].family) == left; });
    std::vector<std::size_t> drawn = draw_rows(others.size(), settings_.rows, seed());
    for (std::size_t& place : drawn) place = others[place];
    if (set.is_whole()) {
      search(task, drawn);
    } else {
      search_own(task, set, drawn);
    }
    const KernelFitTask::Predict predict = task.predictor();
    for (std::size_t i = 0; i < task.fit.size(); ++i) {
      if (part.at(task.fit[i].family) != left) continue;
      samples.push_back({task.fit[i].family, task.fit[i].measured / predict(false, i)});
    }
  }
  before.restore();
  return samples;
}

// What a search moves: of a set that is like another its own values.
std::vector<std::string> KernelCalibration::free_factors(KernelFitTask& task,
                                                         const FactorTable& set) const {
  std::vector<std::string> free;
  if (!set.is_whole()) {
    for (const auto& text : set.stated.own) free.push_back(text.first);
    return free;
  }
  std::vector<std::string> fixed;
  if (task.prior.empty()) {
    const FieldValues found(*task.fields);
    fixed = load_start(task);
    found.restore();
  }
  return all_but_fixed(*task.fields, fixed);
}

FitEvidence KernelCalibration::evidence_of(KernelFitTask& task, const FactorTable& set) const {
  const std::vector<std::string> free = free_factors(task, set);
  FitEvidence evidence;
  if (!free.empty()) {
    const FieldValues found(*task.fields);
    const std::vector<std::size_t> drawn = draw_rows(task.fit.size(), settings_.rows, seed());
    evidence = evidence_around(*task.fields, free, observations_of(task, drawn),
                               [&] { return seconds_of(task, drawn); }, {kResamples, seed()});
    found.restore();
  }
  evidence.prior = task.prior;
  evidence.provenance = task.provenance;
  evidence.residuals = residual_lines(task);
  return evidence;
}

FactorTable KernelCalibration::calibrated_set(KernelFitTask& task, const FactorTable* kept) const {
  FactorTable set;
  if (kept != nullptr) {
    set = *kept;
    set.factors = known_->find(device_.id, task.name)->factors;
    read_factor_set(set, *task.fields);
  } else if (const auto rule = sharing_rule(task.name);
             rule && task.prior.empty() && !task.fit.empty()) {
    set = shared_set(task, *rule);
  } else {
    set = fitted_set(task);
  }
  if (!task.fit.empty()) set.evidence = evidence_of(task, set);
  const std::vector<Comparison> judged = compare(task, true, is_fitted_version);
  set.held_out =
      judged.empty()
          ? fmt::format("nothing: all {} of this table were fitted to", settings_.families)
          : fmt::format("{} rows of {} {}, {}", judged.size(), count_families(task.held_out),
                        settings_.families, accuracy_text(accuracy_of(judged), 2));
  const bool leaves_out = (settings_.leaves_families_out || task.held_out.empty()) &&
                          !tells_interval(task) && count_families(task.fit) >= kMinCrossFamilies;
  const std::vector<RatioSample> samples =
      leaves_out ? cross_samples(task, set) : held_out_samples(task);
  if (samples.empty()) throw UserError(task.name + ": too few families to tell an interval from");
  set.evidence.interval_from = fmt::format(
      "{} rows of {} {} {}", samples.size(), count_families(samples), settings_.families,
      leaves_out ? "that were fitted to, each predicted by a fit without it" : "held out");
  const Interval interval = widened_interval80(samples);
  set.interval_low = interval.low;
  set.interval_high = interval.high;
  return set;
}

}  // namespace foretell
