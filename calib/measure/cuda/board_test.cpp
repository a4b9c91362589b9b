#include "calib/measure/cuda/board.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

constexpr const char* kBus = "0000:1B:00.0";

// The stand-in for NVML, loaded before a Board asks for the library by its name.
class NvmlOfABoard : public testing::Test {
 protected:
  NvmlOfABoard() : library_(dlopen(FORETELL_NVML_STAND_IN, RTLD_NOW)) {}
  ~NvmlOfABoard() override {
    if (library_ != nullptr) dlclose(library_);
  }
  void SetUp() override { ASSERT_NE(library_, nullptr) << dlerror(); }

  int& variable(const char* name) { return *static_cast<int*>(dlsym(library_, name)); }
  void fail_all(int fault) { variable("nvml_stand_in_fault") = fault; }
  int times_open() { return variable("nvml_stand_in_open"); }

 private:
  void* library_;
};

TEST_F(NvmlOfABoard, ReadsClockOfTheSmsPowerTemperatureOfTheDie) {
  const std::unique_ptr<Board> board = open_board(kBus);
  const BoardReadings readings = board->read();
  EXPECT_EQ(readings.clock_mhz, 1755);
  EXPECT_DOUBLE_EQ(readings.power_w.value_or(0), 512.34);
  EXPECT_EQ(readings.temperature_c, 55);
  EXPECT_EQ(board->driver(), "580.65.06");
}

TEST_F(NvmlOfABoard, EnergyIsADifferenceOfItsCounterInJoules) {
  const std::unique_ptr<Board> board = open_board(kBus);
  const std::optional<double> before = board->energy_j();
  const std::optional<double> after = board->energy_j();
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_DOUBLE_EQ(*after - *before, 250);
}

TEST_F(NvmlOfABoard, WhatABoardDoesNotSupportIsUnknown) {
  const std::unique_ptr<Board> board = open_board(kBus);
  fail_all(3);
  EXPECT_FALSE(board->read().power_w.has_value());
  EXPECT_FALSE(board->read().clock_mhz.has_value());
  EXPECT_FALSE(board->energy_j().has_value());
  EXPECT_EQ(board->driver(), "");
  fail_all(0);
}

TEST_F(NvmlOfABoard, IsShutDownWithTheBoard) {
  open_board(kBus);
  EXPECT_EQ(times_open(), 0);
  const std::unique_ptr<Board> board = open_board(kBus);
  EXPECT_EQ(times_open(), 1);
}

// Another GPU: what nvidia-smi says of it, which is nothing where there is none.
TEST_F(NvmlOfABoard, KnowsItsOwnGpuOnly) {
  const std::unique_ptr<Board> board = open_board("0000:FF:1F.7");
  EXPECT_FALSE(board->energy_j().has_value());
  EXPECT_FALSE(board->read().clock_mhz.has_value());
}

TEST(Board, LinesOfNvidiaSmi) {
  std::string driver;
  const BoardReadings readings = parse_smi_line("1980, 512.34, 55, 580.65.06\n", driver);
  EXPECT_EQ(readings.clock_mhz, 1980);
  EXPECT_EQ(readings.power_w, 512.34);
  EXPECT_EQ(readings.temperature_c, 55);
  EXPECT_EQ(driver, "580.65.06");
}

TEST(Board, WhatIsNotSupportedIsUnknown) {
  std::string driver;
  const BoardReadings readings = parse_smi_line("1980, [N/A], 55, 1\n", driver);
  EXPECT_EQ(readings.clock_mhz, 1980);
  EXPECT_FALSE(readings.power_w.has_value());
  EXPECT_FALSE(parse_smi_line("NVIDIA-SMI has failed\n", driver).clock_mhz.has_value());
}

// Where there is no GPU nothing is known, and nothing fails.
TEST(Board, AGpuThatIsNotThereHasNoReadings) {
  const std::unique_ptr<Board> board = open_board("ffff:ff:1f.7");
  EXPECT_FALSE(board->read().temperature_c.has_value());
  EXPECT_FALSE(board->energy_j().has_value());
}

}  // namespace
}  // namespace foretell
