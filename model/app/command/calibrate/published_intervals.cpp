#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calib/validate/interval_estimate.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/near_ratios.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/app/command/calibrate/fit_part_rows.hpp"
#include "model/app/command/calibrate/row_intervals.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/gpu_place.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// A family of the table of intervals and what is predicted of it.
using ClassName = std::pair<std::string, IntervalQuantity>;
using PublishedClasses = std::map<ClassName, std::vector<GroupSample>>;

class PublishedReader {
 public:
  PublishedReader(const RowIntervalOptions& options, const Session& session)
      : options_(options),
        session_(session),
        rows_(options.table, options.where),
        reader_(rows_.layout(), rows_.header(), {}) {
    if (rows_.layout().kind != TableKind::kModels) {
      throw UserError(options.table + ": is of kind " + rows_.layout().name +
                      "; expected a table of networks, with the columns system and workload");
    }
  }

  // Measured / predicted times by class of the table of intervals.
  PublishedClasses read() {
    BatchPredictor batch(reader_, session_.predict, options_.jobs,
                         [this](const CsvRow& row, const RowPrediction& prediction) {
                           if (prediction.error.empty()) take(row, prediction);
                         });
    rows_.each([&](const CsvRow& row) { batch.add(row, ""); });
    batch.finish();
    return std::move(samples_);
  }

 private:
  std::optional<double> cell(const CsvRow& row, const std::string& column) const {
    if (!has_column(rows_.header(), column)) return std::nullopt;
    return read_measurement(column, row[find_column(rows_.header(), column)]);
  }

  // What one call takes, else what calls one after the other take.
  std::optional<double> call_ratio(const CsvRow& row, const RowPrediction& prediction) const {
    if (const auto call = cell(row, "call_ms")) return *call / prediction.values.at("pred_call_ms");
    if (const auto rate = cell(row, "throughput")) {
      const std::string unit = row[find_column(rows_.header(), "throughput_unit")];
      const bool all_tokens = unit.find("input+output") != std::string::npos;
      return prediction.values.at(all_tokens ? kThroughputAllTokens : "pred_throughput") / *rate;
    }
    return std::nullopt;
  }

  std::optional<double> first_token_ratio(const CsvRow& row,
                                          const RowPrediction& prediction) const {
    const auto first = cell(row, "ttft_ms");
    const auto predicted = prediction.values.find("pred_ttft_ms");
    if (!first || predicted == prediction.values.end()) return std::nullopt;
    return *first / predicted->second;
  }

  void take(const CsvRow& row, const RowPrediction& prediction) {
    const auto call = call_ratio(row, prediction);
    const auto first_token = first_token_ratio(row, prediction);
    if (!call && !first_token) return;
    const RowReader::Question question = reader_.question(row);
    if (!gpu_family().has_system(question.request.system)) return;
    const std::string network = network_group(question.request.workload);
    const GpuRequest resolved = resolve_gpu(question.request);
    const Place place = place_on_gpus(resolved);
    for (const std::string& family : families_of(question, resolved)) {
      if (call) samples_[{family, IntervalQuantity::kCall}].push_back({network, place, *call});
      if (first_token)
        samples_[{family, IntervalQuantity::kTtft}].push_back({network, place, *first_token});
    }
  }

  // Few networks of images are launched as a graph; the kernels of those that a host launches are
  // the same, so they count there, too.
  static std::vector<std::string> families_of(const RowReader::Question& question,
                                              const GpuRequest& resolved) {
    if (!question.engine.empty()) return {"generation by engine"};
    const std::string by_graph(graph_family(resolved.model));
    if (resolved.launch == LaunchKind::kGraph) return {by_graph};
    if (resolved.model.family != Family::kVision) return {"network by host"};
    return {"network by host", by_graph};
  }

  const RowIntervalOptions& options_;
  const Session& session_;
  FitPartRows rows_;
  RowReader reader_;
  PublishedClasses samples_;
};

// Entry and message of one class; "" for one of a single network, of which there is no interval.
std::string entry_of(const ClassName& name, const std::vector<GroupSample>& samples,
                     double per_octave, const Session& session) {
  const auto& [family, quantity] = name;
  const std::string shown =
      fmt::format("{}{}", quantity == IntervalQuantity::kTtft ? "first token of " : "", family);
  std::set<std::string> networks;
  for (const GroupSample& sample : samples) networks.insert(sample.group);
  if (networks.size() < 2) {
    session.say(fmt::format("foretell: {}: of one network alone; no interval", shown));
    return "";
  }
  const NearRatios near = as_near(samples, per_octave);
  const WidenedInterval made = widen_interval80(near.ratios);
  double left_out = 0;
  for (const auto& [network, share] : made.left_out)
    left_out += share / static_cast<double>(made.left_out.size());
  session.say(
      fmt::format("foretell: {}: {} rows of {} networks; 80 % interval {:.3f} to {:.3f}, widened "
                  "by {:.2f}, and by {:.0f} % per octave of distance; holds {:.1f} % of a network "
                  "left out",
                  shown, samples.size(), networks.size(), made.interval.low, made.interval.high,
                  made.by, 100 * per_octave, 100 * left_out));
  return fmt::format(
      "  - device: gpu\n    family: {}\n    matmul: any\n    quantity: {}\n    low: {:.4f}\n"
      "    high: {:.4f}\n    groups: {}\n    rows: {}\n    left_out: {:.3f}\n"
      "    per_octave: {:.2f}\n"
      "    why: published rows of {} networks; those of the others hold {:.0f} % of a "
      "network's\n    places: {}\n",
      family, interval_quantity_name(quantity), made.interval.low, made.interval.high,
      networks.size(), samples.size(), left_out, per_octave, networks.size(), 100 * left_out,
      places_text(near.places));
}

// How errors grow with distance is one for all devices, found on networks of NeuronCores that fits
// have not seen; no factor was fitted to published networks, whose rows say less of it.
double growth_per_octave() {
  const fs::path path = data_root() / "calib" / "validate" / "next_network.yaml";
  const Node root = parse_document(read_text_file(path), path.filename().string());
  const Node& list = root.required("intervals", "");
  if (list.items.empty()) throw UserError(path.filename().string() + ": has no intervals");
  return required_number(list.items.front(), "per_octave", 0, 1);
}

}  // namespace

void calibrate_published_intervals(const RowIntervalOptions& options, const Session& session) {
  const auto classes = PublishedReader(options, session).read();
  std::string text =
      "# Intervals of unmeasured networks on GPUs, made by `foretell calibrate intervals\n"
      "# --kind published` from published rows of the fit part, every network left out in turn;\n"
      "# calib/validate/interval_estimate.hpp and near_ratios.hpp say how. Low and high are those "
      "next to\n"
      "# what was judged; places are [tokens of a call, layers, GPUs of a copy, bits of an "
      "operand].\n"
      "default: {low: 0.7, high: 1.4, why: the default stands in intervals.yaml}\n"
      "intervals:\n";
  const std::size_t head = text.size();
  const double per_octave = growth_per_octave();
  for (const auto& [name, samples] : classes) text += entry_of(name, samples, per_octave, session);
  if (text.size() == head) {
    throw UserError(options.table + ": no class has rows of two networks in the fit part");
  }
  write_intervals(options.output, "published_intervals.yaml", text, session);
}

}  // namespace foretell
