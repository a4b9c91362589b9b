// One measured operator on one machine, as programs in calib/measure write it and `foretell
// calibrate import` reads it: a JSON object on one line (schema foretell.measurement/1).
//
//   {"schema":"foretell.measurement/1","device":"h200-sxm","op":"gemm","dtype":"bf16",
//    "m":1024,"n":4096,"k":4096,"latency_us":55.1,"spread":0.012,"repeats":21,
//    "conditions":{"launch":"graph","weights":"rotating","load":"burst","l2":"cold",
//                  "clock_mhz":1980,"power_w":512.3,"temperature_c":55},
//    "provenance":{"source":"…","machine":"…","date":"2026-01-31","software":"…"}}
//
// docs/calibration.md lists the operators and their shape fields. Needs nothing but model/base and
// a JSON library, so that the programs that measure build on a bare machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace foretell {

inline constexpr const char* kMeasurementSchema = "foretell.measurement/1";

struct MeasurementProvenance {
  std::string source;    // who measured: a program, an address, a paper
  std::string machine;   // the chip as it calls itself, driver
  std::string date;      // year-month-day
  std::string software;  // libraries with versions; may be empty
};

struct Measurement {
  std::string device;  // an id of hw/, else the chip's own name in lower case
  std::string op;      // "gemm", "softmax", …
  std::string dtype;   // "bf16", "int8", …
  std::vector<std::pair<std::string, std::int64_t>> shape;  // in the order of the operator
  double latency_us = 0;                                    // median
  double spread = 0;                                        // (p90 - p10) / median
  int repeats = 0;
  std::map<std::string, std::string> states;              // "weights": "rotating"
  std::map<std::string, std::optional<double>> readings;  // "clock_mhz": 1980; nothing: unknown
  MeasurementProvenance provenance;
  std::size_t line = 0;  // of the file that it was read from; 0: not read
};

// Two measurements with the same key measured the same: device, operator, type, shape, states and
// the number of threads.
std::string measurement_key(const Measurement& measurement);

// One line without its end. InternalError for what the schema does not allow.
std::string to_line(const Measurement& measurement);

// UserError that begins with `where` and names the field that is missing or wrong: unknown schema,
// negative sizes, times that are not above zero, provenance without source, machine or date.
Measurement parse_measurement(const std::string& line, const std::string& where);

// Year-month-day as people write it; "2026-13-01" is none.
bool is_date(const std::string& text);

}  // namespace foretell
