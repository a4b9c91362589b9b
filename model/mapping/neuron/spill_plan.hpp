// Which activations leave SBUF, and for how long.
//
// A core holds copies of activations: a tensor with tokens or with features on the partitions. A
// copy is there from the kernel that makes it to the last one that reads it. Where the copies that
// are alive exceed the budget of a kernel, some go to HBM, in part: the plan says how many bytes of
// each. What the kernel reads stays before what it makes, and that before what waits; of equals
// stays what is read again first. The published rows of large batches fit better so than with a
// compiler that always lets go of what is needed last.
//
// What passes from kernel to kernel block of tokens by block of tokens never has to be there as a
// whole, and takes no room: results that a kernel without weights reads next, and results of one
// that a linear kernel reads next. Two sets of weights one after the other break the chain, and so
// does a kernel that needs all tokens, like attention.
//
// Where every operator is a loop of its own over all tokens, nothing passes block by block, and of
// a copy that does not fit nothing stays.
//
// A smaller budget never takes fewer bytes out, of any copy: the order does not depend on it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "model/mapping/neuron/kernel.hpp"

namespace foretell {

enum class Layout : std::uint8_t { kTokenMajor, kFeatureMajor };

struct ActivationCopy {
  TensorId tensor = kNoId;
  Layout layout = Layout::kTokenMajor;

  bool operator<(const ActivationCopy& other) const {
    return tensor != other.tensor ? tensor < other.tensor : layout < other.layout;
  }
};

// What one kernel does with activations. `made` are not in `used`.
struct KernelUse {
  KernelKind kind = KernelKind::kElementwise;
  std::vector<ActivationCopy> used;
  std::vector<ActivationCopy> made;
  double scratch = 0;  // bytes that it needs beside them
};

// Part of a copy that is in SBUF from the begin of a kernel until another one begins, or ends.
struct Stay {
  std::size_t from = 0;
  std::size_t until = 0;
  bool through = false;  // to the end of `until`
  double bytes = 0;
};

class SpillPlan {
 public:
  SpillPlan() = default;  // everything stays
  // `bytes` of every copy; `budget`: bytes of SBUF for activations and scratch.
  SpillPlan(const std::vector<KernelUse>& kernels, const std::map<ActivationCopy, double>& bytes,
            double budget, bool operator_loops = false);

  bool empty() const { return stores_.empty(); }
  bool has_operator_loops() const { return operator_loops_; }
  // Bytes of the copy that are written to HBM when it has been made.
  double stored(const ActivationCopy& copy) const;
  // Bytes of the copy that come back for `kernel`.
  double reloaded(std::size_t kernel, const ActivationCopy& copy) const;
  // What is in SBUF when, for timelines; what passes block by block is left out.
  const std::vector<Stay>& stays() const { return stays_; }

 private:
  std::map<ActivationCopy, double> stores_;
  std::map<std::size_t, std::map<ActivationCopy, double>> reloads_;
  std::vector<Stay> stays_;
  bool operator_loops_ = false;
};

}  // namespace foretell
