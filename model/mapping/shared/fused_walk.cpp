#include "model/mapping/shared/fused_walk.hpp"

#include "model/mapping/shared/same_graph.hpp"

namespace foretell {
namespace {

struct KeptFusions : KeptByGraph<FusedGraph> {};

}  // namespace

ProductDimensions linear_dimensions(const Graph& graph, const FusedOp& fused) {
  const Tensor& input = graph.tensor(graph.op(fused.main).inputs[0]);
  ProductDimensions product;
  product.k = input.shape.back();
  product.m = element_count(input.shape) / product.k;
  product.n = 0;
  for (const TensorId weight : fused.weights)
    product.n += element_count(graph.tensor(weight).shape) / product.k;
  return product;
}

ProductDimensions product_dimensions(const Graph& graph, const Op& op) {
  const Shape& c = graph.tensor(op.outputs.front()).shape;
  ProductDimensions product;
  product.k = graph.tensor(op.inputs[0]).shape.back();
  product.n = c.back();
  product.m = c[c.size() - 2];
  product.batch = element_count(c) / (product.m * product.n);
  return product;
}

ProductDimensions indexer_dimensions(const Graph& graph, const Op& op) {
  const Shape& q = graph.tensor(op.inputs[0]).shape;
  const Shape& k = graph.tensor(op.inputs[1]).shape;
  return {q[0], q[1] * q[2], k[1], q[3]};
}

Bytes bytes_of(const std::vector<TensorAccess>& accesses) {
  Bytes sum;
  for (const TensorAccess& access : accesses) sum += access.bytes;
  return sum;
}

std::shared_ptr<const FusedGraph> fused_graph(const Graph& graph, const FusionRules& rules) {
  const auto make = [&] {
    auto fused = std::make_shared<FusedGraph>();
    fused->ops = fuse_kernels(graph, rules);
    std::vector<bool> counted(graph.ops().size(), false);  // later passes of an operator count none
    for (const FusedOp& op : fused->ops) {
      Flops& flops = fused->flops.emplace_back();
      for (const OpId id : op.ops) {
        if (!counted[static_cast<std::size_t>(id)]) flops += graph.flops(id);
        counted[static_cast<std::size_t>(id)] = true;
      }
      fused->footprint += bytes_of(op.reads) + bytes_of(op.writes);
    }
    return std::shared_ptr<const FusedGraph>(std::move(fused));
  };
  return rules == FusionRules{} ? kept_input<KeptFusions>(graph, make) : make();
}

}  // namespace foretell
