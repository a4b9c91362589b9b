#include "model/timing/gpu_collective_timing.hpp"

#include <gmock/gmock.h>

#include "hw/spec/gpu_catalog.hpp"
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

TEST(GpuCollective, WithoutNvlinkItIsRefusedAndNamesAreChecked) {
  const GpuDeviceSpec l4 = GpuCatalog().load("l4").spec.device;
  EXPECT_THROW(nccl_time(l4, exemplar_link_factors(), all_reduce(2, 1e6)), UserError);
  EXPECT_THROW(gpu_collective("all_reduc"), UserError);
  EXPECT_EQ(gpu_collective("all_to_all"), GpuCollective::kAllToAll);
}

}  // namespace
}  // namespace foretell
