// The CPUs in hw/devices/cpu, the instances in hw/systems/cpu, and the machine that the program
// runs on as the system `host`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/cpu/cpu_spec.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

inline constexpr const char* kHostSystem = "host";

struct LoadedCpuSystem {
  CpuSystemSpec spec;
  std::string spec_id;  // "c7i.2xlarge@<content hash>" of the files, without overrides
  std::vector<Parameter> parameters;
  int assumed_values = 0;  // of kind assumed and not overridden
};

class CpuCatalog {
 public:
  // UserError when a folder is not there or sources.yaml is wrong.
  explicit CpuCatalog(std::filesystem::path hw = hw_folder());

  std::vector<std::string> systems() const;  // sorted, and "host"
  std::vector<std::string> devices() const;

  bool has_system(std::string_view id) const;
  // The id as the data spell it; UserError with the nearest one and the list.
  std::string find_system(std::string_view id) const;

  // Reads, overrides and checks a system. All errors in one UserError. "host" is detected.
  LoadedCpuSystem load(std::string_view system, const std::vector<std::string>& set = {}) const;
  // The same from the text of both documents, for `host` and for tests. What the device is like is
  // looked for beside `device_file`.
  LoadedCpuSystem parse(const std::string& system_yaml, const std::string& device_yaml,
                        const std::string& shown_as, const std::vector<std::string>& set,
                        const std::filesystem::path& device_file = {}) const;

  const Bibliography& bibliography() const { return bibliography_; }

 private:
  std::filesystem::path hw_;
  Bibliography bibliography_;
};

}  // namespace foretell
