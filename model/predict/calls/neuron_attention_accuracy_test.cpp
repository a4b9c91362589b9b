// Attention over long sequences as it is mapped to a NeuronCore, against the vendor's kernel with
// its own allocation: one head of 128 and 4,096 places without a mask in BF16 on one core, on
// published facts alone. The vendor's test passes below 350 us (NKIALLOC); the form that the
// compiler allocates, whose limit is 480 us, is not what is mapped.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

Graph one_head_of(std::int64_t places) {
  constexpr std::int64_t kHeadDim = 128;
  GraphWriter writer;
  const auto operand = [&](const std::string& name) {
    const TensorId rows = writer.input(name, {1, places, kHeadDim});
    const TensorId split =
        writer.op(name + ".split", "Reshape", {rows}, {{"shape", Shape{1, places, 1, kHeadDim}}});
    return writer.op(name + ".heads", "Transpose", {split}, {{"perm", Shape{0, 2, 1, 3}}});
  };
  const TensorId query = operand("query");
  const TensorId key = operand("key");
  const TensorId value = operand("value");
  const TensorId scores =
      writer.op("scores", "MatMul", {query, key}, {{"transpose_b", std::int64_t{1}}});
  const TensorId weights = writer.op("softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const TensorId context = writer.op("context", "MatMul", {weights, value});
  const TensorId merged = writer.op("merge", "Transpose", {context}, {{"perm", Shape{0, 2, 1, 3}}});
  return writer.finish(
      writer.op("out", "Reshape", {merged}, {{"shape", Shape{1, places, kHeadDim}}}));
}

// For the three operators that the kernel is, which run side by side.
double kernel_microseconds(std::int64_t places) {
  LoadOptions options;
  options.factors = "none";
  const CalibratedSystem system = load_calibrated("trn1.2xlarge", options);
  const PrecisionPolicy precision = find_precision("bf16");
  Graph graph = one_head_of(places);
  apply_precision(precision, &graph);
  const NeuronCallResult result = run_neuron_call({graph, precision, system.spec, system.factors});
  double longest = 0;
  for (const OperatorMetrics& op : result.metrics.operators) {
    const bool is_kernel = op.name == "scores" || op.name == "softmax" || op.name == "context";
    if (is_kernel) longest = std::max(longest, op.duration.value() * 1e6);
  }
  return longest;
}

// Here operands are loaded and turned before, which the kernel finds done; that grows with the
// places, the kernel with their square, so the difference of two lengths tells it.
TEST(MeasuredAttention, OneHeadIsNearTheLimitOfTheVendorsTest) {
  const double squares = (8192.0 * 8192 - 4096.0 * 4096) / (4096.0 * 4096);
  const double kernel = (kernel_microseconds(8192) - kernel_microseconds(4096)) / squares;
  EXPECT_NEAR(kernel / 350, 1, 0.1);
}

}  // namespace
}  // namespace foretell
