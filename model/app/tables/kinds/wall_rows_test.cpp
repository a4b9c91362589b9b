// Systems at the wall: what is known of a run decides what its boards draw.
#include "model/app/tables/kinds/wall_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/host_power.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

const CsvRow kWallHeader = {"model", "device",   "n_devices", "throughput",
                            "path",  "scenario", "framework", "notes"};

struct Run {
  const char* path = "closed/Dell/results/SERVER/";
  const char* scenario = "closed Offline SERVER";
  const char* framework = "TensorRT 8.4.2, CUDA 11.6";
  const char* throughput = "200000";
  const char* notes = "";
};

WallRun read_run(const Run& run) {
  static const WallRuns kRuns = read_wall_runs(
      load_document(hw_folder() / "engines/recipes/energy_benchmark.yaml").required("walls", ""));
  const CsvRow row = {"resnet50", "NVIDIA A100-SXM-80GB", "8",           run.throughput,
                      run.path,   run.scenario,           run.framework, run.notes};
  return read_wall_run(kRuns, NamedCells(kWallHeader), row, Request{});
}

constexpr const char* kDgx = "closed/NVIDIA/results/DGX-A100_A100-SXM-80GBx8_TRT_MaxQ/resnet50/";

TEST(WallRows, TheLimitIsThatOfTheConfigurationOfItsReleaseAndScenario) {
  EXPECT_EQ(read_run({}).request.power_limit, "");
  EXPECT_EQ(read_run({kDgx}).request.power_limit, "250W");
  EXPECT_EQ(read_run({kDgx, "closed Server SERVER"}).request.power_limit, "225W");
  EXPECT_EQ(read_run({kDgx, "closed Offline SERVER", "TensorRT 8.0.1"}).request.power_limit,
            "225W");
  EXPECT_EQ(read_run({kDgx, "closed Offline SERVER", "TensorRT 7"}).request.power_limit, "");
}

TEST(WallRows, BoardsUnderALimitDrawItAndTheHostIsAddedBeforeTheSupplies) {
  const double watts = wall_watts_of(read_run({kDgx}), predict);
  constexpr double kBoards = 8 * 250 * 0.985;
  const double wall = load_host_power("a100-sxm-x8", "nvlink").at_wall(Watts(kBoards), 8).value();
  EXPECT_LE(watts, wall);
  EXPECT_NEAR(watts, wall, 0.01 * wall);
}

TEST(WallRows, AHostDrawsAShareOfWhatItsProcessorsAreSoldToDraw) {
  WallRun run = read_run({});
  EXPECT_EQ(run.processor_watts, 0);  // nothing says which they are
  run = read_run(
      {kDgx, "closed Offline SERVER", "TensorRT 8.4.2", "200000", "host 2x AMD EPYC 7742; valid"});
  EXPECT_DOUBLE_EQ(run.processor_watts, 0.65 * 2 * 225);
  const double two = wall_watts_of(run, predict);
  run.processor_watts /= 2;
  EXPECT_NEAR(two - wall_watts_of(run, predict), 0.65 * 225 / 0.94, 1e-6);
}

TEST(WallRows, ALowerLimitIsLessAtTheWall) {
  EXPECT_LT(wall_watts_of(read_run({kDgx, "closed Offline SERVER", "TensorRT 8.0.1"}), predict),
            wall_watts_of(read_run({kDgx}), predict));
}

TEST(WallRows, AStreamOfQueriesWorksOneAfterAnother) {
  const WallRun single = read_run({"", "closed SingleStream SERVER", "", "2000"});
  EXPECT_EQ(single.request.batch, 1);
  EXPECT_TRUE(single.one_query);
  const WallRun eight = read_run({"", "closed MultiStream SERVER", "", "2000"});
  EXPECT_EQ(eight.request.batch, 8);
  // As many samples, but weights are read once for eight.
  EXPECT_LT(wall_watts_of(eight, predict), wall_watts_of(single, predict));
  const WallRun twice = read_run({"", "closed SingleStream SERVER", "", "1000"});
  EXPECT_LT(wall_watts_of(twice, predict), wall_watts_of(single, predict));
}

TEST(WallRows, AScenarioThatIsNotKnownIsRefused) {
  try {
    read_run({"", "closed Interactive SERVER"});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Offline"));
  }
}

}  // namespace
}  // namespace foretell
