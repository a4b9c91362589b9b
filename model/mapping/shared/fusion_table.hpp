// Which operators of a graph become one kernel, as data: hw/kernels/layers/fusion.yaml for the
// libraries of GPUs and CPUs, hw/kernels/neuron/fusion.yaml for NeuronCores. A rule is a pattern of
// operators with conditions, the kernel that they become, and what is fused after them; the
// walk of every family (fusion_walk.hpp) finds the rule of an operator.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/document.hpp"
#include "model/mapping/shared/epilogue.hpp"

namespace foretell {

// What a rule may ask beside the kind of an operator.
enum class FusionCondition {
  kElementwise,     // graph_patterns.hpp: a function of each element
  kActivation,      // … of one argument
  kBinary,          // … Add, Sub, Mul, Div
  kWeighted,        // its second input is a weight
  kOneMatrix,       // its second input is a matrix, not one for each head
  kFourAxes,        // its result has four axes: it works on heads
  kLastAxis,        // it works along the last axis of its input
  kAxisBeforeLast,  // … along the one before it
  kMadeOnce,        // it gathers elements of weights
  kRoll,            // it turns elements along axes
  kImage,           // it reads or leaves an image
  kGrouped,         // the library groups operators
  kReadInPieces,    // the parts of its result need not lie next to each other
  kStrided          // a kernel beside it writes or reads with strides
};

enum class FusionTakes {
  kNothing,
  kScale,       // a product with, or a division by, a constant
  kActivation,  // a function of one argument
  kEpilogue,    // what the epilogue of the kernel allows
  kReaders,     // element-wise readers, and what works row by row at their end
  kHeads,       // joins the kernel before it, which takes the same
  kSumOfRows    // of rows that are scaled: their sum
};

struct FusionRule {
  std::vector<FusionCondition> when;  // all of them
  bool is_view = false;               // else:
  int kernel = 0;                     // place among the names of the family's kernels
  FusionTakes takes = FusionTakes::kNothing;
  std::vector<std::size_t> weights;  // places among the inputs
};

class FusionTable {
 public:
  // `kernels`: what a family calls its kernels. UserError with file:line for what is wrong.
  FusionTable(const std::filesystem::path& path, const std::vector<std::string>& kernels);

  // Rules for operators of this kind, in order.
  const std::vector<FusionRule>& rules(std::string_view kind) const;
  // Is the kind in the class? Requires that the file has the class.
  bool is(const char* name, std::string_view kind) const;
  const EpilogueRules& epilogue(const std::string& name) const;
  // What is said of an operator without a rule.
  const std::string& unmapped() const { return unmapped_; }

 private:
  // Kinds, where a word is a class those of the class.
  std::vector<std::string> kinds(const Node& operators) const;
  void read_rules(const Node& list, const std::vector<std::string>& kernels);

  std::map<std::string, std::vector<FusionRule>, std::less<>> rules_;
  std::vector<FusionRule> of_others_;  // for kinds that no rule names
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> classes_;
  std::map<std::string, EpilogueRules> epilogues_;
  std::string unmapped_;
};

}  // namespace foretell
