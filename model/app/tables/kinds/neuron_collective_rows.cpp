#include "model/app/tables/kinds/neuron_collective_rows.hpp"

#include <utility>

#include "calib/fitted/neuron/calibrated_system.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxRanks = 1024;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 38;

CollectiveKind kind_of(const std::string& name) {
  if (name == "alltoall") return CollectiveKind::kAllToAll;  // as NCCL's tests call it
  std::vector<std::string> names;
  for (int kind = 0; kind < kCollectiveKindCount; ++kind) {
    names.emplace_back(to_string(static_cast<CollectiveKind>(kind)));
    if (names.back() == name) return static_cast<CollectiveKind>(kind);
  }
  throw unknown_name("collective", name, names);
}

}  // namespace

NeuronCollectiveRows::NeuronCollectiveRows(const CsvRow& header, std::vector<std::string> set)
    : cells_(header), set_(std::move(set)) {
  for (std::string& name : catalog_.systems()) known_.insert(std::move(name));
}

bool NeuronCollectiveRows::serves(const CsvRow& row) const {
  return known_.count(cells_.text(row, "system")) > 0;
}

NeuronCollectiveRows::Group& NeuronCollectiveRows::group_of(const std::string& system, int ranks) {
  std::unique_ptr<Group>& group = groups_[system + '\n' + std::to_string(ranks)];
  if (group == nullptr) {
    auto loaded = systems_.find(system);
    if (loaded == systems_.end()) {
      loaded = systems_.emplace(system, load_calibrated(system, {set_, ""}, catalog_)).first;
    }
    const CalibratedSystem& found = loaded->second;
    group = std::make_unique<Group>(found, ranks);
  }
  return *group;
}

RowTime NeuronCollectiveRows::predict(const CsvRow& row) {
  const CollectiveKind kind = kind_of(cells_.text(row, "op"));
  const auto ranks = static_cast<int>(cells_.count(row, "n_ranks", 2, kMaxRanks));
  const auto bytes = static_cast<std::uint64_t>(cells_.count(row, "bytes", 1, kMaxBytes));
  Group& group = group_of(cells_.text(row, "system"), ranks);
  const Seconds time = to_seconds(group.costs.of({kind, bytes}).duration);
  const std::string& device = group.system.spec.device.id;
  const Interval ratio = default_intervals().choose(device, "collective", "").ratio;
  return {time, time * ratio.low, time * ratio.high, ""};
}

RowTime NeuronCollectiveRows::answer(const CsvRow& row) {
  try {
    return predict(row);
  } catch (const UserError& error) {
    RowTime wrong;
    wrong.error = error.what();
    return wrong;
  }
}

}  // namespace foretell
