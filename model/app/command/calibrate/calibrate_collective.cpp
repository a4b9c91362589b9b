#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "calib/fit/row_division.hpp"
#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/held_out_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/rows/collective_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kCollectiveSplit =
    "operation and number of GPUs; every operation on 4 GPUs is held out on every device";
constexpr std::size_t kEveryRow = std::numeric_limits<std::size_t>::max();

using CollectiveTable = KernelTable<CollectiveRow>;

bool is_newer(const std::string& version, const std::string& than) {
  return than.empty() || strverscmp(than.c_str(), version.c_str()) < 0;
}

// Factors are those of the newest version. A user has any: those that are held out of all versions
// say how far predictions are.
KernelTables<CollectiveRow> read_collective_tables(const FitCommand& command,
                                                   const GpuDeviceSpec& device,
                                                   const Session& session) {
  DeviceNames names(device.id);
  KernelTables<CollectiveRow> tables;
  take_rows(
      command.table,
      [&](const NamedCells& cells, const CsvRow& row) {
        const CollectiveRow call = read_collective_row(cells, row);
        if (!names.is_device(call.gpu)) return false;
        if (!command.framework.empty() && !starts_with(call.library, command.framework))
          return false;
        const bool is_common = call.library == kernel_libraries().choice().collectives;
        if (!is_common && !is_custom(call)) return false;
        if (collective_part(call.shape) == Part::kVault) return false;
        CollectiveTable& table = tables[collective_table(call)];
        CollectiveTable::Sample sample;
        sample.row = call;
        sample.measured = measured_time(cells, row);
        sample.version = cells.text(row, "version");
        sample.family = fmt::format("{} B", call.shape.bytes.value());
        sample.op_class = cells.text(row, "op");
        sample.makes_interval = collective_makes_interval(call.shape);
        if (is_newer(sample.version, table.version)) table.version = sample.version;
        (is_held_out_collective(call.shape.ranks) ? table.held_out : table.fit)
            .push_back(std::move(sample));
        return true;
      },
      session);
  for (auto& [name, table] : tables) {
    const std::string fitted = table.version;
    const auto is_other = [&](const CollectiveTable::Sample& sample) {
      return sample.version != fitted;
    };
    table.fit.erase(std::remove_if(table.fit.begin(), table.fit.end(), is_other), table.fit.end());
    for (auto* side : {&table.fit, &table.held_out}) {
      for (CollectiveTable::Sample& sample : *side) {
        if (sample.version == fitted) sample.version.clear();
      }
    }
  }
  return tables;
}

}  // namespace

int calibrate_collective(const FitCommand& command, const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  KernelFitSettings settings{"gpu_collective_plan.yaml", "sizes"};
  settings.rows = kEveryRow;
  settings.evaluations = 6000;
  settings.leaves_families_out = false;  // sizes between those that are fitted to are no families
  KernelCalibration calibration(command, device, settings, kernel_factors_folder("collective"),
                                kCollectiveSplit, session);
  calibration.run(read_collective_tables(command, device, session),
                  [&](const CollectiveTable& table, KernelFitTask& task, const auto& calibrate) {
                    if (table.fit.empty() || table.held_out.empty()) return;
                    LinkFactors factors;
                    calibrate_rows(factors, table, task, calibrate, [&](const CollectiveRow& call) {
                      return is_custom(call)
                                 ? custom_time(device, factors, call.shape, shot_rule(call)).time
                                 : nccl_time(device, factors, call.shape).time;
                    });
                  });
  return kSuccess;
}

}  // namespace foretell
