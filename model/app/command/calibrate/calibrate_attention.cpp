#include <fmt/format.h>

#include "calib/fit/row_division.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/base/errors.hpp"
#include "model/predict/rows/attention_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr const char* kAttentionSplit =
    "configurations of heads, kv_heads and head_dim; 3 of 11 residues of heads + 3 kv_heads + "
    "7 head_dim / 64 are held out on every device";

using AttentionTable = KernelTable<AttentionRow>;

KernelTables<AttentionRow> read_attention_tables(const FitCommand& command,
                                                 const GpuDeviceSpec& device,
                                                 const Session& session) {
  DeviceNames names(device.id);
  KernelTables<AttentionRow> tables;
  take_rows(
      command.table,
      [&](const NamedCells& cells, const CsvRow& row) {
        if (!names.is_device(cells.text(row, "gpu"))) return false;
        const AttentionRow call = read_attention_row(cells, row);
        if (!command.framework.empty() && call.framework != command.framework) return false;
        if (!command.dtype.empty() && call.dtype != command.dtype) return false;
        if (attention_part(call.shape) == Part::kVault) return false;
        AttentionTable& table = tables[attention_table(call, device.architecture)];
        table.version = cells.text(row, "version");
        const AttentionShape& shape = call.shape;
        AttentionTable::Sample sample;
        sample.row = call;
        sample.measured = measured_time(cells, row);
        sample.family = fmt::format("{} {} {}", shape.heads, shape.key_heads, shape.head_dim);
        sample.op_class = size_class(shape.batch * shape.keys) + " keys";
        sample.makes_interval = makes_interval(shape.heads, shape.key_heads, shape.head_dim);
        const bool held_out = is_held_out_heads(shape.heads, shape.key_heads, shape.head_dim);
        (held_out ? table.held_out : table.fit).push_back(std::move(sample));
        return true;
      },
      session);
  return tables;
}

}  // namespace

int calibrate_attention(const FitCommand& command, const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  KernelFitSettings settings{"gpu_attention_plan.yaml", "configurations"};
  settings.leaves_families_out = false;  // enough are held out, and a fit takes a minute
  KernelCalibration calibration(command, device, settings, kernel_factors_folder("attention"),
                                kAttentionSplit, session);
  calibration.run(read_attention_tables(command, device, session), [&](const AttentionTable& table,
                                                                       KernelFitTask& task,
                                                                       const auto& calibrate) {
    if (table.fit.empty()) return;
    const AttentionLibrary library = library_of_table(device.architecture, task.name);
    const AttentionRow& like = table.fit.front().row;
    const AttentionType type = attention_type(like.dtype, like.cache_dtype);
    AttentionFactors factors;
    calibrate_rows(factors, table, task, calibrate, [&](const AttentionRow& call) {
      return program_time(attention_program(device, library, type, factors, call.shape), device);
    });
  });
  return kSuccess;
}

}  // namespace foretell
