// Grids beside an exchange that holds SMs.
#include <gtest/gtest.h>

#include <vector>

#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/testing/gpu_exemplar.hpp"

namespace foretell {
namespace {

constexpr double kRoundOff = 1e-12;

// One round of `message` to the other GPU at 100 GB/s.
Collective exchange_of(int sms, Bytes message) {
  LinkRound round;
  round.links = {1, message, BytesPerSecond(100e9)};
  Collective collective;
  collective.name = "dispatch";
  collective.exchange = {2, BytesPerSecond(100e9), {round}, {}, sms};
  return collective;
}

// One block on every SM.
Grid product_of(Seconds time) {
  Grid grid;
  add_ctas(grid, exemplar_gpu().sms, time);
  return grid;
}

double takes(const std::vector<Grid>& grids, const std::vector<Collective>& exchanges) {
  ProgramBuilder builder("beside", gpu_streams(false));
  for (const Grid& grid : grids) builder.emit_to(kGridStream, grid, {});
  for (const Collective& exchange : exchanges) builder.emit_to(kGpuCollectives, exchange, {});
  return to_seconds(simulate(GpuMachine{exemplar_gpu()}, std::move(builder).finish()).end).value();
}

TEST(HeldSms, AGridHasTheOthersUntilTheLastMessageIsThere) {
  const Grid product = product_of(Seconds(100e-6));
  // 20 of 100 SMs, for longer than the product, for half of it, and not at all.
  EXPECT_NEAR(takes({product}, {exchange_of(20, Bytes(100e6))}), 1e-3, 1e-9);
  EXPECT_NEAR(takes({product, product}, {exchange_of(20, Bytes(20e6))}), 240e-6, 1e-9);
  EXPECT_NEAR(takes({product}, {exchange_of(20, Bytes(5e6))}), 110e-6, 1e-9);
  EXPECT_NEAR(takes({product}, {exchange_of(0, Bytes(5e6))}), 100e-6, 1e-9);
}

// 20 us of thread blocks and 100 us of bytes, this many stages ahead of the one that is computed.
Grid reads_of(double stages_ahead) {
  Grid grid = product_of(Seconds(20e-6));
  grid.dram_bytes = Bytes(100e6);
  grid.dram_rate = BytesPerSecond(1e12);
  grid.stages_ahead = stages_ahead;
  return grid;
}

TEST(HeldSms, AGridThatWaitsForDramMissesThemOnlyInItsThreadBlocks) {
  const Collective exchange = exchange_of(20, Bytes(60e6));  // 600 us
  // Nothing overlaps: 25 + 100 us while they are held, then 20 + 100; 600 + (720 - 600 120 / 125).
  const std::vector<Grid> summed(6, reads_of(0));
  EXPECT_NEAR(takes(summed, {exchange}), 744e-6, 1e-9);
  // All overlaps: DRAM is as busy as before.
  const std::vector<Grid> overlapped(6, reads_of(30));
  EXPECT_NEAR(takes(overlapped, {exchange}), takes(overlapped, {}), 1e-9);
}

TEST(HeldSms, AloneAnExchangeTakesNoLongerWithThem) {
  const double without = takes({}, {exchange_of(0, Bytes(5e6))});
  EXPECT_EQ(takes({}, {exchange_of(20, Bytes(5e6))}), without);
  EXPECT_EQ(takes({}, {exchange_of(1000, Bytes(5e6))}), without);
}

TEST(HeldSms, MoreOfThemAreNeverFasterNorSlowerThanOneAfterTheOther) {
  const Grid product = product_of(Seconds(30e-6));
  for (const double bytes : {1e5, 2e6, 4e6, 2e7}) {
    const double exchange = takes({}, {exchange_of(0, Bytes(bytes))});
    double last = takes({product, product}, {exchange_of(0, Bytes(bytes))});
    for (const int sms : {1, 10, 50, 99, 100, 500}) {
      const double now = takes({product, product}, {exchange_of(sms, Bytes(bytes))});
      EXPECT_GE(now, last - kRoundOff);
      EXPECT_LE(now, 60e-6 + exchange + kRoundOff);
      last = now;
    }
  }
}

// The second exchange is known from the first: it holds as many.
TEST(HeldSms, AnExchangeThatIsNotExecutedAgainHoldsThemToo) {
  const Collective exchange = exchange_of(20, Bytes(8e6));
  const double all = takes({}, {exchange, exchange});
  EXPECT_NEAR(all, 160e-6, 1e-9);
  Grid product = product_of(Seconds(64e-6));
  product.launch = Seconds(80e-6);
  EXPECT_NEAR(takes({product}, {exchange, exchange}), 160e-6, 1e-9);
  product.launch = Seconds(90e-6);  // 56 us of it while SMs are held, 8 us with all
  EXPECT_NEAR(takes({product}, {exchange, exchange}), 168e-6, 1e-9);
}

}  // namespace
}  // namespace foretell
