// A file that takes the place of an earlier one only when it is whole: what is written goes to a
// file beside it, so that a full disk or a mistake half-way leaves the earlier one as it was.
#pragma once

#include <string>

namespace foretell {

class ReplacedFile {
 public:
  // `path` is the file that commit() writes. Where nothing can be written beside it, and for what
  // is no regular file (/dev/full, a pipe), the file is written itself.
  explicit ReplacedFile(const std::string& path);
  ~ReplacedFile();  // without commit(): what was written is removed
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  const std::string& writing_to() const { return writing_to_; }
  // After the file is closed. False, with errno, when the earlier file cannot be replaced.
  bool commit();

 private:
  bool is_beside() const { return writing_to_ != target_; }

  std::string target_;  // symbolic links resolved
  std::string writing_to_;
  bool is_committed_ = false;
};

}  // namespace foretell
