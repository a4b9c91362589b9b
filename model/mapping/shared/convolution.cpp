#include "model/mapping/shared/convolution.hpp"

#include "model/base/errors.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {

ImplicitGemm implicit_gemm(const Graph& graph, const Op& op) {
  const bool transposed = op.kind == "ConvTranspose";
  const bool of_weight = op.kind == "ConvWeightGradient";
  FORETELL_CHECK(transposed || of_weight || op.kind == "Conv", "a convolution");
  const Shape& weight = graph.tensor(of_weight ? op.outputs.front() : op.inputs[1]).shape;
  const Shape& x = graph.tensor(op.inputs[0]).shape;
  const Shape& y = graph.tensor(op.outputs.front()).shape;
  const std::int64_t filter = element_count(weight) / weight[0] / weight[1];
  ImplicitGemm gemm;
  gemm.groups = integer_of(op, "group", gemm.groups);
  if (of_weight) {
    const Shape& gradient = graph.tensor(op.inputs[1]).shape;
    gemm.m = weight[0] / gemm.groups;
    gemm.n = weight[1] * filter;
    gemm.k_channels = weight[1];
    gemm.k = element_count(gradient) / gradient[1];
  } else if (transposed) {
    gemm.m = element_count(x) / x[1];
    gemm.n = weight[1] * filter;
    gemm.k_channels = weight[0] / gemm.groups;
    gemm.k = gemm.k_channels;
  } else {
    gemm.m = element_count(y) / y[1];
    gemm.n = weight[0] / gemm.groups;
    gemm.k_channels = weight[1];
    gemm.k = gemm.k_channels * filter;
  }
  return gemm;
}

}  // namespace foretell
