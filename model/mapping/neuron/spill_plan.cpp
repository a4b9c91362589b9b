#include "model/mapping/neuron/spill_plan.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace foretell {
namespace {

// Works on a block of tokens without the others.
bool is_blockwise(KernelKind kind) {
  switch (kind) {
    case KernelKind::kAttention:
    case KernelKind::kExperts:
    case KernelKind::kCombine:
      return false;
    default:
      return true;
  }
}

// Multiplies by weights, or passes on what such a kernel made.
bool is_behind_weights(KernelKind kind) {
  return kind == KernelKind::kLinear || kind == KernelKind::kExperts ||
         kind == KernelKind::kElementwise || kind == KernelKind::kConvolution;
}

// A copy and the kernels that touch it, in order: who makes it, then its readers.
struct Lifetime {
  ActivationCopy copy;
  double bytes = 0;
  std::vector<std::size_t> events;
  std::vector<bool> passes;    // between events i and i + 1: block by block
  std::vector<double> absent;  // largest part that is not in SBUF between them

  bool touched_by(std::size_t kernel) const {
    return std::binary_search(events.begin(), events.end(), kernel);
  }
  // The first event after the kernel; the kernel itself when there is none.
  std::size_t next_after(std::size_t kernel) const {
    const auto next = std::upper_bound(events.begin(), events.end(), kernel);
    return next == events.end() ? kernel : *next;
  }
  // A kernel belongs to the gap that it lies in, and to both when it is an event.
  bool is_in(std::size_t gap, std::size_t kernel) const {
    return events[gap] <= kernel && kernel <= events[gap + 1] && !passes[gap];
  }
  bool takes_room_at(std::size_t kernel) const {
    for (std::size_t gap = 0; gap < absent.size(); ++gap) {
      if (is_in(gap, kernel)) return true;
    }
    return false;
  }
  void miss(std::size_t kernel, double amount) {
    for (std::size_t gap = 0; gap < absent.size(); ++gap) {
      if (is_in(gap, kernel)) absent[gap] = std::max(absent[gap], amount);
    }
  }
};

bool passes_through(const std::vector<KernelUse>& kernels, KernelKind maker, std::size_t first,
                    std::size_t last) {
  for (std::size_t k = first + 1; k <= last; ++k) {
    const KernelKind kind = kernels[k].kind;
    if (!is_blockwise(kind)) return false;
    const bool weights = kind == KernelKind::kLinear || kind == KernelKind::kConvolution;
    if (weights && is_behind_weights(maker)) return false;
  }
  return true;
}

std::vector<Lifetime> lifetimes(const std::vector<KernelUse>& kernels,
                                const std::map<ActivationCopy, double>& bytes,
                                bool operator_loops) {
  std::map<ActivationCopy, std::set<std::size_t>> events;
  std::map<TensorId, KernelKind> makers;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (const ActivationCopy& copy : kernels[k].made) {
      events[copy].insert(k);
      makers.emplace(copy.tensor, kernels[k].kind);
    }
    for (const ActivationCopy& copy : kernels[k].used) {
      if (events.count(copy) != 0) events[copy].insert(k);
    }
  }
  std::vector<Lifetime> result;
  for (const auto& [copy, at] : events) {
    if (at.size() < 2) continue;  // not read, or only by its producer
    Lifetime life{copy, bytes.at(copy), {at.begin(), at.end()}, {}, {}};
    for (std::size_t i = 0; i + 1 < life.events.size(); ++i) {
      life.passes.push_back(!operator_loops && passes_through(kernels, makers.at(copy.tensor),
                                                              life.events[i], life.events[i + 1]));
    }
    life.absent.resize(life.passes.size());
    result.push_back(std::move(life));
  }
  return result;
}

// How needed a copy is by the kernel at work: what it reads, what it makes, and what only waits.
int rank_of(const Lifetime& life, std::size_t kernel) {
  if (life.events.front() == kernel) return 1;
  return life.touched_by(kernel) ? 0 : 2;
}

// Charges the budget with the copies alive at the kernel; what does not fit is absent.
void charge(std::size_t kernel, double budget, std::vector<Lifetime*> alive) {
  std::stable_sort(alive.begin(), alive.end(), [kernel](const Lifetime* a, const Lifetime* b) {
    return std::pair(rank_of(*a, kernel), a->next_after(kernel)) <
           std::pair(rank_of(*b, kernel), b->next_after(kernel));
  });
  double used = 0;
  double freed = 0;  // by operands that are not read again: results take their place
  for (Lifetime* life : alive) {
    const bool makes = life->events.front() == kernel;
    if (!makes && life->events.back() == kernel) freed += life->bytes;
    const double in_place = makes ? std::min(freed, life->bytes) : 0;
    freed -= in_place;
    used += life->bytes - in_place;
    const double excess = std::clamp(used - budget, 0.0, life->bytes);
    if (excess > 0) life->miss(kernel, excess);
  }
}

}  // namespace

SpillPlan::SpillPlan(const std::vector<KernelUse>& kernels,
                     const std::map<ActivationCopy, double>& bytes, double budget,
                     bool operator_loops)
    : operator_loops_(operator_loops) {
  std::vector<Lifetime> lives = lifetimes(kernels, bytes, operator_loops);
  // In long networks only few copies are alive at a kernel: those are looked at, in their order.
  std::vector<std::vector<std::size_t>> begins(kernels.size());
  for (std::size_t i = 0; i < lives.size(); ++i) begins[lives[i].events.front()].push_back(i);
  std::set<std::size_t> open;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    open.insert(begins[k].begin(), begins[k].end());
    std::vector<Lifetime*> alive;
    for (auto each = open.begin(); each != open.end();) {
      Lifetime& life = lives[*each];
      if (life.takes_room_at(k)) alive.push_back(&life);
      each = life.events.back() <= k ? open.erase(each) : std::next(each);
    }
    charge(k, std::max(0.0, budget - kernels[k].scratch), std::move(alive));
  }
  for (Lifetime& life : lives) {
    for (std::size_t gap = 0; gap < life.absent.size(); ++gap) {
      if (operator_loops && life.absent[gap] > 0) life.absent[gap] = life.bytes;
      if (!life.passes[gap]) {
        const bool last = gap + 1 == life.absent.size() || life.passes[gap + 1];
        stays_.push_back(
            {life.events[gap], life.events[gap + 1], last, life.bytes - life.absent[gap]});
      }
      if (life.absent[gap] <= 0) continue;
      stores_[life.copy] = std::max(stores_[life.copy], life.absent[gap]);
      reloads_[life.events[gap + 1]][life.copy] = life.absent[gap];
    }
  }
}

double SpillPlan::stored(const ActivationCopy& copy) const {
  const auto found = stores_.find(copy);
  return found == stores_.end() ? 0 : found->second;
}

double SpillPlan::reloaded(std::size_t kernel, const ActivationCopy& copy) const {
  const auto at = reloads_.find(kernel);
  if (at == reloads_.end()) return 0;
  const auto found = at->second.find(copy);
  return found == at->second.end() ? 0 : found->second;
}

}  // namespace foretell
