// Operators that run the kernels of this program.
#include <functional>
#include <vector>

#include "calib/measure/cuda/device_memory.hpp"
#include "calib/measure/cuda/device_op.hpp"
#include "calib/measure/cuda/element.hpp"
#include "calib/measure/cuda/kernels.hpp"
#include "calib/measure/cuda/reference.hpp"
#include "calib/measure/cuda/shape_plan.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::uint32_t kInput = 1;  // seeds
constexpr std::uint32_t kOther = 2;
constexpr std::uint32_t kPlaces = 3;
constexpr double kRoundings = 2;     // that a result may be off
constexpr double kFastMath = 16384;  // the same in fp32, where exp() is an approximation
constexpr double kSmall = 1e-3;      // results are compared with at least this

std::size_t as_size(std::int64_t size) { return static_cast<std::size_t>(size); }

// rows x cols to rows x cols, or nearly.
class MatrixOp : public DeviceOp {
 public:
  MatrixOp(const MeasureTask& task, int copies)
      : task_(task),
        type_(input_element(task.dtype)),
        rows_(task.size("rows")),
        cols_(task.size("cols")),
        in_rows_(task.op == "gather" ? task.size("table_rows") : rows_) {
    const std::size_t element = element_bytes(type_);
    const std::int64_t in = in_rows_ * cols_;
    const std::int64_t out = task.op == "reduce" ? rows_ : rows_ * cols_;
    const std::int64_t other = task.op == "add" ? in : (task.op == "layer_norm" ? 2 * cols_ : 0);
    for (int i = 0; i < copies; ++i) {
      in_.emplace_back(as_size(in) * element);
      other_.emplace_back(as_size(other) * element);
      out_.emplace_back(as_size(out) * element);
      fill_test_values(type_, in_.back().get(), in, kInput, nullptr);
      if (other > 0) fill_test_values(type_, other_.back().get(), other, kOther, nullptr);
    }
    if (task.op == "gather") {
      places_ = DeviceMemory(as_size(rows_) * sizeof(std::int32_t));
      fill_test_rows(places_.as<std::int32_t>(), rows_, kPlaces, in_rows_, nullptr);
    }
    check_cuda(cudaDeviceSynchronize(), "filling the inputs");
  }

  void launch(int copy, cudaStream_t stream) override {
    const auto i = static_cast<std::size_t>(copy);
    const MatrixArguments matrix{type_, in_[i].get(), other_[i].get(), out_[i].get(), rows_, cols_};
    if (task_.op == "copy") return launch_copy(matrix, stream);
    if (task_.op == "add") return launch_add(matrix, stream);
    if (task_.op == "gelu") return launch_gelu(matrix, stream);
    if (task_.op == "softmax") return launch_softmax(matrix, stream);
    if (task_.op == "layer_norm") return launch_layer_norm(matrix, stream);
    if (task_.op == "reduce") return launch_reduce(matrix, stream);
    if (task_.op == "transpose") return launch_transpose(matrix, stream);
    FORETELL_CHECK(task_.op == "gather", task_.op + " is no operator on a matrix");
    launch_gather(matrix, places_.as<std::int32_t>(), stream);
  }

  CheckOutcome check() override {
    check_cuda(cudaMemset(out_[0].get(), 0xFF, out_[0].bytes()), "cudaMemset");
    launch(0, nullptr);
    check_cuda(cudaGetLastError(), "launching the kernel");
    const Values actual = to_values(out_[0].download(), type_);
    const bool approximates = type_ == Element::kFloat32 && task_.op != "copy" &&
                              task_.op != "add" && task_.op != "transpose" && task_.op != "gather";
    return compare_values(actual, expected(), rounding_of(type_),
                          approximates ? kFastMath : kRoundings, kSmall);
  }

 private:
  Values expected() const {
    const Values x = reference_input(as_size(in_rows_ * cols_), kInput, false);
    const std::size_t rows = as_size(rows_);
    const std::size_t cols = as_size(cols_);
    if (task_.op == "copy") return x;
    if (task_.op == "softmax") return reference_softmax(x, rows, cols);
    if (task_.op == "reduce") return reference_reduce(x, rows, cols);
    if (task_.op == "transpose") return reference_transpose(x, rows, cols);
    if (task_.op == "gather") return reference_gather(x, rows, cols, as_size(in_rows_), kPlaces);
    Values y = x;
    if (task_.op == "gelu") {
      for (double& value : y) value = reference_gelu(value);
    } else if (task_.op == "add") {
      const Values other = reference_input(x.size(), kOther, false);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += other[i];
    } else {
      const Values both = reference_input(2 * cols, kOther, false);
      const auto middle = both.begin() + cols_;
      y = reference_layer_norm(x, Values(both.begin(), middle), Values(middle, both.end()), rows,
                               cols);
    }
    return y;
  }

  MeasureTask task_;
  Element type_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t in_rows_;
  std::vector<DeviceMemory> in_;
  std::vector<DeviceMemory> other_;
  std::vector<DeviceMemory> out_;
  DeviceMemory places_;
};

// `bytes` are all that are moved: of a copy, half of them are read.
class StreamOp : public DeviceOp {
 public:
  StreamOp(const MeasureTask& task, int copies) : op_(task.op) {
    const int arrays = op_ == "stream_triad" ? 3 : (op_ == "stream_copy" ? 2 : 1);
    count_ = task.size("bytes") / static_cast<std::int64_t>(sizeof(float)) / arrays / 4 * 4;
    const std::size_t bytes = as_size(count_) * sizeof(float);
    const std::size_t no_bytes = 0;
    for (int i = 0; i < copies; ++i) {
      a_.emplace_back(op_ == "stream_write" ? no_bytes : bytes);
      b_.emplace_back(op_ == "stream_triad" ? bytes : no_bytes);
      out_.emplace_back(op_ == "stream_read" ? sizeof(float) : bytes);
      if (op_ != "stream_write") {
        fill_test_values(Element::kFloat32, a_.back().get(), count_, kInput, nullptr);
      }
      if (op_ == "stream_triad") {
        fill_test_values(Element::kFloat32, b_.back().get(), count_, kOther, nullptr);
      }
      check_cuda(cudaMemset(out_.back().get(), 0, out_.back().bytes()), "cudaMemset");
    }
    check_cuda(cudaDeviceSynchronize(), "filling the inputs");
  }

  void launch(int copy, cudaStream_t stream) override {
    const auto i = static_cast<std::size_t>(copy);
    const auto* a = a_[i].as<const float>();
    auto* out = out_[i].as<float>();
    if (op_ == "stream_read") return launch_stream_read(a, out, count_, stream);
    if (op_ == "stream_write") return launch_stream_write(out, count_, stream);
    if (op_ == "stream_copy") return launch_stream_copy(a, out, count_, stream);
    launch_stream_triad(a, b_[i].as<const float>(), out, count_, stream);
  }

  CheckOutcome check() override {
    launch(0, nullptr);
    check_cuda(cudaGetLastError(), "launching the kernel");
    const Values actual = to_values(out_[0].download(), Element::kFloat32);
    const Values a = reference_input(as_size(count_), kInput, false);
    Values expected = a;
    double allowed = kRoundings;
    if (op_ == "stream_read") {
      expected = reference_reduce(a, 1, a.size());
      allowed = kFastMath;  // sums in another order
    } else if (op_ == "stream_write") {
      expected.assign(a.size(), 1);
    } else if (op_ == "stream_triad") {
      const Values b = reference_input(as_size(count_), kOther, false);
      for (std::size_t i = 0; i < a.size(); ++i) expected[i] += 3 * b[i];
    }
    return compare_values(actual, expected, rounding_of(Element::kFloat32), allowed, 1);
  }

 private:
  std::string op_;
  std::int64_t count_ = 0;
  std::vector<DeviceMemory> a_;
  std::vector<DeviceMemory> b_;
  std::vector<DeviceMemory> out_;
};

// `count` kernels that do nothing; in a check they count themselves.
class EmptyOp : public DeviceOp {
 public:
  explicit EmptyOp(const MeasureTask& task)
      : count_(static_cast<int>(task.size("count"))), counter_(sizeof(unsigned int)) {}

  void launch(int /*copy*/, cudaStream_t stream) override {
    for (int i = 0; i < count_; ++i) launch_empty(nullptr, stream);
  }
  int operators_per_launch() const override { return count_; }

  CheckOutcome check() override {
    check_cuda(cudaMemset(counter_.get(), 0, counter_.bytes()), "cudaMemset");
    for (int i = 0; i < count_; ++i) launch_empty(counter_.as<unsigned int>(), nullptr);
    check_cuda(cudaGetLastError(), "launching the kernel");
    const Values counted = to_values(counter_.download(), Element::kInt32);
    return compare_values(counted, {static_cast<double>(count_)}, 0, 1, 1);
  }

 private:
  int count_;
  DeviceMemory counter_;
};

}  // namespace

std::unique_ptr<DeviceOp> make_kernel_op(const MeasureTask& task, int copies) {
  if (task.op == "empty_kernel") return std::make_unique<EmptyOp>(task);
  if (task.op.rfind("stream_", 0) == 0) return std::make_unique<StreamOp>(task, copies);
  return std::make_unique<MatrixOp>(task, copies);
}

std::unique_ptr<DeviceOp> make_device_op(const MeasureTask& task, int copies) {
  if (task.op == "gemm" || task.op == "batched_gemm") return make_gemm_op(task, copies);
  if (task.op == "conv") return make_conv_op(task, copies);
  return make_kernel_op(task, copies);
}

double rotating_bytes(const MeasureTask& task) {
  if (task.op != "gemm") return task_bytes(task);
  return static_cast<double>(task.size("n")) * static_cast<double>(task.size("k")) *
         static_cast<double>(element_bytes(input_element(task.dtype)));
}

}  // namespace foretell
