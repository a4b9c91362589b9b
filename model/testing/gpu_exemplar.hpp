// A made-up GPU with round numbers, for tests.
#pragma once

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/link_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// 100 SMs at 1 GHz, 100 TFLOP/s in BF16 and 200 in FP8, 10 MB of L2, 1 TB/s of DRAM.
inline GpuDeviceSpec exemplar_gpu() {
  GpuDeviceSpec gpu;
  gpu.id = "exemplar";
  gpu.name = "Exemplar GPU";
  gpu.architecture = "hopper";
  gpu.sms = 100;
  gpu.clock = {Hertz(1e9), Hertz(1e9)};
  gpu.sm = {65536, 2048, 32, Bytes(228 * 1024.0), Bytes(227 * 1024.0)};
  gpu.matrix_rate = {{"bf16", 100e12}, {"fp8", 200e12}};
  gpu.l2.capacity = Bytes(10e6);
  gpu.hbm = {Bytes(16e9), BytesPerSecond(1e12), Seconds(0), "", "", 0};
  gpu.stream_floor = Seconds(5e-6);
  gpu.sustained_rate = 0.9;
  gpu.l2.resident_share = 0.5;
  gpu.launch_floor = Seconds(2e-6);
  gpu.power = Watts(300);
  return gpu;
}

inline GemmFactors exemplar_gemm_factors() {
  GemmFactors factors;
  factors.mma_efficiency = 0.8;
  factors.dram_efficiency = 0.8;
  factors.launch = Seconds(2e-6);
  factors.prologue = Cycles(500);
  factors.step = Cycles(100);
  factors.sm_feed = BytesPerCycle(1e3);
  factors.l2_feed = BytesPerCycle(64);
  factors.l2_share = 0.5;
  factors.stages_ahead = 2.1;
  factors.epilogue = BytesPerCycle(32);
  factors.split = Cycles(2000);
  return factors;
}

inline LinkFactors exemplar_link_factors() {
  LinkFactors factors;
  factors.launch = Seconds(5e-6);
  factors.link_efficiency = 0.8;
  factors.local_rate = BytesPerSecond(1e12);
  factors.hop_ll = Seconds(0.7e-6);
  factors.hop_ll128 = Seconds(1e-6);
  factors.hop_simple = Seconds(2e-6);
  factors.cost_ll = 8;
  factors.cost_ll128 = 1.3;
  factors.start_simple = Seconds(10e-6);
  factors.peer = Seconds(0.3e-6);
  factors.barrier = Seconds(0.2e-6);
  factors.two_shot = Seconds(5e-6);
  return factors;
}

}  // namespace foretell
