// How rows of tables of served points were run: names, lengths, releases and limits, as data
// (hw/engines/recipes).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/served_cells.hpp"

namespace foretell {

class Recipes {
 public:
  // UserError with file:line for what is wrong with the file.
  static Recipes load();

  // What the row asks for. UserError for names that are not known (with the nearest), cells that
  // are no numbers, and rows that the simulator does not serve.
  ServeRequest request_of(const ServedCells& cells) const;

  // What had to be assumed about the row: for its note.
  std::string assumptions_of(const ServedCells& cells) const;

 private:
  struct Release {
    std::string framework;
    std::string since;
    std::string engine;
  };
  struct Limits {
    std::string framework;
    std::string laboratory;  // "yes", "no"; "": both
    std::string since;       // a date; "": always
    std::string before;
    std::int64_t max_tokens = 0;
    std::int64_t max_tokens_per_input = 0;
    std::int64_t over_prompt = 0;  // of tokens for a prompt, one for each client and this many
    double kv_fraction = 0;
    std::int64_t isl = 0;  // 0: any
    std::int64_t osl = 0;
    std::string start;
    std::vector<std::string> set;        // of the engine
    std::string precision;               // "": any
    std::string network;                 // likewise
    std::string gpu;                     // likewise
    std::string mode;                    // "agg", "disagg"; "": both
    std::string kv_dtype;                // of the caches; "": FP8, BF16 of networks in BF16
    std::int64_t concurrency_below = 0;  // 0: any
    std::int64_t gpus_below = 0;         // likewise
    std::int64_t moe_ep = 0;             // groups of GPUs that divide the experts; 0: any
  };

  // For the decode workers of a recipe that states them.
  struct Places {
    std::string gpu;
    std::string precision;
    std::int64_t isl = 0;
    std::int64_t osl = 0;
    std::int64_t prefill_workers = 0;
    std::int64_t decode_workers = 0;
    std::int64_t decode_ranks = 0;
    std::set<std::int64_t> clients;
    std::int64_t batch = 0;
  };

  // How GPUs divide a copy where rows do not say it, or say what was mended later.
  struct Split {
    std::string framework;
    std::string network;  // "": any; likewise below
    std::string gpu;
    std::string precision;
    std::string since;  // a date
    std::string before;
    std::string workers = "all";  // of a copy that does both, "prefill", "decode"
    std::int64_t isl = 0;
    std::int64_t osl = 0;
    std::int64_t tp = 0;
    std::int64_t concurrency_from = 0;
    std::string
        attention;        // "own": each GPU has sequences of its own; "shared"; "": as the row says
    std::string experts;  // "spread": each GPU holds some; "shared"; "": as the row says
  };

  void read_limits(const Node& node);
  void read_splits(const Node& section);
  // Null where rows are right.
  const Split* split_of(const ServedCells& cells, const std::string& workers) const;
  void divide_copy(const ServedCells& cells, ServeRequest& request) const;
  std::string workers_of(const ServedCells& cells, const std::string& kind) const;
  void read_places(const Node& section);
  // For each rank of a decode worker; 0 where no recipe is known.
  std::int64_t places_of(const ServedCells& cells, const ServeRequest& request) const;
  std::string engine_of(const ServedCells& cells) const;
  bool is_of_layer(const std::string& framework, const std::string& release) const;
  void set_limits(const ServedCells& cells, std::int64_t input, std::int64_t output,
                  ServeRequest& request) const;

  std::map<std::string, std::string> networks_;
  std::map<std::string, std::string> systems_;
  std::map<std::string, std::string> precisions_;
  std::map<std::string, std::string> network_precisions_;  // of checkpoints that exist in one
  double low_share_ = 1;
  std::string laboratory_;
  std::int64_t requests_per_client_ = 10;
  std::int64_t laboratory_requests_ = 20;
  std::string warmed_since_;  // a date
  std::vector<Release> releases_;
  std::map<std::string, std::string> layer_below_;
  std::vector<Limits> limits_;
  std::string placed_framework_;
  std::string placed_network_;
  std::vector<Places> places_;
  bool spread_experts_ = false;  // over all ranks that have attention of their own
  std::vector<Split> splits_;
};

// The columns of a row that are called as a field of a service or a key of serve_keys() and that
// tables of served points do not have themselves: power_limit, speculate, kv_dtype. UserError for a
// cell that the field does not take.
void add_stated_columns(const ServedCells& cells, ServeRequest& request);

// What the command line sets (PATH=VALUE) counts in place of what a recipe sets at the same path.
void add_settings(const std::vector<std::string>& given, ServeRequest& request);

}  // namespace foretell
