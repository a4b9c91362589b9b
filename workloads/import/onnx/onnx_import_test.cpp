#include "workloads/import/onnx/onnx_import.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModels = "/usr/share/libonnx-testdata/data";

std::vector<std::string> models() {
  std::vector<std::string> paths;
  if (!fs::is_directory(kModels)) return paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kModels)) {
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path().string());
  }
  return paths;
}

// Every model of the operators' own conformance tests is imported, or refused with the name of the
// operator; nothing else happens.
TEST(OnnxConformance, NineOfTenAreImportedAndTheRestRefusedByName) {
  const std::vector<std::string> paths = models();
  if (paths.empty()) GTEST_SKIP() << "skipped, no libonnx-testdata";
  std::size_t imported = 0;
  std::map<std::string, int> refused;
  for (const std::string& path : paths) {
    try {
      const ImportedOnnx model = import_onnx(path, {});
      ++imported;
      EXPECT_FALSE(model.graph.tensors().empty()) << path;
    } catch (const UserError& error) {
      std::string reason = error.what();
      EXPECT_EQ(reason.rfind(path, 0), 0u) << reason;
      ++refused[reason.substr(std::min(reason.size(), path.size() + 2))];
    }
  }
  const double share = static_cast<double>(imported) / static_cast<double>(paths.size());
  std::printf("imported %zu of %zu conformance models, %.1f %%\n", imported, paths.size(),
              100 * share);
  for (const auto& [reason, count] : refused) std::printf("  %d x %s\n", count, reason.c_str());
  RecordProperty("imported", static_cast<int>(imported));
  EXPECT_GE(share, 0.9);
}

}  // namespace
}  // namespace foretell
