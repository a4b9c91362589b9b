// A convolution as a matrix product whose left operand is never written (implicit GEMM): the kernel
// gathers the pixels under the filter while it loads its tile.
//
//   x [N, C, H, W] * weight [M, C / group, R, S]:  m = N Ho Wo,  n = M / group,  k = C / group R S,
//   `group` times. A transposed one spreads every input over the filter: m = N H W,
//   n = M / group R S, k = C / group.
//
// The gradient of the weight is the product of every input under the filter with the gradients of
// the results: m = M / group, n = C / group R S, k = N Ho Wo, `group` times.
//
// The data lie with the channels last, as the libraries want them; what turns them at the ends of a
// network is not counted. A filter of one channel (depthwise) leaves nothing to multiply on the
// matrix pipe: that is a pass over the data.
#pragma once

#include <cstdint>

#include "workloads/ir/graph.hpp"

namespace foretell {

struct ImplicitGemm {
  std::int64_t groups = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool is_depthwise() const { return groups > 1 && (n == 1 || k_channels == 1); }
  std::int64_t k_channels = 1;  // of one filter
};

// `op` is a Conv, a ConvTranspose or a ConvWeightGradient.
ImplicitGemm implicit_gemm(const Graph& graph, const Op& op);

}  // namespace foretell
