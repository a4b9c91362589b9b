#include "model/timing/gpu/tile_fit.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

bool has_tensor_memory(const GpuDeviceSpec& device) {
  return gpu_architecture(device.architecture).tensor_memory > 0;
}

int area(const GemmTile& tile) { return tile.m * tile.n; }

}  // namespace

CtaResources tile_resources(const GpuDeviceSpec& device, const GemmType& type,
                            const GemmLibrary& library, const GemmTile& tile) {
  const double share =
      has_tensor_memory(device) && area(tile) > library.shapes.paired_tile ? 0.5 : 1;
  const double depth = type.step * std::min(1.0, library.stage);
  const double operands = (tile.m * type.activation_bytes + tile.n * type.weight_bytes) * depth;
  CtaResources cta;
  cta.shared_memory = Bytes(library.shapes.stages * share * operands);
  const int sums = has_tensor_memory(device) ? 0 : area(tile);
  cta.threads = std::max(library.shapes.threads, sums / library.shapes.sums_of_thread);
  cta.registers_per_thread =
      library.shapes.other_registers + (sums + cta.threads - 1) / cta.threads;
  return cta;
}

GemmLibrary with_fitting_tiles(const GpuDeviceSpec& device, const GemmType& type,
                               GemmLibrary library) {
  GemmTile smallest;
  const auto keep_fitting = [&](std::vector<GemmTile>& tiles) {
    std::vector<GemmTile> fitting;
    for (const GemmTile& tile : tiles) {
      if (smallest.m == 0 || area(tile) < area(smallest)) smallest = tile;
      const CtaResources cta = tile_resources(device, type, library, tile);
      if (shortages(device, cta).empty()) fitting.push_back(tile);
    }
    tiles = std::move(fitting);
  };
  keep_fitting(library.tiles);
  bool any = !library.tiles.empty();
  if (!library.dispatch.empty()) {
    // Rows whose tile does not fit go to the next kernel, the last ones to the one before.
    std::vector<GemmLibrary::Dispatch> dispatch;
    smallest = {};
    for (GemmLibrary::Dispatch& entry : library.dispatch) {
      keep_fitting(entry.tiles);
      if (!entry.tiles.empty()) dispatch.push_back(std::move(entry));
    }
    library.dispatch = std::move(dispatch);
    any = !library.dispatch.empty();
  }
  if (!any) {
    const std::string kernel = "matrix products in " + type.name + ": the smallest tile, " +
                               std::to_string(smallest.m) + "x" + std::to_string(smallest.n);
    refuse_kernel(device, kernel,
                  shortages(device, tile_resources(device, type, library, smallest)));
  }
  return library;
}

}  // namespace foretell
