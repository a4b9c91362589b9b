// A library with the SONAME and the functions of NVML that Board loads, for one GPU at the bus
// 0000:1B:00.0: a test loads it first, so the dynamic linker takes it for the vendor's. Its energy
// counter runs as long as it is asked: 250 J are added before each answer.
#include <cstring>

// The names are the vendor's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int nvml_stand_in_open = 0;   // nvmlInit_v2 without its nvmlShutdown
int nvml_stand_in_fault = 0;  // what every reading returns; 3 is NVML_ERROR_NOT_SUPPORTED

int nvmlInit_v2() {
  ++nvml_stand_in_open;
  return 0;
}

int nvmlShutdown() {
  --nvml_stand_in_open;
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  constexpr int kNotFound = 6;
  static int gpu = 0;
  if (std::strcmp(bus, "0000:1B:00.0") != 0) return kNotFound;
  *device = &gpu;
  return 0;
}

int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
  *mhz = type == 1 ? 1755 : 2619;  // of the SMs, of the memory
  return nvml_stand_in_fault;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 512340;
  return nvml_stand_in_fault;
}

int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 55 : 71;
  return nvml_stand_in_fault;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  constexpr char kDriver[] = "580.65.06";
  if (size < sizeof kDriver) return 7;
  std::memcpy(text, kDriver, sizeof kDriver);
  return nvml_stand_in_fault;
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  static unsigned long long counted = 0;
  *millijoules = counted += 250000;
  return nvml_stand_in_fault;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
