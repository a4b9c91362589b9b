// What predictors of tables of kernels share: the devices of the rows, and the simulation of all
// rows of a device in one go.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/predict/rows/row_time.hpp"
#include "model/program/grid.hpp"

namespace foretell {

// Which factors the rows of a table take.
struct RowFactors {
  std::string folder;           // like calib/factors, counts before that; "": that alone
  std::string held_out_device;  // what was fitted on it does not count; "": all does
};

// Devices by the names that tables give them, with overrides; each is read once.
class RowDevices {
 public:
  explicit RowDevices(std::vector<std::string> set) : set_(std::move(set)) {}

  // One of the user's is taken for what it is like. UserError for a name that is not known and for
  // overrides that are wrong.
  const GpuDeviceSpec& find(const std::string& name) { return find_system(name).device; }
  // Of the name of a chip, one of it.
  const GpuSystemSpec& find_system(const std::string& name);
  const GpuCatalog& catalog() const { return catalog_; }
  // Of a kind of kernels, as GpuFactorTables names it. UserError for a folder or a device that is
  // not known.
  KernelFactorsLibrary factors(const std::string& kind, const RowFactors& which);
  // The note of a row on a device that was found, with what a device of the user's is taken for.
  std::string with_note(const std::string& name, const std::string& note) const;

 private:
  std::vector<std::string> set_;
  std::string folder_;  // of factors
  GpuCatalog catalog_;
  std::map<std::string, std::string> notes_;
  std::map<std::string, std::unique_ptr<GpuSystemSpec>> systems_;
};

class RowPrograms {
 public:
  // `low` and `high`: the 80 % interval as shares of the time. `note` goes with the row. The device
  // outlives it.
  void add(std::size_t row, const GpuDeviceSpec& device, GridSequence program, double low,
           double high, std::string note = "");

  // Writes the times of the rows that were added. At most one at a time in a process.
  void simulate(std::vector<RowTime>& times) const;

 private:
  struct Batch {
    std::vector<GridSequence> programs;
    std::vector<std::size_t> rows;
    std::vector<std::pair<double, double>> intervals;
    std::vector<std::string> notes;
  };
  std::map<const GpuDeviceSpec*, Batch> batches_;
};

}  // namespace foretell
