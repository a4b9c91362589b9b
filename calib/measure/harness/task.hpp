// What a program that measures works through, and how it talks to the machine it runs on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calib/measurements/measurement.hpp"

namespace foretell {

using TaskShape = std::vector<std::pair<std::string, std::int64_t>>;

// One point to measure. `states` are those of the record: "launch", "weights", "load".
struct MeasureTask {
  std::string op;
  std::string dtype;
  TaskShape shape;
  std::map<std::string, std::string> states;

  std::int64_t size(const std::string& name) const;  // InternalError when the shape has no such
  const std::string& state(const std::string& name) const;  // the same
};

// "gemm bf16 m=64 n=256 k=128 (graph, burst, rotating)".
std::string task_text(const MeasureTask& task);

struct MachineFacts {
  std::string device;   // an id of hw/, else the chip's own name in lower case
  std::string machine;  // the chip as it calls itself, driver
  std::string software;
};

// How far a kernel is from a reference on the CPU.
struct CheckOutcome {
  double error = 0;    // largest of all elements, relative to what is allowed: above 1 is wrong
  std::string detail;  // of the worst element
};

struct TimedTask {
  std::vector<double> samples_us;  // of one operator each
  std::map<std::string, std::optional<double>> readings;
};

// Throws Unavailable for what this machine or a library of it does not have.
class Unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class MeasuredMachine {
 public:
  MeasuredMachine() = default;
  virtual ~MeasuredMachine() = default;
  MeasuredMachine(const MeasuredMachine&) = delete;
  MeasuredMachine& operator=(const MeasuredMachine&) = delete;

  virtual MachineFacts facts() const = 0;
  // Runs the operator of a small task and compares all of its results.
  virtual CheckOutcome check(const MeasureTask& task) = 0;
  virtual TimedTask time(const MeasureTask& task) = 0;
};

}  // namespace foretell
