#include "calib/command/calibrate_operator.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>

#include "calib/command/kernel_calibration.hpp"
#include "calib/fit/gemm_fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/tables/held_out_rows.hpp"

namespace foretell {
namespace {

constexpr const char* kSplit =
    "families of equal (n, k), channels or columns; a quarter of them, by hash, is held out on "
    "every device";

constexpr std::size_t kLeastRows = 100;     // of published tables
constexpr std::size_t kLeastMeasured = 20;  // of measurements of one's own, without double rows

using Table = KernelTable<OperatorRow>;

// `next` fills in a row, and says whether there was one.
std::map<std::string, Table> read_tables(const GemmFitCommand& command, const GpuDeviceSpec& device,
                                         const CsvRow& header,
                                         const std::function<bool(CsvRow&)>& next) {
  const NamedCells cells(header);
  DeviceNames names(device.id);
  std::map<std::string, Table> tables;
  CsvRow row;
  while (next(row)) {
    if (!names.is_device(cells.text(row, "gpu"))) continue;
    const OperatorRow call = read_operator_row(cells, row);
    if (!command.framework.empty() && call.framework != command.framework) continue;
    if (!command.dtype.empty() && call.dtype != command.dtype) continue;
    if (cells.text(row, "latency_us") == "0") continue;  // shorter than the clock shows
    Table& table = tables[operator_table(call)];
    table.version = cells.text(row, "version");
    if (table.version.empty()) table.version = "unknown";
    const auto [a, b] = operator_family(call);
    Table::Sample sample;
    sample.row = call;
    sample.measured = measured_time(cells, row);
    sample.family = fmt::format("{} {}", a, b);
    sample.op_class =
        size_class(call.op->kind == OperatorKind::kPass ? call.rows : call.product.m) + " rows";
    sample.makes_interval = operator_makes_interval(call);
    (is_held_out_operator(call) ? table.held_out : table.fit).push_back(std::move(sample));
  }
  return tables;
}

// The kernels of the operator that times like this one are stated without, with the factors that
// are known of it; null where they are stated whole.
std::unique_ptr<OperatorKernels> known_less(const GpuDeviceSpec& device, const OperatorRow& like) {
  if (like.op->less.empty()) return nullptr;
  const OperatorRow other = less_of(like);
  OperatorFactors factors;
  FieldList list;
  fields(list, *other.op, factors);
  const KernelFactorsLibrary library(operator_factors_folder());
  read_factor_set(library.choose(device, {operator_table(other)}).set, list);
  return std::make_unique<OperatorKernels>(device, other, factors);
}

int fit_operators(const GemmFitCommand& command, const CsvRow& header,
                  const std::function<bool(CsvRow&)>& next, std::size_t least_rows,
                  const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  KernelFitSettings settings{"gpu_operator_plan.yaml", "families"};
  settings.evaluations = 1500;
  settings.starts = 3;
  KernelCalibration calibration(command, device, settings, operator_factors_folder(), kSplit);
  calibration.run(read_tables(command, device, header, next),
                  [&](const Table& table, KernelFitTask& task, const auto& calibrate) {
                    if (table.fit.size() < least_rows) {
                      session.say(fmt::format(
                          "foretell: {}: {} rows to fit on; fewer than {} determine no factor",
                          task.name, table.fit.size(), least_rows));
                      return;
                    }
                    OperatorFactors factors;
                    FieldList list;
                    fields(list, *table.fit.front().row.op, factors);
                    task.fields = &list;
                    const OperatorRow& like = table.fit.front().row;
                    const std::unique_ptr<OperatorKernels> less = known_less(device, like);
                    task.predictor = [&]() -> KernelFitTask::Predict {
                      const auto kernels = std::make_shared<OperatorKernels>(device, like, factors);
                      return [&, kernels](bool held_out, std::size_t i) {
                        const OperatorRow& row = (held_out ? table.held_out : table.fit)[i].row;
                        return kernels->time(row, less.get());
                      };
                    };
                    calibrate();
                  });
  return kSuccess;
}

}  // namespace

int calibrate_operator(const GemmFitCommand& command, const Session& session) {
  CsvReader csv(command.table);
  return fit_operators(
      command, csv.header(), [&csv](CsvRow& row) { return csv.next(row); }, kLeastRows, session);
}

int calibrate_operator(const GemmFitCommand& command, const MeasuredTable& table,
                       const Session& session) {
  std::size_t at = 0;
  const auto next = [&](CsvRow& row) {
    if (at == table.rows.size()) return false;
    row = table.rows[at++];
    return true;
  };
  return fit_operators(command, table.header, next, kLeastMeasured, session);
}

}  // namespace foretell
