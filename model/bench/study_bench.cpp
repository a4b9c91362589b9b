// What a design point costs beside its prediction: planning it, handing it out and gathering its
// answer, a row in the store; in one process and as rank 0 of many.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <string>

#include "model/app/request/prediction.hpp"
#include "model/app/study/study.hpp"
#include "model/app/study/sweep/sweep_message.hpp"
#include "model/app/study/what_if/study_run.hpp"
#include "model/base/kept_inputs.hpp"
#include "reports/record/study_store.hpp"
#include "reports/record/testing/example_record.hpp"

namespace foretell {
namespace {

Study example_study() {
  return parse_study(
      "study: bench\n"
      "base: {on: inf2.xlarge, workload: bert-large-uncased, seq: 128}\n"
      "vary:\n"
      "  batch: {range: [1, 1000], steps: 1000}\n"
      "  device.hbm.bandwidth: {range: [400 GB/s, 1600 GB/s], steps: 1000}\n"
      "derive: {core.dma.engine_rate: \"${device.hbm.bandwidth} / 48\"}\n"
      "where: [\"${batch} <= 1000\"]\n",
      "bench.yaml");
}

StudyValue no_defaults(const PointValues& /*values*/, const std::string& /*name*/) { return {}; }

void BM_PlanPoint(benchmark::State& state) {
  const Study study = example_study();
  std::uint64_t number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(plan_point(study, number, no_defaults));
    number = (number + 1) % study.points();
  }
}
BENCHMARK(BM_PlanPoint);

// The prediction of a point: read and mapped anew (0), or in a worker that keeps what does not
// follow from what changed (1).
void predict_points(benchmark::State& state, Request request, const std::string& rate) {
  const Kept own;
  keep_inputs(state.range(0) == 1);
  std::int64_t point = 0;
  for (auto _ : state) {
    request.set = {fmt::format("{}={} GB/s", rate, 700 + point++ % 100)};
    benchmark::DoNotOptimize(predict(request));
  }
}

void BM_PredictBertLarge(benchmark::State& state) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "bert-large-uncased";
  request.batch = 8;
  predict_points(state, request, "device.hbm.bandwidth");
}
BENCHMARK(BM_PredictBertLarge)->ArgName("kept")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_PredictGeneration(benchmark::State& state) {
  Request request;
  request.system = "h100-sxm-x8";
  request.workload = "Llama-3.1-70B";
  request.tp = 8;
  request.batch = 8;
  request.input_len = 1024;
  request.output_len = 256;
  predict_points(state, request, "device.nvlink.bandwidth");
}
BENCHMARK(BM_PredictGeneration)->ArgName("kept")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// 80 layers on the 24 cores of 12 chips: prompt and tokens.
void BM_PredictLlama70b(benchmark::State& state) {
  Request request;
  request.system = "inf2.48xlarge";
  request.workload = "Llama-3-70B";
  request.tp = 24;
  request.batch = 1;
  request.input_len = 1024;
  request.output_len = 1024;
  predict_points(state, request, "device.hbm.bandwidth");
}
BENCHMARK(BM_PredictLlama70b)->ArgName("kept")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

// A store in a file that is not there before or after.
class ScratchStore {
 public:
  ScratchStore() { remove(); }
  ~ScratchStore() { remove(); }
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  const std::string& path() const { return path_; }

 private:
  void remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  std::string path_ =
      (std::filesystem::temp_directory_path() / "foretell-study-bench.sqlite").string();
};

// Rows as they come, this many in one transaction.
void BM_StoreRows(benchmark::State& state) {
  const ScratchStore file;
  StudyStore store(file.path(), StoreAccess::kWrite);
  StudyHead head;
  head.name = head.hash = "bench";
  head.points = 1;
  bool is_new = false;
  head = store.begin(head, is_new);
  const auto at_once = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t number = 0;
  for (auto _ : state) {
    std::vector<StudyPointRow> rows;
    std::vector<PointResult> results;
    for (std::uint64_t i = 0; i < at_once; ++i, ++number) {
      StudyPointRow row;
      row.number = number;
      row.hash = std::to_string(number * 0x9e3779b97f4a7c15U);
      row.values = R"({"batch":"8","device.hbm.bandwidth":"820 GB/s"})";
      PointResult result;
      result.hash = row.hash;
      result.status = kPointGood;
      result.context = row.values;
      result.record = example_record();
      rows.push_back(std::move(row));
      results.push_back(std::move(result));
    }
    store.add(head, rows, results);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(number));
}
BENCHMARK(BM_StoreRows)->Arg(1)->Arg(100);

// A worker's answer to every point, without the work.
std::string instant_answer(const Study& study, std::uint64_t number) {
  return answer_point(
      study, no_defaults,
      [](const Request& request) {
        RunRecord record = example_record();
        record.context.scenario.batch = request.batch;
        record.context.set = request.set;
        return record;
      },
      number);
}

// Rank 0's view of others that answer at once. Messages are those of
// model/app/study/sweep/sweep.cpp: 'R' and the room that a rank has, 'T' and numbers of tasks, 'A'
// and per answer number, kind, size, bytes.
class InstantRanks : public Cluster {
 public:
  InstantRanks(int ranks, std::uint64_t room, std::function<std::string(std::uint64_t)> task)
      : ranks_(ranks), task_(std::move(task)) {
    SweepMessage ready;
    ready.kind = SweepMessage::Kind::kReady;
    ready.room = room;
    for (int rank = 1; rank < ranks_; ++rank) arrived_.push_back({rank, to_bytes(ready)});
  }

  int rank() const override { return 0; }
  int size() const override { return ranks_; }

  void send(int to, const std::string& text) override {
    const SweepMessage said = message_from(text);
    if (said.kind == SweepMessage::Kind::kDone) arrived_.push_back({to, to_bytes({})});
    for (const std::uint64_t number : said.numbers) {
      SweepMessage answered;
      answered.kind = SweepMessage::Kind::kAnswers;
      answered.answers = {{number, TaskAnswer::Kind::kAnswer, task_(number)}};
      arrived_.push_back({to, to_bytes(answered)});
    }
  }

  std::optional<ClusterMessage> receive() override {
    if (arrived_.empty()) return std::nullopt;
    ClusterMessage message = std::move(arrived_.front());
    arrived_.pop_front();
    return message;
  }

 private:
  int ranks_;
  std::function<std::string(std::uint64_t)> task_;
  std::deque<ClusterMessage> arrived_;
};

// Everything that a sweep does with a point except predicting it: `ranks` of them answer at once,
// and 0 stands for one worker in a process of its own. An iteration is a study of that many points
// in a new store; the time per point is the counter.
void BM_Overhead(benchmark::State& state) {
  const Study study = example_study();
  const auto ranks = static_cast<int>(state.range(0));
  const auto points = static_cast<std::uint64_t>(state.range(1));
  const auto task = [&study](std::uint64_t number) { return instant_answer(study, number); };
  for (auto _ : state) {
    const ScratchStore file;
    StudyStore store(file.path(), StoreAccess::kWrite);
    bool is_new = false;
    const StudyHead head = store.begin(study_head(study, "bench"), is_new);
    StudyRun run(study, "bench", no_defaults, store, head);
    InstantRanks others(ranks, 6, task);
    WorkerGroup workers(task, 1, 300);
    SweepRunner runner(workers, ranks > 0 ? &others : nullptr);
    std::uint64_t at = 0;
    const auto next = [&](std::uint64_t& number) {
      number = at++;
      return number < points;
    };
    const auto stop = [] { return false; };
    runner.run([&](std::size_t most) { return run.plan(next, most, stop); },
               [&](const std::vector<TaskAnswer>& answers) { run.store(answers); }, stop);
  }
  state.counters["per_point"] =
      benchmark::Counter(static_cast<double>(points) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_Overhead)
    ->ArgNames({"ranks", "points"})
    ->Args({0, 4000})
    ->Args({1000, 40000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace foretell

// What BENCHMARK_MAIN() is, as a run that keeps what it reads.
int main(int argc, char** argv) {
  const foretell::Kept kept;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
