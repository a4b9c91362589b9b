#include "model/base/replaced_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class Folder : public TemporaryFolder {
 public:
  std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path()), fs::directory_iterator());
  }
};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ReplacedFile, TheEarlierFileStaysUntilTheNewOneIsWhole) {
  const Folder folder;
  const std::string path = folder.file("report.html");
  write(path, "earlier");
  {
    const ReplacedFile file(path);
    write(file.writing_to(), "half of the n");
    EXPECT_EQ(read(path), "earlier");
  }
  EXPECT_EQ(read(path), "earlier");
  EXPECT_EQ(folder.count(), 1);
  ReplacedFile file(path);
  write(file.writing_to(), "new");
  EXPECT_TRUE(file.commit());
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(folder.count(), 1);
}

TEST(ReplacedFile, PermissionsAndSymbolicLinksOfTheEarlierFileStay) {
  const Folder folder;
  write(folder.file("kept"), "earlier");
  fs::permissions(folder.file("kept"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(folder.file("kept"), folder.file("link"));
  ReplacedFile file(folder.file("link"));
  write(file.writing_to(), "new");
  EXPECT_TRUE(file.commit());
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(read(folder.file("kept")), "new");
  EXPECT_EQ(fs::status(folder.file("kept")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(ReplacedFile, DevicesAndPipesAreWrittenThemselves) {
  EXPECT_EQ(ReplacedFile("/dev/full").writing_to(), "/dev/full");
}

}  // namespace
}  // namespace foretell
