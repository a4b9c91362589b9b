// What was done, counted for its energy: operations by type and bytes by level. Counts of one entry
// of a program, of an operator, or sums of many.
#pragma once

#include "model/base/units.hpp"

namespace foretell {

struct EnergyWork {
  Flops matrix_32;  // on the matrix unit, operands of 32 bits (TF32 among them)
  Flops matrix_16;
  Flops matrix_8;
  Flops matrix_4;
  Flops vector;             // on lanes; 1 multiply-add = 2 FLOP
  double exponentials = 0;  // special functions
  Bytes dram;               // HBM, GDDR or DDR
  Bytes l2;                 // between L2 and the SMs, those of dram among them
  Bytes sram;               // in and out of SBUF and PSUM
  Bytes link;               // sent to other devices
  Seconds busy;             // the cores are occupied

  EnergyWork& operator+=(const EnergyWork& other) {
    matrix_32 += other.matrix_32;
    matrix_16 += other.matrix_16;
    matrix_8 += other.matrix_8;
    matrix_4 += other.matrix_4;
    vector += other.vector;
    exponentials += other.exponentials;
    dram += other.dram;
    l2 += other.l2;
    sram += other.sram;
    link += other.link;
    busy += other.busy;
    return *this;
  }
};

inline EnergyWork operator*(const EnergyWork& work, double count) {
  return {work.matrix_32 * count, work.matrix_16 * count, work.matrix_8 * count,
          work.matrix_4 * count,  work.vector * count,    work.exponentials * count,
          work.dram * count,      work.l2 * count,        work.sram * count,
          work.link * count,      work.busy * count};
}

// Matrix arithmetic by the width of an operand.
inline void add_matrix_flops(EnergyWork& work, double bits, Flops flops) {
  constexpr double kNibble = 4;
  constexpr double kByte = 8;
  constexpr double kHalf = 16;
  Flops& count = bits > kHalf     ? work.matrix_32
                 : bits > kByte   ? work.matrix_16
                 : bits > kNibble ? work.matrix_8
                                  : work.matrix_4;
  count += flops;
}

}  // namespace foretell
