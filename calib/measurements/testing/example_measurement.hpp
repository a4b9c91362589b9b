#pragma once

#include "calib/measurements/measurement.hpp"

namespace foretell {

inline Measurement example_measurement() {
  Measurement example;
  example.device = "h200-sxm";
  example.op = "gemm";
  example.dtype = "bf16";
  example.shape = {{"m", 64}, {"n", 256}, {"k", 128}};
  example.latency_us = 12.5;
  example.spread = 0.01;
  example.repeats = 21;
  example.states = {
      {"l2", "cold"}, {"launch", "graph"}, {"load", "burst"}, {"weights", "rotating"}};
  example.readings = {{"clock_mhz", 1980.0}, {"power_w", std::nullopt}};
  example.provenance = {"a test", "NVIDIA H200", "2026-01-31", "cuBLASLt 13.0"};
  return example;
}

}  // namespace foretell
