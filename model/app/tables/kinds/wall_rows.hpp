// Rows of energy tables about systems whose power was read at the wall (MLPerf Inference, power): a
// copy of the network on every board, its throughput given.
//
//   wall = (host + (1 + fans) * boards) / efficiency
//   host = share * (what its processors are sold to draw) + switches, in nodes that have them
//
// What boards draw depends on what is known of the run:
//   the power limit that its configuration states   what the boards draw under that limit
//   a scenario of one query at a time               joules of its calls, at the rate of the
//   queries;
//                                                   one board works, the others are up and idle
//   neither                                         the clock is throughput / rate at the full
//   clock,
//                                                   where a configuration states that, else over
//                                                   the predicted one; an operation takes the
//                                                   square of the voltage
//
// Columns: model, device, n_devices, throughput, scenario ("closed Offline SYSTEM") [, path,
// framework, notes ("…; host 2x AMD EPYC 7742; …")]. What configurations state lies in
// hw/engines/recipes/energy_benchmark.yaml, `walls`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/served_cells.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/config/document.hpp"

namespace foretell {

// A power limit that the configuration of a run states.
struct WallLimit {
  std::string run;                    // what its path begins with
  std::vector<std::string> software;  // one of which its framework begins with
  std::map<std::string, double> watts_by_scenario;
};

// What a server draws beside its boards, where the processors of the run are known.
struct WallHosts {
  double share = 0;                // of what the processors are sold to draw
  ServedNames watts_by_processor;  // part of a name -> W
  double switch_watts = 0;         // per board, in nodes of this many boards
  std::int64_t boards_with_switches = 0;
};

struct WallRuns {
  ServedNames networks;  // of the table -> ours
  ServedNames systems;
  std::string dtype;
  std::map<std::string, std::int64_t> batch_by_scenario;
  // samples/s of a board without a cap, by system and scenario
  std::map<std::string, std::map<std::string, double>> full_rates;
  std::vector<WallLimit> limits;
  WallHosts hosts;
};

// Section `walls` of a recipe; UserError with file:line.
WallRuns read_wall_runs(const Node& section);

// A row, read.
struct WallRun {
  Request request;
  double throughput = 0;       // samples/s of all boards
  double full_rate = 0;        // samples/s of a board without a cap; 0: not stated
  bool one_query = false;      // at a time: one board works
  double processor_watts = 0;  // share of what its processors are sold to draw; 0: not known
  double switch_watts = 0;
};

// Does the power of the row belong to a whole system at the wall?
bool is_at_the_wall(const NamedCells& cells, const CsvRow& row);

// UserError for a cell that is wrong and names that are not known.
WallRun read_wall_run(const WallRuns& runs, const NamedCells& cells, const CsvRow& row,
                      const Request& defaults);

// Watts at the wall.
double wall_watts_of(const WallRun& run, const Predictor& predict);

}  // namespace foretell
