// libFuzzer: any bytes are an ONNX file that is imported or refused with a UserError; never a
// crash, a leak or a hang.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/onnx/onnx_import.hpp"

namespace {

// One file of this process, in memory where the system has such a folder.
std::string scratch_file() {
  const std::filesystem::path memory = "/dev/shm";
  const std::filesystem::path folder =
      std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
  return folder / ("foretell_fuzz_" + std::to_string(std::random_device()()) + ".onnx");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string kFile = scratch_file();
  std::ofstream(kFile, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    foretell::import_onnx(kFile, {{"batch", 2}, {"seq", 8}});
  } catch (const foretell::UserError&) {
    // what the file is refused with
  }
  std::filesystem::remove(kFile);
  return 0;
}
