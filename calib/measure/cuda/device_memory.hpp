// Memory and streams of the GPU that free themselves, and errors of the CUDA runtime as exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "calib/measure/harness/task.hpp"

namespace foretell {

// A failure after which nothing on the GPU can be trusted.
class GpuFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Unavailable when there is no memory left; GpuFailure, naming `what`, for everything else.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const std::string text = std::string(what) + ": " + cudaGetErrorString(status);
  cudaGetLastError();  // the runtime remembers it otherwise
  if (status == cudaErrorMemoryAllocation) throw Unavailable(text);
  throw GpuFailure(text);
}

class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
    check_cuda(cudaMalloc(&data_, bytes == 0 ? 1 : bytes), "cudaMalloc");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(DeviceMemory&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
  }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* get() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

  // Waits for the device.
  std::vector<std::uint8_t> download() const {
    std::vector<std::uint8_t> bytes(bytes_);
    check_cuda(cudaDeviceSynchronize(), "running the kernel");
    check_cuda(cudaMemcpy(bytes.data(), data_, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return bytes;
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace foretell
