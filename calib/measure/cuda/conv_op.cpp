// Convolutions through cuDNN: channels innermost, the algorithm that its heuristic puts first.
#include "calib/measure/cuda/device_memory.hpp"
#include "calib/measure/cuda/device_op.hpp"

#ifdef FORETELL_CUDNN

#include <cudnn.h>

#include <vector>

#include "calib/measure/cuda/element.hpp"
#include "calib/measure/cuda/kernels.hpp"
#include "calib/measure/cuda/reference.hpp"

namespace foretell {
namespace {

constexpr std::uint32_t kActivations = 1;  // seeds
constexpr std::uint32_t kWeights = 2;
constexpr double kRoundings = 4;  // that a result may be off

void check_library(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Unavailable(std::string(what) + ": " + cudnnGetErrorString(status));
}

cudnnHandle_t library() {
  static const cudnnHandle_t kHandle = [] {
    cudnnHandle_t handle = nullptr;
    check_library(cudnnCreate(&handle), "cudnnCreate");
    return handle;
  }();
  return kHandle;
}

struct LibraryTypes {
  cudnnDataType_t in;
  cudnnDataType_t out;
  cudnnDataType_t compute;
  cudnnMathType_t math;
  Element out_element;
};

LibraryTypes types_of(const std::string& dtype) {
  switch (input_element(dtype)) {
    case Element::kFloat16:
      return {CUDNN_DATA_HALF, CUDNN_DATA_HALF, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH,
              Element::kFloat16};
    case Element::kBfloat16:
      return {CUDNN_DATA_BFLOAT16, CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT, CUDNN_TENSOR_OP_MATH,
              Element::kBfloat16};
    case Element::kInt8:
      return {CUDNN_DATA_INT8, CUDNN_DATA_FLOAT, CUDNN_DATA_INT32, CUDNN_TENSOR_OP_MATH,
              Element::kFloat32};
    default:
      break;
  }
  // By default FP32 operands go through the matrix pipe as TF32 where there is one.
  const cudnnMathType_t math = dtype == "tf32" ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
  return {CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT, math, Element::kFloat32};
}

// A handle of the library that is destroyed with it.
template <class T, cudnnStatus_t (*kCreate)(T*), cudnnStatus_t (*kDestroy)(T)>
class Descriptor {
 public:
  Descriptor() { check_library(kCreate(&handle_), "cudnnCreateDescriptor"); }
  ~Descriptor() { kDestroy(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  T get() const { return handle_; }

 private:
  T handle_{};
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
               cudnnDestroyConvolutionDescriptor>;

int as_int(std::size_t size) { return static_cast<int>(size); }

class ConvOp : public DeviceOp {
 public:
  ConvOp(const MeasureTask& task, int copies)
      : element_(input_element(task.dtype)),
        types_(types_of(task.dtype)),
        shape_(conv_shape(task)) {
    describe();
    const std::size_t element = element_bytes(element_);
    const std::size_t x = x_count();
    const std::size_t w = w_count();
    const std::size_t y = shape_.batch * shape_.out_height() * shape_.out_width() * shape_.filters;
    for (int i = 0; i < copies; ++i) {
      x_.emplace_back(x * element);
      w_.emplace_back(w * element);
      y_.emplace_back(y * element_bytes(types_.out_element));
      fill_test_values(element_, x_.back().get(), static_cast<std::int64_t>(x), kActivations,
                       nullptr);
      fill_test_values(element_, w_.back().get(), static_cast<std::int64_t>(w), kWeights, nullptr);
    }
    check_cuda(cudaDeviceSynchronize(), "filling the operands");
  }

  void launch(int copy, cudaStream_t stream) override {
    const auto i = static_cast<std::size_t>(copy);
    const float one = 1;
    const float zero = 0;
    check_library(cudnnSetStream(library(), stream), "cudnnSetStream");
    check_library(
        cudnnConvolutionForward(library(), &one, x_layout_.get(), x_[i].get(), w_layout_.get(),
                                w_[i].get(), convolution_.get(), algorithm_, workspace_.get(),
                                workspace_.bytes(), &zero, y_layout_.get(), y_[i].get()),
        "cudnnConvolutionForward");
  }

  CheckOutcome check() override {
    check_cuda(cudaMemset(y_[0].get(), 0xFF, y_[0].bytes()), "cudaMemset");
    launch(0, nullptr);
    const bool whole = element_ == Element::kInt8;
    const Values actual = to_values(y_[0].download(), types_.out_element);
    const Values expected = reference_conv(reference_input(x_count(), kActivations, whole),
                                           reference_input(w_count(), kWeights, whole), shape_);
    return compare_values(actual, expected, rounding_of(types_.out_element), kRoundings, 1);
  }

 private:
  std::size_t x_count() const {
    return shape_.batch * shape_.height * shape_.width * shape_.channels;
  }
  std::size_t w_count() const {
    return shape_.filters * shape_.kernel * shape_.kernel * shape_.channels / shape_.groups;
  }

  void describe() {
    const ConvShape& s = shape_;
    check_library(
        cudnnSetTensor4dDescriptor(x_layout_.get(), CUDNN_TENSOR_NHWC, types_.in, as_int(s.batch),
                                   as_int(s.channels), as_int(s.height), as_int(s.width)),
        "the input");
    check_library(cudnnSetFilter4dDescriptor(w_layout_.get(), types_.in, CUDNN_TENSOR_NHWC,
                                             as_int(s.filters), as_int(s.channels / s.groups),
                                             as_int(s.kernel), as_int(s.kernel)),
                  "the filter");
    check_library(cudnnSetTensor4dDescriptor(y_layout_.get(), CUDNN_TENSOR_NHWC, types_.out,
                                             as_int(s.batch), as_int(s.filters),
                                             as_int(s.out_height()), as_int(s.out_width())),
                  "the output");
    check_library(cudnnSetConvolution2dDescriptor(
                      convolution_.get(), as_int(s.padding), as_int(s.padding), as_int(s.stride),
                      as_int(s.stride), 1, 1, CUDNN_CROSS_CORRELATION, types_.compute),
                  "the convolution");
    check_library(cudnnSetConvolutionGroupCount(convolution_.get(), as_int(s.groups)), "groups");
    check_library(cudnnSetConvolutionMathType(convolution_.get(), types_.math), "the type");
    choose();
    std::size_t bytes = 0;
    check_library(cudnnGetConvolutionForwardWorkspaceSize(library(), x_layout_.get(),
                                                          w_layout_.get(), convolution_.get(),
                                                          y_layout_.get(), algorithm_, &bytes),
                  "the size of the workspace");
    workspace_ = DeviceMemory(bytes);
  }

  // The fastest, as the library guesses, of those that it has for the shape.
  void choose() {
    cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {};
    int count = 0;
    check_library(cudnnGetConvolutionForwardAlgorithm_v7(
                      library(), x_layout_.get(), w_layout_.get(), convolution_.get(),
                      y_layout_.get(), CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found),
                  "the choice of an algorithm");
    for (int i = 0; i < count; ++i) {
      if (found[i].status != CUDNN_STATUS_SUCCESS) continue;
      algorithm_ = found[i].algo;
      // An algorithm is chosen with a type of arithmetic; FP32 stays what was asked for.
      if (types_.math == CUDNN_FMA_MATH) return;
      check_library(cudnnSetConvolutionMathType(convolution_.get(), found[i].mathType), "the type");
      return;
    }
    throw Unavailable("cuDNN has no algorithm for it");
  }

  Element element_;
  LibraryTypes types_;
  ConvShape shape_;
  TensorDescriptor x_layout_;
  FilterDescriptor w_layout_;
  TensorDescriptor y_layout_;
  ConvolutionDescriptor convolution_;
  cudnnConvolutionFwdAlgo_t algorithm_{};
  DeviceMemory workspace_;
  std::vector<DeviceMemory> x_;
  std::vector<DeviceMemory> w_;
  std::vector<DeviceMemory> y_;
};

}  // namespace

std::unique_ptr<DeviceOp> make_conv_op(const MeasureTask& task, int copies) {
  return std::make_unique<ConvOp>(task, copies);
}

std::string conv_software() {
  const std::size_t version = cudnnGetVersion();  // 91900 is 9.19.0; before 9, 8907 is 8.9.7
  const bool is_old = version < 10000;
  return "cuDNN " + std::to_string(version / (is_old ? 1000 : 10000)) + "." +
         std::to_string(is_old ? version / 100 % 10 : version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace foretell

#else

namespace foretell {

std::unique_ptr<DeviceOp> make_conv_op(const MeasureTask& /*task*/, int /*copies*/) {
  throw Unavailable("this program was built where cuDNN was not");
}

std::string conv_software() { return "no cuDNN"; }

}  // namespace foretell

#endif
