#include "model/timing/gpu_collective_timing.hpp"

#include <gmock/gmock.h>

#include "hw/spec/gpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

const GpuDeviceSpec& hopper() {
  static const GpuDeviceSpec kDevice = GpuCatalog().load("h100-sxm").spec.device;
  return kDevice;
}

LinkFactors plain_link() {
  LinkFactors factors;
  factors.launch = Seconds(5e-6);
  factors.link_efficiency = 0.8;
  factors.local_rate = BytesPerSecond(1e12);
  factors.hop_ll = Seconds(0.7e-6);
  factors.hop_ll128 = Seconds(1e-6);
  factors.hop_simple = Seconds(2e-6);
  factors.cost_ll = 8;
  factors.cost_ll128 = 1.3;
  factors.start_simple = Seconds(10e-6);
  factors.peer = Seconds(0.3e-6);
  factors.barrier = Seconds(0.2e-6);
  factors.two_shot = Seconds(5e-6);
  return factors;
}

GpuCollectiveShape all_reduce(int ranks, double bytes) {
  return {GpuCollective::kAllReduce, ranks, Bytes(bytes)};
}

TEST(GpuCollective, ProtocolsFollowTheSize) {
  const LinkFactors factors = plain_link();
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

TEST(GpuCollective, MoreBytesNeverTakeLess) {
  const LinkFactors factors = plain_link();
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
  LinkFactors factors = plain_link();
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

TEST(GpuCollective, WithoutNvlinkItIsRefusedAndNamesAreChecked) {
  const GpuDeviceSpec l4 = GpuCatalog().load("l4").spec.device;
  EXPECT_THROW(nccl_time(l4, plain_link(), all_reduce(2, 1e6)), UserError);
  EXPECT_THROW(gpu_collective("all_reduc"), UserError);
  EXPECT_EQ(gpu_collective("all_to_all"), GpuCollective::kAllToAll);
}

}  // namespace
}  // namespace foretell
