#include "model/app/tables/published_layer.hpp"

#include <map>
#include <optional>

#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

std::optional<PublishedLayer> read_layer(const std::string& network) {
  if (network.empty()) return std::nullopt;
  try {
    const ModelConfig config = WorkloadLibrary().load(network);
    if (config.family != Family::kDecoder && config.family != Family::kEncoder) return std::nullopt;
    return PublishedLayer{config.heads, config.kv_heads, config.gated_ffn,
                          config.block_form != BlockForm::kSequential};
  } catch (const UserError&) {
    return std::nullopt;  // the columns have to do
  }
}

struct PublishedLayers {
  std::map<std::string, std::optional<PublishedLayer>> by_network;
};

}  // namespace

const PublishedLayer* published_layer(const std::string& network) {
  auto& known = kept<PublishedLayers>().by_network;
  const auto found = known.find(network);
  const std::optional<PublishedLayer>& layer =
      found != known.end() ? found->second
                           : known.emplace(network, read_layer(network)).first->second;
  return layer ? &*layer : nullptr;
}

}  // namespace foretell
