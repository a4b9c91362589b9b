// A GPU as the machine that measurements are made on.
#pragma once

#include <memory>
#include <string>

#include "calib/measure/harness/task.hpp"

namespace foretell {

// How many copies of what an operator reads are used in turn, so that none of them is found in the
// L2 of the use before: 1 for warm data; else enough to fill twice the L2, at most kMaxCopies and
// no more than `free_bytes` have room for.
inline constexpr int kMaxCopies = 64;
int copies_for(const MeasureTask& task, double l2_bytes, double free_bytes);

// `gpu` by the order of the CUDA runtime; `device_name` of the records, "" by the name of the
// chip. UserError, saying what is missing, when there is no such GPU.
std::unique_ptr<MeasuredMachine> open_cuda_machine(int gpu, const std::string& device_name,
                                                   int repeats);

}  // namespace foretell
