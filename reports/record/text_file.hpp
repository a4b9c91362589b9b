// Text in and out: files, gzip and the standard streams, with errors that name the file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

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

  // The next line without its end (LF or CRLF); false at the end of the file.
  bool read_line(std::string& line);

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
};

// Writes a file, or standard output for "-". Opening it creates or empties the file, so a path
// that cannot be written is found before the work starts. A full disk is found by write() or
// finish(). All errors are UserErrors that name the file and the reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void flush();
  void finish();  // flushes, checks and closes; call it once, last

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::FILE* file_ = nullptr;
  bool is_stdout_ = false;
};

// UserError when `output` is the file that `input` names: writing it would destroy the input.
void check_not_same_file(const std::string& input, const std::string& output);

}  // namespace foretell
