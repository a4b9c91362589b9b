#include "model/mapping/shared/cache_residency.hpp"

#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {
double CacheResidency::missing(TensorId tensor, Bytes bytes) const {
  const auto used = last_use_.find(tensor);
  const Bytes footprint =
      used == last_use_.end() ? between_calls_ : touched_ - used->second + bytes;
  return missing_share(common_, footprint / capacity_);
}

void CacheResidency::touch(TensorId tensor, Bytes bytes) {
  touched_ += bytes;
  last_use_[tensor] = touched_;
}

}  // namespace foretell
