// Small helpers around oneDNN's C++ interface.
#pragma once

#include <cstdint>
#include <dnnl.hpp>
#include <string>
#include <vector>

namespace foretell {

dnnl::engine& cpu_engine();
dnnl::stream& cpu_stream();

// "fp32", "bf16", "int8" (signed). Throws Unavailable for others.
dnnl::memory::data_type onednn_type(const std::string& dtype);

// Dense memory with a fixed pattern of small values, the same for the same seed, brought into the
// type and layout of `desc`. Values of 8-bit types are whole.
dnnl::memory filled(const dnnl::memory::desc& desc, int seed);

// The values of a memory in the order of its dimensions.
std::vector<float> values_of(const dnnl::memory& memory);

// The same tensor, dense, in the order of its dimensions.
dnnl::memory::desc plain(const dnnl::memory::dims& dims, dnnl::memory::data_type type);
// With the layout left to the library.
dnnl::memory::desc any_layout(const dnnl::memory::dims& dims, dnnl::memory::data_type type);

}  // namespace foretell
