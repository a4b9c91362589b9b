#include <fmt/format.h>

#include "calib/fitted/gpu/attention_block_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/part.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/kinds/attention_block_rows.hpp"
#include "model/timing/gpu/attention_block_timing.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::size_t kRows = 1000;
constexpr int kEvaluations = 600;

using BlockTable = KernelTable<AttentionBlockWork>;

// Few head counts are fitted to: what is left out together has the same heads and about as many
// tokens and keys.
std::string left_out_with(const AttentionBlockRow& row) {
  return fmt::format("{} heads, {} tokens, {} keys", row.heads, size_class(row.batch * row.queries),
                     size_class(row.keys));
}

KernelTables<AttentionBlockWork> read_block_tables(const FitCommand& command,
                                                   const GpuDeviceSpec& device,
                                                   AttentionBlockPredictor& predictor,
                                                   const Session& session) {
  DeviceNames names(device.id);
  KernelTables<AttentionBlockWork> tables;
  take_rows(
      command.table,
      [&](const NamedCells& cells, const CsvRow& row) {
        if (!asks_for(command, names, cells, row, "product_dtype")) return false;
        const Part part = part_of(attention_block_family(cells, row));
        if (part == Part::kVault) return false;
        const AttentionBlockRow call = read_attention_block_row(cells, row);
        BlockTable& table = tables[predictor.table(call)];
        table.version = cells.text(row, "version");
        BlockTable::Sample sample;
        sample.measured = measured_time(cells, row);
        sample.family = left_out_with(call);
        sample.op_class = call.product_dtype;
        sample.row = predictor.parts(call).work;
        (part == Part::kFit ? table.fit : table.held_out).push_back(std::move(sample));
        return true;
      },
      session);
  return tables;
}

}  // namespace

int calibrate_block(const FitCommand& command, const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  KernelFitSettings settings{"gpu_block_plan.yaml", "families"};
  settings.rows = kRows;
  settings.evaluations = kEvaluations;
  AttentionBlockPredictor predictor({}, {});
  KernelCalibration calibration(command, device, settings,
                                factors_folder() / "gpu" / "attention_block", kPartSplit, session);
  const KernelTables<AttentionBlockWork> tables =
      read_block_tables(command, device, predictor, session);
  calibration.run(tables, [&](const BlockTable& table, KernelFitTask& task, const auto& calibrate) {
    if (table.fit.empty()) return;
    AttentionBlockFactors factors;
    calibrate_rows(factors, table, task, calibrate, [&](const AttentionBlockWork& work) {
      return attention_block_time(work, factors, device);
    });
  });
  return kSuccess;
}

}  // namespace foretell
