#include "model/app/command/calibrate/calibrate_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "calib/fit/factors_yaml.hpp"
#include "calib/fit/fit.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/fit_forecast.hpp"
#include "model/app/command/calibrate/fit_output.hpp"
#include "model/app/command/calibrate/fit_report.hpp"
#include "model/app/command/calibrate/fit_rows.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTableName = "neuron_models_measured.csv";
constexpr std::int64_t kMaxStarts = 1000;

std::string fit_file(const std::string& given, const char* name) {
  if (!given.empty()) return given;
  return (data_root() / "calib" / "fit" / name).string();
}

FitPlan plan_for(const FitCommand& options) {
  const std::string file = fit_file(options.plan, "neuron_plan.yaml");
  std::vector<std::string> known = planned_devices(file);
  if (std::find(known.begin(), known.end(), options.device) != known.end()) {
    NeuronFactors factors;
    FieldList list;
    fields(list, factors);
    return load_fit_plan(file, {options.device, "", ""}, list);
  }
  const std::vector<std::string> gpus = GpuCatalog().devices();
  known.insert(known.end(), gpus.begin(), gpus.end());
  throw unknown_name("device", options.device, known);
}

// A folder that the result cannot go to is found before the work.
fs::path output_folder(const FitCommand& options) {
  const fs::path folder = options.output.empty() ? factors_folder() : fs::path(options.output);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder)) {
    throw UserError(folder.string() + ": is no folder that factors can be written to");
  }
  return folder;
}

// What the device has before the fit, where the program reads; what a run before has left in the
// folder that is written to is no input.
std::optional<FactorsFile> factors_so_far(const std::string& device) {
  const fs::path file = factors_folder() / (device + ".yaml");
  return fs::exists(file) ? std::optional<FactorsFile>(load_factors(file)) : std::nullopt;
}

FitProblem problem_of(const FitPlan& plan, const std::vector<FitRow>& rows, FitForecast& forecast) {
  FitProblem problem;
  problem.factors = plan.factors;
  problem.noise = plan.noise;
  for (const FitRow& row : rows) {
    problem.observations.push_back({row.network, row.network + row.setting, row.measured_ms});
  }
  problem.forecast = [&forecast](const std::vector<double>& values) { return forecast(values); };
  return problem;
}

std::vector<FitRow> rows_of(const std::vector<FitRow>& rows, Side side) {
  std::vector<FitRow> chosen;
  for (const FitRow& row : rows) {
    if (row.side.side == side) chosen.push_back(row);
  }
  return chosen;
}

// "of 40 rows 30 are of other devices, …, 8 of networks that are held out and only judge, 2 of the
// vault".
std::string left_out_text(const FitRows& table, std::size_t fitted) {
  const std::size_t judging = table.rows.size() - fitted;
  return fmt::format(
      "of {} rows {} are of other devices, families or phases, or have no time or another use than "
      "yes; {} of networks that are held out, which only judge the result; {} of the vault",
      table.read, table.read - table.rows.size() - table.in_vault, judging, table.in_vault);
}

FitResult run_fit(const FitPlan& plan, const FitRows& table, const std::vector<FitRow>& rows,
                  int jobs, const FitCommand& command, const Session& session) {
  FitForecast forecast(plan, rows, session.predict, jobs, FitForecast::Detail::kOneNetwork);
  Progress progress(session, "fitting");
  FitOptions options;
  options.starts = static_cast<int>(parse_count("--starts", command.starts, 1, kMaxStarts));
  options.seed = static_cast<std::uint64_t>(parse_count("--seed", command.seed, 0, kMaxSeed));
  options.progress = [&progress](double share) { progress.update(share); };
  FitProblem problem = problem_of(plan, rows, forecast);
  problem.left_out = left_out_text(table, rows.size());
  return fit(problem, options);
}

// What gives values up needs the tables of a GPU, and that they are fitted.
void check_pool(const FitCommand& options) {
  if (options.pool.empty()) {
    if (!options.pool_mean.empty()) {
      throw UserError(
          "--pool-mean says how much the mean may lose; --pool POINTS, how much a table");
    }
    return;
  }
  if (options.keep_factors) throw UserError("give --pool or --keep-factors, not both");
  std::set<std::string> devices;
  for (const std::string& device : split(options.device, ',')) {
    if (!devices.insert(device).second) throw UserError("--device names " + device + " twice");
    if (GpuCatalog().has_system(device) && options.measurements.empty()) continue;
    throw UserError("--pool: tables of kernels of GPUs share values; give GPUs and --table");
  }
}

int fit_kernels(const FitCommand& command, const Session& session) {
  if (command.table.empty()) return calibrate_gemm(command, session);
  const CsvReader table(command.table, CsvReader::Names::kLowerCase);
  const TableLayout layout = recognise_table(table.header(), command.table);
  switch (layout.kind) {
    case TableKind::kAttention:
      return calibrate_attention(command, session);
    case TableKind::kCollective:
      return calibrate_collective(command, session);
    case TableKind::kOperator:
      return calibrate_operator(command, session);
    case TableKind::kLayerKernels:
      return calibrate_layer(layout, command, session);
    case TableKind::kAttentionBlocks:
      return calibrate_block(command, session);
    case TableKind::kPower:
      return calibrate_power(command, session);
    default:
      return calibrate_gemm(command, session);
  }
}

// The tables of all chips that the command names, which are prepared one inside the other.
int pool_kernels(FitCommand command, const Session& session) {
  const std::vector<std::string> devices = split(command.device, ',');
  PooledTasks pooled;
  std::size_t next = 0;
  const std::function<void()> prepare = [&] {
    FitCommand one = command;
    one.device = devices[next++];
    one.pooled = &pooled;
    pooled.next = next < devices.size() ? prepare : std::function<void()>();
    fit_kernels(one, session);
  };
  prepare();
  return kSuccess;
}

int fit_device(FitCommand options, const Session& session) {
  check_pool(options);
  if (CpuCatalog().has_system(options.device)) return calibrate_cpu(options, session);
  if (!options.measurements.empty()) {
    if (!options.table.empty()) throw UserError("give --table or --measurements, not both");
    if (!GpuCatalog().has_system(options.device)) {
      throw UserError("--measurements: '" + options.device +
                      "' is neither a system of a CPU nor a GPU; `foretell list systems` "
                      "shows them");
    }
    // They are fitted around what is known of the nearest chip, not as a plan says.
    options.table = options.measurements;
    options.plan.clear();
    options.keep_factors = options.only_sharing = false;
    return calibrate_measured(options, session);
  }
  if (!options.pool.empty()) return pool_kernels(options, session);
  if (GpuCatalog().has_system(options.device)) return fit_kernels(options, session);
  const FitPlan plan = plan_for(options);
  const Split split = Split::load(fit_file(options.split, "neuron_split.yaml"));
  const int jobs = parse_jobs(options.jobs);
  const fs::path folder = output_folder(options);
  const FitRows table = read_fit_rows(table_or(options.table, kTableName), plan, split);
  const std::vector<FitRow> fit_rows = rows_of(table.rows, Side::kFit);
  session.detail(fmt::format("{} of {} rows count, {} of them to fit on", table.rows.size(),
                             table.read, fit_rows.size()));
  const FitResult result = run_fit(plan, table, fit_rows, jobs, options, session);
  const std::vector<JudgedRow> judged = judge_rows(plan, result, table.rows, session.predict, jobs);
  for (const std::string& device : plan.devices) {
    FactorsText text;
    text.device = device;
    text.fitted_on = describe_fit_rows(plan, fit_rows);
    text.split = split.text();
    text.residuals = residual_lines(judged);
    const std::optional<FactorsFile> so_far = factors_so_far(device);
    text.carried = carried_factors(plan, device, so_far ? &*so_far : nullptr);
    write_text((folder / (device + ".yaml")).string(), factors_yaml(result, text));
  }
  options.output_lines->say(fit_report(result, judged, session.result_width));
  tell_fit(options.device, result, judged, *options.output_lines);
  session.say(fmt::format("foretell: {} forecasts; factors of {} written to {}", result.forecasts,
                          plan.devices.size() == 1 ? plan.devices.front() : "all its devices",
                          folder.string()));
  return kSuccess;
}

// The command that takes what was written, for it is not where the program looks by itself.
void say_how_to_use(const FitCommand& options, const Session& session) {
  session.say("foretell: to predict with these factors, add to run, compare or serve: --factors " +
              fs::path(options.output).string());
}

int calibrate_fit(FitCommand options, const Session& session) {
  FitOutput output(options.format);
  options.output_lines = &output;
  const int result = fit_device(options, session);
  output.finish();
  if (result == kSuccess && !options.output.empty()) say_how_to_use(options, session);
  return result;
}

void add_fit_command(CLI::App& calibrate, Session& session) {
  const auto options = std::make_shared<FitCommand>();
  CLI::App* command = calibrate.add_subcommand("fit", "Estimate the free factors of a device");
  command->footer(
      "Devices of one family share their factors: all of them are fitted and written at once.\n"
      "Networks are divided by the split; rows of held-out networks only judge the result.\n"
      "Example:\n"
      "  foretell calibrate fit --device inferentia2 --table measured.csv -o calib/factors\n"
      "  foretell calibrate fit --device host --measurements measurements.jsonl\n"
      "  foretell calibrate fit --device DEVICE --measurements FILE.jsonl");
  command->add_option("--device", options->device, "device, for example inferentia2")->required();
  add_option(*command, "--table", options->table, "FILE",
             "CSV of measured rows (default: the one in the folder FORETELL_DATA)")
      ->transform(measured_table);
  add_option(*command, "--measurements", options->measurements, "FILE",
             "CPUs and GPUs: records of calibrate measure; GPUs: also a table of calibrate import");
  add_option(*command, "--plan", options->plan, "FILE",
             "the free factors (default: calib/fit of this program)");
  add_option(*command, "--split", options->split, "FILE",
             "networks to fit on and to hold out (default: calib/fit of this program)");
  add_option(*command, "-o,--output", options->output, "FOLDER",
             "folder for the factor files; of what it holds only tables that others are like count "
             "(default: where the program reads them)");
  add_option(*command, "--starts", options->starts, "N", "starts of the search (default: 4)");
  add_option(*command, "--seed", options->seed, "N", "of starts and resamples (default: 1)");
  command->add_flag("--keep-factors", options->keep_factors,
                    "GPUs: judge the factors that are there on the table again, make their "
                    "intervals anew and fit nothing");
  command->add_flag("--sharing", options->only_sharing,
                    "GPUs: only tables that take most of their factors from another");
  add_option(*command, "--pool", options->pool, "POINTS",
             "GPUs: from the factors that there are, fit all tables at once, of several "
             "chips where --device names several with commas, and give up values of their "
             "own, as long as none loses more than this many points of MAPE on rows fitted "
             "to, and their mean no more than --pool-mean");
  add_option(*command, "--pool-mean", options->pool_mean, "POINTS",
             "points of MAPE that the mean of the tables may lose (default: 0)");
  add_option(*command, "--framework", options->framework, "NAME",
             "GPUs: only tables of this kernel library");
  add_option(*command, "--dtype", options->dtype, "TYPE", "GPUs: only tables of this type");
  add_option(*command, "--jobs", options->jobs, "N",
             "processes; the tables of a GPU are divided between them (default: one per "
             "processor)");
  add_fit_format_option(*command, options->format);
  set_action(*command, session, [options, &session] { return calibrate_fit(*options, session); });
}

}  // namespace

void add_calibrate_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("calibrate", "From measurements to the free factors of a device");
  command->require_subcommand(1);
  command->footer(
      "In this order: measure on the machine itself, import measurements of others, fit.\n"
      "Examples:\n"
      "  foretell calibrate measure --device cpu -o measurements.jsonl\n"
      "  foretell calibrate fit --device host --measurements measurements.jsonl");
  add_measure_command(*command, session);
  add_calibrate_import_command(*command, session);
  add_fit_command(*command, session);
  add_transfer_command(*command, session);
  add_intervals_command(*command, session);
  add_area_command(*command, session);
}

}  // namespace foretell
