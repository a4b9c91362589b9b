// The steps of collectives: who sends how much to whom, and what the memories see of it.
//
// Ring: R - 1 steps; each rank sends a segment of bytes / R to the next one and passes on what it
// received before; an all-reduce is a reduce-scatter followed by an all-gather. Mesh: every rank
// writes to every other one at once, one step per phase. Halving: R = 2^k ranks exchange with
// partners at distance R/2, R/4, … in the reduce-scatter and back again in the all-gather; k steps
// per phase. All-to-all is pairwise, R - 1 steps, with partners 1, 2, … ranks ahead, or as a mesh.
// Permute is one step to the next rank. What each step reads and writes in HBM is as published
// [CC:118-133]: a reduce-scatter reads two operands per segment that it sends, an all-gather one.
//
// A group that lies on several instances does it in parts, as published [ICC]: an all-reduce is a
// reduce-scatter in the instances, an all-reduce of what each rank then has among the ranks of one
// place in the instances, and an all-gather in the instances; an all-gather begins between the
// instances, a reduce-scatter and an all-to-all end there. Each part takes the algorithm of its
// size.
//
// Buffers that R does not divide are padded, so that all segments are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/program/collective.hpp"

namespace foretell {

enum class CollectiveAlgorithm : std::uint8_t { kRing, kMesh, kHalving, kPairwise, kNeighbour };

// A collective as one of the rings that share it runs it.
struct CollectivePlan {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kRing;
  int ranks = 0;                      // of a group
  int stride = 1;                     // from one of them to the next
  std::uint64_t segment = 0;          // bytes / ranks; for permute all of them
  int direction = 1;                  // the next rank is rank + direction
  int steps = 0;                      // of all parts
  std::vector<CollectivePlan> parts;  // one after the other; none: it is done as the above says
};

struct CollectiveSend {
  int to = 0;  // rank
  std::uint64_t bytes = 0;
};

struct CollectiveStep {
  std::vector<CollectiveSend> sends;
  std::uint64_t received = 0;  // bytes that must have arrived before the next step
  int reads = 1;               // HBM reads per byte sent
  int reads_back = 0;          // HBM reads per byte received, to reduce it
  bool begins_phase = false;   // the CC-cores start afresh
};

// The algorithm that the spec chooses for a collective of `bytes` (see Collective::bytes).
CollectiveAlgorithm choose_algorithm(const CollectiveSpec& spec, CollectiveKind kind, int ranks,
                                     std::uint64_t bytes);

// One plan per ring that shares the collective: as many as the spec has where the ring is the
// algorithm, of a part at least, else one. `shape.ranks` >= 2, of a group. `of_instance`: ranks of
// the copy in each instance, which require_groups() has found the group to divide; 0: all.
std::vector<CollectivePlan> plan_collective(const CollectiveSpec& spec,
                                            const CollectiveShape& shape, int of_instance = 0);

// What `rank` of the copy does in `step`, within its group.
void collective_step(const CollectivePlan& plan, int rank, int step, CollectiveStep& out);

}  // namespace foretell
