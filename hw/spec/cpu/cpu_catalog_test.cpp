#include "hw/spec/cpu/cpu_catalog.hpp"

#include <gmock/gmock.h>

#include <set>

#include "calib/fitted/cpu/cpu_factors.hpp"
#include "hw/spec/cpu/cpu_fields.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::Throws;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CpuCatalog, EverySystemLoadsAndEveryValueHasASource) {
  const CpuCatalog catalog;
  std::set<std::string> devices;
  for (const std::string& id : catalog.systems()) {
    if (id == kHostSystem) continue;
    const LoadedCpuSystem system = catalog.load(id);
    devices.insert(system.spec.device.id);
    const bool is_rented =
        id != system.spec.device.id;  // a machine of a part's name cannot be rented
    EXPECT_EQ(system.spec.price_usd_per_hour.empty(), !is_rented) << id;
    for (const Parameter& parameter : system.parameters) {
      SCOPED_TRACE(id + " " + parameter.path);
      EXPECT_EQ(catalog.bibliography().problem_with(parameter.source), "");
      EXPECT_EQ(parameter.kind == ValueKind::kAssumed, parameter.source == "PROJECT");
    }
  }
  EXPECT_THAT(catalog.devices(), ::testing::ElementsAreArray(devices));
}

TEST(CpuCatalog, MemoryAndCachesOfAnInstanceAreItsShare) {
  const CpuSystemSpec spec = CpuCatalog().load("c7i.2xlarge", {"system.dram_share=0.5"}).spec;
  EXPECT_NEAR(dram_bandwidth(spec).value(), 0.5 * 8 * 38.4e9, 1);
  const CpuSystemSpec whole = CpuCatalog().load("c7a.48xlarge").spec;
  EXPECT_NEAR(l3_capacity(whole).value(), 2 * 12 * 32.0 * 1024 * 1024, 1);
  EXPECT_NEAR(core_rate(whole.device, "fp32").value(), 32 * 3.7e9, 1);
}

TEST(CpuCatalog, NamesWhatIsWrong) {
  const CpuCatalog catalog;
  EXPECT_THAT(message_of([&] { catalog.load("c7i.2xlarg"); }), HasSubstr("c7i.2xlarge"));
  EXPECT_THAT(message_of([&] { catalog.load("c7i.2xlarge", {"system.cores=4000"}); }),
              HasSubstr("system.cores"));
  EXPECT_THAT(message_of([&] { catalog.load("c7i.2xlarge", {"device.dram.chanels=4"}); }),
              HasSubstr("device.dram.channels"));
  EXPECT_THAT(message_of([&] { catalog.load("c7i.2xlarge", {"device.clock.base=9 GHz"}); }),
              HasSubstr("device.clock.base"));
  EXPECT_THAT(message_of([&] { core_rate(catalog.load("c6i.xlarge").spec.device, "bf16"); }),
              HasSubstr("it has: fp32, int8"));
}

TEST(CpuFactors, OverridesAreSeenAndUnknownOnesRefused) {
  const CpuDeviceSpec device = CpuCatalog().load("c7a.xlarge").spec.device;
  const ChosenCpuFactors chosen = choose_cpu_factors(device, "none", {"factors.call=3 us"});
  EXPECT_NEAR(chosen.factors.call.value(), 3e-6, 1e-12);
  EXPECT_EQ(chosen.id, "none");
  EXPECT_THAT(message_of([&] { choose_cpu_factors(device, "none", {"factors.cal=3 us"}); }),
              HasSubstr("factors.call"));
  EXPECT_THROW(choose_cpu_factors(device, "/no/such/file.yaml"), UserError);
}

TEST(CpuCatalog, AnUnmeasuredPartTakesTheFactorsOfOneWithAsManyFlopInACycle) {
  const auto id_for = [](const char* system) {
    return choose_cpu_factors(CpuCatalog().load(system).spec.device, "").id;
  };
  EXPECT_THAT(id_for("c7i.xlarge"), HasSubstr("xeon"));  // its architecture
  EXPECT_THAT(id_for("c6i.xlarge"), HasSubstr("xeon"));  // two wide units
  EXPECT_THAT(id_for("c7g.xlarge"), HasSubstr("epyc"));
}

}  // namespace
}  // namespace foretell
