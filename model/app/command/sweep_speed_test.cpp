// What a sweep costs beside the predictions.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

// CPU time of this process and of the workers that have ended.
double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

// The stand-in for the simulator takes no time to speak of. Planning, handing out, the answer, the
// row in the store, the record in the worker: all of it counts.
TEST(SweepSpeed, APointCostsLessThanAMillisecondBesideItsPrediction) {
  constexpr double kPoints = 300;
  const TemporaryFolder folder;
  const std::string study = folder.file("s.yaml");
  std::ofstream(study) << "study: s\n"
                          "base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n"
                          "vary: {batch: {range: [1, 300], steps: 300}, device.hbm.bandwidth: [1 "
                          "TB/s]}\n";
  const auto seconds = [&](const std::string& file) {
    const double before = cpu_seconds();
    EXPECT_EQ(run_command({"sweep", file, "--store", folder.file("store"), "--jobs", "1"}).code,
              kSuccess);
    const double took = cpu_seconds() - before;
    std::filesystem::remove(folder.file("store"));
    return took;
  };
  const std::string one = folder.file("one.yaml");
  std::ofstream(one) << "study: one\n"
                        "base: {on: inf2.xlarge, workload: bert-base-uncased, seq: 128}\n";
  double per_point = 1;
  for (int i = 0; i < 3; ++i)
    per_point = std::min(per_point, (seconds(study) - seconds(one)) / (kPoints - 1));
  EXPECT_LT(per_point, 1e-3);
}

}  // namespace
}  // namespace foretell
