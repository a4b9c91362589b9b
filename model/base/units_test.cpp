#include "model/base/units.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

using namespace literals;

TEST(Units, ProductsHaveTheDimensionOfTheProduct) {
  static_assert(std::is_same_v<decltype(Bytes{} / Seconds{}), BytesPerSecond>);
  static_assert(std::is_same_v<decltype(Cycles{} / Hertz{}), Seconds>);
  static_assert(std::is_same_v<decltype(FlopsPerSecond{} * Seconds{}), Flops>);
  static_assert(std::is_same_v<decltype(UsdPerSecond{} * Seconds{}), Usd>);
  static_assert(std::is_same_v<decltype(BytesPerCycle{} * Hertz{}), BytesPerSecond>);
  static_assert(std::is_same_v<decltype(Seconds{} / Seconds{}), double>);
}

TEST(Units, CostNothing) {
  static_assert(sizeof(Seconds) == sizeof(double));
  static_assert(std::is_trivially_copyable_v<BytesPerSecond>);
}

TEST(Units, DecimalAndBinaryPrefixesDiffer) {
  EXPECT_EQ((1_GiB).value(), 1024.0 * 1024 * 1024);
  EXPECT_EQ((24_MiB).value(), 25165824.0);
  EXPECT_EQ((820.0_GBps).value(), 820e9);
}

TEST(Units, ACycleCountOverAClockIsATime) {
  EXPECT_DOUBLE_EQ((512_cycles / 2.8_GHz).value(), 512 / 2.8e9);
  EXPECT_DOUBLE_EQ((1_GiB / 820.0_GBps).value(), 1073741824 / 820e9);
}

TEST(Units, CompareAndAccumulate) {
  Seconds total;
  EXPECT_EQ(total, Seconds(0));
  total += 3.0_us;
  total -= 1.0_us;
  total *= 4;
  total /= 2;
  EXPECT_DOUBLE_EQ(total.value(), 4e-6);
  EXPECT_LT(1.0_ns, 1.0_us);
  EXPECT_NE(1.0_ms, 1.0_us);
}

}  // namespace
}  // namespace foretell
