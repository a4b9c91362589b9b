// One operator of one shape, ready on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "calib/measure/harness/task.hpp"

namespace foretell {

class DeviceOp {
 public:
  DeviceOp() = default;
  virtual ~DeviceOp() = default;
  DeviceOp(const DeviceOp&) = delete;
  DeviceOp& operator=(const DeviceOp&) = delete;

  // Runs the operator once, on the copy of its data with this number, from 0 to copies - 1.
  virtual void launch(int copy, cudaStream_t stream) = 0;
  // Compares the results of copy 0 with the CPU. Waits for the device.
  virtual CheckOutcome check() = 0;
  // Operators that one launch() runs one after another.
  virtual int operators_per_launch() const { return 1; }
};

// `copies`: of weights for products, of everything for other operators. Unavailable when the chip
// or its library has no such kernel, or the memory does not suffice.
std::unique_ptr<DeviceOp> make_device_op(const MeasureTask& task, int copies);
// The three kinds of them.
std::unique_ptr<DeviceOp> make_gemm_op(const MeasureTask& task, int copies);
std::unique_ptr<DeviceOp> make_conv_op(const MeasureTask& task, int copies);
std::unique_ptr<DeviceOp> make_kernel_op(const MeasureTask& task, int copies);

// Bytes of what make_device_op() has `copies` of.
double rotating_bytes(const MeasureTask& task);

// Names and versions of the libraries that run products and convolutions.
std::string gemm_software();
std::string conv_software();  // says so when this program was built without

}  // namespace foretell
