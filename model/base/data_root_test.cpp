#include "model/base/data_root.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class Prefix : public TemporaryFolder {
 public:
  Prefix() { write("share/foretell/hw/sources.yaml", "a: b\n"); }
};

TEST(DataRoot, LiesBesideProgramsLibrariesAndPythonModulesOfAPrefix) {
  const Prefix prefix;
  const fs::path data = prefix.path() / "share" / "foretell";
  for (const char* binary : {"bin/foretell", "lib/libforetell.so", "lib/x86_64-linux-gnu/libf.so",
                             "lib/python3/dist-packages/foretell.so"})
    EXPECT_EQ(installed_data(prefix.path() / binary), data) << binary;
}

TEST(DataRoot, APrefixWithoutDataHasNone) {
  const Prefix prefix;
  fs::remove(prefix.path() / "share" / "foretell" / "hw" / "sources.yaml");
  EXPECT_EQ(installed_data(prefix.path() / "bin" / "foretell"), fs::path());
}

// A program of the build folder does not take what is installed somewhere above it.
TEST(DataRoot, APrefixFarAboveIsNotTheProgramsOwn) {
  const Prefix prefix;
  EXPECT_EQ(installed_data(prefix.path() / "src" / "project" / "build" / "release" / "foretell"),
            fs::path());
}

TEST(DataRoot, InTheBuildFolderItIsTheSourceTree) {
  EXPECT_EQ(data_root(), fs::path(FORETELL_SOURCE_DIR));
}

}  // namespace
}  // namespace foretell
