// Batched matrix product. With K the contracted dimension, [B.., M, K] x [B.., K, N] costs
// 2 * B * M * N * K flops.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {
namespace {

bool transposed(const OpView& op) {
  return op.has("transpose_b") && op.integer("transpose_b") != 0;
}

}  // namespace

std::vector<Shape> matmul_shapes(const OpView& op) {
  const Shape& a = op.input(0);
  const Shape& b = op.input(1);
  const auto describe = [&] {
    return to_string(a) + " x " + to_string(b) + (transposed(op) ? " transposed" : "");
  };
  if (a.size() < 2 || b.size() < 2)
    op.fail("both operands need at least two dimensions: " + describe());
  const std::int64_t m = a[a.size() - 2];
  const std::int64_t k = a.back();
  const std::int64_t b_rows = b[b.size() - 2];
  const std::int64_t b_columns = b.back();
  const std::int64_t b_k = transposed(op) ? b_columns : b_rows;
  const std::int64_t n = transposed(op) ? b_rows : b_columns;
  if (k != b_k) {
    op.fail("inner dimensions " + std::to_string(k) + " and " + std::to_string(b_k) +
            " differ: " + describe());
  }
  Shape result;
  if (!broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), &result)) {
    op.fail("batch dimensions do not broadcast: " + describe());
  }
  result.push_back(m);
  result.push_back(n);
  return {result};
}

double matmul_flops(const OpView& op) {
  const double outputs = static_cast<double>(element_count(matmul_shapes(op).front()));
  return 2.0 * outputs * static_cast<double>(op.input(0).back());
}

}  // namespace foretell::operators
