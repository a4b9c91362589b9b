#include "model/system/kernel_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "model/base/errors.hpp"
#include "model/system/testing/trace_check.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Three kernels one after the other; the last reads what both wrote.
std::vector<KernelRun> three_kernels() {
  std::vector<KernelRun> runs(3);
  Seconds start;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    KernelRun& run = runs[i];
    run.op = "layer \"" + std::to_string(i);
    run.kernel = "gemm 128x256";
    run.engine = i == 1 ? "vector" : "tensor";
    run.start = start;
    run.duration = Seconds(3e-6);
    run.launch = Seconds(1e-6);
    run.dram = Bytes(2e6);
    run.l2 = Bytes(4e6);
    start += run.duration;
  }
  runs[2].link = Bytes(1e5);
  runs[2].reads = {0, 1};
  return runs;
}

std::string traced(const std::vector<KernelCall>& calls) {
  std::ostringstream out;
  write_kernel_trace(out, {"a \"GPU\"", "launch"}, calls);
  return out.str();
}

TEST(KernelTrace, IsWellFormedAndNamesItsTracks) {
  const std::vector<KernelRun> runs = three_kernels();
  const TraceCheck trace(traced({{"", runs}}));
  EXPECT_THAT(trace.faults(), IsEmpty());
  EXPECT_THAT(trace.processes(), ElementsAre("a \"GPU\""));
  EXPECT_THAT(trace.threads(), ElementsAre("launch", "tensor", "vector"));
}

// Three from launches to kernels, two from writers to the reader.
TEST(KernelTrace, ArrowsLeadFromLaunchesAndFromWritersToReaders) {
  std::vector<KernelRun> runs = three_kernels();
  EXPECT_EQ(TraceCheck(traced({{"", runs}})).arrows(), 5U);
  runs[2].reads.clear();
  EXPECT_EQ(TraceCheck(traced({{"", runs}})).arrows(), 3U);
  for (KernelRun& run : runs) run.launch = Seconds(0);
  const TraceCheck without(traced({{"", runs}}));
  EXPECT_EQ(without.arrows(), 0U);
  EXPECT_THAT(without.threads(), ElementsAre("tensor", "vector"));
}

// For two streams: the second one on the same engine has a track of its own.
TEST(KernelTrace, KernelsThatRunAtTheSameTimeAreOnTracksOfTheirOwn) {
  std::vector<KernelRun> runs = three_kernels();
  for (KernelRun& run : runs) run.engine = "tensor";
  runs[1].start = Seconds(1.5e-6);
  runs[2].reads.clear();
  const TraceCheck trace(traced({{"", runs}, {"next", runs}}));
  EXPECT_THAT(trace.faults(), IsEmpty());
  EXPECT_THAT(trace.threads(), ::testing::IsSupersetOf({"launch", "tensor", "tensor (2)"}));
}

// 2 MB in the 2 us after a launch of 1 us are 1 TB/s.
TEST(KernelTrace, CountersIntegrateToTheBytes) {
  const std::vector<KernelRun> runs = three_kernels();
  const TraceCheck trace(traced({{"", runs}}));
  EXPECT_NEAR(trace.integral("DRAM GB/s"), 6e6, 1);
  EXPECT_NEAR(trace.integral("L2 GB/s"), 12e6, 1);
  EXPECT_NEAR(trace.integral("links GB/s"), 1e5, 1);
  EXPECT_EQ(trace.highest("DRAM GB/s"), 1000);
  EXPECT_EQ(trace.highest("links GB/s"), 50);
}

TEST(KernelTrace, CallsFollowEachOtherInProcessesOfTheirOwn) {
  const std::vector<KernelRun> runs = three_kernels();
  const TraceCheck trace(traced({{"prefill", runs}, {"decode step", runs}}));
  EXPECT_THAT(trace.faults(), IsEmpty());
  EXPECT_THAT(trace.processes(), ElementsAre("decode step: a \"GPU\"", "prefill: a \"GPU\""));
  double begin_of_second = 1e9;
  for (const nlohmann::json& event : trace.events()) {
    if (event.at("ph") == "X" && event.at("pid") == 2)
      begin_of_second = std::min(begin_of_second, event.at("ts").get<double>());
  }
  EXPECT_DOUBLE_EQ(begin_of_second, 9);
}

TEST(KernelTrace, PowerIsThatOfTheKernelsThatRunAndIdleBetween) {
  std::vector<KernelRun> runs = three_kernels();
  EXPECT_THAT(traced({{"", runs}}), testing::Not(testing::HasSubstr("board W")));
  for (KernelRun& run : runs) {
    run.idle_power = Watts(100);
    run.power = Watts(250);
  }
  const std::string text = traced({{"", runs}});
  EXPECT_THAT(TraceCheck(text).faults(), IsEmpty());
  EXPECT_THAT(text, testing::HasSubstr(R"("drawn":100.000)"));
  EXPECT_THAT(text, testing::HasSubstr(R"("drawn":350.000)"));
  EXPECT_GT(text.rfind(R"("drawn":0.000)"), text.rfind(R"("drawn":350.000)"));
}

TEST(KernelTrace, ACallWithoutKernelsIsAnEmptyProcess) {
  const std::vector<KernelRun> none;
  EXPECT_THAT(TraceCheck(traced({{"", none}})).faults(), IsEmpty());
}

TEST(KernelTrace, APlaceThatCannotBeWrittenIsSaid) {
  const std::vector<KernelRun> runs = three_kernels();
  std::ofstream full("/dev/full");
  EXPECT_THROW(write_kernel_trace(full, {"d", "launch"}, {{"", runs}}), UserError);
}

// The check itself: a timeline that is wrong is not passed.
TEST(KernelTrace, TheCheckFindsWhatIsWrong) {
  const std::vector<KernelRun> runs = three_kernels();
  const std::string good = traced({{"", runs}});
  const auto faults_with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return TraceCheck(text).faults().size();
  };
  EXPECT_GT(faults_with(R"("name":"thread_name","pid":1,"tid":1)",
                        R"("name":"thread_name","pid":1,"tid":7)"),
            0U);
  EXPECT_GT(faults_with(R"("ph":"f")", R"("ph":"t")"), 0U);
  EXPECT_GT(faults_with(R"("cat":"wait","id":2)", R"("cat":"wait","id":1)"), 0U);
  EXPECT_GT(faults_with(R"("ts":3.000000,"dur":1.000000)", R"("ts":0.500000,"dur":1.000000)"), 0U);
  EXPECT_GT(faults_with(R"("moved":1000.000)", R"("moved":-1)"), 0U);
  EXPECT_GT(faults_with(R"("pid":1)", R"("pid":0)"), 0U);
}

}  // namespace
}  // namespace foretell
