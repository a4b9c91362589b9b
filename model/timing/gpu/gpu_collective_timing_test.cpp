#include "model/timing/gpu/gpu_collective_timing.hpp"

#include <gmock/gmock.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"

namespace foretell {
namespace {

const GpuDeviceSpec& hopper() {
  static const GpuDeviceSpec kDevice = GpuCatalog().load("h100-sxm").spec.device;
  return kDevice;
}

GpuCollectiveShape all_reduce(int ranks, double bytes) {
  return {GpuCollective::kAllReduce, ranks, Bytes(bytes)};
}

TEST(GpuCollective, ProtocolsFollowTheSize) {
  const LinkFactors factors = exemplar_link_factors();
  const auto protocol = [&](double bytes) {
    return nccl_time(hopper(), factors, all_reduce(8, bytes)).protocol;
  };
  EXPECT_EQ(protocol(1024), GpuProtocol::kLl);
  EXPECT_EQ(protocol(1 << 20), GpuProtocol::kLl128);
  EXPECT_EQ(protocol(1 << 30), GpuProtocol::kSimple);
  EXPECT_EQ(custom_time(hopper(), factors, all_reduce(8, 1024)).protocol, GpuProtocol::kOneShot);
  EXPECT_EQ(custom_time(hopper(), factors, all_reduce(8, 4e6)).protocol, GpuProtocol::kTwoShot);
  EXPECT_EQ(to_string(GpuProtocol::kLl128), "LL128");
}

TEST(GpuCollective, ShotsFollowTheRuleOfTheKernel) {
  const LinkFactors factors = exemplar_link_factors();
  const auto shots = [&](int ranks, double kib, ShotRule rule) {
    return custom_time(hopper(), factors, all_reduce(ranks, kib * 1024), rule).protocol;
  };
  EXPECT_EQ(shots(4, 511, ShotRule::kBySize), GpuProtocol::kOneShot);
  EXPECT_EQ(shots(4, 512, ShotRule::kBySize), GpuProtocol::kTwoShot);
  EXPECT_EQ(shots(8, 256, ShotRule::kBySize), GpuProtocol::kTwoShot);
  EXPECT_EQ(shots(2, 4096, ShotRule::kBySize), GpuProtocol::kOneShot);
}

TEST(GpuCollective, LongKernelsHideTheHost) {
  LinkFactors factors = exemplar_link_factors();
  const auto time = [&](double bytes) {
    return custom_time(hopper(), factors, all_reduce(4, bytes)).time;
  };
  const Seconds short_one = time(1024), long_one = time(7e6);
  factors.host = (short_one + long_one) * 0.5;
  EXPECT_EQ(time(1024), factors.host);
  EXPECT_EQ(time(7e6), long_one);
}

TEST(GpuCollective, MessagesBetweenTwoGpusGoBySizeWhereTheyHaveAStart) {
  LinkFactors factors = exemplar_link_factors();
  const auto protocol = [&](int ranks, double kib) {
    return nccl_time(hopper(), factors, {GpuCollective::kAllToAll, ranks, Bytes(kib * 1024)})
        .protocol;
  };
  EXPECT_EQ(protocol(2, 256), GpuProtocol::kLl128);
  factors.start_message = Seconds(7e-6);
  EXPECT_EQ(protocol(2, 32), GpuProtocol::kLl);
  EXPECT_EQ(protocol(2, 33), GpuProtocol::kSimple);
  EXPECT_EQ(protocol(8, 128), GpuProtocol::kLl);
  EXPECT_EQ(nccl_time(hopper(), factors, {GpuCollective::kSend, 2, Bytes(17 * 1024)}).protocol,
            GpuProtocol::kSimple);
}

TEST(GpuCollective, MoreBytesNeverTakeLess) {
  const LinkFactors factors = exemplar_link_factors();
  for (const GpuCollective op : {GpuCollective::kAllReduce, GpuCollective::kAllGather,
                                 GpuCollective::kReduceScatter, GpuCollective::kAllToAll}) {
    for (const int ranks : {2, 4, 8}) {
      Seconds before;
      for (double bytes = 64; bytes < 2e9; bytes *= 1.7) {
        const Seconds now = nccl_time(hopper(), factors, {op, ranks, Bytes(bytes)}).time;
        EXPECT_GE(now.value(), before.value());
        before = now;
      }
    }
  }
}

TEST(GpuCollective, AnAllReduceIsAReduceScatterAndAnAllGather) {
  LinkFactors factors = exemplar_link_factors();
  factors.launch = Seconds(0);
  factors.start_simple = Seconds(0);
  factors.local_rate = BytesPerSecond(1e30);
  const double bytes = 1e9;
  const auto time = [&](GpuCollective op) {
    return nccl_time(hopper(), factors, {op, 8, Bytes(bytes)}).time.value();
  };
  EXPECT_NEAR(time(GpuCollective::kAllReduce),
              time(GpuCollective::kReduceScatter) + time(GpuCollective::kAllGather), 1e-9);
  const double wire = bytes * 7 / 8 / (0.8 * hopper().nvlink.bandwidth.value());
  EXPECT_NEAR(time(GpuCollective::kAllGather), wire + 7 * 2e-6, 1e-9);
}

TEST(GpuCollective, WithoutNvlinkItGoesOverPcieAndNamesAreChecked) {
  const GpuDeviceSpec l4 = GpuCatalog().load("l4").spec.device;
  const Seconds time = nccl_time(l4, exemplar_link_factors(), all_reduce(2, 1e9)).time;
  EXPECT_NEAR(time.value(), 1e9 / (0.8 * l4.pcie.bandwidth.value()), 0.1 * time.value());
  EXPECT_THROW(gpu_collective("all_reduc"), UserError);
  EXPECT_EQ(gpu_collective("all_to_all"), GpuCollective::kAllToAll);
}

}  // namespace
}  // namespace foretell
