// A file of measurements that grows line by line, so that a run that was stopped goes on where it
// was.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "calib/measurements/measurement.hpp"

namespace foretell {

class RecordLog {
 public:
  // Reads what is there. A last line that was not finished is cut off; any other line that is no
  // measurement is a UserError with file:line, as is a file that cannot be written.
  explicit RecordLog(std::string path);
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;

  // By measurement_key().
  bool has(const std::string& key) const { return times_us_.count(key) > 0; }
  std::optional<double> latency_us(const std::string& key) const;
  std::size_t size() const { return times_us_.size(); }

  // On the disk when it returns. UserError when the disk is full.
  void append(const Measurement& measurement);

 private:
  void read();

  std::string path_;
  std::map<std::string, double> times_us_;
  std::FILE* file_ = nullptr;
};

}  // namespace foretell
