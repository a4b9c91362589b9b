#include "model/mapping/shared/same_graph.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace foretell {
namespace {

// All members of a type: a new one does not compile until it is compared, too. What differs most
// often comes first.

auto all_of(const Tensor& of) {
  const auto& [name, shape, dtype, kind, producer, consumers, is_kept] = of;
  return std::tie(shape, dtype, kind, producer, is_kept, consumers, name);
}

auto all_of(const Op& of) {
  const auto& [name, kind, inputs, outputs, attributes, layer] = of;
  return std::tie(layer, inputs, outputs, kind, attributes, name);
}

template <class Member>
bool all_same(const std::vector<Member>& a, const std::vector<Member>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Member& x, const Member& y) { return all_of(x) == all_of(y); });
}

}  // namespace

bool same_graph(const Graph& a, const Graph& b) {
  return a.name() == b.name() && all_same(a.tensors(), b.tensors()) && all_same(a.ops(), b.ops());
}

}  // namespace foretell
