#include "model/predict/rows/row_programs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/gpu/gpu_factor_tables.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/system/gpu_run.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {
namespace {

constexpr double kShown = 0.01;  // of the whole

// What the parts of the kernels would take alone, as shares of the time, the largest first.
std::string parts_of(const GpuDeviceSpec& device, const GridSequence& program, Seconds whole) {
  std::vector<std::pair<std::string, Seconds>> parts = {
      {"launch", {}}, {"thread blocks", {}}, {"DRAM", {}}, {"L2", {}}, {"links", {}}};
  for (const Grid& kernel : program.kernels) {
    parts[0].second += kernel.launch + kernel.memory_latency + kernel.tail;
    Seconds blocks;
    Seconds longest;
    for (const CtaRun& run : kernel.ctas) {
      blocks += static_cast<double>(run.count) * run.duration;
      longest = std::max(longest, run.duration);
    }
    // Few blocks leave SMs without work: the kernel takes one of them at least.
    parts[1].second +=
        std::max(longest, blocks / (static_cast<double>(device.sms) * kernel.ctas_per_sm));
    if (kernel.dram_bytes > Bytes(0)) parts[2].second += kernel.dram_bytes / kernel.dram_rate;
    if (kernel.l2_bytes > Bytes(0)) parts[3].second += kernel.l2_bytes / kernel.l2_rate;
    const ExchangeTime exchange = exchange_time(kernel.exchange);
    parts[4].second += exchange.latency + exchange.moving;
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [name, time] : parts) {
    if (!(time > kShown * whole)) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * (time / whole));
  }
  return text;
}

bool is_other_system(const std::string& name) {
  const std::vector<std::string> neuron = Catalog().systems();
  return std::find(neuron.begin(), neuron.end(), name) != neuron.end() ||
         CpuCatalog().has_system(name);
}

}  // namespace

KernelFactorsLibrary RowDevices::factors(const std::string& kind, const RowFactors& which) {
  folder_ = which.folder;
  const std::string held_out =
      which.held_out_device.empty() ? "" : catalog_.find_device(which.held_out_device);
  return GpuFactorTables::of(which.folder, held_out)->kernels(kind);
}

const GpuSystemSpec& RowDevices::find_system(const std::string& name) {
  std::unique_ptr<GpuSystemSpec>& found = systems_[name];
  if (found == nullptr) {
    if (is_other_system(name)) {
      throw UserError(fmt::format(
          "gpu: {} is no GPU; single kernels are predicted on GPUs alone, there predict a network: "
          "columns system, workload, phase, batch and seq_len",
          name));
    }
    const bool is_system = catalog_.has_system(name);  // a chip is one, too
    LoadedGpuSystem system = catalog_.load(is_system ? name : catalog_.find_device(name), set_);
    notes_[name] = take_for_measured(folder_, system);
    found = std::make_unique<GpuSystemSpec>(std::move(system.spec));
  }
  return *found;
}

std::string RowDevices::with_note(const std::string& name, const std::string& note) const {
  const auto known = notes_.find(name);
  if (known == notes_.end() || known->second.empty()) return note;
  return note.empty() ? known->second : known->second + "; " + note;
}

void RowPrograms::add(std::size_t row, const GpuDeviceSpec& device, GridSequence program,
                      double low, double high, std::string note) {
  Batch& batch = batches_[&device];
  batch.programs.push_back(std::move(program));
  batch.rows.push_back(row);
  batch.intervals.emplace_back(low, high);
  batch.notes.push_back(std::move(note));
}

void RowPrograms::simulate(std::vector<RowTime>& times) const {
  for (const auto& [device, batch] : batches_) {
    const std::vector<Seconds> simulated = simulate_gpu(*device, batch.programs);
    for (std::size_t i = 0; i < simulated.size(); ++i) {
      const auto& [low, high] = batch.intervals[i];
      times[batch.rows[i]] = {simulated[i],
                              simulated[i] * low,
                              simulated[i] * high,
                              "",
                              parts_of(*device, batch.programs[i], simulated[i]),
                              batch.notes[i]};
    }
  }
}

}  // namespace foretell
