#include "hw/spec/shared/memory_timings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {

using namespace literals;

namespace {

constexpr double kNanosecond = 1e-9;
constexpr const char* kMemories = "memories";

const std::vector<std::string> kDensities = {"2_Gb",  "4_Gb",  "6_Gb",  "8_Gb", "12_Gb",
                                             "16_Gb", "24_Gb", "32_Gb", "64_Gb"};

double gigabits_of(const std::string& density) { return leading_number(density).value; }

}  // namespace

void fields(FieldList& list, MemoryTimings& timings) {
  const Range<Seconds> delay{Seconds(0), Seconds(1e-4)};
  list.count("channels", timings.channels, {1, 1024}, "Channels of a stack.");
  list.count("pseudo_channels", timings.pseudo_channels, {1, 64}, "Halves of a channel.");
  list.count("banks", timings.banks, {1, 4096}, "Banks of a pseudo-channel.");
  list.value("burst", timings.burst, {1_B, 1_MiB}, "Bytes of one column access.");
  list.value("row", timings.row, {1_B, 1_MiB}, "Bytes of an open row.");
  list.value("interleave", timings.interleave, {1_B, 1_MiB},
             "Neighbouring addresses on one pseudo-channel.");
  list.value("row_cycle", timings.row_cycle, delay, "Between two rows of one bank (tRC).");
  list.value("activates", timings.activates, delay, "Between rows of two banks (tRRD).");
  list.value("four_activates", timings.four_activates, delay,
             "In which no more than four rows are opened (tFAW).");
  list.value("read_to_write", timings.read_to_write, delay, "Gap of the bus.");
  list.value("write_to_read", timings.write_to_read, delay, "Gap of the bus.");
  list.value("turn_batch", timings.turn_batch, {1_B, 1_GiB},
             "Bytes of a pseudo-channel before the bus turns for those who wait.");
  list.value("refresh_interval", timings.refresh_interval, {Seconds(1e-9), Seconds(1)},
             "Between two refreshes (tREFI).");
  list.table("refresh_time", timings.refresh_time, kDensities,
             Range<Seconds>{Seconds(0), Seconds(1e-4)}, Seconds(kNanosecond),
             "Time of a refresh of all banks (tRFC) by what a channel holds.");
}

Seconds refresh_time(const MemoryTimings& timings, double gigabits) {
  std::vector<std::pair<double, double>> known;
  for (const auto& [density, time] : timings.refresh_time)
    known.emplace_back(gigabits_of(density), time);
  FORETELL_CHECK(!known.empty(), "a memory without refresh times");
  std::sort(known.begin(), known.end());
  if (gigabits <= known.front().first) return Seconds(known.front().second * kNanosecond);
  for (std::size_t i = 1; i < known.size(); ++i) {
    const auto& [high, late] = known[i];
    if (gigabits > high) continue;
    const auto& [low, early] = known[i - 1];
    return Seconds((early + (late - early) * (gigabits - low) / (high - low)) * kNanosecond);
  }
  return Seconds(known.back().second * kNanosecond);
}

MemoryTimings load_memory_timings(const std::string& standard, const std::string& key) {
  const std::filesystem::path hw = hw_folder();
  const std::vector<std::string> known = ids_in(hw / kMemories);
  const bool file = is_file_name(standard);
  if (!file && std::find(known.begin(), known.end(), standard) == known.end()) {
    throw UserError(fmt::format(
        "{}: {}; timings are there for {}, or name a file like hw/memories/{}.yaml", key,
        standard.empty() ? "not stated, and the bank model needs the timings of one"
                         : fmt::format("'{}' is no standard with timings", standard),
        fmt::join(known, ", "), known.front()));
  }
  const std::filesystem::path path = file_of(hw / kMemories, standard);
  const Node root = load_document(path, path.string());
  const Bibliography bibliography = Bibliography::of(hw);
  MemoryTimings timings;
  timings.id = name_in_file(standard);
  FieldList list;
  fields(list, timings);
  Problems problems;
  problems.collect([&] { check_id(root, path); });
  std::map<std::string, Provenance> provenance;
  load_fields(root, list, {"id"}, SourcedReader(bibliography, provenance), problems);
  problems.throw_if_any();
  if (timings.refresh_time.empty())
    throw UserError(path.string() + ": refresh_time: names no density; one is 8_Gb: 350 ns");
  if (timings.refresh_interval <= refresh_time(timings, 1e9))
    throw UserError(path.string() + ": refresh_interval: a refresh takes as long as that");
  return timings;
}

}  // namespace foretell
