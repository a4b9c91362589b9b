#include "model/predict/row_programs.hpp"

#include "model/system/gpu_run.hpp"

namespace foretell {

const GpuDeviceSpec& RowDevices::find(const std::string& name) {
  std::unique_ptr<GpuDeviceSpec>& device = devices_[name];
  if (device == nullptr) {
    device = std::make_unique<GpuDeviceSpec>(
        catalog_.load(catalog_.find_device(name), set_).spec.device);
  }
  return *device;
}

void RowPrograms::add(std::size_t row, const GpuDeviceSpec& device, GpuProgram program, double low,
                      double high) {
  Batch& batch = batches_[&device];
  batch.programs.push_back(std::move(program));
  batch.rows.push_back(row);
  batch.intervals.emplace_back(low, high);
}

void RowPrograms::simulate(std::vector<RowTime>& times) const {
  for (const auto& [device, batch] : batches_) {
    const std::vector<Seconds> simulated = simulate_gpu(*device, batch.programs);
    for (std::size_t i = 0; i < simulated.size(); ++i) {
      const auto& [low, high] = batch.intervals[i];
      times[batch.rows[i]] = {simulated[i], simulated[i] * low, simulated[i] * high, ""};
    }
  }
}

}  // namespace foretell
