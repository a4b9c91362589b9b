#include "reports/record/text_file.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::size_t kChunk = 1 << 16;
constexpr std::string_view kStandardStream = "-";

gzFile as_gz(void* stream) { return static_cast<gzFile>(stream); }

std::string reason() { return std::strerror(errno); }

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  std::error_code error;
  if (path == kStandardStream) {
    stream_ = gzdopen(dup(STDIN_FILENO), "rb");
  } else {
    if (std::filesystem::is_directory(path, error))
      throw UserError(path + ": is a directory, expected a file");
    errno = 0;
    stream_ = gzopen(path.c_str(), "rb");
    const auto size = std::filesystem::file_size(path, error);
    if (!error) size_on_disk_ = static_cast<double>(size);
  }
  if (stream_ == nullptr) throw UserError(path + ": cannot be read: " + reason());
  gzbuffer(as_gz(stream_), kChunk);
}

InputFile::~InputFile() { gzclose_r(as_gz(stream_)); }

std::size_t InputFile::read(char* buffer, std::size_t size) {
  const int count = gzread(as_gz(stream_), buffer, static_cast<unsigned>(std::min(size, kChunk)));
  int code = Z_OK;
  const char* message = gzerror(as_gz(stream_), &code);
  if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    const std::string what = code == Z_ERRNO       ? reason()
                             : code == Z_BUF_ERROR ? "the compressed file ends too early"
                                                   : std::string(message);
    throw UserError(path_ + ": cannot be read: " + what);
  }
  return static_cast<std::size_t>(count);
}

bool InputFile::fill() {
  buffer_.erase(0, position_);
  position_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kChunk);
  const std::size_t count = read(buffer_.data() + kept, kChunk);
  buffer_.resize(kept + count);
  return count > 0;
}

bool InputFile::read_line(std::string& line) {
  ++line_;
  const auto refuse = [this](const std::string& what) {
    throw UserError(path_ + ":" + std::to_string(line_) + ": " + what);
  };
  std::size_t searched = position_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos) {
    searched = buffer_.size() - position_;  // fill() moves the rest to the front
    if (searched > kMaxLine)
      refuse("the line is longer than " + std::to_string(kMaxLine >> 20) + " MiB; is it text?");
    if (!fill()) break;
    if (buffer_.find('\0', searched) != std::string::npos)
      refuse("holds a zero byte; expected text, or text compressed by gzip");
    end = buffer_.find('\n', searched);
  }
  if (end == std::string::npos) {
    line = buffer_.substr(position_);
    position_ = buffer_.size();
    return !line.empty();
  }
  line = buffer_.substr(position_, end - position_);
  position_ = end + 1;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

double InputFile::consumed() const {
  if (size_on_disk_ <= 0) return 0;
  return std::min(1.0, static_cast<double>(gzoffset(as_gz(stream_))) / size_on_disk_);
}

OutputFile::OutputFile(const std::string& path, Writing writing)
    : path_(path), is_stdout_(path == kStandardStream) {
  if (!is_stdout_ && writing == Writing::kBeside) replaced_ = std::make_unique<ReplacedFile>(path);
  const std::string& written = replaced_ ? replaced_->writing_to() : path_;
  errno = 0;
  file_ = is_stdout_ ? stdout : std::fopen(written.c_str(), "wb");
  if (file_ == nullptr) fail();
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && !is_stdout_) std::fclose(file_);
}

void OutputFile::write(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void OutputFile::flush() {
  errno = 0;
  if (std::fflush(file_) != 0 || std::ferror(file_) != 0) fail();
}

void OutputFile::finish() {
  flush();
  if (!is_stdout_) {
    errno = 0;
    const int result = std::fclose(file_);
    file_ = nullptr;
    if (result != 0 || (replaced_ && !replaced_->commit())) fail();
  }
}

void OutputFile::fail() const {
  throw UserError((is_stdout_ ? "standard output" : path_) +
                  ": cannot be written: " + (errno != 0 ? reason() : "the device refused it"));
}

void check_not_same_file(const std::string& input, const std::string& output) {
  std::error_code error;
  if (input == kStandardStream || output == kStandardStream) return;
  if (std::filesystem::equivalent(input, output, error) && !error) {
    throw UserError(output + ": is the input itself; name another output file");
  }
}

}  // namespace foretell
