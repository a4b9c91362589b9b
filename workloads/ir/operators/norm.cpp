// Normalisations, of the last axis or of channels. Layer norm: mean, subtraction, square, sum,
// scaling, gamma and beta, seven flops per element. RMS norm: square, sum, scaling and gamma, four.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {
namespace {

void check_parameter(const OpView& op, std::size_t index, const char* name) {
  if (op.rank(0) < 1 || op.input(index) != Shape{op.input(0).back()}) {
    op.fail(std::string(name) + " has shape " + to_string(op.input(index)) +
            ", but must match the last axis of " + to_string(op.input(0)));
  }
}

double elements(const OpView& op) { return static_cast<double>(element_count(op.input(0))); }

}  // namespace

std::vector<Shape> layer_norm_shapes(const OpView& op) {
  check_parameter(op, 1, "gamma");
  check_parameter(op, 2, "beta");
  return {op.input(0)};
}

double layer_norm_flops(const OpView& op) { return 7.0 * elements(op); }

std::vector<Shape> rms_norm_shapes(const OpView& op) {
  check_parameter(op, 1, "gamma");
  return {op.input(0)};
}

double rms_norm_flops(const OpView& op) { return 4.0 * elements(op); }

// x [N, C, ..] and one number per channel for each parameter.
std::vector<Shape> channel_norm_shapes(const OpView& op) {
  if (op.rank(0) < 2) op.fail("needs [batch, channels, ..], got " + to_string(op.input(0)));
  const std::int64_t channels = op.input(0)[1];
  for (std::size_t i = 1; i < op.input_count(); ++i) {
    if (op.input(i) != Shape{channels}) {
      op.fail("parameter " + std::to_string(i) + " has shape " + to_string(op.input(i)) +
              ", needs " + to_string(Shape{channels}));
    }
  }
  if (op.has("groups")) {
    const std::int64_t groups = op.integer("groups");
    if (groups < 1 || channels % groups != 0) {
      op.fail(std::to_string(groups) + " groups of " + std::to_string(channels) + " channels");
    }
  }
  return {op.input(0)};
}

// With mean and variance known, both fold into one factor and one offset per channel.
double batch_norm_flops(const OpView& op) { return 2.0 * elements(op); }

}  // namespace foretell::operators
