// A what-if study: the file, and the design points that it stands for.
//
//   study: more-bandwidth-or-more-cores
//   base: {on: inf2.48xlarge, workload: llama-3-70b, input_len: 1024, output_len: 1024, tp: 24}
//   vary:                      # every combination, the last key fastest
//     batch: [1, 8, 32]
//     device.hbm.bandwidth: {range: [820 GB/s, 3.28 TB/s], steps: 4}
//   zip: [{tp: [8, 24], dp: [3, 1]}]              # keys that change together
//   random: {points: 100, seed: 7, vary: {…}}     # Latin hypercube
//   derive: {core.dma.engine_rate: "${device.hbm.bandwidth} / 48"}
//   define: {area: "${core.tensor.rows} * ${core.tensor.columns} * ${device.cores}"}
//   where: ["${area} <= 65536", "${latency} < 20 ms"]
//   objectives: [throughput, usd_per_million, min area]
//   search: {evaluations: 500, seed: 1}           # instead of every combination
//   also: {power_limit: 300W}  # more of the base; the options of `sweep` go there
//   best_of: [dtype]           # a report shows the best point of each, by the first objective
//
// A key is a scenario key (on, workload, dtype, batch, …) or the path of a parameter; which exist
// is not known here. Everything here is a pure function of the file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/app/study/arithmetic.hpp"
#include "model/app/study/variation.hpp"

namespace foretell {

struct StudyFormula {
  std::string key;   // what it is the value of; "" for a constraint
  std::string text;  // arithmetic
  std::string where;
};

struct StudyObjective {
  std::string name;  // of a metric or of a definition
  bool maximise = false;
};

struct StudySearch {
  std::int64_t evaluations = 0;  // points that may be predicted
  std::uint64_t seed = 0;
};

struct Study {
  std::string name;
  std::string text;  // the file
  std::map<std::string, std::string> base;
  std::vector<StudyAxis> axes;
  std::vector<StudyFormula> derived;
  std::vector<StudyFormula> defined;
  std::vector<StudyFormula> constraints;
  std::vector<StudyObjective> objectives;
  bool costs_by_default = false;  // the last objective is the cost, and the file does not say so
  std::optional<StudySearch> search;
  std::vector<std::string> best_of;  // keys: of points alike in them, a report shows the best one
  std::map<std::string, std::string> stated_at;  // "study.yaml:7", by key

  std::uint64_t points() const;           // all combinations
  std::vector<std::string> keys() const;  // that vary, in the order of the file
};

// Whether constraints and objectives may name it: latency, throughput, … (summary.hpp).
bool is_study_metric(std::string_view name);

// UserError with every mistake of the file, and when it stands for more points than kMaxPoints
// without `search`: the message says how many. "-" is standard input. `also`: values that the file
// does not state, which its text has from then on.
Study load_study(const std::string& path, const std::map<std::string, std::string>& also = {});
Study parse_study(const std::string& text, const std::string& shown_as);

// Base and varied values of a point. The number counts combinations, the last axis fastest.
std::uint64_t point_number(const Study& study, const std::vector<std::uint64_t>& positions);
using PointValues = std::map<std::string, std::string>;
PointValues varied_values(const Study& study, std::uint64_t number);

// The value of a name that the point itself does not state, such as a published parameter.
// UserError for an unknown one.
using DefaultValue = std::function<StudyValue(const PointValues& values, const std::string& name)>;

struct StudyPoint {
  PointValues values;      // derived ones included
  std::string skipped_by;  // the first constraint that does not hold; "" when all do
};

// Constraints that name metrics count as held: they are judged when there are results.
StudyPoint plan_point(const Study& study, std::uint64_t number, const DefaultValue& defaults);

// Metrics by name, in base units; those that do not apply are left out.
using PointMetrics = std::map<std::string, StudyValue>;

struct JudgedPoint {
  bool inside = true;              // every constraint holds
  std::vector<double> objectives;  // in base units; empty when one does not apply
};
JudgedPoint judge_point(const Study& study, const PointValues& values, const PointMetrics& metrics,
                        const DefaultValue& defaults);

// The values of the objectives, with their units; empty when one does not apply.
std::vector<StudyValue> objective_values(const Study& study, const PointValues& values,
                                         const PointMetrics& metrics, const DefaultValue& defaults);

}  // namespace foretell
