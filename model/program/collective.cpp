#include "model/program/collective.hpp"

#include <array>
#include <tuple>

namespace foretell {

std::string_view to_string(CollectiveKind kind) {
  static constexpr std::array<std::string_view, kCollectiveKindCount> kNames = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool operator<(const CollectiveShape& a, const CollectiveShape& b) {
  return std::tie(a.kind, a.bytes, a.ranks, a.stride) <
         std::tie(b.kind, b.bytes, b.ranks, b.stride);
}

}  // namespace foretell
