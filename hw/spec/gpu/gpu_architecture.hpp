// What the GPUs of one architecture have in common: hw/cores/gpu/<architecture>.yaml.
//
//   id: hopper
//   generation: {value: 9.0, source: CUDAPG, kind: documented}
//   kernels: hopper                  # whose kernels libraries run on it, in hw/kernels/
//   nearest: [hopper, ampere]        # architectures to take factors from, the nearest first
//   …
#pragma once

#include <string>
#include <vector>

#include "model/config/fields.hpp"

namespace foretell {

struct GpuArchitecture {
  std::string id;
  std::string name;
  std::string kernels;               // architecture by whose rules libraries choose kernels
  std::vector<std::string> nearest;  // that come first when a chip without factors takes others'
  double generation = 0;             // compute capability
  // 1 where there is one, else 0.
  int tensor_memory_accelerator = 0;  // a unit that copies tiles into shared memory
  int tensor_memory = 0;              // sums of the matrix pipe in a memory of their own
  int asynchronous_products = 0;      // the matrix pipe reads shared memory itself; no thread waits
  // Share of the dense rate that products whose operands threads load into registers can reach.
  double register_products = 1;
  int scales_blocks = 0;       // the matrix pipe applies the scales of blocks
  int narrow_along_depth = 0;  // operands of 8 bits are multiplied along the depth only
  double l2_port = 0;          // bytes that an SM takes from L2 in a cycle
  double shared_port = 0;      // bytes that an SM takes from shared memory in a cycle
  double exponentials = 0;     // of an SM in a cycle
};

void fields(FieldList& list, GpuArchitecture& architecture);

// All that there are, by id.
std::vector<std::string> gpu_architectures();

// UserError with the nearest name. What it returns is never changed.
const GpuArchitecture& gpu_architecture(const std::string& id);

// How far factors have come from the architecture `from` to `to`: place in the list `nearest`,
// and beyond it by the difference of the generations.
double architecture_distance(const std::string& to, const std::string& from);

}  // namespace foretell
