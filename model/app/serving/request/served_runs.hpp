// Tables of served runs with one figure a row: what a row asks for, and which figure it compares.
// Names stand in hw/engines/recipes/offline_throughput.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/app/serving/request/recipes.hpp"
#include "model/app/serving/request/run_deployments.hpp"
#include "reports/record/serve_record.hpp"

namespace foretell {

struct RunFigure {
  double value = 0;
  Interval interval80;
};

// What a cell of this column sets of the engine where it holds these words.
struct RunSetting {
  std::string column;
  std::string holds;
  std::vector<std::string> set;
};

// Rows whose cell of this column holds these words cannot be run, and why.
struct RefusedRun {
  std::string column;
  std::string holds;
  std::string why;
};

// What rows that state no limits were run with.
struct RunLimits {
  std::vector<std::string> releases;
  std::vector<std::string> models;
  std::int64_t gpus = 0;
  std::int64_t length = 0;  // of prompt and answer together; 0: any
  std::int64_t max_sequences = 0;
  std::int64_t max_tokens = 0;
};

class ServedRuns {
 public:
  // UserError with file:line for what is wrong with the file.
  static ServedRuns load();

  // Rows of load_kind offline (num_requests at once), rate (request_rate per second, arriving at
  // random) or concurrency. Networks, systems, types and engines go by the names of the file or by
  // ours. UserError for frameworks and systems that are not known (with the nearest), cells that
  // are no numbers, lengths that are drawn from a data set, rows that the file refuses, other
  // loads.
  ServeRequest request_of(const ServedCells& cells) const;

  // In the unit of measured_kind: output_tokens_per_s, total_tokens_per_s, requests_per_s, ttft_ms,
  // tpot_ms, itl_ms, e2e_ms; of times the mean or the percentile of the row. UserError for another.
  static RunFigure figure_of(const ServedCells& cells, const ServeSummary& summary);

 private:
  std::map<std::string, ServedNames> names_;  // by section
  // All at once, by a rate or by clients, as the row says.
  static void load(const ServedCells& cells, ServeRequest& request);
  // The first that fits, where the row states none.
  void limit(const ServedCells& cells, ServeRequest& request) const;

  std::vector<RunSetting> settings_;
  std::vector<RefusedRun> refused_;
  std::vector<RunLimits> limits_;
  RunDeployments deployments_;
  std::string attention_of_ranks_;  // in the notes of rows that were run so
};

}  // namespace foretell
