#include <fmt/format.h>

#include <set>

#include "calib/fit/row_division.hpp"
#include "calib/validate/part.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/kinds/layer_table_rows.hpp"
#include "model/base/errors.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr std::size_t kUndividedFamilies = 3;  // fewer are divided further, to tell an interval

using LayerTable = KernelTable<LayerRow>;

KernelTables<LayerRow> read_layer_tables(LayerKind kind, const FitCommand& command,
                                         const GpuDeviceSpec& device, const Session& session) {
  DeviceNames names(device.id);
  KernelTables<LayerRow> tables;
  take_rows(
      command.table,
      [&](const NamedCells& cells, const CsvRow& row) {
        if (!asks_for(command, names, cells, row, "dtype")) return false;
        const Part part = part_of(layer_family(kind, cells, row));
        if (part == Part::kVault) return false;
        LayerRow call = read_layer_row(kind, cells, row);
        LayerTable& table = tables[call.tables.front()];
        table.version = cells.text(row, "version");
        LayerTable::Sample sample;
        sample.measured = measured_time(cells, row);
        sample.family = call.family;
        sample.op_class = call.op_class;
        sample.makes_interval = true;
        sample.row = std::move(call);
        (part == Part::kFit ? table.fit : table.held_out).push_back(std::move(sample));
        return true;
      },
      session);
  return tables;
}

// The split of a layer among GPUs is what few families differ in, too.
void divide_few_families(LayerTable& table) {
  std::set<std::string> families;
  for (const LayerTable::Sample& sample : table.fit) families.insert(sample.family);
  if (families.size() >= kUndividedFamilies) return;
  for (LayerTable::Sample& sample : table.fit) {
    if (const auto* experts = std::get_if<LayerRow::Experts>(&sample.row.shape)) {
      sample.family += fmt::format(" tp {} ep {}", experts->shape.tp, experts->shape.ep);
    } else {
      sample.family += ", " + sample.op_class;
    }
  }
}

}  // namespace

int calibrate_layer(const TableLayout& layout, const FitCommand& command, const Session& session) {
  const LayerKind kind = layer_kind_of(layout);
  const GpuDeviceSpec device = device_to_fit(command);
  const LayerKernelLibrary library;
  KernelFitSettings settings{"gpu_layer_plan.yaml", "families"};
  settings.rows = kind == LayerKind::kExperts ? 300 : 500;
  settings.evaluations = kind == LayerKind::kLatent ? 1500 : 400;
  KernelCalibration calibration(command, device, settings, layer_factors_folder(kind), kPartSplit,
                                session);
  KernelTables<LayerRow> tables = read_layer_tables(kind, command, device, session);
  for (auto& [name, table] : tables) divide_few_families(table);
  calibration.run(tables, [&](const LayerTable& table, KernelFitTask& task, const auto& calibrate) {
    if (table.fit.empty()) return;
    const LayerKernelFacts& facts = library.facts(task.name, device.architecture);
    const LayerType& type = library.type(table.fit.front().row.dtype);
    LayerKernelFactors factors;
    task.plan_name = std::string(layer_kind_name(kind)) + " " + task.name;
    calibrate_rows(factors, table, task, calibrate, [&](const LayerRow& call) {
      return layer_row_time(call, device, facts, type, factors);
    });
  });
  return kSuccess;
}

}  // namespace foretell
