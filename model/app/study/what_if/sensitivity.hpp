// How much each parameter of the hardware matters: a tornado of ±10 % and ×2, and the smallest
// single change that reaches a target.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/app/request/family/device_family.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/study/study.hpp"
#include "reports/render/table.hpp"

namespace foretell {

struct Sensitivity {
  std::string path;
  std::string value;  // as it is
  // Latency and throughput of the changed machine over those of the unchanged one; 1 where the
  // parameter refuses the change, as whole numbers do that 10 % would break.
  double latency_less = 1;  // -10 %
  double latency_more = 1;  // +10 %
  double latency_twice = 1;
  double throughput_less = 1;
  double throughput_more = 1;
  double throughput_twice = 1;

  double largest() const;  // change of any of them
};

using ShareSink = std::function<void(double)>;

// The sensitivity to every parameter of the machine (prices are none, and of the factors only
// times), the largest effect first. What has no effect of 0.1 % is left out. Predictions run in
// `jobs` processes.
std::vector<Sensitivity> sensitivities(const Predictor& predict, const Request& request,
                                       const PointMetrics& unchanged, int jobs,
                                       const ShareSink& progress);

Table tornado_table(const std::vector<Sensitivity>& rows, std::size_t top);

// "tpot=20ms": a metric and where it is to be.
struct Target {
  std::string metric;
  StudyValue value;
  bool maximise = false;  // at least, instead of at most
};
Target parse_target(const std::string& text);  // UserError with the nearest metric, wrong units

struct TargetChange {
  std::string path;
  std::string from;
  std::string to;
  double factor = 1;
  StudyValue reached;   // the metric then
  bool reaches = true;  // false: nothing reaches the target, and this comes nearest
};

// The smallest change of each single parameter that reaches the target, within 1 %, the smallest
// factor first. When no parameter does within a factor of 16, the one change by that factor that
// comes nearest; none when no change helps. UserError when the metric does not apply.
std::vector<TargetChange> changes_that_reach(const Predictor& predict, const Request& request,
                                             const PointMetrics& unchanged, const Target& target,
                                             int jobs, const ShareSink& progress);

bool reaches(const Target& target, const PointMetrics& metrics);

// What there is to say about a target, for people.
std::string target_text(const Target& target, const PointMetrics& unchanged,
                        const std::vector<TargetChange>& changes, int max_width);

}  // namespace foretell
