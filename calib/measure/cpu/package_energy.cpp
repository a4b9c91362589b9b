#include "calib/measure/cpu/package_energy.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace foretell {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in_file(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (!(file >> value) || value < 0) return std::nullopt;
  return value;
}

bool is_package(const std::string& name) {
  return name.find("rapl:") != std::string::npos && std::count(name.begin(), name.end(), ':') == 1;
}

}  // namespace

PackageEnergy::PackageEnergy(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!is_package(entry.path().filename().string())) continue;
    const std::string file = (entry.path() / "energy_uj").string();
    const std::optional<double> begin = number_in_file(file);
    readable_ = readable_ && begin.has_value();
    const double range =
        number_in_file((entry.path() / "max_energy_range_uj").string()).value_or(0);
    counters_.push_back({file, begin.value_or(0), range});
  }
}

std::optional<double> PackageEnergy::joules() const {
  if (counters_.empty() || !readable_) return std::nullopt;
  constexpr double kMicrojoules = 1e6;
  double sum = 0;
  for (const Counter& counter : counters_) {
    const std::optional<double> now = number_in_file(counter.file);
    if (!now) return std::nullopt;
    double passed = *now - counter.begin_uj;
    if (passed < 0) passed += counter.range_uj;
    if (passed < 0) return std::nullopt;
    sum += passed;
  }
  return sum / kMicrojoules;
}

}  // namespace foretell
