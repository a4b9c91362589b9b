// The kernels of this program, callable from plain C++. All pointers are to device memory; sizes
// are of elements unless they say bytes; matrices lie row by row. Nothing synchronises; errors of a
// launch are left for cudaGetLastError().
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "calib/measure/cuda/element.hpp"

namespace foretell {

// Test values (test_values.hpp) of the seed in a floating-point type or in int8.
void fill_test_values(Element type, void* out, std::int64_t count, std::uint32_t seed,
                      cudaStream_t stream);
void fill_test_rows(std::int32_t* out, std::int64_t count, std::uint32_t seed,
                    std::int64_t table_rows, cudaStream_t stream);

struct MatrixArguments {
  Element type;  // kFloat32, kFloat16 or kBfloat16
  const void* in;
  const void* in2;  // add: the other summand; layer_norm: scale, then shift, of cols each
  void* out;
  std::int64_t rows;
  std::int64_t cols;
};

void launch_copy(const MatrixArguments& matrix, cudaStream_t stream);
void launch_add(const MatrixArguments& matrix, cudaStream_t stream);
void launch_gelu(const MatrixArguments& matrix, cudaStream_t stream);
void launch_softmax(const MatrixArguments& matrix, cudaStream_t stream);
void launch_layer_norm(const MatrixArguments& matrix, cudaStream_t stream);
void launch_reduce(const MatrixArguments& matrix, cudaStream_t stream);  // out: rows
void launch_transpose(const MatrixArguments& matrix, cudaStream_t stream);
// in: table; places: rows indices
void launch_gather(const MatrixArguments& matrix, const std::int32_t* places, cudaStream_t stream);

// FP32, four at a time; counts are multiples of 4.
void launch_stream_read(const float* in, float* sum, std::int64_t count, cudaStream_t stream);
void launch_stream_write(float* out, std::int64_t count, cudaStream_t stream);  // all 1
void launch_stream_copy(const float* in, float* out, std::int64_t count, cudaStream_t stream);
void launch_stream_triad(const float* a, const float* b, float* out, std::int64_t count,
                         cudaStream_t stream);  // a + 3 b

// Keeps the stream busy for a few tens of microseconds and touches no memory, so that what is
// queued after it starts without waiting for the host.
void launch_hold(cudaStream_t stream);

// Adds 1 to what `counter` points to, by one thread; nothing when it is null.
void launch_empty(unsigned int* counter, cudaStream_t stream);

}  // namespace foretell
