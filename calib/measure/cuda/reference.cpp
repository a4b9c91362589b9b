#include "calib/measure/cuda/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calib/measure/cuda/test_values.hpp"

namespace foretell {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kExact = 1e-12;  // rounding of results that have none

}  // namespace

Values reference_input(std::size_t count, std::uint32_t seed, bool integers) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = integers ? test_eighths(i, seed) : test_eighths(i, seed) / 8.0;
  }
  return values;
}

Values reference_gemm(const Values& x, const Values& w, std::size_t b, std::size_t m, std::size_t n,
                      std::size_t k) {
  Values y(b * m * n);
  for (std::size_t i = 0; i < b; ++i) {
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t col = 0; col < n; ++col) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) {
          sum += x[(i * m + row) * k + j] * w[(i * n + col) * k + j];
        }
        y[(i * m + row) * n + col] = sum;
      }
    }
  }
  return y;
}

ConvShape conv_shape(const MeasureTask& task) {
  const auto size = [&task](const char* name) { return static_cast<std::size_t>(task.size(name)); };
  return {size("batch"),  size("channels"), size("height"),  size("width"), size("filters"),
          size("kernel"), size("stride"),   size("padding"), size("groups")};
}

Values reference_conv(const Values& x, const Values& w, const ConvShape& shape) {
  const std::size_t depth = shape.channels / shape.groups;
  const std::size_t per_group = shape.filters / shape.groups;
  Values y;
  y.reserve(shape.batch * shape.out_height() * shape.out_width() * shape.filters);
  const auto taps = [&](std::size_t image, std::size_t top, std::size_t left, std::size_t filter) {
    double sum = 0;
    for (std::size_t r = 0; r < shape.kernel; ++r) {
      for (std::size_t s = 0; s < shape.kernel; ++s) {
        // Rows and columns of the padding are below zero, which wraps to a large number.
        const std::size_t row = top * shape.stride + r - shape.padding;
        const std::size_t col = left * shape.stride + s - shape.padding;
        if (row >= shape.height || col >= shape.width) continue;
        const std::size_t first = filter / per_group * depth;
        const std::size_t pixel = ((image * shape.height + row) * shape.width + col);
        for (std::size_t c = 0; c < depth; ++c) {
          sum += x[pixel * shape.channels + first + c] *
                 w[((filter * shape.kernel + r) * shape.kernel + s) * depth + c];
        }
      }
    }
    return sum;
  };
  for (std::size_t image = 0; image < shape.batch; ++image) {
    for (std::size_t top = 0; top < shape.out_height(); ++top) {
      for (std::size_t left = 0; left < shape.out_width(); ++left) {
        for (std::size_t filter = 0; filter < shape.filters; ++filter) {
          y.push_back(taps(image, top, left, filter));
        }
      }
    }
  }
  return y;
}

Values reference_softmax(const Values& x, std::size_t rows, std::size_t cols) {
  Values y(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto* from = x.data() + row * cols;
    const double largest = *std::max_element(from, from + cols);
    double sum = 0;
    for (std::size_t i = 0; i < cols; ++i) sum += std::exp(from[i] - largest);
    for (std::size_t i = 0; i < cols; ++i) y[row * cols + i] = std::exp(from[i] - largest) / sum;
  }
  return y;
}

Values reference_layer_norm(const Values& x, const Values& scale, const Values& shift,
                            std::size_t rows, std::size_t cols) {
  Values y(x.size());
  const auto count = static_cast<double>(cols);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto* from = x.data() + row * cols;
    double mean = 0;
    for (std::size_t i = 0; i < cols; ++i) mean += from[i] / count;
    double variance = 0;
    for (std::size_t i = 0; i < cols; ++i) variance += (from[i] - mean) * (from[i] - mean) / count;
    const double inverse = 1 / std::sqrt(variance + kEpsilon);
    for (std::size_t i = 0; i < cols; ++i) {
      y[row * cols + i] = (from[i] - mean) * inverse * scale[i] + shift[i];
    }
  }
  return y;
}

Values reference_reduce(const Values& x, std::size_t rows, std::size_t cols) {
  Values y(rows, 0.0);
  for (std::size_t i = 0; i < rows * cols; ++i) y[i / cols] += x[i];
  return y;
}

Values reference_transpose(const Values& x, std::size_t rows, std::size_t cols) {
  Values y(x.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) y[col * rows + row] = x[row * cols + col];
  }
  return y;
}

Values reference_gather(const Values& table, std::size_t rows, std::size_t cols,
                        std::size_t table_rows, std::uint32_t seed) {
  Values y;
  y.reserve(rows * cols);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from =
        static_cast<std::size_t>(test_row(row, seed, static_cast<std::int64_t>(table_rows)));
    for (std::size_t col = 0; col < cols; ++col) y.push_back(table[from * cols + col]);
  }
  return y;
}

double reference_gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

CheckOutcome compare_values(const Values& actual, const Values& expected, double rounding,
                            double allowed, double floor) {
  if (actual.size() != expected.size()) {
    return {std::numeric_limits<double>::infinity(),
            std::to_string(actual.size()) + " results, not " + std::to_string(expected.size())};
  }
  CheckOutcome worst;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double unit = std::max(rounding, kExact) * std::max(std::abs(expected[i]), floor);
    double error = std::abs(actual[i] - expected[i]) / (unit * allowed);
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (error <= worst.error) continue;
    worst.error = error;
    worst.detail = "element " + std::to_string(i) + " is " + std::to_string(actual[i]) + ", not " +
                   std::to_string(expected[i]);
  }
  return worst;
}

}  // namespace foretell
