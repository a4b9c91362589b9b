#include "model/base/replaced_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace foretell {
namespace {

namespace fs = std::filesystem;

// Whose permissions and links stay: that of the earlier file.
bool can_be_replaced(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (fs::exists(status)) {
    const bool is_alone = fs::hard_link_count(target, error) == 1;
    if (!fs::is_regular_file(status) || !is_alone || access(target.c_str(), W_OK) != 0)
      return false;
  }
  const fs::path folder = target.parent_path();
  return access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path) : target_(path), writing_to_(path) {
  std::error_code error;
  if (const fs::path real = fs::canonical(path, error); !error) target_ = real.string();
  writing_to_ = target_;
  if (fs::path(target_).has_filename() && can_be_replaced(target_))
    writing_to_ += ".part-" + std::to_string(getpid());
}

ReplacedFile::~ReplacedFile() {
  if (is_committed_ || !is_beside()) return;
  std::error_code error;
  fs::remove(writing_to_, error);
}

bool ReplacedFile::commit() {
  is_committed_ = true;
  if (!is_beside()) return true;
  std::error_code error;
  if (const fs::file_status earlier = fs::status(target_, error); !error && fs::exists(earlier))
    fs::permissions(writing_to_, earlier.permissions(), error);
  fs::rename(writing_to_, target_, error);
  if (!error) return true;
  errno = error.value();
  std::error_code ignored;
  fs::remove(writing_to_, ignored);
  return false;
}

}  // namespace foretell
