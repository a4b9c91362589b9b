// Facts about tables of whole attention layers (hw/kernels/layers/blocks.yaml): the precision
// policies that their types stand for, and what libraries run for such a layer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

struct Node;

class AttentionBlockFacts {
 public:
  AttentionBlockFacts();  // reads the file; UserError with file:line

  struct Type {
    std::string product_dtype;
    std::string policy;  // of precision.hpp
  };
  // For a type of products. UserError with those that are known.
  const Type& type(const std::string& product_dtype) const;

  struct Call {
    std::string framework;
    std::string kind;          // "dsa"
    std::string phase;         // "context"
    std::string architecture;  // of the chip
  };

  // Does the indexer of a layer choose where there are fewer keys than it may choose, too?
  bool always_chooses(const Call& call) const { return find("always_choose", call) != nullptr; }

  // How chosen keys are read: as many as may be chosen, however few there are; divided among thread
  // blocks, as without a choice.
  struct Choice {
    bool fills = false;
    bool divides = true;
    bool widens = false;  // caches in FP8 are widened, and take no less than those in BF16
  };
  Choice choice(const Call& call) const { return rule("reads_choice", call).choice; }

  // Does a thread block for a prompt take the blocks of keys that neighbouring queries chose
  // together? Else each query reads its own.
  bool shares_choice(const Call& call) const { return find("shares_choice", call) != nullptr; }

  // Prompts whose thread blocks walk the keys that some queries of one head of keys see or chose,
  // one after another; key 0: not known.
  struct Walk {
    std::int64_t queries = 1;
    int blocks_per_sm = 1;
    Cycles key;         // of a thread block
    Cycles narrow_key;  // … where the cache is in 8 bits; 0: the same
  };
  Walk walk_of_indexer(const Call& call) const { return rule("indexer_walks", call).walk; }
  Walk walk_of_chosen(const Call& call) const { return rule("chosen_walks", call).walk; }

  // Most keys of all sequences for which a prompt of fewer keys than may be chosen multiplies the
  // latents of all of them out; 0: none does.
  std::int64_t multiplied_out(const Call& call) const {
    return rule("multiplies_out", call).most_keys;
  }

  // Most queries of a sequence of a prompt that the kernels for tokens serve; 0: none.
  std::int64_t served_as_tokens(const Call& call) const {
    return rule("prompts_as_tokens", call).most_queries;
  }

  // Whose additions stand in for a layer that nothing was fitted to ("": none), the kind of layer
  // whose host counts (`host_chooses`: where it chooses), and how many times as long four rows of
  // five take where one library's stand in for another's. What is published of the layer itself
  // comes before: time of its attention and of its indexer beside that of our kernels, how many
  // kernels there are more, and the host's time for launches that the other kind has not.
  struct StandIn {
    std::string library;
    std::string host_of;
    bool host_chooses = true;
    Seconds host_more;
    double attention = 0;
    double narrow_cache = 0;
    double indexer = 0;
    double kernels = 0;
    double low = 1;
    double high = 1;
  };
  StandIn stand_in(const Call& call) const { return rule("stands_in", call).stand_in; }

  // The network that all rows are of which were fitted to; "": there are several.
  std::string only_network(const Call& call) const { return rule("one_network", call).network; }

  // What copies of keys for a slab of queries may take, where operators of a framework attend; 0:
  // kernels do.
  Bytes slab(const Call& call) const { return rule("by_operators", call).slab; }

  // How many times the keys of an indexer in use are copied in every call; 0: none are.
  double copied_pool(const Call& call) const { return rule("copies_pool", call).pool; }

 private:
  // What is not said fits any call.
  struct Rule {
    std::string framework;
    std::string kind;
    std::string phase;
    std::vector<std::string> architectures;
    Choice choice;
    Walk walk;
    StandIn stand_in;
    std::string network;
    std::int64_t most_keys = 0;
    std::int64_t most_queries = 0;
    Bytes slab;
    double pool = 0;
  };
  static Rule read_rule(const Node& node, const char* section);
  // The first rule of a section of the file for the call; null, or one that says nothing, when
  // there is none.
  const Rule* find(const char* section, const Call& call) const;
  const Rule& rule(const char* section, const Call& call) const;

  std::vector<Type> types_;
  std::map<std::string, std::vector<Rule>> rules_;  // by section
};

}  // namespace foretell
