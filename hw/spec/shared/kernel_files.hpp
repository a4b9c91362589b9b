// The files of hw/kernels as a whole: what of them a result counts and is known by.
#pragma once

#include <filesystem>
#include <string>

namespace foretell {

// Values of kind assumed among the shapes of kernels (kernel_shapes.hpp), for results of every
// network: those of loops on CPUs, and the others.
int assumed_shapes_of_gpu_kernels();
int assumed_shapes_of_cpu_loops();

// What a NeuronCore runs as one piece; part of what its systems are known by.
std::filesystem::path neuron_fusion_file(const std::filesystem::path& hw);

// A hash of the contents of all YAML files of `hw`/kernels, read once in a run; "" without that
// folder.
const std::string& kernel_files_hash(const std::filesystem::path& hw);

}  // namespace foretell
