// Activations in SBUF while kernels are lowered: who uses which copy, and the transfers that take
// copies out and bring them back as the plan says.
//
// A copy leaves tile by tile, its last tiles first, as soon as they have been computed, and stays
// in HBM as well as what is left of it in SBUF. It comes back tile by tile for each kernel that
// reads it: what fits beside the other activations while the kernel before is at work, the rest
// when that has ended. A kernel does not begin before what was spilled two kernels earlier has
// left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/mapping/neuron/emitter.hpp"
#include "model/mapping/neuron/spill_plan.hpp"
#include "model/program/occupant.hpp"

namespace foretell {

class Residency {
 public:
  // `ahead`: bytes that may come back before the kernel in front of their reader has ended.
  Residency(Emitter& emitter, const Graph& graph, const SpillPlan& plan, double ahead)
      : emitter_(emitter), graph_(graph), plan_(plan), ahead_(ahead) {}

  // Around the lowering of each kernel, in order.
  void begin(const Kernel& kernel);
  void end(const Kernel& kernel);
  // A kernel that is not lowered does what `like` did, the kernel at `position`.
  void skip(const Kernel& kernel, const Kernel& like, std::size_t position);

  // The running kernel reads this copy: what has left SBUF comes back.
  void use(TensorId tensor, Layout layout);
  // The running kernel, before it uses a feature-major copy: what has left comes back when it asks.
  void defer(TensorId tensor) { deferred_.tensor = tensor; }
  // Tiles of the deferred copy up to `last` come back, not before `room` is there for them.
  void bring_back(std::int64_t last, const Deps& room);
  // Leading tiles of a feature-major copy that did not leave before the running kernel read it.
  std::int64_t kept_tiles(TensorId tensor) const;
  // It needs this many bytes beside its operands and results.
  void need_scratch(double bytes);
  // Data that is larger than the running kernel's room goes out and comes back.
  Deps through_hbm(std::int64_t rows, std::int64_t row_bytes, const Deps& ready);

  // What would have to leave if activations had `budget` bytes.
  SpillPlan plan_for(double budget, bool operator_loops) const {
    return {uses_, bytes_, budget, operator_loops};
  }
  // Bytes of the largest copy that products read.
  double largest_operand() const;
  // What the plan leaves in SBUF, by the entries of this program.
  std::vector<Occupant> occupants(const SpillPlan& plan) const;

 private:
  struct Tiles {
    std::int64_t count = 0;
    std::int64_t rows = 0;        // of a tile that are transferred
    std::int64_t partitions = 0;  // that it takes
    std::int64_t row_bytes = 0;
    std::int64_t at_once = 1;  // tiles that one transfer takes
    std::int64_t room = 1;     // bytes in SBUF for each that is transferred
  };
  int feature_bytes(TensorId tensor) const;  // of an element of a feature-major copy
  std::int64_t partitions(TensorId tensor, std::int64_t columns) const;  // of each element's
  Tiles tiles_of(const ActivationCopy& copy) const;
  std::int64_t first_absent(const Tiles& tiles, double absent) const;
  std::vector<Deps>& copy_deps(const ActivationCopy& copy);
  // Index of the parts of tile `t` in the dependencies of the copy.
  std::vector<std::size_t> parts(const ActivationCopy& copy, std::int64_t tile);
  Deps ready(const ActivationCopy& copy, std::int64_t tile);
  void delay(const ActivationCopy& copy, std::int64_t tile, const Deps& deps);
  void note_made(TensorId tensor, bool is_result, std::vector<ActivationCopy>* made);
  void store(const Kernel& kernel, const ActivationCopy& copy);
  void reload(const ActivationCopy& copy, double absent);
  void reload_tiles(const ActivationCopy& copy, std::int64_t first, std::int64_t end,
                    const Deps& room);

  Emitter& emitter_;
  const Graph& graph_;
  const SpillPlan& plan_;
  double ahead_;
  struct Mark {
    QueueLengths begin{};
    QueueLengths end{};
  };
  QueueLengths lengths() const;

  std::vector<KernelUse> uses_;
  std::vector<Mark> marks_;  // of each of them
  std::map<ActivationCopy, double> bytes_;
  std::map<ActivationCopy, std::int64_t> columns_;
  std::set<ActivationCopy> running_;                    // used by the running kernel
  std::map<ActivationCopy, std::vector<Deps>> in_hbm_;  // per tile, once it has been stored
  struct Deferred {
    TensorId tensor = kNoId;
    std::int64_t next = 0;  // tile that is to come back
    std::int64_t end = 0;
  };
  Deferred deferred_;  // of the running kernel
  bool is_running_ = false;
  double came_back_ = 0;  // bytes for the running kernel
  Deps before_;           // everything in front of the running kernel has ended
  Deps earlier_;          // everything in front of the kernel before it
  Deps leaving_;          // what the kernel before the running one has spilled
  Deps left_;             // what was spilled before that
};

}  // namespace foretell
