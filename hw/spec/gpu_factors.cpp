#include "hw/spec/gpu_factors.hpp"

#include <algorithm>
#include <filesystem>

#include "hw/spec/gemm_factors_file.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kSharedMemoryPort = 128;  // bytes per cycle of an SM [CUDAPG]
constexpr double kL2Port = 64;             // bytes per cycle of an SM [NVA100W]
constexpr double kHardMaximum = 100;       // exponent at which overlap is perfect

// One hash of all files, so that a record says with which numbers it was made.
std::string hash_of_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::string bytes;
  for (const fs::path& path : paths) bytes += read_text_file(path);
  return content_hash(bytes);
}

const GemmFactorsLibrary& library_in(const std::string& folder) {
  static std::map<std::string, GemmFactorsLibrary> libraries;
  const auto known = libraries.find(folder);
  return known != libraries.end()
             ? known->second
             : libraries.emplace(folder, GemmFactorsLibrary(folder)).first->second;
}

}  // namespace

GpuFactors::GpuFactors(const GpuDeviceSpec& device, const std::string& which) : device_(device) {
  if (which == "none") return;
  const fs::path folder = which.empty() ? gemm_factors_folder() : fs::path(which);
  if (!fs::is_directory(folder)) {
    throw UserError("factors: '" + which +
                    "' is no folder; GPUs take 'none' or a folder with files like those in "
                    "calib/factors/gpu/gemm");
  }
  folder_ = folder.string();
  id_ = "gpu@" + hash_of_folder(folder);
}

GemmFactors GpuFactors::gemm(const std::string& type) const {
  if (folder_.empty()) return ideal_gemm_factors(device_);
  return library_in(folder_).choose(device_, "", type).set.factors;
}

std::string GpuFactors::note(const std::string& type) const {
  if (folder_.empty()) return "";
  const std::string note = library_in(folder_).choose(device_, "", type).note;
  return note.empty() ? "" : type + ": " + note;
}

GemmFactors ideal_gemm_factors(const GpuDeviceSpec& device) {
  GemmFactors factors;
  factors.launch = device.launch_floor;
  factors.sm_feed = BytesPerCycle(kSharedMemoryPort);
  factors.l2_feed = BytesPerCycle(kL2Port);
  factors.epilogue = BytesPerCycle(kL2Port);
  factors.overlap = kHardMaximum;
  return factors;
}

}  // namespace foretell
