#include "calib/command/calibrate_collective.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>

#include "calib/command/kernel_calibration.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "hw/spec/gpu_catalog.hpp"
#include "hw/spec/gpu_factors.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/collective_rows.hpp"
#include "model/tables/held_out_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kSplit =
    "operation and number of GPUs; every operation on 4 GPUs is held out on every device";
constexpr int kEvaluations = 6000;
constexpr std::size_t kEveryRow = std::numeric_limits<std::size_t>::max();

using Table = KernelTable<CollectiveRow>;

std::map<std::string, Table> read_tables(const GemmFitCommand& command,
                                         const GpuDeviceSpec& device) {
  CsvReader csv(command.table);
  const NamedCells cells(csv.header());
  DeviceNames names(device.id);
  std::map<std::string, Table> tables;
  CsvRow row;
  while (csv.next(row)) {
    const CollectiveRow call = read_collective_row(cells, row);
    if (!names.is_device(call.gpu)) continue;
    if (!command.framework.empty() && !starts_with(call.library, command.framework)) continue;
    if (call.library != "nccl" && !is_custom(call)) continue;
    Table& table = tables[collective_table(call)];
    const std::string version = cells.text(row, "version");
    if (table.version.empty() || strverscmp(table.version.c_str(), version.c_str()) < 0) {
      table = Table();
      table.version = version;
    }
    if (version != table.version) continue;
    const bool held_out = is_held_out_collective(call.shape.ranks);
    (held_out ? table.held_out_families : table.fit_families)
        .insert(fmt::format("{}", call.shape.ranks));
    (held_out ? table.held_out : table.fit)
        .push_back({call, measured_time(cells, row), collective_makes_interval(call.shape)});
  }
  return tables;
}

}  // namespace

int calibrate_collective(const GemmFitCommand& command, const Session&) {
  const GpuCatalog catalog;
  const GpuDeviceSpec device = catalog.load(catalog.find_device(command.device)).spec.device;
  const std::map<std::string, Table> tables = read_tables(command, device);
  if (tables.empty()) throw UserError("no row of the table is for " + device.id);
  FactorsOutput output(command, collective_factors_folder(), device, kSplit);
  for (const auto& entry : tables) {
    const Table& table = entry.second;
    if (table.fit.empty() || table.held_out.empty()) continue;
    LinkFactors factors;
    FieldList list;
    fields(list, factors);
    KernelFitTask task;
    task.name = entry.first;
    task.families = "numbers of GPUs";
    task.fields = &list;
    fill_task(table, task);
    task.predictor = [&]() -> KernelFitTask::Predict {
      return [&](bool held_out, std::size_t row) {
        const CollectiveRow& call = (held_out ? table.held_out : table.fit)[row].row;
        return is_custom(call) ? custom_time(device, factors, call.shape).time
                               : nccl_time(device, factors, call.shape).time;
      };
    };
    const KernelFactorSet* kept = command.keep_factors ? output.known(entry.first) : nullptr;
    if (command.keep_factors && kept == nullptr) continue;
    output.put(fit_kernel_task(task, device, command,
                               {"gpu_collective_plan.yaml", kEveryRow, kEvaluations}, kept));
  }
  return kSuccess;
}

}  // namespace foretell
