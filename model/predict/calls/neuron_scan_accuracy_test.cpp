// Scans as they are mapped to a NeuronCore, against what the vendor measured of a kernel written by
// hand: Mamba on one core of a trn1.2xlarge, batch 1, 4096 channels of 16 states, FP32 (the NKI
// documentation's tutorial on fused Mamba, MB:853-925), on published facts alone. Compared is the
// time of the operator: the kernel finds its operands with channels first, here they are inputs
// with tokens first, which are loaded and turned before.
#include <gtest/gtest.h>

#include <string>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "model/predict/calls/neuron_call.hpp"

namespace foretell {
namespace {

Graph fused_mamba(std::int64_t tokens) {
  constexpr std::int64_t kChannels = 4096;
  constexpr std::int64_t kStates = 16;
  Graph graph("mamba");
  const auto operand = [&](const std::string& name, const Shape& shape) {
    const TensorId rows =
        graph.add_input(name, {shape[0], shape[1], shape[2] * shape[3]}, DType::kFp32);
    return graph.add_op(name + ".heads", "Reshape", {rows}, {{"shape", shape}});
  };
  const TensorId query = operand("query", {1, tokens, 1, kStates});
  const TensorId key = operand("key", {1, tokens, 1, kStates});
  const TensorId value = operand("value", {1, tokens, kChannels, 1});
  const TensorId step = graph.add_input("step", {1, tokens, kChannels}, DType::kFp32);
  const TensorId state = graph.add_state("state", {1, kChannels, kStates, 1}, DType::kFp32);
  graph.mark_output(
      graph.add_op("scan", "Scan", {query, key, value, step, state},
                   {{"function", std::string("mamba1")}, {"chunk", std::int64_t{256}}}));
  return graph;
}

double scan_milliseconds(std::int64_t tokens) {
  LoadOptions options;
  options.factors = "none";
  const CalibratedSystem system = load_calibrated("trn1.2xlarge", options);
  const PrecisionPolicy precision = find_precision("fp32");
  Graph graph = fused_mamba(tokens);
  apply_precision(precision, &graph);
  const NeuronCallResult result = run_neuron_call({graph, precision, system.spec, system.factors});
  for (const OperatorMetrics& op : result.metrics.operators) {
    if (op.name == "scan") return op.duration.value() * 1e3;
  }
  return 0;
}

struct MeasuredScan {
  std::int64_t tokens;
  double milliseconds;
};

class MeasuredScans : public testing::TestWithParam<MeasuredScan> {};

TEST_P(MeasuredScans, TimeIsNearThatOfTheVendorsKernel) {
  const MeasuredScan& row = GetParam();
  EXPECT_NEAR(scan_milliseconds(row.tokens) / row.milliseconds, 1, 0.08);
}

INSTANTIATE_TEST_SUITE_P(Mamba, MeasuredScans,
                         testing::Values(MeasuredScan{1024, 3.3}, MeasuredScan{2048, 6.6},
                                         MeasuredScan{4096, 13.3}, MeasuredScan{8192, 27.8}));

}  // namespace
}  // namespace foretell
