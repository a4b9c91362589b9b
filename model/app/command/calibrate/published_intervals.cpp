#include "model/app/command/calibrate/published_intervals.hpp"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "calib/validate/interval_estimate.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/app/command/calibrate/fit_part_rows.hpp"
#include "model/app/request/device_family.hpp"
#include "model/app/request/gpu_request.hpp"
#include "model/app/request/intervals.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/table_request.hpp"
#include "model/app/terminal/output.hpp"
#include "model/base/data_root.hpp"
#include "model/base/errors.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class PublishedReader {
 public:
  PublishedReader(const PublishedIntervalOptions& options, const Session& session)
      : options_(options),
        session_(session),
        rows_(options.table, options.where),
        reader_(rows_.layout(), rows_.header(), {}) {
    if (rows_.layout().kind != TableKind::kModels) {
      throw UserError(options.table + ": is of kind " + rows_.layout().name +
                      "; expected a table of networks, with the columns system and workload");
    }
  }

  // Measured / predicted times by family of the table of intervals.
  std::map<std::string, std::vector<RatioSample>> read() {
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
  std::optional<double> ratio_of(const CsvRow& row, const RowPrediction& prediction) const {
    if (const auto call = cell(row, "call_ms")) return *call / prediction.values.at("pred_call_ms");
    if (const auto rate = cell(row, "throughput")) {
      const std::string unit = row[find_column(rows_.header(), "throughput_unit")];
      const bool all_tokens = unit.find("input+output") != std::string::npos;
      return prediction.values.at(all_tokens ? kThroughputAllTokens : "pred_throughput") / *rate;
    }
    return std::nullopt;
  }

  void take(const CsvRow& row, const RowPrediction& prediction) {
    const auto ratio = ratio_of(row, prediction);
    if (!ratio) return;
    const RowReader::Question question = reader_.question(row);
    if (!gpu_family().has_system(question.request.system)) return;
    const std::string network = network_group(question.request.workload);
    if (!question.engine.empty()) {
      samples_["generation by engine"].push_back({network, *ratio});
      return;
    }
    const GpuRequest resolved = resolve_gpu(question.request);
    if (resolved.launch != LaunchKind::kGraph) {
      samples_["network by host"].push_back({network, *ratio});
    } else {
      samples_[std::string(graph_family(resolved.model))].push_back({network, *ratio});
    }
  }

  const PublishedIntervalOptions& options_;
  const Session& session_;
  FitPartRows rows_;
  RowReader reader_;
  std::map<std::string, std::vector<RatioSample>> samples_;
};

}  // namespace

void calibrate_published_intervals(const PublishedIntervalOptions& options,
                                   const Session& session) {
  const auto classes = PublishedReader(options, session).read();
  std::string text =
      "# Intervals of whole networks on GPUs that nobody measured, made by `foretell calibrate "
      "intervals\n# --kind published` from published rows of the fit part, every network left out "
      "in turn;\n# calib/validate/interval_estimate.hpp says how.\n"
      "default: {low: 0.7, high: 1.4, why: the default stands in intervals.yaml}\n"
      "intervals:\n";
  bool any = false;
  for (const auto& [family, samples] : classes) {
    std::set<std::string> networks;
    for (const RatioSample& sample : samples) networks.insert(sample.network);
    if (networks.size() < 2) {
      session.say(fmt::format("foretell: {}: of one network alone; no interval", family));
      continue;
    }
    any = true;
    const WidenedInterval made = widen_interval80(samples);
    double left_out = 0;
    for (const auto& [network, share] : made.left_out)
      left_out += share / static_cast<double>(made.left_out.size());
    text += fmt::format(
        "  - device: gpu\n    family: {}\n    matmul: any\n    quantity: call\n    low: {:.4f}\n"
        "    high: {:.4f}\n    groups: {}\n    rows: {}\n    left_out: {:.3f}\n"
        "    why: published rows of {} networks; those of the others hold {:.0f} % of a "
        "network's\n",
        family, made.interval.low, made.interval.high, networks.size(), samples.size(), left_out,
        networks.size(), 100 * left_out);
    session.say(fmt::format(
        "foretell: {}: {} rows of {} networks; 80 % interval {:.3f} to {:.3f}, widened by {:.2f}; "
        "holds {:.1f} % of a network left out",
        family, samples.size(), networks.size(), made.interval.low, made.interval.high, made.by,
        100 * left_out));
  }
  if (!any) throw UserError(options.table + ": no class has rows of two networks in the fit part");
  const fs::path path = options.output.empty()
                            ? data_root() / "calib" / "validate" / "published_intervals.yaml"
                            : fs::path(options.output);
  write_text(path.string(), text);
  session.say("foretell: intervals written to " + path.string());
}

}  // namespace foretell
