#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/near_ratios.hpp"
#include "calib/validate/next_group.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/spec/neuron/sdk_version.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/command/calibrate/calibrate_commands.hpp"
#include "model/app/command/calibrate/left_out_networks.hpp"
#include "model/app/command/calibrate/row_intervals.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kNetworks = "networks";
constexpr const char* kServing = "serving";
constexpr const char* kPublished = "published";

struct IntervalOptions {
  std::string kind = kNetworks;
  std::string table;
  std::vector<std::string> where;
  std::vector<std::string> devices;
  std::string output;
  std::string jobs;
};

// One interval: kinds of networks that are made alike, and what is predicted of them.
struct ClassKey {
  std::vector<std::string> families;
  std::string matmul;
  IntervalQuantity quantity;
  bool operator<(const ClassKey& other) const {
    return std::tie(families, matmul, quantity) <
           std::tie(other.families, other.matmul, other.quantity);
  }
};

struct ClassRows {
  std::vector<GroupSample> samples;
  std::vector<std::string> releases;  // of the compiler, one for each sample; "": not stated
};
using Classes = std::map<ClassKey, ClassRows>;

// The newest that is stated; "" without one.
std::string newest_of(const std::vector<std::string>& releases) {
  std::string newest;
  for (const std::string& release : releases) {
    if (newest.empty() || (!release.empty() && releases_before(newest, release) > 0)) {
      newest = release;
    }
  }
  return newest;
}

// Every sample says how far its release is before the newest of all; one that states none counts as
// the newest. Returns the newest of each class.
std::vector<std::string> count_releases(std::vector<ClassRows>& classes) {
  std::vector<std::string> newest;
  for (const ClassRows& rows : classes) newest.push_back(newest_of(rows.releases));
  const std::string of_all = newest_of(newest);
  if (of_all.empty()) return newest;
  for (ClassRows& rows : classes) {
    for (std::size_t i = 0; i < rows.samples.size(); ++i) {
      rows.samples[i].releases = releases_before(rows.releases[i], of_all);
    }
  }
  return newest;
}

// A forward pass of a decoder is like one of an encoder.
std::vector<std::string> families_like(const ModelConfig& model, IntervalQuantity quantity) {
  const std::string family(interval_family(model));
  const bool is_pass = quantity == IntervalQuantity::kCall;
  if (is_pass && (family == "encoder" || family == "decoder")) return {"encoder", "decoder"};
  return {family};
}

class Reader {
 public:
  Reader(const IntervalOptions& options, const Session& session)
      : options_(options),
        session_(session),
        table_(options.table, CsvReader::Names::kLowerCase),
        layout_(recognise_table(table_.header(), options.table)),
        reader_(layout_, table_.header(), {}) {
    if (layout_.kind != TableKind::kModels) {
      throw UserError(options.table + ": is of kind " + layout_.name +
                      "; expected a table of networks, with the columns system and workload");
    }
    const std::vector<std::string> known = catalog_.systems();
    systems_.insert(known.begin(), known.end());
  }

  Classes read() {
    if (has_column(table_.header(), "use")) filter_.require("use=yes", table_.header());
    for (const std::string& condition : options_.where) filter_.require(condition, table_.header());
    const RowPart part = row_part(layout_, table_.header());
    left_out_ = predict_left_out(options_.table, session_.predict, parse_jobs(options_.jobs));
    BatchPredictor batch(reader_, session_.predict, parse_jobs(options_.jobs),
                         [this](const CsvRow& row, const RowPrediction& prediction) {
                           const std::size_t line = lines_.front();
                           lines_.pop_front();
                           if (prediction.error.empty()) take(row, line, prediction);
                         });
    CsvRow row;
    while (table_.next(row)) {
      const auto is_open = [&part](const CsvRow& one) { return part(one) != Part::kVault; };
      filter_.note_where(is_open, row);
      const bool counts = filter_.accepts(row) && is_open(row);
      if (!counts || !is_asked(device_of(row))) continue;
      lines_.push_back(table_.line());
      batch.add(row, "");
    }
    batch.finish();
    return std::move(classes_);
  }

  // Why conditions leave no row.
  std::string unmet() const { return filter_.unmet(); }

 private:
  bool is_asked(const std::string& device) const {
    return std::find(options_.devices.begin(), options_.devices.end(), device) !=
           options_.devices.end();
  }

  std::string device_of(const CsvRow& row) {
    const std::string system = row[find_column(table_.header(), "system")];
    const auto [known, is_new] = devices_.try_emplace(system);
    if (is_new && systems_.count(system) > 0) {
      known->second = catalog_.load(system).spec.device.id;
    }
    return known->second;
  }

  // What the fits say of the row without having seen it; nothing moves where none has.
  LeftOutPredictions left_out(const std::string& measured, std::size_t line) const {
    const auto rows = left_out_.find(measured);
    if (rows == left_out_.end()) return {};
    const auto found = rows->second.find(line);
    return found == rows->second.end() ? LeftOutPredictions{} : found->second;
  }

  void take(const CsvRow& row, std::size_t line, const RowPrediction& prediction) {
    ResolvedWorkload resolved;
    resolve_workload(reader_.request(row), "bf16", resolved);
    const std::string group = network_group(resolved.request.workload);
    const std::string matmul(to_string(resolved.precision.matmul_compute));
    for (const IntervalQuantity quantity :
         {IntervalQuantity::kCall, IntervalQuantity::kTtft, IntervalQuantity::kTpot}) {
      const std::string name(interval_quantity_name(quantity));
      const std::string measured = name + "_ms";
      if (!has_column(table_.header(), measured)) continue;
      const auto value = read_measurement(measured, row[find_column(table_.header(), measured)]);
      const auto predicted = prediction.values.find("pred_" + measured);
      if (!value || predicted == prediction.values.end()) continue;
      const LeftOutPredictions without = left_out(measured, line);
      ClassRows& rows = classes_[{families_like(resolved.model, quantity), matmul, quantity}];
      rows.samples.push_back({group, interval_place(resolved.request, resolved.model, quantity),
                              *value / predicted->second * std::exp(-without.without_network),
                              without.without_network, 0, without.far});
      rows.releases.push_back(resolved.request.sdk);
    }
  }

  const IntervalOptions& options_;
  const Session& session_;
  CsvReader table_;
  const TableLayout& layout_;
  RowReader reader_;
  RowFilter filter_;
  Catalog catalog_;
  std::set<std::string> systems_;
  std::map<std::string, std::string> devices_;  // of systems; "": of another family
  LeftOutRowPredictions left_out_;
  std::deque<std::size_t> lines_;  // of the rows that are not predicted yet
  Classes classes_;
};

struct Growth {
  double per_octave = 0;
  double per_release = 0;
};

std::string entry_text(const ClassKey& key, const NextGroup& next, const Growth& growth,
                       const std::string& newest, const std::string& family,
                       const std::string& device) {
  std::string text = fmt::format(
      "  - device: {}\n    family: {}\n    matmul: {}\n    quantity: {}\n    low: {:.4f}\n"
      "    high: {:.4f}\n    within: {:.4f}\n    between: {:.4f}\n    groups: {}\n    rows: {}\n"
      "    left_out: {:.3f}\n    per_octave: {:.2f}\n    octaves: {:.2f}\n",
      device, family, key.matmul, interval_quantity_name(key.quantity), next.interval.low,
      next.interval.high, next.within, next.between, next.groups, next.rows, next.left_out,
      growth.per_octave, next.octaves);
  if (!newest.empty()) {
    text +=
        fmt::format("    per_release: {:.3f}\n    newest: \"{}\"\n", growth.per_release, newest);
  }
  return text + fmt::format(
                    "    why: rows of {} groups; the others make an interval that holds {:.0f} % "
                    "of a group's\n    places: {}\n",
                    next.groups, 100 * next.left_out, places_text(next.places));
}

std::string summary_text(const ClassKey& key, const NextGroup& next, const Growth& growth,
                         const std::string& newest) {
  return fmt::format(
      "foretell: {} of {}: {} rows of {} groups; within {:.1f} %, between {:.1f} %; 80 % interval "
      "{:.3f} to {:.3f}{}, {:.0f} % wider per octave beyond {:.1f}; holds {:.1f} % of a group left "
      "out{}",
      interval_quantity_name(key.quantity), fmt::join(key.families, " and "), next.rows,
      next.groups, 100 * next.within, 100 * next.between, next.interval.low, next.interval.high,
      newest.empty() ? ""
                     : fmt::format(" in {}, {:.1f} % wider per release before", newest,
                                   100 * growth.per_release),
      100 * growth.per_octave, next.octaves, 100 * next.left_out,
      next.far_rows == 0
          ? ""
          : fmt::format(
                ", {:.1f} % of one of rows left out with all beyond them ({:.1f} unwidened)",
                100 * next.far, 100 * next.far_as_near));
}

int calibrate_intervals(const IntervalOptions& options, const Session& session) {
  Reader reader(options, session);
  Classes classes = reader.read();
  std::vector<ClassRows> counted;
  std::vector<ClassKey> keys;
  for (auto& [key, rows] : classes) {
    std::set<std::string> groups;
    for (const GroupSample& sample : rows.samples) groups.insert(sample.group);
    if (groups.size() < 2) continue;
    counted.push_back(std::move(rows));
    keys.push_back(key);
  }
  const std::vector<std::string> newest = count_releases(counted);
  std::vector<std::vector<GroupSample>> all;
  for (ClassRows& rows : counted) all.push_back(std::move(rows.samples));
  if (all.empty()) {
    throw UserError(options.table + ": no quantity was measured on two groups of networks on " +
                    fmt::format("{}{}", fmt::join(options.devices, " or "), reader.unmet()));
  }
  Growth growth;
  growth.per_release = widening_per_release(all);
  growth.per_octave = widening_per_octave(all, growth.per_release);
  std::string text =
      "# Intervals of unmeasured networks, made by `foretell calibrate intervals` from the\n"
      "# rows of the fit and judge parts, every architecture left out in turn, of the fits, too; "
      "see\n"
      "# calib/validate/next_group.hpp. Standard deviations are of ln(measured / predicted), as of "
      "the\n"
      "# newest release of the compiler; places are [tokens of a call, layers, cores of a copy] "
      "that were\n"
      "# judged.\n"
      "default: {low: 0.7, high: 1.4, why: the default stands in intervals.yaml}\n"
      "intervals:\n";
  const std::vector<NextGroup> made = next_groups(all, growth.per_release, growth.per_octave);
  double held = 0;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const ClassKey& key = keys[i];
    const NextGroup& next = made[i];
    held += next.left_out * static_cast<double>(next.groups);
    groups += next.groups;
    session.say(summary_text(key, next, growth, newest[i]));
    for (const std::string& device : options.devices) {
      for (const std::string& family : key.families) {
        text += entry_text(key, next, growth, newest[i], family, device);
      }
    }
  }
  session.say(fmt::format("foretell: all together hold {:.1f} % of a group left out, {} groups",
                          100 * held / static_cast<double>(groups), groups));
  write_intervals(options.output, "next_network.yaml", text, session);
  return kSuccess;
}

int calibrate_any_intervals(const IntervalOptions& options, const Session& session) {
  if (options.kind != kNetworks && !options.devices.empty()) {
    throw UserError(
        "--device: is of --kind networks; intervals of services and of published networks are of "
        "all devices, and --where gpu=NAME takes one");
  }
  if (options.kind == kPublished || options.kind == kServing) {
    const auto calibrate =
        options.kind == kPublished ? calibrate_published_intervals : calibrate_served_intervals;
    calibrate({options.table, options.where, options.output, parse_jobs(options.jobs)}, session);
    return kSuccess;
  }
  if (options.kind != kNetworks) {
    throw UserError(
        "--kind: " +
        std::string(unknown_name("kind", options.kind, {kNetworks, kServing, kPublished}).what()));
  }
  if (options.devices.empty())
    throw UserError("--device: is missing; name a device whose networks count");
  return calibrate_intervals(options, session);
}

}  // namespace

void write_intervals(const std::string& output, const char* file, const std::string& text,
                     const Session& session) {
  const std::string path =
      output.empty() ? (data_root() / "calib" / "validate" / file).string() : output;
  write_text(path, text);
  session.say("foretell: intervals written to " + path);
}

void add_intervals_command(CLI::App& calibrate, Session& session) {
  const auto options = std::make_shared<IntervalOptions>();
  CLI::App* command = calibrate.add_subcommand(
      "intervals", "How far predictions of unmeasured networks and services are off");
  command->footer(
      "Every group of networks, or configuration family of services (network, GPU, engine,\n"
      "precision, workers together or apart), is left out in turn. Services are made from the fit\n"
      "part alone; the vault is not read.\nExamples:\n"
      "  foretell calibrate intervals --table neuron_models_measured.csv --device inferentia2 "
      "--device trainium1\n"
      "  foretell calibrate intervals --kind serving --table serving_points.csv.gz --where "
      "usable=1");
  add_option(*command, "--kind", options->kind, "KIND",
             "what was measured: networks (default) on NeuronCores, published ones on GPUs, or "
             "serving for served points");
  add_option(*command, "--table", options->table, "FILE",
             "CSV of measured networks or served points")
      ->transform(measured_table)
      ->required();
  add_repeated_option(*command, "--where", options->where, "CONDITION",
                      "COLUMN=VALUE[,VALUE][,COLUMN=VALUE]: rows with one of these values in each "
                      "column");
  add_repeated_option(*command, "--device", options->devices, "DEVICE",
                      "networks: device whose rows count; repeat for more");
  add_option(*command, "-o,--output", options->output, "FILE",
             "file (default: where the program reads it)");
  add_option(*command, "--jobs", options->jobs, "N", "processes (default: one per processor)");
  set_action(*command, session,
             [options, &session] { return calibrate_any_intervals(*options, session); });
}

}  // namespace foretell
