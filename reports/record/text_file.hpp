// Text in and out: files, gzip and the standard streams, with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "model/base/replaced_file.hpp"

namespace foretell {

// Reads a file from the beginning; gzip is recognised by its content. "-" is standard input.
class InputFile {
 public:
  explicit InputFile(const std::string& path);  // UserError when it cannot be opened
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Up to `size` bytes into `buffer`; 0 at the end. UserError when the file is damaged.
  std::size_t read(char* buffer, std::size_t size);

  // The next line without its end (LF or CRLF); false at the end of the file. UserError for a line
  // longer than kMaxLine and for a zero byte, which no text has.
  bool read_line(std::string& line);
  static constexpr std::size_t kMaxLine = std::size_t{256} << 20;  // bytes

  // Share of the file on disk that has been consumed, 0 when its size is unknown.
  double consumed() const;
  const std::string& path() const { return path_; }

 private:
  bool fill();

  std::string path_;
  void* stream_ = nullptr;  // gzFile
  double size_on_disk_ = 0;
  std::string buffer_;  // of read_line
  std::size_t position_ = 0;
  std::size_t line_ = 0;  // of read_line
};

// Writes a file, or standard output for "-". Opening it finds a path that cannot be written before
// the work starts. The file takes the place of an earlier one in finish(): whatever goes wrong
// before, a full disk included, the earlier one is as it was. All errors are UserErrors that name
// the file and the reason.
class OutputFile {
 public:
  // kInPlace: for what is read while it is written, as a log is.
  enum class Writing { kBeside, kInPlace };
  explicit OutputFile(const std::string& path, Writing writing = Writing::kBeside);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void flush();
  void finish();  // flushes, checks and closes; call it once, last

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<ReplacedFile> replaced_;  // none: written in place
  std::FILE* file_ = nullptr;
  bool is_stdout_ = false;
};

// UserError when `output` is the file that `input` names: writing it would destroy the input.
void check_not_same_file(const std::string& input, const std::string& output);

}  // namespace foretell
