#include "calib/measure/cuda/board.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr unsigned kSmClock = 1;  // of nvmlClockType_t
constexpr unsigned kDie = 0;      // of nvmlTemperatureSensors_t
constexpr double kMilli = 1e-3;

// The few functions of NVML that are used, by their names in libnvidia-ml.so.1. All return 0 when
// they have done what they say.
class Nvml : public Board {
 public:
  // Nothing when the library, one of the functions or the GPU is not there.
  static std::unique_ptr<Board> open(const std::string& bus) {
    auto board = std::make_unique<Nvml>();
    board->library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (board->library_ == nullptr || !board->load()) return nullptr;
    if (board->init_() != 0) return nullptr;
    board->initialised_ = true;
    if (board->by_bus_(bus.c_str(), &board->device_) != 0) return nullptr;
    return board;
  }

  Nvml() = default;
  ~Nvml() override {
    if (initialised_) shutdown_();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  BoardReadings read() override {
    BoardReadings readings;
    unsigned value = 0;
    if (clock_(device_, kSmClock, &value) == 0) readings.clock_mhz = value;
    if (power_(device_, &value) == 0) readings.power_w = value * kMilli;
    if (temperature_(device_, kDie, &value) == 0) readings.temperature_c = value;
    return readings;
  }

  std::optional<double> energy_j() override {
    unsigned long long millijoules = 0;
    if (energy_ == nullptr || energy_(device_, &millijoules) != 0) return std::nullopt;
    return static_cast<double>(millijoules) * kMilli;
  }

  std::string driver() override {
    char text[96] = {};
    return driver_(text, sizeof text) == 0 ? text : "";
  }

 private:
  template <class F>
  bool find(F& function, const char* name) {
    function = reinterpret_cast<F>(dlsym(library_, name));
    return function != nullptr;
  }

  bool load() {
    find(energy_, "nvmlDeviceGetTotalEnergyConsumption");  // not of every board
    return find(init_, "nvmlInit_v2") && find(shutdown_, "nvmlShutdown") &&
           find(by_bus_, "nvmlDeviceGetHandleByPciBusId_v2") &&
           find(clock_, "nvmlDeviceGetClockInfo") && find(power_, "nvmlDeviceGetPowerUsage") &&
           find(temperature_, "nvmlDeviceGetTemperature") &&
           find(driver_, "nvmlSystemGetDriverVersion");
  }

  void* library_ = nullptr;
  void* device_ = nullptr;
  bool initialised_ = false;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*by_bus_)(const char*, void**) = nullptr;
  int (*clock_)(void*, unsigned, unsigned*) = nullptr;
  int (*power_)(void*, unsigned*) = nullptr;
  int (*temperature_)(void*, unsigned, unsigned*) = nullptr;
  int (*driver_)(char*, unsigned) = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
};

class Smi : public Board {
 public:
  explicit Smi(const std::string& bus)
      : command_(
            "nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,driver_version "
            "--format=csv,noheader,nounits -i " +
            bus + " 2>/dev/null") {}

  BoardReadings read() override {
    std::FILE* pipe = popen(command_.c_str(), "r");
    if (pipe == nullptr) return {};
    char line[256] = {};
    const bool any = std::fgets(line, sizeof line, pipe) != nullptr;
    pclose(pipe);
    return any ? parse_smi_line(line, driver_) : BoardReadings{};
  }

  std::string driver() override {
    if (driver_.empty()) read();
    return driver_;
  }

 private:
  std::string command_;
  std::string driver_;
};

std::optional<double> number(std::string_view text) {
  const std::optional<double> value = to_number(trim(text));
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

BoardReadings parse_smi_line(const std::string& line, std::string& driver) {
  const std::vector<std::string> cells = split(line, ',');
  if (cells.size() != 4) return {};
  driver = trim(cells[3]);
  return {number(cells[0]), number(cells[1]), number(cells[2])};
}

std::unique_ptr<Board> open_board(const std::string& bus) {
  if (std::unique_ptr<Board> nvml = Nvml::open(bus)) return nvml;
  return std::make_unique<Smi>(bus);
}

}  // namespace foretell
