#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "calib/measure/cuda/kernels.hpp"
#include "calib/measure/cuda/test_values.hpp"

namespace foretell {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr int kTile = 32;     // of a transpose
constexpr int kTileRows = 8;  // threads of a tile along its rows
constexpr float kEpsilon = 1e-5F;
constexpr std::int64_t kVectorBytes = 16;
constexpr std::int64_t kMaxBlocks = 1 << 20;
constexpr long long kHeldCycles = 80'000;  // 40 us at 2 GHz: longer than a host takes for a graph

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T>
__device__ T from_float(float value);
template <>
__device__ float from_float<float>(float value) {
  return value;
}
template <>
__device__ __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

template <class T>
struct alignas(kVectorBytes) Pack {
  static constexpr int kSize = kVectorBytes / sizeof(T);
  T at[kSize];
};

// ---- element-wise ----

struct Copy {
  __device__ float operator()(float a, float) const { return a; }
};
struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Gelu {
  __device__ float operator()(float a, float) const {
    return 0.5F * a * (1.0F + erff(a * 0.70710678118654752F));
  }
};

template <class T, class F, bool kTwo>
__global__ void elementwise(const T* a, const T* b, T* out, std::int64_t count) {
  const F f;
  const std::int64_t packs = count / Pack<T>::kSize;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < packs; i += stride) {
    const Pack<T> x = reinterpret_cast<const Pack<T>*>(a)[i];
    const Pack<T> y = kTwo ? reinterpret_cast<const Pack<T>*>(b)[i] : x;
    Pack<T> z;
#pragma unroll
    for (int j = 0; j < Pack<T>::kSize; ++j) {
      z.at[j] = from_float<T>(f(to_float(x.at[j]), to_float(y.at[j])));
    }
    reinterpret_cast<Pack<T>*>(out)[i] = z;
  }
  for (std::int64_t i = packs * Pack<T>::kSize + first; i < count; i += stride) {
    out[i] = from_float<T>(f(to_float(a[i]), to_float(kTwo ? b[i] : a[i])));
  }
}

// ---- one thread block per row ----

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Of all threads of the block; every thread gets it.
template <class F>
__device__ float over_block(float value, float neutral) {
  __shared__ float of_warps[kThreads / kWarp];
  const F f;
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value = f(value, __shfl_xor_sync(kAllLanes, value, lanes));
  }
  __syncthreads();  // the values of the call before have been read
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = neutral;
  for (int warp = 0; warp < kThreads / kWarp; ++warp) value = f(value, of_warps[warp]);
  return value;
}

// Rows of whole packs take 16 bytes at a time; others one element.
template <class T, class F>
__device__ void for_row(const T* row, std::int64_t cols, bool packed, const F& f) {
  if (!packed) {
    for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) f(i, to_float(row[i]));
    return;
  }
  for (std::int64_t i = threadIdx.x; i < cols / Pack<T>::kSize; i += kThreads) {
    const Pack<T> pack = reinterpret_cast<const Pack<T>*>(row)[i];
#pragma unroll
    for (int j = 0; j < Pack<T>::kSize; ++j) f(i * Pack<T>::kSize + j, to_float(pack.at[j]));
  }
}

template <class T, class F>
__device__ void write_row(const T* in, T* out, std::int64_t cols, bool packed, const F& f) {
  if (!packed) {
    for (std::int64_t i = threadIdx.x; i < cols; i += kThreads) {
      out[i] = from_float<T>(f(i, to_float(in[i])));
    }
    return;
  }
  for (std::int64_t i = threadIdx.x; i < cols / Pack<T>::kSize; i += kThreads) {
    Pack<T> pack = reinterpret_cast<const Pack<T>*>(in)[i];
#pragma unroll
    for (int j = 0; j < Pack<T>::kSize; ++j) {
      pack.at[j] = from_float<T>(f(i * Pack<T>::kSize + j, to_float(pack.at[j])));
    }
    reinterpret_cast<Pack<T>*>(out)[i] = pack;
  }
}

template <class T>
__global__ void softmax(const T* in, T* out, std::int64_t rows, std::int64_t cols, bool packed) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* from = in + row * cols;
    float largest = -INFINITY;
    for_row(from, cols, packed, [&](std::int64_t, float x) { largest = fmaxf(largest, x); });
    largest = over_block<Max>(largest, -INFINITY);
    float sum = 0;
    for_row(from, cols, packed, [&](std::int64_t, float x) { sum += __expf(x - largest); });
    const float inverse = 1.0F / over_block<Sum>(sum, 0);
    write_row(from, out + row * cols, cols, packed,
              [=](std::int64_t, float x) { return __expf(x - largest) * inverse; });
  }
}

template <class T>
__global__ void layer_norm(const T* in, const T* scale, const T* shift, T* out, std::int64_t rows,
                           std::int64_t cols, bool packed) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* from = in + row * cols;
    float sum = 0;
    for_row(from, cols, packed, [&](std::int64_t, float x) { sum += x; });
    const float mean = over_block<Sum>(sum, 0) / static_cast<float>(cols);
    float squares = 0;
    for_row(from, cols, packed, [&](std::int64_t, float x) { squares += (x - mean) * (x - mean); });
    const float variance = over_block<Sum>(squares, 0) / static_cast<float>(cols);
    const float inverse = rsqrtf(variance + kEpsilon);
    write_row(from, out + row * cols, cols, packed, [=](std::int64_t i, float x) {
      return (x - mean) * inverse * to_float(scale[i]) + to_float(shift[i]);
    });
  }
}

template <class T>
__global__ void reduce(const T* in, T* out, std::int64_t rows, std::int64_t cols, bool packed) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
    for_row(in + row * cols, cols, packed, [&](std::int64_t, float x) { sum += x; });
    sum = over_block<Sum>(sum, 0);
    if (threadIdx.x == 0) out[row] = from_float<T>(sum);
  }
}

template <class T>
__global__ void gather(const T* table, const std::int32_t* places, T* out, std::int64_t rows,
                       std::int64_t cols, bool packed) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    write_row(table + static_cast<std::int64_t>(places[row]) * cols, out + row * cols, cols, packed,
              [](std::int64_t, float x) { return x; });
  }
}

// ---- transpose: through a tile in shared memory, so that both sides are whole lines ----

template <class T>
__global__ void transpose(const T* in, T* out, std::int64_t rows, std::int64_t cols) {
  __shared__ T tile[kTile][kTile + 1];
  const std::int64_t tiles_x = (cols + kTile - 1) / kTile;
  const std::int64_t tiles = tiles_x * ((rows + kTile - 1) / kTile);
  for (std::int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const std::int64_t left = at % tiles_x * kTile;
    const std::int64_t top = at / tiles_x * kTile;
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      const bool inside = top + y < rows && left + threadIdx.x < cols;
      if (inside) tile[y][threadIdx.x] = in[(top + y) * cols + left + threadIdx.x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      const bool inside = left + y < cols && top + threadIdx.x < rows;
      if (inside) out[(left + y) * rows + top + threadIdx.x] = tile[threadIdx.x][y];
    }
    __syncthreads();
  }
}

// ---- streams ----

__global__ void stream_read(const float4* in, float* sum, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  float total = 0;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float4 x = in[i];
    total += x.x + x.y + x.z + x.w;
  }
  total = over_block<Sum>(total, 0);
  if (threadIdx.x == 0) atomicAdd(sum, total);
}

__global__ void stream_write(float4* out, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    out[i] = make_float4(1, 1, 1, 1);
  }
}

__global__ void stream_triad(const float4* a, const float4* b, float4* out, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const float4 x = a[i];
    const float4 y = b[i];
    out[i] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
  }
}

__global__ void stream_copy(const float4* in, float4* out, std::int64_t count) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    out[i] = in[i];
  }
}

__global__ void count_calls(unsigned int* counter) {
  if (counter != nullptr) ++*counter;
}

__global__ void hold(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// ---- inputs ----

// bits of the nine test values, those below zero first
struct TestBits {
  std::uint32_t at[9];
};

template <class Word>
__global__ void fill_values(Word* out, std::int64_t count, std::uint32_t seed, TestBits bits) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    out[i] = static_cast<Word>(bits.at[test_eighths(static_cast<std::uint64_t>(i), seed) + 4]);
  }
}

__global__ void fill_rows(std::int32_t* out, std::int64_t count, std::uint32_t seed,
                          std::int64_t table_rows) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    out[i] = test_row(static_cast<std::uint64_t>(i), seed, table_rows);
  }
}

// ---- launches ----

unsigned blocks_for(std::int64_t items) {
  const std::int64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks > kMaxBlocks ? kMaxBlocks : blocks));
}

unsigned blocks_of_rows(std::int64_t rows) {
  return static_cast<unsigned>(rows > kMaxBlocks ? kMaxBlocks : rows);
}

template <class T>
bool is_packed(const MatrixArguments& matrix) {
  return matrix.cols % Pack<T>::kSize == 0;
}

template <class T>
const T* input(const void* pointer) {
  return static_cast<const T*>(pointer);
}

// Calls f with a null pointer of the element's type.
template <class F>
void with_type(Element type, const F& f) {
  if (type == Element::kFloat16) {
    f(static_cast<__half*>(nullptr));
  } else if (type == Element::kBfloat16) {
    f(static_cast<__nv_bfloat16*>(nullptr));
  } else {
    f(static_cast<float*>(nullptr));
  }
}

template <class F, bool kTwo>
void launch_elementwise(const MatrixArguments& matrix, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const std::int64_t count = matrix.rows * matrix.cols;
    elementwise<T, F, kTwo><<<blocks_for(count / Pack<T>::kSize), kThreads, 0, stream>>>(
        input<T>(matrix.in), input<T>(matrix.in2), static_cast<T*>(matrix.out), count);
  });
}

}  // namespace

void fill_test_values(Element type, void* out, std::int64_t count, std::uint32_t seed,
                      cudaStream_t stream) {
  TestBits bits{};
  for (int eighths = -4; eighths <= 4; ++eighths) {
    bits.at[eighths + 4] = to_bits(type == Element::kInt8 ? eighths : eighths / 8.0, type);
  }
  const unsigned blocks = blocks_for(count);
  if (element_bytes(type) == 4) {
    fill_values<<<blocks, kThreads, 0, stream>>>(static_cast<std::uint32_t*>(out), count, seed,
                                                 bits);
  } else if (element_bytes(type) == 2) {
    fill_values<<<blocks, kThreads, 0, stream>>>(static_cast<std::uint16_t*>(out), count, seed,
                                                 bits);
  } else {
    fill_values<<<blocks, kThreads, 0, stream>>>(static_cast<std::uint8_t*>(out), count, seed,
                                                 bits);
  }
}

void fill_test_rows(std::int32_t* out, std::int64_t count, std::uint32_t seed,
                    std::int64_t table_rows, cudaStream_t stream) {
  fill_rows<<<blocks_for(count), kThreads, 0, stream>>>(out, count, seed, table_rows);
}

void launch_copy(const MatrixArguments& matrix, cudaStream_t stream) {
  launch_elementwise<Copy, false>(matrix, stream);
}

void launch_add(const MatrixArguments& matrix, cudaStream_t stream) {
  launch_elementwise<Add, true>(matrix, stream);
}

void launch_gelu(const MatrixArguments& matrix, cudaStream_t stream) {
  launch_elementwise<Gelu, false>(matrix, stream);
}

void launch_softmax(const MatrixArguments& matrix, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    softmax<T><<<blocks_of_rows(matrix.rows), kThreads, 0, stream>>>(
        input<T>(matrix.in), static_cast<T*>(matrix.out), matrix.rows, matrix.cols,
        is_packed<T>(matrix));
  });
}

void launch_layer_norm(const MatrixArguments& matrix, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const T* scale = input<T>(matrix.in2);
    layer_norm<T><<<blocks_of_rows(matrix.rows), kThreads, 0, stream>>>(
        input<T>(matrix.in), scale, scale + matrix.cols, static_cast<T*>(matrix.out), matrix.rows,
        matrix.cols, is_packed<T>(matrix));
  });
}

void launch_reduce(const MatrixArguments& matrix, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    reduce<T><<<blocks_of_rows(matrix.rows), kThreads, 0, stream>>>(
        input<T>(matrix.in), static_cast<T*>(matrix.out), matrix.rows, matrix.cols,
        is_packed<T>(matrix));
  });
}

void launch_gather(const MatrixArguments& matrix, const std::int32_t* places, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    gather<T><<<blocks_of_rows(matrix.rows), kThreads, 0, stream>>>(
        input<T>(matrix.in), places, static_cast<T*>(matrix.out), matrix.rows, matrix.cols,
        is_packed<T>(matrix));
  });
}

void launch_transpose(const MatrixArguments& matrix, cudaStream_t stream) {
  with_type(matrix.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const std::int64_t tiles =
        ((matrix.cols + kTile - 1) / kTile) * ((matrix.rows + kTile - 1) / kTile);
    transpose<T><<<blocks_of_rows(tiles), dim3(kTile, kTileRows), 0, stream>>>(
        input<T>(matrix.in), static_cast<T*>(matrix.out), matrix.rows, matrix.cols);
  });
}

void launch_stream_read(const float* in, float* sum, std::int64_t count, cudaStream_t stream) {
  // Few blocks: each ends in an atomic addition.
  const unsigned blocks = blocks_for(count / 4) < 2048U ? blocks_for(count / 4) : 2048U;
  stream_read<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<const float4*>(in), sum, count / 4);
}

void launch_stream_write(float* out, std::int64_t count, cudaStream_t stream) {
  stream_write<<<blocks_for(count / 4), kThreads, 0, stream>>>(reinterpret_cast<float4*>(out),
                                                               count / 4);
}

void launch_stream_copy(const float* in, float* out, std::int64_t count, cudaStream_t stream) {
  stream_copy<<<blocks_for(count / 4), kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(in), reinterpret_cast<float4*>(out), count / 4);
}

void launch_stream_triad(const float* a, const float* b, float* out, std::int64_t count,
                         cudaStream_t stream) {
  stream_triad<<<blocks_for(count / 4), kThreads, 0, stream>>>(
      reinterpret_cast<const float4*>(a), reinterpret_cast<const float4*>(b),
      reinterpret_cast<float4*>(out), count / 4);
}

void launch_hold(cudaStream_t stream) { hold<<<1, 1, 0, stream>>>(kHeldCycles); }

void launch_empty(unsigned int* counter, cudaStream_t stream) {
  count_calls<<<1, 1, 0, stream>>>(counter);
}

}  // namespace foretell
