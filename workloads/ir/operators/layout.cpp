// Operators that only rearrange elements.
#include <algorithm>
#include <numeric>

#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

double no_flops(const OpView&) { return 0; }

std::vector<Shape> reshape_shapes(const OpView& op) {
  Shape result = op.integers("shape");
  const std::int64_t elements = element_count(op.input(0));
  const auto fail = [&] {
    op.fail("cannot reshape " + to_string(op.input(0)) + " to " + to_string(op.integers("shape")));
  };
  std::int64_t* open = nullptr;
  std::int64_t known = 1;
  for (std::int64_t& dimension : result) {
    if (dimension == -1 && open == nullptr) {
      open = &dimension;
      continue;
    }
    if (dimension < 1 || dimension > elements) fail();
    known *= dimension;
    if (known > elements) fail();
  }
  if (open != nullptr) *open = elements / known;
  if (element_count(result) != elements) fail();
  return {result};
}

std::vector<Shape> transpose_shapes(const OpView& op) {
  const std::vector<std::int64_t>& perm = op.integers("perm");
  std::vector<std::int64_t> axes(op.input(0).size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (!std::is_permutation(perm.begin(), perm.end(), axes.begin(), axes.end())) {
    op.fail("perm " + to_string(perm) + " is no permutation of the axes of " +
            to_string(op.input(0)));
  }
  Shape result;
  for (const std::int64_t axis : perm)
    result.push_back(op.input(0)[static_cast<std::size_t>(axis)]);
  return {result};
}

std::vector<Shape> split_shapes(const OpView& op) {
  const auto axis = static_cast<std::size_t>(op.axis("axis", op.rank(0)));
  const std::vector<std::int64_t>& sizes = op.integers("sizes");
  std::vector<Shape> results;
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    if (size < 1) op.fail("piece of size " + std::to_string(size));
    sum += size;
    results.push_back(op.input(0));
    results.back()[axis] = size;
  }
  if (sum != op.input(0)[axis]) {
    op.fail("sizes " + to_string(sizes) + " do not add up to axis " + std::to_string(axis) +
            " of " + to_string(op.input(0)));
  }
  return results;
}

std::vector<Shape> slice_shapes(const OpView& op) {
  const auto axis = static_cast<std::size_t>(op.axis("axis", op.rank(0)));
  const std::int64_t begin = op.integer("begin");
  const std::int64_t end = op.integer("end");
  if (begin < 0 || begin >= end || end > op.input(0)[axis]) {
    op.fail("[" + std::to_string(begin) + ", " + std::to_string(end) + ") is no range of axis " +
            std::to_string(axis) + " of " + to_string(op.input(0)));
  }
  Shape result = op.input(0);
  result[axis] = end - begin;
  return {result};
}

std::vector<Shape> concat_shapes(const OpView& op) {
  const auto axis = static_cast<std::size_t>(op.axis("axis", op.rank(0)));
  Shape result = op.input(0);
  for (std::size_t i = 1; i < op.input_count(); ++i) {
    Shape expected = result;
    if (op.input(i).size() == expected.size()) expected[axis] = op.input(i)[axis];
    if (op.input(i) != expected) {
      op.fail("input " + std::to_string(i) + " has shape " + to_string(op.input(i)) +
              ", which does not join " + to_string(op.input(0)) + " along axis " +
              std::to_string(axis));
    }
    result[axis] += op.input(i)[axis];
  }
  return {result};
}

}  // namespace foretell::operators
