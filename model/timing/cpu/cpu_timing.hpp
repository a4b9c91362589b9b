// What primitives of a CPU kernel library take: pure formulas from shapes to the chunks of a
// parallel loop, and from the loop to its time.
//
// Products (matrix products, convolutions by implicit matrices) follow Goto and van de Geijn,
// "Anatomy of high-performance matrix multiplication" (2008): the columns are cut into panels of
// four vector registers, the rows into register blocks, and the inner loop over k runs at the rate
// of the multiply-add unit on whole vectors, with a start and an end per register block.
// Everything that works row by row takes cycles per vector register and moves its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calib/fitted/cpu/cpu_factors.hpp"
#include "hw/spec/cpu/cpu_spec.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/program/loop.hpp"

namespace foretell {

// Bytes of an operation by where they are found.
struct CpuTraffic {
  Bytes l2;
  Bytes l3;
  Bytes dram;
  Bytes l1 = Bytes(0);  // for free
  Bytes all() const { return l1 + l2 + l3 + dram; }
};

// What both read beyond the first cache.
inline CpuTraffic operator+(const CpuTraffic& a, const CpuTraffic& b) {
  return {a.l2 + b.l2, a.l3 + b.l3, a.dram + b.dram};
}

struct CpuProduct {
  std::int64_t batch = 1;
  std::int64_t m = 1, n = 1, k = 1;
  std::string dtype;           // of the operands: "fp32", "bf16", "fp16", "int8"
  bool packed_weights = true;  // laid out ahead as the inner loop reads them
  CpuTraffic weights;          // k x n, of all of the batch
  CpuTraffic others;           // activations and results, and what an epilogue reads
  // Vector registers of results: that a polynomial follows on, that a bias and residual are added
  // to, that are brought from eight bits to fp32, and of operands and results in strided rows.
  double gelu = 0, residual = 0, widen = 0, strided = 0;
};

// Square kernels; each pixel of a result is a row of an implicit product.
struct CpuConvolution {
  std::int64_t batch = 1;
  std::int64_t channels = 1, filters = 1, kernel = 1;
  std::int64_t out_height = 1, out_width = 1;
  std::string dtype;
  CpuTraffic weights;
  CpuTraffic others;
  double gelu = 0, residual = 0, widen = 0;  // as of a product
};

enum class CpuRowOp { kCopy, kConvert, kAdd, kGelu, kReduce, kNorm, kSoftmax };

struct CpuRows {
  CpuRowOp op = CpuRowOp::kAdd;
  std::int64_t rows = 1, cols = 1;
  std::string dtype = "fp32";  // of a copy, or that values are brought to
  bool narrow = false;         // stored in less than four bytes, worked on as fp32
  double passes = 1;           // operations on each value
  CpuTraffic traffic;
};

class CpuTiming {
 public:
  // UserError for a number of threads that the system does not have.
  CpuTiming(const CpuSystemSpec& system, const CpuFactors& factors, int threads);

  // UserError for a type that the CPU does not multiply.
  Loop product(const CpuProduct& product) const;
  Loop convolution(const CpuConvolution& convolution) const;
  // A product of one row where software keeps plain weights: its library divides it among no
  // threads (PTGEMV in hw/sources.yaml).
  Loop vector_product(const CpuProduct& of_one_row) const;
  Loop rows(const CpuRows& rows) const;
  // Moves bytes, a register per cycle at most, and does no arithmetic.
  Loop copy(const CpuTraffic& traffic) const;
  // Weights of a convolution with windows of this many pixels, read from where they lie and written
  // in another order, into lines that are read first: a loop for each order that the software of
  // the system makes in every call, the later ones from what the one before has written. None where
  // it does so ahead.
  std::vector<Loop> weight_layouts(const CpuTraffic& weights, std::int64_t window) const;
  // Threads touch the pages of a buffer for the first time, which the system clears; nothing where
  // the buffer is one that was there before. UserError for pages of no size.
  std::optional<Loop> fresh_pages(Bytes buffer) const;
  // Threads that fork and join and do nothing.
  Loop fork() const;

  // Where `bytes` are found when `footprint` is touched between two uses of them.
  CpuTraffic found(Bytes bytes, Bytes footprint) const;
  // What the first call of an operator takes more when this many bytes went through the caches
  // since its last: its code and the tables of pages have left them, as far as the bytes exceed the
  // third.
  Seconds cold_call(Bytes footprint) const;
  Bytes l2_capacity() const;  // of all threads together
  Bytes l3_capacity() const;  // in which data are found again

  const CpuFactors& factors() const { return factors_; }
  const CpuSystemSpec& system() const { return system_; }
  int threads() const { return threads_; }
  // Values of four bytes that a vector register holds.
  std::int64_t lanes() const { return lanes_; }

 private:
  struct Block;
  Loop empty_loop() const;
  void add_blocks(const Block& block, std::int64_t rows_of_one, Loop& loop) const;
  // Values along the summed dimension of a tile of the matrix unit; 0: the type has none.
  std::int64_t tile_depth(const std::string& dtype) const;
  // Multiply-adds per result, of whole packs or tiles.
  double depth_of(std::int64_t k, const std::string& dtype) const;
  CpuTraffic read_again(const CpuProduct& product) const;
  Seconds cycles(double count) const { return Cycles(count) / system_.device.clock.all_core; }
  Seconds feed(const CpuTraffic& traffic) const;

  CpuSystemSpec system_;
  CpuFactors factors_;
  LoopShapes shapes_ = kernel_shapes().loops;
  int threads_;
  std::int64_t lanes_;
};

// The time of a loop on cores that share the memory evenly: what model/components executes, for
// fits. Cores that are done leave their share to the others there, so this is never shorter.
Seconds loop_time(const Loop& loop);

}  // namespace foretell
