// Facts about the libraries that run the kernels of today's language models
// (hw/kernels/layers/layer_kernels.yaml): how data types are stored, which tiles a library has,
// what its kernels leave out. Not fitted; each entry says where it is from.
#pragma once

#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

// How a data type of a table is stored and computed.
struct LayerType {
  std::string name;
  std::string rate;             // rate of the chip that counts: "bf16", "fp8", "fp4"
  std::string other_rate;       // … where the chip has none
  double activation_bytes = 2;  // per element, scales included
  double weight_bytes = 2;
};

struct LayerTile {
  double rows = 128;
  double columns = 128;
};

struct LayerKernelFacts {
  std::string kernels;  // beginning of "<framework> <kernel>" of a table
  std::vector<LayerTile> tiles;
  double stage_bytes = 128;       // of weights along k, in one stage of the pipeline
  bool gated = true;              // experts with three matrices
  bool longest_first = true;      // prompts: order of the tiles
  bool absorbed_prompts = false;  // prompts ask the latents themselves, heads side by side in tiles
  double head_tile = 64;          // tokens of latent attention: heads that a thread block serves;
                                  // scans: values of a head
  double wire_bytes = 2;          // exchange: per element of what is sent
  double gpus_per_node = 8;       // exchange: that links connect
  BytesPerSecond network_rate;    // … of one GPU to other nodes, one direction
  bool per_choice = false;        // exchange: a token is sent once for each expert, not each GPU
};

class LayerKernelLibrary {
 public:
  LayerKernelLibrary();  // reads the file; UserError with file:line

  // UserError with the nearest name; types that share a rate the chip does not have compute in
  // their other rate.
  const LayerType& type(const std::string& name) const;
  // The first entry of the file whose `kernels` begin the text "<framework> <kernel>".
  const LayerKernelFacts& facts(const std::string& kernels) const;

 private:
  std::vector<LayerType> types_;
  std::vector<LayerKernelFacts> facts_;
};

}  // namespace foretell
