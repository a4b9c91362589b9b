#include "calib/measure/cpu/reference.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

double at(const std::vector<float>& values, std::int64_t index) {
  return static_cast<double>(values[static_cast<std::size_t>(index)]);
}

void softmax(double* row, std::int64_t cols) {
  const double most = *std::max_element(row, row + cols);
  double sum = 0;
  for (std::int64_t i = 0; i < cols; ++i) sum += row[i] = std::exp(row[i] - most);
  for (std::int64_t i = 0; i < cols; ++i) row[i] /= sum;
}

void layer_norm(double* row, std::int64_t cols, const std::vector<float>& scale,
                const std::vector<float>& shift) {
  constexpr double kEpsilon = 1e-5;
  const auto count = static_cast<double>(cols);
  double mean = 0;
  for (std::int64_t i = 0; i < cols; ++i) mean += row[i] / count;
  double variance = 0;
  for (std::int64_t i = 0; i < cols; ++i) variance += (row[i] - mean) * (row[i] - mean) / count;
  for (std::int64_t i = 0; i < cols; ++i) {
    row[i] = (row[i] - mean) / std::sqrt(variance + kEpsilon) * at(scale, i) + at(shift, i);
  }
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

}  // namespace

std::vector<double> reference_product(const std::vector<float>& source,
                                      const std::vector<float>& weights, const ProductShape& shape,
                                      double scale) {
  const auto [b, m, n, k] = shape;
  std::vector<double> result;
  for (std::int64_t batch = 0; batch < b; ++batch) {
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          sum += at(source, (batch * m + row) * k + i) * at(weights, (batch * k + i) * n + column);
        }
        result.push_back(sum * scale);
      }
    }
  }
  return result;
}

std::vector<double> reference_convolution(const std::vector<float>& source,
                                          const std::vector<float>& weights,
                                          const ConvolutionShape& shape, double scale) {
  const std::int64_t out_h = (shape.height + 2 * shape.padding - shape.kernel) / shape.stride + 1;
  const std::int64_t out_w = (shape.width + 2 * shape.padding - shape.kernel) / shape.stride + 1;
  const auto one = [&](std::int64_t image, std::int64_t filter, std::int64_t y, std::int64_t x) {
    double sum = 0;
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      for (std::int64_t ky = 0; ky < shape.kernel; ++ky) {
        for (std::int64_t kx = 0; kx < shape.kernel; ++kx) {
          const std::int64_t sy = y * shape.stride + ky - shape.padding;
          const std::int64_t sx = x * shape.stride + kx - shape.padding;
          if (sy < 0 || sy >= shape.height || sx < 0 || sx >= shape.width) continue;
          sum +=
              at(source, ((image * shape.channels + c) * shape.height + sy) * shape.width + sx) *
              at(weights, ((filter * shape.channels + c) * shape.kernel + ky) * shape.kernel + kx);
        }
      }
    }
    return sum * scale;
  };
  std::vector<double> result;
  for (std::int64_t image = 0; image < shape.b; ++image) {
    for (std::int64_t filter = 0; filter < shape.filters; ++filter) {
      for (std::int64_t y = 0; y < out_h; ++y) {
        for (std::int64_t x = 0; x < out_w; ++x) result.push_back(one(image, filter, y, x));
      }
    }
  }
  return result;
}

std::vector<double> reference_rows(const std::string& op,
                                   const std::vector<std::vector<float>>& inputs, std::int64_t rows,
                                   std::int64_t cols) {
  std::vector<double> values(inputs.front().begin(), inputs.front().end());
  if (op == "add") {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += static_cast<double>(inputs[1][i]);
    }
  } else if (op == "gelu") {
    std::transform(values.begin(), values.end(), values.begin(), gelu);
  } else if (op == "softmax") {
    for (std::int64_t row = 0; row < rows; ++row)
      softmax(&values[static_cast<std::size_t>(row * cols)], cols);
  } else if (op == "layer_norm") {
    for (std::int64_t row = 0; row < rows; ++row) {
      layer_norm(&values[static_cast<std::size_t>(row * cols)], cols, inputs[1], inputs[2]);
    }
  } else if (op == "reduce") {
    std::vector<double> sums(static_cast<std::size_t>(rows), 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i / static_cast<std::size_t>(cols)] += values[i];
    }
    return sums;
  }
  return values;
}

std::vector<double> with_epilogue(std::vector<double> values, const std::vector<float>& residual) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = residual.empty() ? gelu(values[i]) : values[i] + static_cast<double>(residual[i]);
  }
  return values;
}

double largest_error(const std::vector<float>& found, const std::vector<double>& wanted,
                     double tolerance) {
  FORETELL_CHECK(found.size() == wanted.size(), "a result of another size");
  constexpr double kMaxInt8 = 127;
  const bool eight_bits = tolerance > 1;
  double worst = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double value = eight_bits ? std::clamp(wanted[i], -kMaxInt8 - 1, kMaxInt8) : wanted[i];
    const double allowed = eight_bits ? tolerance : tolerance * std::max(1.0, std::abs(value));
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - value) / allowed);
  }
  return worst;
}

}  // namespace foretell
