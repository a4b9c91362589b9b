// Collectives that change how a tensor is spread over the cores of a tensor-parallel copy. An axis
// that does not divide is padded: every core has the same share, rounded up.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {
namespace {

std::int64_t share(std::int64_t size, std::int64_t ranks) { return (size + ranks - 1) / ranks; }

std::int64_t ranks_of(const OpView& op) {
  const std::int64_t ranks = op.integer("ranks");
  if (ranks < 1) op.fail("attribute 'ranks' is " + std::to_string(ranks) + ", but must be above 0");
  return ranks;
}

}  // namespace

// The sum of all cores, of which each keeps its share of the axis.
std::vector<Shape> reduce_scatter_shapes(const OpView& op) {
  Shape result = op.input(0);
  std::int64_t& size = result[static_cast<std::size_t>(op.axis("axis", op.rank(0)))];
  size = share(size, ranks_of(op));
  return {result};
}

// The shares of all cores one after another, without the padding: `size` of the axis.
std::vector<Shape> all_gather_shapes(const OpView& op) {
  Shape result = op.input(0);
  const std::int64_t size = op.integer("size");
  std::int64_t& part = result[static_cast<std::size_t>(op.axis("axis", op.rank(0)))];
  if (size < 1 || part != share(size, ranks_of(op))) {
    op.fail("shares of " + std::to_string(part) + " do not make " + std::to_string(size) + " on " +
            std::to_string(ranks_of(op)) + " cores");
  }
  part = size;
  return {result};
}

// What arrives is what leaves, in shape.
std::vector<Shape> send_receive_shapes(const OpView& op) {
  ranks_of(op);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < op.input_count(); ++i) shapes.push_back(op.input(i));
  return shapes;
}

}  // namespace foretell::operators
