#include <fmt/format.h>

#include <map>

#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

constexpr double kMicro = 1e6;
constexpr std::size_t kMaxTracks = 2000;  // requests shown

}  // namespace

namespace {

// Watts of each worker over the shown steps: their mean while a step runs, active idle between.
std::string power_counters(const ServiceResult& result, const std::vector<Watts>& idle_of) {
  std::string text;
  std::map<std::int32_t, Seconds> ends;
  const auto add = [&](std::int32_t worker, Seconds at, Watts power) {
    text += fmt::format(
        R"(,{{"ph":"C","name":"boards of worker {} W","pid":0,"ts":{:.3f},"args":{{"watts":{:.3f}}}}})",
        worker, at.value() * kMicro, power.value());
  };
  for (const StepSlice& slice : result.slices) {
    const Watts idle = idle_of.at(static_cast<std::size_t>(slice.worker));
    if (!(idle > Watts(0))) continue;
    const auto before = ends.find(slice.worker);
    if (before == ends.end() ? slice.start > Seconds(0) : before->second < slice.start)
      add(slice.worker, before == ends.end() ? Seconds(0) : before->second, idle);
    add(slice.worker, slice.start, idle + slice.energy / slice.duration);
    ends[slice.worker] = slice.start + slice.duration;
  }
  for (const auto& [worker, end] : ends)
    add(worker, end, idle_of.at(static_cast<std::size_t>(worker)));
  return text;
}

}  // namespace

std::string serve_trace_json(const ServiceResult& result, const std::vector<Watts>& idle_of) {
  if (result.slices.empty()) return "";
  std::string text = "{\"traceEvents\":[";
  text += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"workers"}},)";
  text += R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"requests"}})";
  Seconds until;
  for (const StepSlice& slice : result.slices) {
    until = slice.start + slice.duration;
    text += fmt::format(
        R"(,{{"ph":"X","name":"{}","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"decodes":{},"prompts":{},"tokens":{}}}}})",
        slice.prompts == 0   ? "decode"
        : slice.decodes == 0 ? "prefill"
                             : "mixed",
        slice.worker, slice.start.value() * kMicro, slice.duration.value() * kMicro, slice.decodes,
        slice.prompts, slice.tokens);
  }
  text += power_counters(result, idle_of);
  std::size_t track = 0;
  for (const ServedRequest& request : result.requests) {
    if (request.arrival > until || track == kMaxTracks) break;
    const auto slice = [&](const char* name, double from, double length) {
      text += fmt::format(R"(,{{"ph":"X","name":"{}","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                          name, track, (request.arrival.value() + from) * kMicro, length * kMicro);
    };
    const auto first = static_cast<double>(request.first_s);
    if (request.first_s >= 0) slice("first token", 0, first);
    if (request.end_s >= 0) slice("answer", first, static_cast<double>(request.end_s) - first);
    ++track;
  }
  return text + "]}\n";
}

}  // namespace foretell
