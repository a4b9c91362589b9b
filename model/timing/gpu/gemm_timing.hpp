// What a matrix product costs on the SMs of a GPU: C[m,n] = A[m,k] B[k,n], A activations, B
// weights.
//
// A candidate is a tile shape and a number of parts into which k is split. Its thread blocks each
// walk their part of k in stages of 128 bytes. A stage takes as long as the slowest of: the matrix
// pipe on the whole tile, padding included; the operands through the port of the SM; the latency
// of the pipeline. Beside that the chip moves through DRAM what misses L2, and all operands
// through L2. The two overlap as far as stages are in flight (shared/closed_network.hpp), where a
// longer kernel hides more of its ramps: stages_ahead * (longer / 20 us)^0.25.
// The library takes the candidate that is fastest by this formula, unless it dispatches by m.
// In a persistent kernel the first tile of an SM takes as long; each one after it only its loop,
// or its results where that is longer: prologue and results hide under the loop of a neighbour.
//
// With stream-K (factor `fixup`) a candidate is also one wave of thread blocks that share the
// stages of all tiles evenly (stream_k.hpp). Each piece of a tile has its prologue; a piece that
// another thread block finishes is handed over as FP32 through the port of the SM:
//
//   thread block = pieces (prologue + stages stage) + results / epilogue
//                + handed over / epilogue + taken over (fixup + FP32 tile / epilogue)
//
// On the vector pipe the threads that multiply also fetch operands from shared memory, so that the
// two add up; and thread blocks that share an SM hide each other's latencies.
#pragma once

#include <cstdint>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/timing/gpu/gemm_library.hpp"

namespace foretell {

struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;  // products of this shape that one kernel does, each with its own B
};

struct GemmTimes {
  bool gemv = false;  // the kernel without tiles
  GemmTile tile;
  int split = 1;
  bool stream_k = false;  // thread blocks share the stages of all tiles evenly
  double resident = 1;    // thread blocks that share an SM
  double thread_blocks = 0;
  double waves = 0;
  Seconds compute;          // all waves
  Seconds memory;           // until the last byte, from DRAM or L2, whichever takes longer
  Seconds prologue;         // of a thread block, and until the first byte
  Seconds extra_launch;     // of a depth that the fast kernels do not take
  Seconds tail;             // reduction of split results
  double stages_ahead = 0;  // in flight, ahead of the one that is computed
  double stretch = 1;       // of a long kernel under the power limit
  Seconds quantise;         // the pass over the activations
  Bytes dram;
  BytesPerSecond dram_rate;  // at which they move
  Bytes l2;
  Seconds total;  // from the kernel before to the end, with everything
};

// Refers to the library and the type; both outlive it.
class GemmTiming {
 public:
  // UserError when the chip has no pipe for the type; it names those that it has.
  GemmTiming(const GpuDeviceSpec& device, const GemmType& type, const GemmLibrary& library,
             const GemmFactors& factors);

  // The candidate that the library takes. Sizes are positive.
  GemmTimes fastest(const GemmShape& shape, const GemmL2State& l2) const;

  // One thread block of the chosen candidate that holds `rows` x `columns` of the result, at most
  // those of its tile. In a persistent kernel those after the first of an SM follow
  // (`follows`) another tile.
  Seconds thread_block(const GemmShape& shape, const GemmTimes& chosen, std::int64_t rows,
                       std::int64_t columns, bool follows = false) const;

  // The same for thread block `block` of a candidate with stream-K, whose tiles count as equal.
  Seconds stream_k_block(const GemmShape& shape, const GemmTimes& chosen, std::int64_t block) const;

  // The pass over the activations that goes ahead, where the type has one: a thread block on an SM
  // takes a row, and beside it bytes move, with the stages ahead of CommonFactors.
  Seconds quantise_row() const { return Seconds(quantise_row_); }
  Bytes quantise_bytes(const GemmShape& shape) const;

  BytesPerSecond dram_rate() const { return BytesPerSecond(dram_rate_); }
  BytesPerSecond l2_rate() const { return BytesPerSecond(l2_rate_); }
  Seconds prologue() const { return Seconds(prologue_); }  // of a pipeline that is full
  double stretch(Seconds time) const;  // of a kernel of that length under the power limit
  const GemmFactors& factors() const { return factors_; }
  const GemmLibrary& library() const { return library_; }
  std::int64_t sms() const { return static_cast<std::int64_t>(sms_); }

 private:
  struct Work;

  Work prepare(const GemmShape& shape, const GemmL2State& l2) const;
  double padding_delay(const Work& work, const GemmTile& tile) const;
  double filling(double stages) const;
  double stage_time(const Work& work, const GemmTile& tile, double rows, double columns,
                    double resident) const;
  // Takes over `best` where this tile is faster; with `split`, only split so often.
  void consider(const Work& work, const GemmTile& tile, int split, GemmTimes& best) const;
  void consider_stream_k(const Work& work, const GemmTile& tile, double transfer,
                         GemmTimes& best) const;
  double stream_k_time(const Work& work, const GemmTile& tile, double blocks,
                       std::int64_t block) const;
  double stages_ahead(double compute, double memory) const;
  GemmTimes fastest_tile(const Work& work) const;
  GemmTimes gemv(const Work& work) const;
  Seconds quantise(const GemmShape& shape) const;

  const GemmType& type_;
  const GemmLibrary& library_;
  GemmFactors factors_;
  double sms_;
  double burst_limit_;  // share of the rate that the power limit leaves the vector pipe at first
  double sm_rate_;      // FLOP/s of one SM that stages reach
  double dram_rate_;
  double l2_capacity_;  // bytes in which data stay
  double sm_feed_;      // B/s of one SM
  double l2_rate_;      // B/s of the chip
  double epilogue_;     // B/s of one SM
  double prologue_;     // the rest in seconds
  double step_;
  double split_;
  double padded_row_;
  double quantise_row_;
  double fixup_;
  double gemv_step_;
  double gemv_column_;
  double gemv_rate_;  // FLOP/s of the chip; 0: not a limit
};

}  // namespace foretell
