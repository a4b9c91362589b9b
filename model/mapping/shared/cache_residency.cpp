#include "model/mapping/shared/cache_residency.hpp"

#include <algorithm>

namespace foretell {
namespace {
constexpr double kSoftness = 0.6;
}  // namespace

double CacheResidency::missing(TensorId tensor, Bytes bytes) const {
  const auto used = last_use_.find(tensor);
  const Bytes footprint =
      used == last_use_.end() ? between_calls_ : touched_ - used->second + bytes;
  return std::clamp((footprint / capacity_ - 1) / kSoftness, 0.0, 1.0);
}

void CacheResidency::touch(TensorId tensor, Bytes bytes) {
  touched_ += bytes;
  last_use_[tensor] = touched_;
}

}  // namespace foretell
