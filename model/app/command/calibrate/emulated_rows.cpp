#include "model/app/command/calibrate/emulated_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/base/errors.hpp"

namespace foretell {

void leave_out_emulated(const CpuDeviceSpec& device, std::vector<CpuRow>& rows,
                        const Session& session) {
  const auto is_emulated = [&device](const CpuRow& row) {
    return !row.op.dtype.empty() && device.flops_per_cycle.count(row.op.dtype) == 0;
  };
  std::map<std::string, std::size_t> counts;
  for (const CpuRow& row : rows) {
    if (is_emulated(row)) ++counts[row.op.dtype];
  }
  const std::size_t before = rows.size();
  rows.erase(std::remove_if(rows.begin(), rows.end(), is_emulated), rows.end());
  for (const auto& [dtype, count] : counts) {
    session.say(
        fmt::format("foretell: left out, {} of {} points: {} has no instructions for {}, which is "
                    "computed in a wider type there",
                    count, before, device.name, dtype));
  }
  if (rows.empty() && before > 0) {
    throw UserError("every point is of a type that " + device.name +
                    " has no instructions for; measure fp32, too: `foretell calibrate measure "
                    "--device cpu --dtypes fp32`");
  }
}

}  // namespace foretell
