// Writing new rows into a cache that stays on the device: cache [B, heads, T, dim] and new rows
// [B, heads, S, dim] yield the cache. Only the new rows are moved.
#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {

std::vector<Shape> update_cache_shapes(const OpView& op) {
  const Shape& cache = op.input(0);
  const Shape& rows = op.input(1);
  if (cache.size() != 4 || rows.size() != 4 || rows[2] > cache[2] ||
      Shape{cache[0], cache[1], rows[2], cache[3]} != rows) {
    op.fail("rows " + to_string(rows) + " do not fit the cache " + to_string(cache));
  }
  return {cache};
}

}  // namespace foretell::operators
