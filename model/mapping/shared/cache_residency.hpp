// What a kernel finds in a cache of the tensors that kernels before it have read or written.
//
// A tensor stays as long as what was touched since then fits the part of the cache in which data
// stay; as in the matrix products, hits become misses over a share of it (`cache_softness`).
#pragma once

#include <map>

#include "calib/fitted/shared/common_factors.hpp"
#include "model/base/units.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

class CacheResidency {
 public:
  // `between_calls`: touched from a use of a tensor to the same use in the next call.
  CacheResidency(const CommonFactors& common, Bytes capacity, Bytes between_calls)
      : common_(common), capacity_(capacity), between_calls_(between_calls) {}

  // Share of the tensor that comes from beyond the cache.
  double missing(TensorId tensor, Bytes bytes) const;
  void touch(TensorId tensor, Bytes bytes);

 private:
  CommonFactors common_;
  Bytes capacity_;
  Bytes between_calls_;
  Bytes touched_;                       // since the call began
  std::map<TensorId, Bytes> last_use_;  // touched_ after it
};

}  // namespace foretell
