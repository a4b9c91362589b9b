#include "hw/spec/shared/follow_override.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

Seconds follow_time(Seconds fitted, Seconds published, Seconds stated) {
  if (fitted >= published) return fitted + (stated - published);
  return fitted * (stated / published);
}

double follow_share(double fitted, double published, double stated) {
  return fitted * (stated / published);
}

std::vector<std::string> follow_overrides(const GpuDeviceSpec& published,
                                          const std::set<std::string>& given,
                                          GpuDeviceSpec& stated) {
  std::vector<std::string> moved;
  const double units = static_cast<double>(stated.sms) / published.sms;
  const double growth = units * (stated.clock.boost / published.clock.boost);
  const auto follow = [&](const std::string& table, std::map<std::string, double>& rates) {
    for (auto& [type, rate] : rates) {
      const std::string path = table + type;
      if (growth == 1 || given.count(path) > 0) continue;
      rate *= growth;
      moved.push_back(path);
    }
  };
  follow("device.matrix_rate.", stated.matrix_rate);
  follow("device.vector_rate.", stated.vector_rate);
  const double power = stated.power / published.power;
  if (power != 1 && given.count("device.sustained_rate") == 0) {
    stated.sustained_rate = std::min(1.0, stated.sustained_rate * std::cbrt(power));
    moved.emplace_back("device.sustained_rate");
  }
  return moved;
}

}  // namespace foretell
