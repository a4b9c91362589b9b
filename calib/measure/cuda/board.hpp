// Clock, power and temperature of a GPU: by NVML where its library is there at run time (its header
// is not in every toolkit), else by the program nvidia-smi, else unknown.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace foretell {

struct BoardReadings {
  std::optional<double> clock_mhz;  // of the SMs
  std::optional<double> power_w;
  std::optional<double> temperature_c;
};

class Board {
 public:
  virtual ~Board() = default;
  virtual BoardReadings read() = 0;
  // The energy of the whole board since its driver was loaded; unknown where the board does not
  // count it. The counter moves every few tens of milliseconds.
  virtual std::optional<double> energy_j() { return std::nullopt; }
  virtual std::string driver() = 0;  // "580.65.06"; "" when unknown
};

// `bus` as the CUDA runtime writes it: "0000:1B:00.0".
std::unique_ptr<Board> open_board(const std::string& bus);

// The line "1980, 512.34, 55, 580.65.06" of nvidia-smi; what is no number is unknown.
BoardReadings parse_smi_line(const std::string& line, std::string& driver);

}  // namespace foretell
