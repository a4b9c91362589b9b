// Matrix products through cuBLASLt: y[m,n] = x[m,k] w[n,k]^T, both operands with k innermost, as
// linear layers store them and as the 8-bit types require it. The library's own first choice of
// algorithm runs, which is what frameworks get.
#include <cublasLt.h>

#include <vector>

#include "calib/measure/cuda/device_memory.hpp"
#include "calib/measure/cuda/device_op.hpp"
#include "calib/measure/cuda/element.hpp"
#include "calib/measure/cuda/kernels.hpp"
#include "calib/measure/cuda/reference.hpp"

namespace foretell {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20U;
constexpr std::uint32_t kActivations = 1;  // seeds
constexpr std::uint32_t kWeights = 2;
constexpr double kRoundings = 4;  // that a result may be off; sums in 8-bit types are not exact

void check_library(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = std::string(what) + ": " + cublasLtGetStatusString(status);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ALLOC_FAILED ||
      status == CUBLAS_STATUS_ARCH_MISMATCH) {
    throw Unavailable(text);
  }
  throw GpuFailure(text);
}

// How cuBLASLt spells a type of the plan.
struct LibraryTypes {
  cudaDataType_t in;
  cudaDataType_t out;
  cudaDataType_t scale;
  cublasComputeType_t compute;
  Element out_element;
};

LibraryTypes types_of(const std::string& dtype) {
  switch (input_element(dtype)) {
    case Element::kFloat16:
      return {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, Element::kFloat16};
    case Element::kBfloat16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, Element::kBfloat16};
    case Element::kFloat8:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, Element::kBfloat16};
    case Element::kInt8:
      return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, Element::kInt32};
    case Element::kFloat32:
    case Element::kInt32:
      break;
  }
  const cublasComputeType_t compute =
      dtype == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, compute, Element::kFloat32};
}

cublasLtHandle_t library() {
  static const cublasLtHandle_t kHandle = [] {
    cublasLtHandle_t handle = nullptr;
    check_library(cublasLtCreate(&handle), "cublasLtCreate");
    return handle;
  }();
  return kHandle;
}

class Layout {
 public:
  // Column by column, `stride` elements from one matrix of the batch to the next.
  Layout(cudaDataType_t type, std::int64_t rows, std::int64_t cols, std::int64_t batch) {
    check_library(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                             static_cast<std::uint64_t>(cols), rows),
                  "cublasLtMatrixLayoutCreate");
    const auto count = static_cast<std::int32_t>(batch);
    const std::int64_t stride = rows * cols;
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  void set(cublasLtMatrixLayoutAttribute_t attribute, const void* value, std::size_t size) {
    check_library(cublasLtMatrixLayoutSetAttribute(layout_, attribute, value, size),
                  "cublasLtMatrixLayoutSetAttribute");
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Product {
 public:
  explicit Product(const LibraryTypes& types) {
    check_library(cublasLtMatmulDescCreate(&description_, types.compute, types.scale),
                  "cublasLtMatmulDescCreate");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
    if (types.in == CUDA_R_8F_E4M3) {
      const std::int8_t fast = 1;  // as inference runs it
      set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
    }
  }
  ~Product() { cublasLtMatmulDescDestroy(description_); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  cublasLtMatmulDesc_t get() const { return description_; }

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, const void* value, std::size_t size) {
    check_library(cublasLtMatmulDescSetAttribute(description_, attribute, value, size),
                  "cublasLtMatmulDescSetAttribute");
  }
  cublasLtMatmulDesc_t description_ = nullptr;
};

class GemmOp : public DeviceOp {
 public:
  // A plain product has `copies` of its weights and one set of activations; a batched one, of two
  // activations, has copies of both.
  GemmOp(const MeasureTask& task, int copies)
      : element_(input_element(task.dtype)),
        types_(types_of(task.dtype)),
        batch_(task.op == "gemm" ? 1 : task.size("b")),
        m_(task.size("m")),
        n_(task.size("n")),
        k_(task.size("k")),
        product_(types_),
        weights_layout_(types_.in, k_, n_, batch_),
        activations_layout_(types_.in, k_, m_, batch_),
        result_layout_(types_.out, n_, m_, batch_),
        workspace_(kWorkspace) {
    choose();
    const std::size_t element = element_bytes(element_);
    for (int i = 0; i < copies; ++i) {
      weights_.emplace_back(static_cast<std::size_t>(batch_ * n_ * k_) * element);
      fill_test_values(element_, weights_.back().get(), batch_ * n_ * k_, kWeights, nullptr);
      if (i > 0 && task.op == "gemm") continue;
      activations_.emplace_back(static_cast<std::size_t>(batch_ * m_ * k_) * element);
      fill_test_values(element_, activations_.back().get(), batch_ * m_ * k_, kActivations,
                       nullptr);
      results_.emplace_back(static_cast<std::size_t>(batch_ * m_ * n_) *
                            element_bytes(types_.out_element));
    }
    check_cuda(cudaDeviceSynchronize(), "filling the operands");
  }

  void launch(int copy, cudaStream_t stream) override {
    const auto i = static_cast<std::size_t>(copy);
    const std::size_t own = std::min(i, activations_.size() - 1);
    const float one = 1;
    const float zero = 0;
    const std::int32_t whole_one = 1;
    const std::int32_t whole_zero = 0;
    const bool whole = types_.scale == CUDA_R_32I;
    const void* alpha = whole ? static_cast<const void*>(&whole_one) : &one;
    const void* beta = whole ? static_cast<const void*>(&whole_zero) : &zero;
    check_library(
        cublasLtMatmul(library(), product_.get(), alpha, weights_[i].get(), weights_layout_.get(),
                       activations_[own].get(), activations_layout_.get(), beta,
                       results_[own].get(), result_layout_.get(), results_[own].get(),
                       result_layout_.get(), &algorithm_, workspace_.get(), kWorkspace, stream),
        "cublasLtMatmul");
  }

  CheckOutcome check() override {
    check_cuda(cudaMemset(results_[0].get(), 0xFF, results_[0].bytes()), "cudaMemset");
    launch(0, nullptr);
    const Values actual = to_values(results_[0].download(), types_.out_element);
    const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    const bool whole = element_ == Element::kInt8;
    const Values expected =
        reference_gemm(reference_input(size(batch_ * m_ * k_), kActivations, whole),
                       reference_input(size(batch_ * n_ * k_), kWeights, whole), size(batch_),
                       size(m_), size(n_), size(k_));
    return compare_values(actual, expected, rounding_of(types_.out_element), kRoundings, 1);
  }

 private:
  void choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    check_library(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    const std::size_t workspace = kWorkspace;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library(), product_.get(), weights_layout_.get(), activations_layout_.get(),
        result_layout_.get(), result_layout_.get(), preference, 1, &found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
        (status == CUBLAS_STATUS_SUCCESS && count == 0)) {
      throw Unavailable("cuBLASLt has no algorithm for it");
    }
    check_library(status, "cublasLtMatmulAlgoGetHeuristic");
    algorithm_ = found.algo;
  }

  Element element_;
  LibraryTypes types_;
  std::int64_t batch_;
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t k_;
  Product product_;
  Layout weights_layout_;
  Layout activations_layout_;
  Layout result_layout_;
  DeviceMemory workspace_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::vector<DeviceMemory> weights_;
  std::vector<DeviceMemory> activations_;
  std::vector<DeviceMemory> results_;
};

}  // namespace

std::unique_ptr<DeviceOp> make_gemm_op(const MeasureTask& task, int copies) {
  return std::make_unique<GemmOp>(task, copies);
}

std::string gemm_software() {
  const std::size_t version = cublasLtGetVersion();  // 130100 is 13.1.0
  return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

}  // namespace foretell
