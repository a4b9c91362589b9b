// A made-up device: one array, the SRAM that feeds it, one DMA engine and an HBM. It
// shows what a new kind of device takes (docs/adding.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

struct ToyArraySpec {
  Hertz clock{1e9};
  int rows = 64;     // of the contraction
  int columns = 64;  // of the result, one each
};

struct ToyNpuSpec {
  std::string id = "toy-npu";
  ToyArraySpec array;
  Bytes sram{1 << 20};
  HbmSpec hbm{Bytes(1e9), BytesPerSecond(100e9), Seconds(0)};
};

struct LoadedToyNpu {
  ToyNpuSpec spec;
  std::vector<Parameter> parameters;
};

std::vector<std::string> toy_systems();
bool is_toy_system(std::string_view id);  // a name, or a YAML file with an 'npu_array'
// UserError for values that cannot be.
LoadedToyNpu load_toy_npu(const std::string& id, const std::vector<std::string>& set);

}  // namespace foretell
