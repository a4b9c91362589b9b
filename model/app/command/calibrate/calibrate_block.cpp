#include "model/app/command/calibrate/calibrate_block.hpp"

#include <fmt/format.h>

#include <map>

#include "calib/fitted/gpu/attention_block_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/validate/part.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/attention_block_rows.hpp"
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

std::map<std::string, BlockTable> read_block_tables(const GemmFitCommand& command,
                                                    const GpuDeviceSpec& device,
                                                    AttentionBlockPredictor& predictor,
                                                    const Session& session) {
  DeviceNames names(device.id);
  std::map<std::string, BlockTable> tables;
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

int calibrate_block(const GemmFitCommand& command, const Session& session) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  KernelFitSettings settings{"gpu_block_plan.yaml", "families"};
  settings.rows = kRows;
  settings.evaluations = kEvaluations;
  AttentionBlockPredictor predictor({}, {});
  KernelCalibration calibration(command, device, settings,
                                factors_folder() / "gpu" / "attention_block", kPartSplit, session);
  const std::map<std::string, BlockTable> tables =
      read_block_tables(command, device, predictor, session);
  calibration.run(tables, [&](const BlockTable& table, KernelFitTask& task, const auto& calibrate) {
    if (table.fit.empty()) return;
    AttentionBlockFactors factors;
    FieldList list;
    fields(list, factors);
    task.fields = &list;
    task.predictor = [&]() -> KernelFitTask::Predict {
      return [&](bool held_out, std::size_t row) {
        return attention_block_time((held_out ? table.held_out : table.fit)[row].row, factors,
                                    device);
      };
    };
    calibrate();
  });
  return kSuccess;
}

}  // namespace foretell
