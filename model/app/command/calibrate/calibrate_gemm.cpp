#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

#include "calib/fit/row_division.hpp"
#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/import/record_tables.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/command/calibrate/kernel_calibration.hpp"
#include "model/app/command/calibrate/table_rows.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kProductTableName = "gpu_gemm.csv.gz";
constexpr const char* kProductSplit =
    "families of equal (n, k); a quarter of them, by hash, is held out on every device";
constexpr std::int64_t kMaxCopies = 1'000'000;

struct Product {
  GemmRow row;
  GemmL2State l2;
};
using ProductTable = KernelTable<Product>;

// What a product found in L2: as the row says, else as its library is measured.
GemmL2State l2_state(const NamedCells& cells, const CsvRow& row, const GpuDeviceSpec& device,
                     const GemmRow& product) {
  if (cells.text(row, "weights") == "warm") return {1, false};
  if (!cells.text(row, "copies").empty()) {
    return {static_cast<int>(cells.count(row, "copies", 1, kMaxCopies)), false};
  }
  const GemmType& type = gemm_type(product.dtype);
  const double weights = static_cast<double>(product.shape.n) *
                         static_cast<double>(product.shape.k) * type.weight_bytes;
  return collector_l2_state(product.framework, product.version, type.name,
                            device.l2.capacity.value(), weights);
}

std::string row_class(std::int64_t rows) {
  constexpr std::int64_t kFew = 16;
  constexpr std::int64_t kSome = 256;
  if (rows <= kFew) return "up to 16 rows";
  return rows <= kSome ? "17 to 256 rows" : "more than 256 rows";
}

// Adds a row of the device to its table, whose name it returns; "" when the command leaves it out.
std::string add_row(const FitCommand& command, const GpuDeviceSpec& device, const NamedCells& cells,
                    const CsvRow& row, KernelTables<Product>& tables) {
  ProductTable::Sample sample;
  GemmRow& product = sample.row.row;
  product = read_gemm_row(cells, row);
  if (!command.framework.empty() && product.framework != command.framework) return "";
  if (!command.dtype.empty() && product.dtype != command.dtype) return "";
  sample.row.l2 = l2_state(cells, row, device, product);
  if (product.framework.empty()) product.framework = "measured";
  const GemmShape& shape = product.shape;
  sample.measured = measured_time(cells, row);
  sample.family = fmt::format("{}x{}", shape.n, shape.k);
  sample.op_class = row_class(shape.m);
  sample.makes_interval = makes_interval(shape.n, shape.k);
  std::string name = product.framework + ' ' + product.dtype;
  ProductTable& table = tables[name];
  table.version = product.version.empty() ? "unknown" : product.version;
  (is_held_out_family(shape.n, shape.k) ? table.held_out : table.fit).push_back(std::move(sample));
  return name;
}

// The factors of the same chip with another library, or of the nearest chip.
ChosenGemmFactors nearest_factors(const GpuDeviceSpec& device, const GemmRow& like) {
  const std::string& networks = kernel_libraries().choice().networks;
  KernelFactorsLibrary library(kernel_factors_folder("gemm"));
  ChosenGemmFactors chosen = choose_gemm(library, device, networks, like.dtype);
  if (chosen.set.framework() == like.framework) {  // what an earlier fit of these rows left
    library.hold_out(device.id);
    chosen = choose_gemm(library, device, networks, like.dtype);
  }
  if (chosen.note.empty()) {
    chosen.note = fmt::format("factors of {} on {}", chosen.set.table, device.id);
  }
  return chosen;
}

// Of each table, who measured its rows, on what and when.
using MeasuredBy = std::map<std::string, std::set<std::string>>;

// Tables of few rows, those of which it is known who measured them, start from the nearest kernels.
int fit_tables(const FitCommand& command, const GpuDeviceSpec& device,
               const KernelFitSettings& settings, const KernelTables<Product>& tables,
               const MeasuredBy* measured_by, const Session& session) {
  KernelCalibration calibration(command, device, settings, kernel_factors_folder("gemm"),
                                kProductSplit, session);
  calibration.run(
      tables, [&](const ProductTable& table, KernelFitTask& task, const auto& calibrate) {
        if (table.fit.empty())
          throw UserError(task.name + ": every family of the table is held out");
        const GemmRow& like = table.fit.front().row.row;
        const GemmType& type = gemm_type(like.dtype);
        const GemmLibrary library = gemm_library(device.architecture, like.framework, like.dtype);
        GemmFactors factors;
        FieldList list;
        fields(list, factors);
        task.fields = &list;
        if (measured_by != nullptr) {
          const ChosenGemmFactors nearest = nearest_factors(device, like);
          const std::set<std::string>& provenance = measured_by->at(task.name);
          factors = nearest.set.factors;
          task.prior = nearest.note;
          task.start = factor_texts(list);
          task.provenance = join({provenance.begin(), provenance.end()}, "; ");
        }
        task.predictor = [&]() -> KernelFitTask::Predict {
          const auto timing = std::make_shared<GemmTiming>(device, type, library, factors);
          return [&, timing](bool held_out, std::size_t i) {
            const Product& product = table.row(held_out, i);
            return timing->fastest(product.row.shape, product.l2).total;
          };
        };
        calibrate();
      });
  return kSuccess;
}

}  // namespace

int calibrate_gemm(const FitCommand& command, const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  DeviceNames names(device.id);
  KernelTables<Product> tables;
  take_rows(
      table_or(command.table, kProductTableName),
      [&](const NamedCells& cells, const CsvRow& row) {
        if (!names.is_device(cells.text(row, "gpu"))) return false;
        if (gemm_part(cells.count(row, "n", 1, kMaxGemmSide),
                      cells.count(row, "k", 1, kMaxGemmSide)) == Part::kVault) {
          return false;
        }
        return !add_row(command, device, cells, row, tables).empty();
      },
      session);
  KernelFitSettings settings{"gpu_gemm_plan.yaml", "families"};
  settings.rows = 2400;
  settings.pooled_rows = 600;
  settings.evaluations = 1000;
  settings.starts = 3;
  return fit_tables(command, device, settings, tables, nullptr, session);
}

int calibrate_gemm(const FitCommand& command, const std::vector<MeasuredTable>& measured,
                   const Session& session) {
  const GpuDeviceSpec device = device_to_fit(command);
  DeviceNames names(device.id);
  KernelTables<Product> tables;
  MeasuredBy measured_by;
  for (const MeasuredTable& table : measured) {
    const NamedCells cells(table.header);
    for (const CsvRow& row : table.rows) {
      if (!names.is_device(cells.text(row, "gpu"))) continue;
      // Launches by the host and clocks under the power limit are other terms of the model.
      if (cells.text(row, "launch") == "stream" || cells.text(row, "load") == "sustained") continue;
      const std::string name = add_row(command, device, cells, row, tables);
      if (name.empty()) continue;
      measured_by[name].insert(fmt::format("{}, by {}, {}", cells.text(row, kMeasuredOn),
                                           cells.text(row, kMeasuredBy),
                                           cells.text(row, kMeasuredDate)));
    }
  }
  if (tables.empty()) {
    throw UserError(command.table + ": no product of matrices of " + device.id +
                    " to fit on; measure it with `foretell calibrate measure`");
  }
  KernelFitSettings settings{"gpu_gemm_plan.yaml", "families of equal (n, k)"};
  settings.rows = 1200;
  settings.starts = 3;
  settings.leaves_families_out = false;  // too few rows for more than one fit
  return fit_tables(command, device, settings, tables, &measured_by, session);
}

}  // namespace foretell
