// How fast grids progress that run on a GPU at the same time.
//
// Alone, a grid needs a share of each resource: of the places for thread blocks, of the pipes, of
// what L2 and DRAM serve. Together they progress at speeds (1: as alone) whose demands fit every
// resource, max-min fair: all speeds rise evenly until a resource is taken up; the grids that need
// it stay there, the others go on rising, up to 1.
//
// Two laws follow for any demands up to 1 (fluid_share_test.cpp): where nothing is held, the speeds
// sum up to 1 or more, so that grids together are never slower than one after the other; and no
// resource serves more than it has, so that they are never faster than the busiest resource.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace foretell {

// The first is places for thread blocks; the last three are what they hold of their SM besides.
enum class GridResource : std::size_t {
  kSms,
  kTensorPipe,
  kVectorPipe,
  kSpecial,
  kL2,
  kDram,
  kThreads,
  kRegisters,
  kSharedMemory
};
inline constexpr std::size_t kGridResources = 9;
// What thread blocks take of their SM for as long as they are there.
inline constexpr std::array kPlaceResources = {GridResource::kSms, GridResource::kThreads,
                                               GridResource::kRegisters,
                                               GridResource::kSharedMemory};
const char* to_string(GridResource resource);  // "sms", "tensor", …, "shared_memory"

// The share of each resource while the grid runs alone: between 0 and 1.
using GridDemand = std::array<double, kGridResources>;

// The speed of each of them, above 0 and up to 1; `taken` of each resource, below 1, is held
// whatever they do.
std::vector<double> fair_speeds(const std::vector<GridDemand>& demands, GridDemand taken = {});

}  // namespace foretell
