// The operators that are measured on a CPU, through oneDNN, and the few that no library has.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "calib/measure/harness/task.hpp"

namespace foretell {

// A prepared operator: its memory is filled and its kernels are made.
class CpuWork {
 public:
  CpuWork() = default;
  virtual ~CpuWork() = default;
  CpuWork(const CpuWork&) = delete;
  CpuWork& operator=(const CpuWork&) = delete;

  virtual void run() = 0;  // once, on the threads that OpenMP is set to
  // Largest error of a result against a reference, relative to what is allowed: above 1 is wrong.
  virtual double error() { return 0; }
  virtual std::string kernel() const { return ""; }  // as the library calls it
};

// Throws Unavailable for what the library has no kernel for on this machine.
std::unique_ptr<CpuWork> prepare_work(const MeasureTask& task);

// By file: one primitive, the blocks of several, and loops of our own.
std::unique_ptr<CpuWork> prepare_primitive(const MeasureTask& task);
std::unique_ptr<CpuWork> prepare_block(const MeasureTask& task);
std::unique_ptr<CpuWork> prepare_stream(const MeasureTask& task);

std::string library_version();  // "oneDNN 2.6.3 (avx512_core_bf16)"

}  // namespace foretell
