#include "hw/spec/cpu/cpu_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int whole(const std::string& text) { return static_cast<int>(leading_number(text).value); }

std::set<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> all;
  for (std::string word; stream >> word;) all.insert(word);
  return all;
}

HostCache read_cache(const fs::path& folder) {
  return {parse_cache_size(first_line(folder / "size")),
          std::max(1, count_cpu_list(first_line(folder / "shared_cpu_list")))};
}

void read_caches(const fs::path& folder, HostFacts& facts) {
  for (int index = 0; index < 8; ++index) {
    const fs::path place = folder / fmt::format("index{}", index);
    if (first_line(place / "type") == "Instruction") continue;
    switch (whole(first_line(place / "level"))) {
      case 1:
        facts.l1 = read_cache(place);
        break;
      case 2:
        facts.l2 = read_cache(place);
        break;
      case 3:
        facts.l3 = read_cache(place);
        break;
      default:
        break;
    }
  }
}

double read_memory(const fs::path& meminfo) {
  std::ifstream file(meminfo);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kTotal = "MemTotal:";
    if (starts_with(line, kTotal))
      return leading_number(trim(line.substr(kTotal.size()))).value * 1024;
  }
  return 0;
}

// What an instruction set gives and what cannot be read from the machine.
struct Architecture {
  double clock_ghz;  // all cores on vector code, of the usual server parts
  double fp32;       // FLOP per cycle and core
  double bf16;       // 0: none
  double fp16;
  double int8;
  int vector_bytes;
  double l2, l3;  // bytes per cycle
  int channels;
  double channel_gbps;
  double tile_bytes = 0;  // along the summed dimension of a tile of the matrix unit; 0: none
};

// From hw/cores/cpu/generations.yaml.
Architecture read_architecture(const std::string& name) {
  const Node root = load_document(hw_folder() / "cores" / "cpu" / "generations.yaml");
  const Node& row = root.required("generations", "").required(name, "generations");
  const auto number = [&row](const char* key) { return required_number(row, key); };
  const Node* tile = row.find("tile_bytes");
  const double tiles = tile == nullptr ? 0 : number_at(*tile, "tile_bytes");
  return {number("clock_ghz"),    number("fp32"), number("bf16"),
          number("fp16"),         number("int8"), static_cast<int>(number("vector_bytes")),
          number("l2"),           number("l3"),   static_cast<int>(number("channels")),
          number("channel_gbps"), tiles};
}

std::string entry(const std::string& name, const std::string& value, const char* kind,
                  const std::string& why) {
  return fmt::format("{}: {{value: {}, source: {}, kind: {}{}}}\n", name, value,
                     std::string(kind) == "assumed" ? "PROJECT" : "HOST", kind,
                     why.empty() ? "" : ", why: \"" + why + "\"");
}

}  // namespace

int count_cpu_list(const std::string& text) {
  int count = 0;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    int first = 0;
    int last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first)) return 0;
    count += range >> dash >> last ? std::max(0, last - first + 1) : 1;
  }
  return count;
}

double parse_cache_size(const std::string& text) {
  const LeadingNumber number = leading_number(text);
  if (!(number.value > 0)) return 0;
  if (starts_with(number.rest, "K")) return number.value * 1024;
  return starts_with(number.rest, "M") ? number.value * 1024 * 1024 : number.value;
}

HostFacts parse_cpuinfo(const std::string& text) {
  HostFacts facts;
  std::set<std::pair<int, int>> cores;  // of a socket, by its number
  std::set<int> sockets;
  int socket = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key(trim(line.substr(0, colon)));
    const std::string value(trim(line.substr(colon + 1)));
    if (key == "processor") ++facts.logical;
    if (key == "model name") facts.name = value;
    if (key == "vendor_id") facts.vendor = value;
    if (key == "cpu family") facts.family = whole(value);
    if (key == "flags" || key == "Features") facts.flags = words(value);
    if (key == "physical id") sockets.insert(socket = whole(value));
    if (key == "core id") cores.insert({socket, whole(value)});
    if (key == "CPU implementer" && value == "0x41") facts.vendor = "ARM";
  }
  if (facts.logical == 0) {
    throw UserError("/proc/cpuinfo names no processor; name a system instead of 'host'");
  }
  facts.sockets = std::max(1, static_cast<int>(sockets.size()));
  facts.cores = cores.empty() ? facts.logical : static_cast<int>(cores.size());
  if (facts.name.empty()) facts.name = facts.vendor.empty() ? "CPU" : facts.vendor + " CPU";
  return facts;
}

HostFacts read_host_facts(const fs::path& root) {
  HostFacts facts = parse_cpuinfo(read_text_file(root / "proc" / "cpuinfo"));
  const fs::path cpu0 = root / "sys" / "devices" / "system" / "cpu" / "cpu0";
  facts.max_mhz = whole(first_line(cpu0 / "cpufreq" / "cpuinfo_max_freq")) / 1000.0;
  facts.memory_bytes = read_memory(root / "proc" / "meminfo");
  read_caches(cpu0 / "cache", facts);
  return facts;
}

std::string architecture_of(const HostFacts& facts) {
  const auto has = [&facts](const char* flag) { return facts.flags.count(flag) > 0; };
  if (facts.vendor == "AuthenticAMD") {
    if (facts.family >= 26) return "zen5";
    if (has("avx512f")) return "zen4";
    if (facts.family == 25) return "zen3";
    return has("avx2") ? "zen2" : "unknown";
  }
  if (facts.vendor == "GenuineIntel") {
    if (has("amx_tile")) return "sapphire-rapids";
    if (has("avx512_vbmi2")) return "ice-lake";
    if (has("avx512_vnni")) return "cascade-lake";
    if (has("avx512f")) return "skylake";
    return has("avx2") ? "haswell" : "unknown";
  }
  if (facts.vendor == "ARM") return has("sve") ? "neoverse-v1" : "neoverse-n1";
  return "unknown";
}

std::string host_device_yaml(const HostFacts& facts) {
  const std::string name = architecture_of(facts);
  const Architecture known = read_architecture(name);
  const auto has = [&facts](const char* flag) { return facts.flags.count(flag) > 0; };
  if (facts.vendor != "ARM" && !has("avx2")) {
    throw UserError(facts.name +
                    " has no AVX2, below which CPUs are not modelled; name a system instead of "
                    "'host'");
  }
  const std::string usual = "the usual server part of " + name + "; the machine does not say";
  const std::string by_isa = "by the width and number of the units of " + name;
  const int per_socket = std::max(1, facts.cores / facts.sockets);
  const double threads = static_cast<double>(facts.logical) / std::max(1, facts.cores);
  std::string text = fmt::format("id: host\nname: \"{}\"\narchitecture: {}\n", facts.name, name);
  text += entry("cores", std::to_string(per_socket), "measured", "");
  text += "clock:\n";
  const bool stated = facts.max_mhz > 0;
  const std::string clock =
      stated ? fmt::format("{} MHz", facts.max_mhz) : fmt::format("{} GHz", known.clock_ghz);
  const char* kind = stated ? "measured" : "assumed";
  text += "  " + entry("base", clock, kind, stated ? "" : usual);
  text += "  " + entry("all_core", clock, kind, stated ? "the highest that cpufreq names" : usual);
  text += entry("vector_register", fmt::format("{} B", known.vector_bytes), "assumed", by_isa);
  text += "flops_per_cycle:\n";
  for (const auto& [type, rate] : std::map<std::string, double>{
           {"fp32", known.fp32}, {"bf16", known.bf16}, {"fp16", known.fp16}, {"int8", known.int8}})
    if (rate > 0) text += "  " + entry(type, fmt::format("{}", rate), "assumed", by_isa);
  if (known.tile_bytes > 0) {
    text += "tile_depth:\n";
    text += "  " + entry("bf16", fmt::format("{}", known.tile_bytes / 2), "assumed", by_isa);
    text += "  " + entry("int8", fmt::format("{}", known.tile_bytes), "assumed", by_isa);
  }
  text += "cache:\n";
  const auto size = [&](const char* key, const HostCache& cache, double otherwise_kib) {
    const bool is_known = cache.bytes > 0;
    text += "  " + entry(key, fmt::format("{} KiB", is_known ? cache.bytes / 1024 : otherwise_kib),
                         is_known ? "measured" : "assumed", is_known ? "" : usual);
  };
  size("l1", facts.l1, 32);
  size("l2", facts.l2, 1024);
  size("l3", facts.l3, 16384);
  const int sharing = std::max(1, static_cast<int>(facts.l3.shared_by / std::max(1.0, threads)));
  text += "  " + entry("l3_cores", std::to_string(sharing), "measured", "");
  const auto port = [&](const char* key, double bytes) {
    text += "  " + entry(key, fmt::format("{} B/cycle", bytes), "assumed", by_isa);
  };
  port("l2_bandwidth", known.l2);
  port("l3_bandwidth", known.l3);
  text += "dram:\n";
  text += "  " + entry("channels", std::to_string(known.channels), "assumed", usual);
  text += "  " +
          entry("channel_bandwidth", fmt::format("{} GB/s", known.channel_gbps), "assumed", usual);
  text += entry("fork_join", "2 us", "assumed", "the order of magnitude; `calibrate` measures it");
  text +=
      entry("branch_time", "10 ns", "assumed", "a jump that is predicted wrongly, 20 to 30 cycles");
  return text;
}

std::string host_system_yaml(const HostFacts& facts) {
  std::string text = "id: host\ndevice: host\n";
  text += entry("sockets", std::to_string(facts.sockets), "measured", "");
  text += entry("cores", std::to_string(std::max(facts.cores, facts.sockets)), "measured", "");
  text += entry("vcpus", std::to_string(facts.logical), "measured", "");
  const double memory = facts.memory_bytes > 0 ? facts.memory_bytes : 4.0 * (1 << 30);
  text += entry("memory", fmt::format("{} KiB", memory / 1024), "measured", "");
  text += entry("l3_share", "1", "assumed", "other tenants of the socket are not known");
  text += entry("dram_share", "1", "assumed", "other tenants of the socket are not known");
  return text;
}

}  // namespace foretell
