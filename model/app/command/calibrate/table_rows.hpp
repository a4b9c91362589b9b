// The rows of a table of measurements that factors are fitted to.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "calib/import/read_measurements.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/app/command/calibrate/calibrate_kernels.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/terminal/session.hpp"
#include "model/base/units.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// The table that is given, else the one of that name among the measured data. UserError where it is
// not known where these are.
std::string table_or(const std::string& given, const char* name);

// Takes a row; false when it is not one of those that are fitted to. UserError for a wrong cell.
using TakeRow = std::function<bool(const NamedCells& cells, const CsvRow& row)>;

// Every row of the table, in order, but for those that `validate` does not count either by
// calib/validate/excess_times.yaml and impossible_times.yaml; how many is said. UserError, when all
// have been read, that names those that `take` refused, with their lines; nothing may be fitted to
// the others then. What was measured more than once, with times far apart, is taken each time; how
// many rows and how far apart is said.
void take_rows(const std::string& path, const TakeRow& take, const Session& session);

// The same of measurements that were imported, which were compared with one another then; their
// times alone show no excess.
void take_rows(const MeasuredTable& table, const TakeRow& take, const Session& session);

// The measurement of a row. UserError when it is not above zero.
Seconds measured_time(const NamedCells& cells, const CsvRow& row);

// The device that the command names. UserError for one that is not known.
GpuDeviceSpec device_to_fit(const FitCommand& command);

// Is a name that a table gives a GPU that of the device?
class DeviceNames {
 public:
  explicit DeviceNames(std::string device) : device_(std::move(device)) {}
  bool is_device(const std::string& name);

 private:
  std::string device_;
  std::map<std::string, bool> known_;
};

// Is a row of the device, the library and the type that the command names? `dtype`: its column.
bool asks_for(const FitCommand& command, DeviceNames& names, const NamedCells& cells,
              const CsvRow& row, const char* dtype);

// "up to 4K" by powers of eight: which rows are about as large.
std::string size_class(std::int64_t size);

}  // namespace foretell
