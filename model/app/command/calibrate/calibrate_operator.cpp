#include <fmt/format.h>

#include <functional>
#include <memory>

#include "calib/fit/row_division.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/held_out_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr const char* kOperatorSplit =
    "families of equal (n, k), channels or columns; a quarter of them, by hash, is held out on "
    "every device";

constexpr std::size_t kMinRows = 100;     // of published tables
constexpr std::size_t kMinMeasured = 20;  // of measurements of one's own, without double rows

using OperatorTable = KernelTable<OperatorRow>;

// Gives every row to what it is given.
using EachRow = std::function<void(const TakeRow&)>;

struct OperatorTables {
  KernelTables<OperatorRow> tables;
  std::size_t below_clock = 0;  // rows with a time of zero
};

OperatorTables read_operator_tables(const FitCommand& command, const GpuDeviceSpec& device,
                                    const EachRow& each_row) {
  DeviceNames names(device.id);
  OperatorTables read;
  each_row([&](const NamedCells& cells, const CsvRow& row) {
    if (!names.is_device(cells.text(row, "gpu"))) return false;
    const OperatorRow call = read_operator_row(cells, row);
    if (!command.framework.empty() && call.framework != command.framework) return false;
    if (!command.dtype.empty() && call.dtype != command.dtype) return false;
    if (is_below_clock("latency_us", cells.text(row, "latency_us"))) {
      ++read.below_clock;
      return false;
    }
    if (operator_part(call) == Part::kVault) return false;
    OperatorTable& table = read.tables[operator_table(call)];
    table.version = cells.text(row, "version");
    if (table.version.empty()) table.version = "unknown";
    const auto [a, b] = operator_family(call);
    OperatorTable::Sample sample;
    sample.row = call;
    sample.measured = measured_time(cells, row);
    sample.family = fmt::format("{} {}", a, b);
    sample.op_class =
        size_class(call.op->kind == OperatorKind::kPass ? call.rows : call.product.m) + " rows";
    sample.makes_interval = operator_makes_interval(call);
    (is_held_out_operator(call) ? table.held_out : table.fit).push_back(std::move(sample));
    return true;
  });
  return read;
}

// The kernels of the operator that times like this one are stated without, with the factors that
// are known of it; null where they are stated whole.
std::unique_ptr<OperatorKernels> known_less(const GpuDeviceSpec& device, const OperatorRow& like) {
  if (like.op->less.empty()) return nullptr;
  const OperatorRow other = less_of(like);
  OperatorFactors factors;
  FieldList list;
  fields(list, *other.op, factors);
  const KernelFactorsLibrary library(kernel_factors_folder("operator"));
  read_factor_set(library.choose(device, {operator_table(other)}).set, list);
  return std::make_unique<OperatorKernels>(device, other, factors);
}

int fit_operators(const FitCommand& command, const EachRow& each_row, std::size_t least_rows,
                  const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  KernelFitSettings settings{"gpu_operator_plan.yaml", "families"};
  settings.evaluations = 1500;
  settings.starts = 3;
  settings.pooled_rows = 1000;
  KernelCalibration calibration(command, device, settings, kernel_factors_folder("operator"),
                                kOperatorSplit, session);
  const OperatorTables read = read_operator_tables(command, device, each_row);
  if (read.below_clock > 0) {
    session.say(
        fmt::format("foretell: {} rows with a time of 0 are left out: shorter than the "
                    "clock of the measurement shows",
                    read.below_clock));
  }
  for (const auto& [name, table] : read.tables) {
    if (table.fit.size() >= least_rows) continue;
    session.say(fmt::format("foretell: {}: {} rows to fit on; fewer than {} determine no factor",
                            name, table.fit.size(), least_rows));
  }
  calibration.run(read.tables,
                  [&](const OperatorTable& table, KernelFitTask& task, const auto& calibrate) {
                    if (table.fit.size() < least_rows) return;
                    OperatorFactors factors;
                    FieldList list;
                    fields(list, *table.fit.front().row.op, factors);
                    task.fields = &list;
                    const OperatorRow& like = table.fit.front().row;
                    const std::unique_ptr<OperatorKernels> less = known_less(device, like);
                    task.predictor = [&]() -> KernelFitTask::Predict {
                      const auto kernels = std::make_shared<OperatorKernels>(device, like, factors);
                      return [&, kernels](bool held_out, std::size_t i) {
                        return kernels->time(table.row(held_out, i), less.get());
                      };
                    };
                    calibrate();
                  });
  return kSuccess;
}

}  // namespace

int calibrate_operator(const FitCommand& command, const Session& session) {
  return fit_operators(
      command, [&](const TakeRow& take) { take_rows(command.table, take, session); }, kMinRows,
      session);
}

int calibrate_operator(const FitCommand& command, const MeasuredTable& table,
                       const Session& session) {
  return fit_operators(
      command, [&](const TakeRow& take) { take_rows(table, take, session); }, kMinMeasured,
      session);
}

}  // namespace foretell
