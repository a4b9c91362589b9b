#include "model/base/data_root.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "FORETELL_ROOT";
constexpr int kMaxLevels = 3;  // lib/python3/dist-packages to the prefix

bool has_data(const fs::path& root) {
  std::error_code error;
  return fs::is_regular_file(root / "hw" / "sources.yaml", error);
}

// The file that holds this code: a shared library, or the program.
fs::path own_binary() {
  std::error_code error;
  Dl_info info{};
  const auto* code = reinterpret_cast<const void*>(&installed_data);
  if (dladdr(code, &info) != 0 && info.dli_fname != nullptr) {
    const std::string name = info.dli_fname;
    const bool is_library = name.find(".so") != std::string::npos;
    if (is_library) return fs::canonical(name, error);
  }
  return fs::read_symlink("/proc/self/exe", error);
}

fs::path find_root() {
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    if (!has_data(named)) {
      throw UserError(std::string(kVariable) + ": " + named +
                      ": no hw/sources.yaml in it; name the folder that holds hw/, workloads/, "
                      "calib/ and reports/, or leave it unset");
    }
    return fs::path(named).lexically_normal();
  }
  const fs::path installed = installed_data(own_binary());
  return installed.empty() ? fs::path(FORETELL_SOURCE_ROOT) : installed;
}

}  // namespace

fs::path installed_data(const fs::path& binary) {
  fs::path prefix = binary.parent_path();
  for (int level = 0; level < kMaxLevels; ++level) {
    prefix = prefix.parent_path();
    fs::path data = prefix / "share" / "foretell";
    if (has_data(data)) return data;
  }
  return {};
}

const fs::path& data_root() {
  static const fs::path kRoot = find_root();
  return kRoot;
}

}  // namespace foretell
