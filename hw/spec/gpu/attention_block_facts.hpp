// Facts about tables of whole attention layers (hw/kernels/layers/blocks.yaml): the precision
// policies that their types stand for, and the host of those that were measured without a graph.
#pragma once

#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

struct Node;

class AttentionBlockFacts {
 public:
  AttentionBlockFacts();  // reads the file; UserError with file:line

  // Name of the precision policy of a type of products. UserError with those that are known.
  const std::string& policy(const std::string& product_dtype) const;

  // Does the indexer of a layer choose where there are fewer keys than it may choose, too?
  bool always_chooses(const std::string& framework) const;

  // What the host takes for a call of a layer; 0 of one in a graph.
  struct Call {
    std::string framework;
    std::string kind;           // "dsa"
    std::string phase;          // "context"
    std::string product_dtype;  // "bf16"
    bool chooses = false;       // there are more keys than an indexer may choose
  };
  Seconds host(const Call& call) const;

  // Small kernels of a call beside those of its operators, which a library leaves by themselves:
  // copies, concatenations, indices.
  double small_kernels(const Call& call) const;

 private:
  struct Type {
    std::string product_dtype;
    std::string policy;
  };
  struct Rule {
    Call call;  // product_dtype "": any; chooses: only such
    Seconds time;
    double kernels = 0;
  };
  static Rule read_rule(const Node& node, const char* section);
  static const Rule* first_of(const std::vector<Rule>& rules, const Call& call);

  std::vector<Type> types_;
  std::vector<std::string> always_choose_;
  std::vector<Rule> hosts_;
  std::vector<Rule> small_kernels_;
};

}  // namespace foretell
