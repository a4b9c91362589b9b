// Tables of kind power: board watts of a kernel whose latency is given.
//
// Columns: gpu, table ("gemm/gemm", "attention/context_attention" …), kernel, shape
// ("m=…;n=…;k=…" and the like), latency_us [, power_limit_w]. The answer is what the board draws
// while the kernel is repeated without gaps: pred_w, never above what its limit allows; of tests
// that begin on an idle board, what a meter shows of it that averages (PowerConditions).
#pragma once

#include <map>
#include <string>

#include "calib/fitted/shared/energy_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"

namespace foretell {

struct PowerRow {
  std::string gpu;
  std::string kernel_class;  // "gemm fp8", "context attention bf16"
  std::string family;        // that is fitted to, or judges, as a whole: "gemm n=…,k=…"
  Seconds latency;
  Watts limit;         // 0: that of the board
  double queries = 0;  // of a sequence; 0: not attention
  double experts = 0;  // of the network; 0: not a layer of experts
  double rows = 0;     // of a product; 0: none
  double shown = 1;    // by the meter, of what the kernel adds to the idle board
  EnergyWork work;
};

// UserError for a cell that is wrong and a table whose work is not counted.
PowerRow read_power_row(const NamedCells& cells, const CsvRow& row);

// Kernels shorter than this are not judged: meters average over much longer.
inline constexpr double kShortestPowerUs = 1000;

// Is the family one of those that judge (calib/validate/part.hpp)? Never those of the vault.
bool judges_power(const std::string& family);
// Of these, is the interval made from it, rather than judged on it?
bool makes_power_interval(const std::string& family);

// What the meter shows.
Watts power_of_row(const PowerRow& row, const GpuDeviceSpec& device, const DeviceEnergy& energy);

class PowerPredictor {
 public:
  // `factors`: a folder like calib/factors, "": that.
  PowerPredictor(const CsvRow& header, std::vector<std::string> set, std::string factors);
  RowPrediction predict(const CsvRow& cells);

 private:
  struct Device {
    GpuDeviceSpec spec;
    DeviceEnergy energy;
    std::string likeness;  // of one of the user's
  };
  NamedCells cells_;
  std::vector<std::string> set_;
  std::string factors_;
  GpuCatalog catalog_;
  std::map<std::string, Device> devices_;
};

// Rows are closed forms: answered one by one as they come.
class PowerBatch {
 public:
  PowerBatch(const CsvRow& header, const std::vector<std::string>& set, const std::string& factors,
             BatchPredictor::Sink sink)
      : predictor_(header, set, factors), sink_(std::move(sink)) {}
  void add(CsvRow row, const std::string& problem);
  void finish() {}

 private:
  PowerPredictor predictor_;
  BatchPredictor::Sink sink_;
};

}  // namespace foretell
