#include "model/timing/shared/collective_schedule.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

int log2_of(int n) {
  int log = 0;
  while ((1 << log) < n) ++log;
  return log;
}

int phases(CollectiveKind kind) { return kind == CollectiveKind::kAllReduce ? 2 : 1; }

int steps_per_phase(CollectiveAlgorithm algorithm, int ranks) {
  switch (algorithm) {
    case CollectiveAlgorithm::kMesh:
    case CollectiveAlgorithm::kNeighbour:
      return 1;
    case CollectiveAlgorithm::kHalving:
      return log2_of(ranks);
    case CollectiveAlgorithm::kRing:
    case CollectiveAlgorithm::kPairwise:
      break;
  }
  return ranks - 1;
}

bool reduces(const CollectivePlan& plan, int step) {
  if (plan.kind == CollectiveKind::kReduceScatter) return true;
  return plan.kind == CollectiveKind::kAllReduce && step < plan.steps / 2;
}

int wrap(int rank, int ranks) { return (rank % ranks + ranks) % ranks; }

void ring_step(const CollectivePlan& plan, int rank, int step_in_phase, bool reduce,
               CollectiveStep& out) {
  out.sends.push_back({wrap(rank + plan.direction, plan.ranks), plan.segment});
  out.received = plan.segment;
  // The first segment is sent as it is; later ones are reduced with what came in.
  out.reads = reduce && step_in_phase > 0 ? 2 : 1;
}

void mesh_step(const CollectivePlan& plan, int rank, bool reduce, CollectiveStep& out) {
  for (int other = 1; other < plan.ranks; ++other) {
    out.sends.push_back({wrap(rank + other, plan.ranks), plan.segment});
  }
  out.received = plan.segment * static_cast<std::uint64_t>(plan.ranks - 1);
  out.reads_back = reduce ? 1 : 0;
}

void halving_step(const CollectivePlan& plan, int rank, int step_in_phase, bool reduce,
                  CollectiveStep& out) {
  const int last = log2_of(plan.ranks) - 1;
  const int distance = 1 << (reduce ? last - step_in_phase : step_in_phase);
  const std::uint64_t bytes = plan.segment * static_cast<std::uint64_t>(distance);
  out.sends.push_back({rank ^ distance, bytes});
  out.received = bytes;
  out.reads_back = reduce ? 1 : 0;
}

void pairwise_step(const CollectivePlan& plan, int rank, int step, CollectiveStep& out) {
  out.sends.push_back({wrap(rank + step + 1, plan.ranks), plan.segment});
  out.received = plan.segment;
}

}  // namespace

CollectiveAlgorithm choose_algorithm(const CollectiveSpec& spec, CollectiveKind kind, int ranks,
                                     std::uint64_t bytes) {
  if (kind == CollectiveKind::kPermute) return CollectiveAlgorithm::kNeighbour;
  const auto size = static_cast<double>(bytes);
  const bool by_size = spec.algorithms == "by-size";
  if (by_size && size < spec.mesh_limit.value()) return CollectiveAlgorithm::kMesh;
  if (kind == CollectiveKind::kAllToAll) return CollectiveAlgorithm::kPairwise;
  if (by_size) {
    if (size < spec.halving_limit.value() && is_power_of_two(ranks)) {
      return CollectiveAlgorithm::kHalving;
    }
  }
  return CollectiveAlgorithm::kRing;
}

namespace {

// What a group does in turn: within its instances and between them.
std::vector<CollectiveShape> parts_of(const CollectiveShape& whole, int of_instance) {
  const int inside = std::max(1, of_instance / whole.stride);  // ranks of the group
  if (of_instance == 0 || whole.ranks <= inside || whole.kind == CollectiveKind::kPermute)
    return {whole};
  CollectiveShape near = whole;
  near.ranks = inside;
  CollectiveShape far = whole;
  far.ranks = whole.ranks / inside;
  far.stride = whole.stride * inside;
  if (inside == 1) return {far};
  const auto share = static_cast<std::uint64_t>(inside);
  if (whole.kind != CollectiveKind::kAllToAll) far.bytes = (whole.bytes + share - 1) / share;
  switch (whole.kind) {
    case CollectiveKind::kAllReduce: {
      CollectiveShape gather = near;
      gather.kind = CollectiveKind::kAllGather;
      near.kind = CollectiveKind::kReduceScatter;
      return {near, far, gather};
    }
    case CollectiveKind::kAllGather:
      return {far, near};
    default:
      return {near, far};
  }
}

CollectivePlan plan_part(const CollectiveSpec& spec, const CollectiveShape& part,
                         std::uint64_t rings) {
  CollectivePlan plan;
  plan.kind = part.kind;
  plan.algorithm = choose_algorithm(spec, part.kind, part.ranks, part.bytes);
  plan.ranks = part.ranks;
  plan.stride = part.stride;
  plan.steps = phases(part.kind) * steps_per_phase(plan.algorithm, part.ranks);
  const std::uint64_t pieces =
      part.kind == CollectiveKind::kPermute ? 1 : rings * static_cast<std::uint64_t>(part.ranks);
  plan.segment = (part.bytes + pieces - 1) / pieces;
  return plan;
}

}  // namespace

std::vector<CollectivePlan> plan_collective(const CollectiveSpec& spec,
                                            const CollectiveShape& shape, int of_instance) {
  FORETELL_CHECK(shape.ranks >= 2 && shape.bytes > 0, "a collective needs ranks and bytes");
  const std::vector<CollectiveShape> parts = parts_of(shape, of_instance);
  const bool shared = std::any_of(parts.begin(), parts.end(), [&](const CollectiveShape& part) {
    return choose_algorithm(spec, part.kind, part.ranks, part.bytes) == CollectiveAlgorithm::kRing;
  });
  const int rings = shared ? spec.rings : 1;
  std::vector<CollectivePlan> plans;
  for (int ring = 0; ring < rings; ++ring) {
    CollectivePlan whole;
    for (const CollectiveShape& part : parts) {
      whole.parts.push_back(plan_part(spec, part, static_cast<std::uint64_t>(rings)));
      whole.parts.back().direction = ring % 2 == 0 ? 1 : -1;
      whole.steps += whole.parts.back().steps;
    }
    plans.push_back(parts.size() == 1 ? whole.parts.front() : std::move(whole));
  }
  return plans;
}

namespace {

// `rank` is that within the group.
void step_in_group(const CollectivePlan& plan, int rank, int step, CollectiveStep& out) {
  const int in_phase = step % steps_per_phase(plan.algorithm, plan.ranks);
  const bool reduce = reduces(plan, step);
  out.sends.clear();
  out.reads = 1;
  out.reads_back = 0;
  out.begins_phase = in_phase == 0;
  switch (plan.algorithm) {
    case CollectiveAlgorithm::kRing:
      return ring_step(plan, rank, in_phase, reduce, out);
    case CollectiveAlgorithm::kMesh:
      return mesh_step(plan, rank, reduce, out);
    case CollectiveAlgorithm::kHalving:
      return halving_step(plan, rank, in_phase, reduce, out);
    case CollectiveAlgorithm::kPairwise:
    case CollectiveAlgorithm::kNeighbour:
      return pairwise_step(plan, rank, step, out);
  }
}

}  // namespace

void collective_step(const CollectivePlan& plan, int rank, int step, CollectiveStep& out) {
  for (const CollectivePlan& part : plan.parts) {
    if (step < part.steps) return collective_step(part, rank, step, out);
    step -= part.steps;
  }
  const int in_group = rank / plan.stride % plan.ranks;
  step_in_group(plan, in_group, step, out);
  const int first = rank - in_group * plan.stride;
  for (CollectiveSend& send : out.sends) send.to = first + send.to * plan.stride;
}

}  // namespace foretell
