// Energy of the processors' packages by RAPL, as Linux shows it in powercap files:
//
//   FOLDER/intel-rapl:0/energy_uj              counts up, in microjoules
//   FOLDER/intel-rapl:0/max_energy_range_uj    where it begins anew
//
// Entries with two numbers (intel-rapl:0:0) are parts of a package and do not count. On most
// machines only the administrator reads the counters; in virtual machines there are none.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace foretell {

class PackageEnergy {
 public:
  explicit PackageEnergy(const std::string& folder = "/sys/class/powercap");
  // The sum of all packages since the construction; unknown when one of them cannot be read. One
  // lap of a counter is noticed, two are not: at 200 W a lap takes minutes.
  std::optional<double> joules() const;

 private:
  struct Counter {
    std::string file;
    double begin_uj = 0;
    double range_uj = 0;  // 0: not known
  };
  std::vector<Counter> counters_;
  bool readable_ = true;
};

}  // namespace foretell
