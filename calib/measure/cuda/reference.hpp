// What every measured operator has to give, computed on the CPU in double precision, plainly.
// Matrices lie row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "calib/measure/harness/task.hpp"

namespace foretell {

using Values = std::vector<double>;

// `count` test values with this seed, in eighths or, for integers, whole.
Values reference_input(std::size_t count, std::uint32_t seed, bool integers);

// y[b,m,n] = sum over k of x[b,m,k] * w[b,n,k]: the weights lie as libraries want them, k
// innermost.
Values reference_gemm(const Values& x, const Values& w, std::size_t b, std::size_t m, std::size_t n,
                      std::size_t k);

struct ConvShape {
  std::size_t batch, channels, height, width, filters, kernel, stride, padding, groups;
  std::size_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::size_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};
ConvShape conv_shape(const MeasureTask& task);
// x: batch, height, width, channels; w: filters, kernel, kernel, channels of a group; y as x.
Values reference_conv(const Values& x, const Values& w, const ConvShape& shape);

Values reference_softmax(const Values& x, std::size_t rows, std::size_t cols);
// With scale and shift per column; epsilon 1e-5 under the root of the variance.
Values reference_layer_norm(const Values& x, const Values& scale, const Values& shift,
                            std::size_t rows, std::size_t cols);
Values reference_reduce(const Values& x, std::size_t rows, std::size_t cols);  // sum of each row
Values reference_transpose(const Values& x, std::size_t rows, std::size_t cols);
// Row i of the result is row test_row(i, seed, table_rows) of the table.
Values reference_gather(const Values& table, std::size_t rows, std::size_t cols,
                        std::size_t table_rows, std::uint32_t seed);
double reference_gelu(double x);  // by the error function

// The largest |actual - expected| in units of `rounding` of the larger of |expected| and `floor`,
// divided by `allowed` roundings; above 1 is wrong, as are results that are no numbers or too few.
CheckOutcome compare_values(const Values& actual, const Values& expected, double rounding,
                            double allowed, double floor);

}  // namespace foretell
