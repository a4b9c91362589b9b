// The one walk over the fused operations of a graph, for machines that run them one after another.
// A mapper says what each kind of operation becomes; the order, what an operation counts and which
// tensors it leaves in the caches are the same for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/mapping/shared/fuse.hpp"

namespace foretell {

// `batch` products of m x k and k x n.
struct ProductDimensions {
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};

// For a product with weights, all of them side by side; of two activations; of the scores of an
// indexer.
ProductDimensions linear_dimensions(const Graph& graph, const FusedOp& fused);
ProductDimensions product_dimensions(const Graph& graph, const Op& op);
ProductDimensions indexer_dimensions(const Graph& graph, const Op& op);

template <class Product>
void set_dimensions(const ProductDimensions& dimensions, Product& product) {
  product.batch = dimensions.batch;
  product.m = dimensions.m;
  product.n = dimensions.n;
  product.k = dimensions.k;
}

Bytes bytes_of(const std::vector<TensorAccess>& accesses);

// What a walk needs of a graph, whatever the machine.
struct FusedGraph {
  std::vector<FusedOp> ops;
  std::vector<Flops> flops;  // of each
  Bytes footprint;           // everything that the operations touch, each access once
};

// Kept while inputs are, where operators are grouped: the calls of a study that differ in the
// machine alone share it.
std::shared_ptr<const FusedGraph> fused_graph(const Graph& graph, const FusionRules& rules = {});

// `Mapped` has the members `main` and `flops`.
template <class Mapped>
class FusedWalk {
 public:
  explicit FusedWalk(const Graph& graph, const FusionRules& rules = {})
      : graph_(graph), whole_(fused_graph(graph, rules)), fused_(whole_->ops) {}
  FusedWalk(const FusedWalk&) = delete;
  FusedWalk& operator=(const FusedWalk&) = delete;
  virtual ~FusedWalk() = default;

  std::vector<Mapped> walk() {
    std::vector<Mapped> mapped;
    for (std::size_t i = 0; i < fused_.size(); ++i) {
      const FusedOp& fused = fused_[i];
      Mapped op;
      op.main = fused.main;
      op.flops = whole_->flops[i];
      map(fused, op);
      count(fused, op);
      for (const TensorAccess& read : fused.reads) touch(read);
      for (const TensorAccess& write : fused.writes) touch(write);
      mapped.push_back(std::move(op));
    }
    return mapped;
  }

 protected:
  virtual void linear(const FusedOp& fused, Mapped& op) = 0;
  virtual void product(const FusedOp& fused, Mapped& op) = 0;
  virtual void convolution(const FusedOp& fused, Mapped& op) = 0;
  virtual void attention(const FusedOp& fused, Mapped& op) = 0;
  virtual void experts(const FusedOp& fused, Mapped& op) = 0;
  virtual void pass(const FusedOp& fused, Mapped& op) = 0;
  virtual void collective(const FusedOp& fused, Mapped& op) = 0;
  virtual void expert_layer(const FusedOp& fused, Mapped& op) = 0;
  virtual void scan(const FusedOp& fused, Mapped& op) = 0;
  virtual void indexer(const FusedOp& fused, Mapped& op) = 0;
  // Notes in what it was mapped to what the operation does, for its energy.
  virtual void count(const FusedOp& fused, Mapped& op) = 0;
  // The caches hold these bytes now; of a tensor that was touched whole, else kNoId.
  virtual void keep(TensorId whole, Bytes bytes) = 0;

  Bytes footprint() const { return whole_->footprint; }

  const Graph& graph_;

 private:
  const std::shared_ptr<const FusedGraph> whole_;

 protected:
  const std::vector<FusedOp>& fused_;

 private:
  void map(const FusedOp& fused, Mapped& op) {
    switch (fused.kind) {
      case FusedKind::kLinear:
        return linear(fused, op);
      case FusedKind::kProduct:
        return product(fused, op);
      case FusedKind::kConvolution:
        return convolution(fused, op);
      case FusedKind::kAttention:
        return attention(fused, op);
      case FusedKind::kExperts:
        return experts(fused, op);
      case FusedKind::kPass:
        return pass(fused, op);
      case FusedKind::kCollective:
        return collective(fused, op);
      case FusedKind::kExpertLayer:
        return expert_layer(fused, op);
      case FusedKind::kScan:
        return scan(fused, op);
      case FusedKind::kIndexer:
        return indexer(fused, op);
    }
  }

  // A few rows of a table or a cache say nothing about the others.
  void touch(const TensorAccess& access) {
    const bool whole = access.bytes >= graph_.tensor(access.tensor).bytes() / 2;
    keep(whole ? access.tensor : kNoId, access.bytes);
  }
};

}  // namespace foretell
