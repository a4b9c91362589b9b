#include "calib/measure/cpu/system_load.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(SystemLoad, ReadsTheTimesOfAllProcessors) {
  // user nice system idle iowait irq softirq steal guest
  const ProcessorTimes times = parse_processor_times("cpu  100 20 30 800 50 1 2 7 0 0");
  EXPECT_EQ(times.busy, 100 + 20 + 30 + 1 + 2 + 7);
  EXPECT_EQ(times.all, 1010);
}

TEST(SystemLoad, RefusesWhatIsNotThatLine) {
  EXPECT_THROW(parse_processor_times(""), UserError);
  EXPECT_THROW(parse_processor_times("cpu0 1 2 3 4 5 6 7 8"), UserError);
  EXPECT_THROW(parse_processor_times("cpu 1 2"), UserError);
}

TEST(SystemLoad, OthersAreWhatIsBusyAndNotOurs) {
  const ProcessorTimes before{1000, 5000};
  const ProcessorTimes after{1150, 5200};
  EXPECT_DOUBLE_EQ(foreign_share(before, after, 100), 0.25);
  EXPECT_DOUBLE_EQ(foreign_share(before, after, 150), 0);
  EXPECT_DOUBLE_EQ(foreign_share(before, after, 400), 0);  // ticks are coarse
  EXPECT_DOUBLE_EQ(foreign_share(before, before, 0), 0);
  EXPECT_DOUBLE_EQ(foreign_share(before, after, 0), 0.75);
}

TEST(SystemLoad, TheClockIsThatOfAProcessor) {
  const std::optional<double> clock = measured_clock_mhz();
  if (!clock) GTEST_SKIP() << "no chain of additions for this instruction set";
  // Sanitizers and virtual machines slow it down, nothing makes it faster than silicon.
  EXPECT_GT(*clock, 10);
  EXPECT_LT(*clock, 10000);
}

TEST(SystemLoad, AWatchSeesNoMoreThanEverything) {
  const LoadWatch watch;
  EXPECT_GE(watch.foreign(), 0);
  EXPECT_LE(watch.foreign(), 1);
  EXPECT_GE(load_average(), 0);
}

}  // namespace
}  // namespace foretell
