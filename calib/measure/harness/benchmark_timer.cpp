#include "calib/measure/harness/benchmark_timer.hpp"

#include <benchmark/benchmark.h>

#include <exception>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Keeps the runs and prints nothing.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }

  std::vector<double> seconds;
};

}  // namespace

std::vector<double> repeat_timed(const std::string& name, const std::function<double()>& work,
                                 const RepeatOptions& options) {
  std::exception_ptr failure;
  const auto body = [&](benchmark::State& state) {
    try {
      if (options.before_each) options.before_each();
      while (state.KeepRunning()) state.SetIterationTime(work());
    } catch (...) {
      failure = std::current_exception();
      state.SkipWithError("failed");
    }
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseManualTime()
      ->MinTime(options.least_seconds)
      ->Repetitions(options.repeats);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
  FORETELL_CHECK(collector.seconds.size() == static_cast<std::size_t>(options.repeats),
                 "a repeat was lost");
  return collector.seconds;
}

}  // namespace foretell
