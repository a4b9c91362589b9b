// A search against the enumeration of the same study, on a real device and a real network.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/app/command/application.hpp"
#include "model/app/study/testing/front_area.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

// Four rates against an effort that grows with each of them: 625 points, 43 on the front. With ten
// values each, which the benchmark of sweeps runs, a tenth of the points finds more than 99 %; 62
// points are hardly more than the front has.
constexpr const char* kMachine =
    "base: {on: inf2.xlarge, workload: distilbert-base-uncased, workload.layers: 1, seq: 64, "
    "dtype: bf16, batch: 1}\n"
    "vary:\n"
    "  device.hbm.bandwidth: {log_range: [400 GB/s, 3200 GB/s], steps: 5}\n"
    "  core.tensor.clock: {log_range: [1.25 GHz, 10 GHz], steps: 5}\n"
    "  core.vector.clock: {log_range: [0.56 GHz, 4.48 GHz], steps: 5}\n"
    "  core.scalar.clock: {log_range: [0.7 GHz, 5.6 GHz], steps: 5}\n"
    "derive: {core.dma.engine_rate: \"${device.hbm.bandwidth} / 48\"}\n"
    "define: {effort: \"3 * ${device.hbm.bandwidth} / 820 GB/s + 3 * ${core.tensor.clock} / 2.8 "
    "GHz + ${core.vector.clock} / 1.12 GHz + ${core.scalar.clock} / 1.4 GHz\"}\n"
    "objectives: [latency, min effort]\n";

StudyResults swept(const TemporaryFolder& folder, const std::string& name,
                   const std::string& more) {
  const std::string file = folder.file(name + ".yaml");
  std::ofstream(file) << "study: " << name << '\n' << kMachine << more;
  std::ostringstream messages;
  Session session;
  session.predict = predict;
  session.messages = &messages;
  const std::string store = folder.file("store");
  EXPECT_EQ(run_application({"sweep", file, "--store", store, "-o", folder.file("out")}, session),
            kSuccess)
      << messages.str();
  const StudyStore stored(store, StoreAccess::kRead);
  return study_results(stored, stored.studies().back());
}

TEST(SearchAccuracy, ATenthOfThePointsFindsTheFront) {
  const TemporaryFolder folder;
  const StudyResults all = swept(folder, "all", "");
  ASSERT_EQ(all.good, 625U);
  const auto front = front_objectives(all);
  std::vector<double> worst = {0, 0};
  for (const auto& point : front) {
    for (std::size_t d = 0; d < worst.size(); ++d) worst[d] = std::max(worst[d], point[d]);
  }
  const double whole = front_area(front, worst);
  for (const char* seed : {"1", "2"}) {
    const StudyResults found =
        swept(folder, std::string("found") + seed,
              std::string("search: {evaluations: 62, seed: ") + seed + "}\n");
    EXPECT_LE(found.rows, 62U);
    // A front has no points that gain 0.1 % or less: a few of few points are missing in volume.
    EXPECT_GE(front_area(front_objectives(found), worst), 0.91 * whole) << seed;
  }
}

}  // namespace
}  // namespace foretell
