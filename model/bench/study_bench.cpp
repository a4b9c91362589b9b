// What a design point costs beside its prediction: planning it, and a row in the store.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "model/study/study.hpp"
#include "reports/record/study_store.hpp"
#include "reports/record/testing/example_record.hpp"

namespace foretell {
namespace {

Study example_study() {
  return parse_study(
      "study: bench\n"
      "base: {on: inf2.xlarge, workload: bert-large-uncased, seq: 128}\n"
      "vary:\n"
      "  batch: {range: [1, 100], steps: 100}\n"
      "  device.hbm.bandwidth: {range: [400 GB/s, 1600 GB/s], steps: 100}\n"
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

// Rows as they come, so many in one transaction.
void BM_StoreRows(benchmark::State& state) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretell-study-bench.sqlite").string();
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
  StudyStore store(path, StoreAccess::kWrite);
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
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}
BENCHMARK(BM_StoreRows)->Arg(1)->Arg(100);

}  // namespace
}  // namespace foretell

BENCHMARK_MAIN();
