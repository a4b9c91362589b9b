// What `foretell calibrate fit` does for every kind of GPU kernels that has one set of factors per
// table of measurements: read the rows of a device, fit, judge on the families held out, write.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "calib/command/calibrate_gemm.hpp"
#include "hw/spec/gpu_spec.hpp"
#include "hw/spec/kernel_factors_file.hpp"
#include "model/tables/kernel_rows.hpp"

namespace foretell {

// The rows of one table on both sides of the split.
template <class Row>
struct KernelTable {
  struct Sample {
    Row row;
    Seconds measured;
    bool makes_interval = false;  // of rows held out
  };
  std::string version;
  std::vector<Sample> fit;
  std::vector<Sample> held_out;
  std::set<std::string> fit_families;
  std::set<std::string> held_out_families;
};

// The measurement of a row. UserError when it is not above zero.
Seconds measured_time(const NamedCells& cells, const CsvRow& row);

// Is a name that a table gives a GPU that of the device?
class DeviceNames {
 public:
  explicit DeviceNames(std::string device) : device_(std::move(device)) {}
  bool is_device(const std::string& name);

 private:
  std::string device_;
  std::map<std::string, bool> known_;
};

// A table to fit, whatever its rows are.
struct KernelFitTask {
  std::string name;
  std::string version;
  std::string families;  // what families are called: "configurations"
  std::size_t fit_families = 0;
  std::size_t held_out_families = 0;
  std::vector<Seconds> fit;
  std::vector<Seconds> held_out;
  std::vector<bool> makes_interval;  // of those held out
  FieldList* fields = nullptr;
  // What answers rows with the factors that `fields` hold now; called once per trial.
  using Predict = std::function<Seconds(bool held_out, std::size_t row)>;
  std::function<Predict()> predictor;
};

template <class Row>
void fill_task(const KernelTable<Row>& table, KernelFitTask& task) {
  task.version = table.version;
  task.fit_families = table.fit_families.size();
  task.held_out_families = table.held_out_families.size();
  for (const auto& sample : table.fit) task.fit.push_back(sample.measured);
  for (const auto& sample : table.held_out) {
    task.held_out.push_back(sample.measured);
    task.makes_interval.push_back(sample.makes_interval);
  }
}

struct KernelFitSettings {
  std::string plan;  // file in calib/fit, unless the command names another
  std::size_t rows = 1500;
  int evaluations = 700;
  int starts = 1;
};

// `kept`: factors that are only judged again; null: they are fitted.
KernelFactorSet fit_kernel_task(KernelFitTask& task, const GpuDeviceSpec& device,
                                const GemmFitCommand& command, const KernelFitSettings& settings,
                                const KernelFactorSet* kept = nullptr);

// The file of factors of a device that fits go into, each written as soon as it is done.
class FactorsOutput {
 public:
  // `folder`: where the program reads factors of the kind from.
  FactorsOutput(const GemmFitCommand& command, const std::filesystem::path& folder,
                const GpuDeviceSpec& device, const std::string& split);
  void put(KernelFactorSet set);  // and says so
  // The set of a table as it is in the file; null when there is none.
  const KernelFactorSet* known(const std::string& table) const;

 private:
  std::filesystem::path path_;
  KernelFactorsFile file_;
};

}  // namespace foretell
