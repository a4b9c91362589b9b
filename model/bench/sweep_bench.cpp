// Comparisons and sweeps as a user starts them: 1 and 2 workers, 1 and 2 MPI ranks, and a search
// against the enumeration of the same study.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/app/study/testing/front_area.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "reports/record/study_store.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

class ScratchFolder {
 public:
  ScratchFolder() {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~ScratchFolder() { fs::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const std::string& name, const std::string& text = "") const {
    if (!text.empty()) std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_ = fs::temp_directory_path() / "foretell-sweep-bench";
};

// False when it did not end well.
bool runs(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

// The CPU time of the commands that have ended. On a machine with other work it says more than the
// time.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Six systems of two families in six data types.
void BM_Compare(benchmark::State& state) {
  const std::string command = fmt::format(
      "{} compare --on inf2.xlarge,inf2.24xlarge,trn1.2xlarge,h100-sxm,h200-sxm,g6.xlarge "
      "--workload bert-large-uncased --batch 8 --seq 128 --dtype fp32,tf32,bf16,fp16,fp8,int8 -q",
      FORETELL_PROGRAM);
  const double before = cpu_seconds();
  for (auto _ : state) {
    if (!runs(command)) state.SkipWithError("the comparison failed");
  }
  state.counters["cpu_s"] =
      benchmark::Counter(cpu_seconds() - before, benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_Compare)->Unit(benchmark::kMillisecond)->UseRealTime();

constexpr const char* kBertLarge =
    "study: bench\n"
    "base: {on: inf2.xlarge, workload: bert-large-uncased, seq: 128, dtype: bf16, batch: 8}\n"
    "vary:\n"
    "  device.hbm.bandwidth: {range: [400 GB/s, 1600 GB/s], steps: 32}\n"
    "  core.tensor.clock: {range: [1.4 GHz, 5.6 GHz], steps: 32}\n";
constexpr double kBertLargePoints = 1024;

void sweep(benchmark::State& state, const std::string& program, const std::string& options) {
  const double before = cpu_seconds();
  for (auto _ : state) {
    const ScratchFolder folder;
    const std::string words =
        fmt::format("{} sweep {} --store {} -q {}", program, folder.file("s.yaml", kBertLarge),
                    folder.file("s"), options);
    if (!runs(words)) state.SkipWithError("the sweep failed");
  }
  state.counters["cpu_s"] = cpu_seconds() - before;
  state.counters["points/s"] = benchmark::Counter(
      kBertLargePoints * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void BM_Workers(benchmark::State& state) {
  sweep(state, FORETELL_PROGRAM, fmt::format("--jobs {}", state.range(0)));
}
BENCHMARK(BM_Workers)->Arg(1)->Arg(2)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

void BM_Ranks(benchmark::State& state) {
  if (std::string(FORETELL_MPIEXEC).empty()) {
    state.SkipWithError("built without MPI");
    return;
  }
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  sweep(state, fmt::format("{} -n {} {}", FORETELL_MPIEXEC, state.range(0), FORETELL_PROGRAM),
        "--jobs 1");
}
BENCHMARK(BM_Ranks)->Arg(1)->Arg(2)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

// Four rates of the machine against an effort that grows with all of them: 10,000 points.
constexpr const char* kMachine =
    "base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128, dtype: bf16, batch: 1}\n"
    "vary:\n"
    "  device.hbm.bandwidth: {log_range: [400 GB/s, 3200 GB/s], steps: 10}\n"
    "  core.tensor.clock: {log_range: [1.25 GHz, 10 GHz], steps: 10}\n"
    "  core.vector.clock: {log_range: [0.56 GHz, 4.48 GHz], steps: 10}\n"
    "  core.scalar.clock: {log_range: [0.7 GHz, 5.6 GHz], steps: 10}\n"
    "derive: {core.dma.engine_rate: \"${device.hbm.bandwidth} / 48\"}\n"
    "define: {effort: \"3 * ${device.hbm.bandwidth} / 820 GB/s + 3 * ${core.tensor.clock} / 2.8 "
    "GHz + ${core.vector.clock} / 1.12 GHz + ${core.scalar.clock} / 1.4 GHz\"}\n"
    "objectives: [latency, min effort]\n";

// The objectives of a stored study's front.
std::vector<std::vector<double>> front_of(const std::string& path, const std::string& name) {
  const StudyStore store(path, StoreAccess::kRead);
  for (const StudyHead& head : store.studies()) {
    if (head.name == name) return front_objectives(study_results(store, head));
  }
  return {};
}

// The share of the front's area that a search finds in a tenth of the points.
void BM_Search(benchmark::State& state) {
  for (auto _ : state) {
    const ScratchFolder folder;
    const std::string store = folder.file("s.sqlite");
    const std::string all = folder.file("all.yaml", std::string("study: all\n") + kMachine);
    const std::string found = folder.file(
        "found.yaml", std::string("study: found\n") + kMachine + "search: {evaluations: 1000}\n");
    for (const std::string& study : {all, found}) {
      if (!runs(fmt::format("{} sweep {} --store {} -q", FORETELL_PROGRAM, study, store)))
        state.SkipWithError("the sweep failed");
    }
    const auto whole = front_of(store, "all");
    std::vector<double> worst = {0, 0};
    for (const auto& point : whole) {
      for (std::size_t d = 0; d < worst.size(); ++d) worst[d] = std::max(worst[d], point[d]);
    }
    state.counters["front"] = static_cast<double>(whole.size());
    state.counters["share"] =
        front_area(front_of(store, "found"), worst) / front_area(whole, worst);
  }
}
BENCHMARK(BM_Search)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
