// What the operators have to yield, computed plainly, to compare small results of a library with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace foretell {

struct ProductShape {
  std::int64_t b, m, n, k;
};
struct ConvolutionShape {
  std::int64_t b, channels, height, width, filters, kernel, stride, padding;
};

// [b, m, k] x [b, k, n] -> [b, m, n], times `scale`.
std::vector<double> reference_product(const std::vector<float>& source,
                                      const std::vector<float>& weights, const ProductShape& shape,
                                      double scale);
// [b, c, h, w] with [f, c, s, s] -> [b, f, oh, ow], times `scale`.
std::vector<double> reference_convolution(const std::vector<float>& source,
                                          const std::vector<float>& weights,
                                          const ConvolutionShape& shape, double scale);
// "softmax", "layer_norm" (with scale and shift), "reduce", "add", "gelu", "copy", "convert".
std::vector<double> reference_rows(const std::string& op,
                                   const std::vector<std::vector<float>>& inputs, std::int64_t rows,
                                   std::int64_t cols);

// GELU of the values, or the sum with a residual where there is one.
std::vector<double> with_epilogue(std::vector<double> values, const std::vector<float>& residual);

// The largest difference, relative to `tolerance` times the larger of 1 and the value. Eight-bit
// results saturate: a value beyond 127 is compared with 127.
double largest_error(const std::vector<float>& found, const std::vector<double>& wanted,
                     double tolerance);

}  // namespace foretell
