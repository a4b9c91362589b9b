// Mixture of experts: choosing experts, and matmuls with the weights of the chosen ones.
#include <numeric>

#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

// x [.., N] yields the k largest values and their indices, both [.., k].
std::vector<Shape> top_k_shapes(const OpView& op) {
  const std::int64_t k = op.integer("k");
  if (op.rank(0) < 1 || k < 1 || k > op.input(0).back()) {
    op.fail("cannot choose " + std::to_string(k) + " of " + to_string(op.input(0)));
  }
  Shape result = op.input(0);
  result.back() = k;
  return {result, result};
}

// k passes that each look for the largest remaining value.
double top_k_flops(const OpView& op) {
  return static_cast<double>(element_count(op.input(0))) * static_cast<double>(op.integer("k"));
}

// x [.., k, K] (or [.., 1, K]: the same row for every expert), weights [experts, K, N] and the
// chosen experts [.., k] yield [.., k, N].
namespace {

// Of the experts that this rank holds.
std::int64_t rows_here(const OpView& op) {
  const Shape& rows = op.integers("rows");
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

}  // namespace

std::vector<Shape> expert_matmul_shapes(const OpView& op) {
  const Shape& x = op.input(0);
  const Shape& weights = op.input(1);
  const Shape& choice = op.input(2);
  const auto fail = [&] {
    op.fail("x " + to_string(x) + ", weights " + to_string(weights) + " and choice " +
            to_string(choice) + " do not fit: [.., k, K], [experts, K, N] and [.., k] would");
  };
  if (x.size() < 2 || weights.size() != 3 || choice.empty() || x.back() != weights[1]) fail();
  if (op.has("apart")) return {{rows_here(op), 1, weights[2]}};
  Shape rows(x.begin(), x.end() - 1);
  if (rows.back() == 1) rows.back() = choice.back();
  if (rows != choice || choice.back() > weights[0]) fail();
  rows.push_back(weights[2]);
  return {rows};
}

double expert_matmul_flops(const OpView& op) {
  const double outputs = static_cast<double>(element_count(expert_matmul_shapes(op).front()));
  return 2.0 * outputs * static_cast<double>(op.input(0).back());
}

std::vector<Shape> expert_sum_shapes(const OpView& op) {
  const Shape& rows = op.input(0);
  const Shape& factors = op.input(1);
  if (rows.size() != 3 || rows[1] != 1 || factors.size() < 2) {
    op.fail("rows " + to_string(rows) + " and factors " + to_string(factors) +
            " do not fit: [rows, 1, N] and [.., k] would");
  }
  Shape result(factors.begin(), factors.end() - 1);
  result.push_back(rows.back());
  return {result};
}

double expert_sum_flops(const OpView& op) {
  return 2.0 * static_cast<double>(element_count(op.input(0)));
}

}  // namespace foretell::operators
