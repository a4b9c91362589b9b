// Specs with round or published numbers that tests can calculate with, without reading files.
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

// An Inferentia2 system of one device as published (inf2.xlarge).
inline NeuronSystemSpec exemplar_inf2() {
  using namespace literals;
  NeuronSystemSpec system;
  system.id = "exemplar";
  system.devices = 1;
  system.topology = "none";
  NeuronDeviceSpec& device = system.device;
  device.id = "inferentia2";
  device.cores = 2;
  device.hbm = {32_GiB, 820.0_GBps, 0.0_ns, "", "", 0};
  device.host = {28.0_us, 3.2_GBps, Bytes(0), 0.0_us, 128};
  NeuronCoreSpec& core = device.core;
  core.tensor.clock = 2.8_GHz;
  core.tensor.rows = 128;
  core.tensor.columns = 128;
  core.tensor.max_moving = 512;
  core.tensor.min_interval = 64_cycles;
  core.tensor.load_stationary_speedup = 4;
  core.tensor.cycles_per_column = {{"bf16", 1}, {"fp16", 1}, {"fp8", 1},
                                   {"tf32", 1}, {"fp32", 4}, {"int8", 0.5}};
  core.vector = {1.12_GHz, 128, 64_cycles, 60_cycles, 100_cycles};
  core.scalar = {1.4_GHz, 128, 64_cycles, 60_cycles, 100_cycles};
  core.gpsimd = {1.4_GHz, 128, 64_cycles, 60_cycles, 100_cycles};
  core.sbuf = {24_MiB, 128};
  core.psum = {2_MiB, 128, 8};
  core.dma = {16, 17.0_GBps, 146.0_ns, 8.0_ns, 1300.0_ns};
  device.link = {2, 96.0_GBps, 1.5_us, 100.0_ns};
  device.cc_cores = 6;
  device.collective = {50.0_GBps, 2.0_us,     64_KiB,      1,
                       "ring",    Bytes(1e6), Bytes(56e6), "2, 4, 8, 12, 24"};
  return system;
}

// Twelve of these devices in a ring (inf2.48xlarge).
inline NeuronSystemSpec exemplar_inf2_ring() {
  NeuronSystemSpec system = exemplar_inf2();
  system.devices = 12;
  system.topology = "ring";
  return system;
}

// Several instances of a system, which meet in a network of 100 Gb/s for each device.
inline NeuronSystemSpec exemplar_instances(NeuronSystemSpec system, int instances) {
  using namespace literals;
  system.network = 12.5_GBps * system.devices;
  system.network_hop = 15.0_us;
  system.devices *= instances;
  system.instances = instances;
  return system;
}

// Sixteen devices with four links each in a torus (trn1.32xlarge).
inline NeuronSystemSpec exemplar_trn1_torus() {
  NeuronSystemSpec system = exemplar_inf2();
  system.devices = 16;
  system.topology = "torus-4x4";
  system.device.id = "trainium1";
  system.device.link.count = 4;
  system.device.collective.group_sizes = "2, 8, 32";
  return system;
}

}  // namespace foretell
