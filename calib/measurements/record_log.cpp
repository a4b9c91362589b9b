#include "calib/measurements/record_log.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "model/base/errors.hpp"
#include "model/base/limited_text.hpp"

namespace foretell {

RecordLog::RecordLog(std::string path) : path_(std::move(path)) {
  read();
  file_ = std::fopen(path_.c_str(), "ab");
  if (file_ == nullptr) throw UserError(path_ + ": " + std::strerror(errno));
}

RecordLog::~RecordLog() { std::fclose(file_); }

void RecordLog::read() {
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_)) {
    throw UserError(path_ + ": is no file that measurements can be added to");
  }
  std::ifstream file(path_, std::ios::binary);
  if (!file) return;
  const std::string text = read_limited(file, path_, kMaxLogBytes);
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = text.substr(begin, end - begin);
    const Measurement known = parse_measurement(line, path_ + ":" + std::to_string(number));
    times_us_.emplace(measurement_key(known), known.latency_us);
    begin = end + 1;
  }
  if (begin == text.size()) return;
  if (text[begin] != '{') throw UserError(path_ + ": is no file of measurements; name another");
  std::error_code error;
  std::filesystem::resize_file(path_, begin, error);
  if (error) throw UserError(path_ + ": " + error.message());
}

void RecordLog::append(const Measurement& measurement) {
  const std::string line = to_line(measurement) + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  if (!written || std::fflush(file_) != 0) throw UserError(path_ + ": " + std::strerror(errno));
  times_us_.emplace(measurement_key(measurement), measurement.latency_us);
}

std::optional<double> RecordLog::latency_us(const std::string& key) const {
  const auto found = times_us_.find(key);
  return found == times_us_.end() ? std::nullopt : std::optional<double>(found->second);
}

}  // namespace foretell
