#include "model/base/data_root.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace foretell {
namespace {

namespace fs = std::filesystem;

class Prefix {
 public:
  Prefix() : path_(fs::temp_directory_path() / ("foretell-root-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "share" / "foretell" / "hw");
    std::ofstream(path_ / "share" / "foretell" / "hw" / "sources.yaml") << "a: b\n";
  }
  ~Prefix() { fs::remove_all(path_); }
  Prefix(const Prefix&) = delete;
  Prefix& operator=(const Prefix&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
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
