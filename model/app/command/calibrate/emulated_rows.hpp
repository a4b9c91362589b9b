// Types that a CPU has no instructions for: the library computes them in a wider one.
#pragma once

#include <vector>

#include "calib/fit/cpu_fit.hpp"
#include "hw/spec/cpu/cpu_spec.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

// Takes away the rows whose type the device does not multiply in, and says which and how many: no
// factor could be fitted to them, and the others count. UserError when none is left.
void leave_out_emulated(const CpuDeviceSpec& device, std::vector<CpuRow>& rows,
                        const Session& session);

}  // namespace foretell
