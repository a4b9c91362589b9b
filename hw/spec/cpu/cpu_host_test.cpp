#include "hw/spec/cpu/cpu_host.hpp"

#include <gmock/gmock.h>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGenoa =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9R14\nphysical id\t: 0\ncore id\t\t: 0\n"
    "flags\t\t: fpu avx2 fma avx512f avx512_bf16 avx512_vnni\n\n"
    "processor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9R14\nphysical id\t: 0\ncore id\t\t: 1\n"
    "flags\t\t: fpu avx2 fma avx512f avx512_bf16 avx512_vnni\n";

// Two sockets of one core with two threads each.
constexpr const char* kSapphireRapids =
    "processor: 0\nvendor_id: GenuineIntel\nmodel name: Intel(R) Xeon(R) Platinum 8488C\n"
    "physical id: 0\ncore id: 0\nflags: avx2 avx512f avx512_vbmi2 avx512_vnni amx_tile\n"
    "processor: 1\nphysical id: 0\ncore id: 0\n"
    "processor: 2\nphysical id: 1\ncore id: 0\n"
    "processor: 3\nphysical id: 1\ncore id: 0\n";

constexpr const char* kGraviton =
    "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd sve i8mm bf16\n"
    "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n";

TEST(CpuHost, CountsCoresThreadsAndSockets) {
  const HostFacts genoa = parse_cpuinfo(kGenoa);
  EXPECT_EQ(genoa.name, "AMD EPYC 9R14");
  EXPECT_EQ(genoa.logical, 2);
  EXPECT_EQ(genoa.cores, 2);
  EXPECT_EQ(genoa.sockets, 1);
  const HostFacts xeon = parse_cpuinfo(kSapphireRapids);
  EXPECT_EQ(xeon.logical, 4);
  EXPECT_EQ(xeon.cores, 2);
  EXPECT_EQ(xeon.sockets, 2);
}

TEST(CpuHost, KnowsArchitecturesByVendorAndInstructions) {
  EXPECT_EQ(architecture_of(parse_cpuinfo(kGenoa)), "zen4");
  EXPECT_EQ(architecture_of(parse_cpuinfo(kSapphireRapids)), "sapphire-rapids");
  EXPECT_EQ(architecture_of(parse_cpuinfo(kGraviton)), "neoverse-v1");
  HostFacts milan = parse_cpuinfo(kGenoa);
  milan.flags = {"avx2", "fma"};
  EXPECT_EQ(architecture_of(milan), "zen3");
  HostFacts ice_lake = parse_cpuinfo(kSapphireRapids);
  ice_lake.flags.erase("amx_tile");
  EXPECT_EQ(architecture_of(ice_lake), "ice-lake");
}

TEST(CpuHost, ReadsListsAndSizesOfSysfs) {
  EXPECT_EQ(count_cpu_list("0-3,8"), 5);
  EXPECT_EQ(count_cpu_list("7"), 1);
  EXPECT_EQ(count_cpu_list(""), 0);
  EXPECT_EQ(count_cpu_list("all"), 0);
  EXPECT_EQ(parse_cache_size("32K"), 32768);
  EXPECT_EQ(parse_cache_size("105M"), 105.0 * 1024 * 1024);
  EXPECT_EQ(parse_cache_size("none"), 0);
}

TEST(CpuHost, WhatIsDetectedIsASystemWithSources) {
  HostFacts facts = parse_cpuinfo(kSapphireRapids);
  facts.l3 = {105.0 * 1024 * 1024, 4};
  facts.memory_bytes = 16e9;
  facts.max_mhz = 3800;
  const CpuCatalog catalog;
  const LoadedCpuSystem system =
      catalog.parse(host_system_yaml(facts), host_device_yaml(facts), "test", {});
  EXPECT_EQ(system.spec.cores, 2);
  EXPECT_EQ(system.spec.device.cores, 1);
  EXPECT_EQ(system.spec.device.cache.l3_cores, 2);
  EXPECT_EQ(system.spec.device.flops_per_cycle.at("int8"), 2048);
  EXPECT_NEAR(system.spec.device.clock.all_core.value(), 3.8e9, 1);
  for (const Parameter& parameter : system.parameters) {
    EXPECT_EQ(catalog.bibliography().problem_with(parameter.source), "") << parameter.path;
    EXPECT_EQ(parameter.kind == ValueKind::kAssumed,
              !parameter.why.empty() && parameter.source == "PROJECT")
        << parameter.path;
  }
}

TEST(CpuHost, ACacheThatIsNotStatedIsAssumed) {
  const HostFacts facts = parse_cpuinfo(kGenoa);
  EXPECT_THAT(host_device_yaml(facts), HasSubstr("l2: {value: 1024 KiB, source: PROJECT"));
}

TEST(CpuHost, RefusesWhatItCannotModel) {
  EXPECT_THROW(parse_cpuinfo(""), UserError);
  EXPECT_THROW(parse_cpuinfo("flags: avx2\n"), UserError);
  HostFacts old = parse_cpuinfo(kGenoa);
  old.flags = {"sse2"};
  EXPECT_THROW(host_device_yaml(old), UserError);
  EXPECT_THROW(read_host_facts("/no/such/folder"), UserError);
}

}  // namespace
}  // namespace foretell
