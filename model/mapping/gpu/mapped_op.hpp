// An operation of a graph as kernels, with what an architect asks about it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/base/units.hpp"
#include "model/program/grid.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

struct MappedOp {
  OpId main = kNoId;
  GridSequence program;
  // measured / predicted of kernels like each of the program: 80 % lay between.
  std::vector<std::pair<double, double>> intervals80;
  bool is_counted = false;  // kernels state their arithmetic and bytes (Grid::work)
  std::string engine;       // "tensor", "vector", "memory", "link"
  Flops flops;
  // The largest kernel: its name, thread blocks per slot of the chip, and the share of the
  // slots that is at work while it runs. Empty and 0 for kernels without thread blocks.
  std::string kernel;
  double waves = 0;
  double occupancy = 0;
  std::string note;     // what a reader should know of its factors; "" when there is nothing
  bool beside = false;  // on the second stream (second_stream.hpp) …
  std::vector<std::size_t> needs;  // … and those before it, on the other one, that it waits for
  TensorId converted = kNoId;      // that it wrote in the type of its product, too

  // The sum of all kernels.
  Bytes dram() const {
    Bytes sum;
    for (const Grid& one : program.kernels) sum += one.moved;
    return sum;
  }
  UnitTimes busy() const {
    UnitTimes sum;
    for (const Grid& one : program.kernels) sum += one.busy;
    return sum;
  }
};

}  // namespace foretell
