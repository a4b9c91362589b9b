// What is known of kernel libraries and data types without a measurement: which tiles there are,
// how operands are stored, who dispatches by the number of rows. The libraries are data
// (hw/kernels/).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {

struct GemmTile {
  int m = 0;
  int n = 0;
  int resident = 1;  // thread blocks of it that an SM runs at a time, of kernels on the vector pipe
};

// How one data type of a table or an operator is stored and computed.
struct GemmType {
  std::string name;             // "bf16", "fp8", "fp8_block", "nvfp4", "int8_wo", …
  std::string rate;             // rate of the chip that counts: "bf16", "fp8", "fp4", "int8"
  double activation_bytes = 2;  // per element, scales included
  double weight_bytes = 2;      // per element, scales included
  int step = 64;                // elements of k in one stage of the pipeline
  bool quantises = false;       // a pass over the activations goes ahead
  double output_bytes = 2;      // per element
};

const std::vector<GemmType>& gemm_types();
// UserError with the nearest name.
const GemmType& gemm_type(const std::string& name);

// The kernels of one library on one architecture for one type.
struct GemmLibrary {
  std::vector<GemmTile> tiles;
  int max_split = 32;         // parts of k; 1: never split
  bool persistent = false;    // the end of a tile hides under the loop of the next one on the SM
  bool split_by_one = false;  // any number of parts up to there; else powers of two
  double stage = 1;           // smallest part of a stage that is walked: 0.5 when half stages are
  bool fills_gradually = false;  // a product of few stages pays less of the prologue
  // The tile is taken by m alone, from the first entry whose `up_to` holds m. Empty: the fastest.
  struct Dispatch {
    std::int64_t up_to;
    std::vector<GemmTile> tiles;
  };
  std::vector<Dispatch> dispatch;
  std::int64_t gemv_rows = 0;          // a kernel without tiles takes over up to this many rows
  bool gemv_competes = false;          // … where it is faster
  std::int64_t fast_depth = 0;         // least k that the fast kernels take; 0: any
  bool tunes_by_power_of_two = false;  // tile and split are those of the next power of two of rows
  int cluster_rows = 1;  // tiles along m that run together: their number is rounded up to it
  std::int64_t cluster_from = 0;  // … for more rows than this
  std::int64_t padded_rows = 0;   // rows above which tiles that are not full are slow; 0: none
  bool whole_edges = false;       // tiles at the edges take as long as whole ones
  ProductShapes shapes = kernel_shapes().products;
  bool vector_pipe = false;  // multiplied by the threads themselves, out of shared memory
};

// What the library `framework` calls on `architecture` for the type; one without a file in
// hw/kernels/ calls what is common to all.
GemmLibrary gemm_library(const std::string& architecture, const std::string& framework,
                         const std::string& type);

// The FP32 kernels of the vendor's library that do without the matrix pipe: of one product, or of
// many of the same shape in one launch, which other tiles serve.
GemmLibrary vector_library(const std::string& architecture, bool batched);

// How much of its operands a kernel finds in L2 from the call before: in between, this many copies
// of the weights were used, each with activations of its own or all with the same.
struct GemmL2State {
  int weight_copies = 1;
  bool own_activations = false;
};

// The state in which the collector of published tables measured a row of `framework` and `version`
// on a chip with this much L2, by the bytes of the weights.
GemmL2State collector_l2_state(const std::string& framework, const std::string& version,
                               const std::string& type, double l2_bytes, double weight_bytes);

}  // namespace foretell
