#include "calib/measure/cuda/board.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

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
