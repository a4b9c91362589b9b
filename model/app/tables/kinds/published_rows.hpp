// What names in published tables of whole networks mean here, and how their rows were run where the
// rows do not say (hw/engines/recipes/published_networks.yaml, and neuron_networks.yaml of tables
// that state a release of the vendor's compiler).
//
//   networks: {"BERT large": bert-large-uncased}   # also "BERT-Large" and "bert_large"
//   rules:
//     - when: {software: "TensorRT*", source: [not, "mlcommons/*"]}   # patterns of the shell
//       set: {launch: graph}             # cells that the row leaves empty; "{version}" is that of
//                                        # the column `version`
//       replace: {compute_dtype: fp32}   # cells in place of what the row states, where the program
//                                        # that made it says otherwise
//       share: {seq_len: 0.5}            # of what the row states: the tokens that are not padding
//       times: {batch: 4}                # of what the row states: hypotheses of a beam
//       network: vit_base_patch16_384    # in place of the workload that the name stands for
//       refuse: what the row is about    # no prediction is of the same thing
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

using CellMap = std::map<std::string, std::string>;  // text by column

class PublishedRows {
 public:
  // For tables with these columns; none where they name no software. UserError with file:line for
  // keys that are not known and shares outside (0, 1].
  static std::optional<PublishedRows> load(const std::vector<std::string>& columns);
  static PublishedRows read(const Node& root);

  // UserError for rows that a rule refuses. Else translates columns and network, fills what is
  // empty by the rules that hold, the first that has a cell. Rules see the row as it was published.
  void complete(CellMap& cells) const;

 private:
  struct Condition {
    std::string column;
    std::vector<std::string> patterns;
    bool negated = false;
  };
  struct Rule {
    std::vector<Condition> conditions;
    CellMap set;
    CellMap replace;
    std::vector<std::pair<std::string, double>> shares;
    std::vector<std::pair<std::string, std::int64_t>> factors;
    std::string network;
    std::string refusal;
  };
  static Rule read_rule(const Node& node);
  static bool holds(const Rule& rule, const CellMap& published);

  std::vector<std::pair<std::string, std::string>> columns_;  // theirs, ours
  CellMap networks_;
  std::vector<Rule> rules_;
};

}  // namespace foretell
