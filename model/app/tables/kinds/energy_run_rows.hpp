// Tables of kind energy_runs: watts of whole networks and of jobs under power caps.
//
// Columns: what, device, n_devices, model, batch_or_concurrency, watts_per_device [, dtype, tp,
// osl, scenario, latency_ms, power_limit_w, j_per_token, watts, watts_of, throughput]. Four kinds
// of rows are predicted, by `what`:
//   serving                    the requests of a data set, all sent at once (energy_loads.hpp);
//                              watts of a board and joules per output token while all places of
//                              the server are taken, and the median gap between tokens, nothing
//                              given
//   training … under power cap the time of the job at the cap, given its time and watts at the
//                              highest cap of the table (a row that is itself not predicted)
//   network/diffusion          an image or a video on one board (diffusion_rows.hpp): its time and
//                              the watts of the board, nothing given
//   network/serving            whose watts_of say that they are of a system at the wall: its watts,
//                              given its throughput (wall_rows.hpp)
// How the runs were set up stands in hw/engines/recipes/energy_benchmark.yaml. Rows of other kinds
// get an error that says which are predicted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/kinds/diffusion_rows.hpp"
#include "model/app/tables/kinds/energy_loads.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/app/tables/kinds/wall_rows.hpp"

namespace foretell {

// What a row belongs to when the table is divided (calib/validate/part.hpp): the network that is
// served, the job under a cap, the boards of a system whose power was read at the wall.
std::string energy_run_family(const NamedCells& cells, const CsvRow& row);

class EnergyRunBatch {
 public:
  using Sink = BatchPredictor::Sink;
  using ProgressSink = BatchPredictor::ProgressSink;

  EnergyRunBatch(const CsvRow& header, Predictor predict, Request defaults, int jobs, Sink sink,
                 ProgressSink progress = {});

  void add(CsvRow row, const std::string& problem);
  void finish();  // the rest; call it once, last

 private:
  enum class RunKind { kNone, kServing, kCapped, kDiffusion, kWall };
  struct PendingRun {
    CsvRow row;
    RunKind kind = RunKind::kNone;
    ServeRequest request;
    WallRun wall;
    RowPrediction prediction;
  };
  // A job without a cap that binds.
  struct FreeRun {
    double limit = 0;
    double latency_ms = 0;
    double watts = 0;
  };

  void read(PendingRun& run) const;
  void read_serving(PendingRun& run) const;
  void note_free_run(const CsvRow& row);
  void predict_capped(PendingRun& run) const;
  void predict_diffusion(PendingRun& run) const;
  void predict_served();

  NamedCells cells_;
  Predictor predict_;
  Request defaults_;
  int jobs_;
  Sink sink_;
  ProgressSink progress_;
  std::map<std::string, std::map<std::string, std::string>> names_;  // of the recipe, by section
  DiffusionRuns diffusion_;
  WallRuns walls_;
  std::map<std::string, EnergyLoad> loads_;
  std::string engine_;
  std::map<std::string, FreeRun> free_runs_;
  std::vector<PendingRun> runs_;
};

}  // namespace foretell
