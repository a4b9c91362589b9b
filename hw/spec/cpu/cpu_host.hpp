// The machine that the program runs on, as a CPU system: what Linux says of it, and what follows
// from its instruction set.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace foretell {

// One data cache as /sys/devices/system/cpu/cpu0/cache shows it.
struct HostCache {
  double bytes = 0;
  int shared_by = 1;  // logical processors
};

struct HostFacts {
  std::string name;    // "AMD EPYC 9R14 96-Core Processor"
  std::string vendor;  // "AuthenticAMD", "GenuineIntel", "ARM"
  int family = 0;
  std::set<std::string> flags;  // "avx512_vnni"; "sve" on ARM
  int logical = 0;
  int cores = 0;  // physical
  int sockets = 1;
  double max_mhz = 0;  // of cpufreq; 0: not stated, as in most virtual machines
  double memory_bytes = 0;
  HostCache l1, l2, l3;
};

// From the text of /proc/cpuinfo; caches, memory and the highest clock stay unset. UserError when
// it names no processor.
HostFacts parse_cpuinfo(const std::string& text);

// "0-3,8" -> 5, the processors of a list as sysfs writes it; 0 for what is no list.
int count_cpu_list(const std::string& text);
// "32K", "1024K", "105M" -> bytes; 0 for what is no size.
double parse_cache_size(const std::string& text);

// Reads /proc and /sys below `root`. UserError when they are not there.
HostFacts read_host_facts(const std::filesystem::path& root = "/");

// "zen4", "sapphire-rapids", …, by vendor, family and instruction set; "unknown" otherwise.
std::string architecture_of(const HostFacts& facts);

// The documents that hw/devices/cpu and hw/systems/cpu would hold. UserError without any vector
// instructions that the model knows.
std::string host_device_yaml(const HostFacts& facts);
std::string host_system_yaml(const HostFacts& facts);

}  // namespace foretell
