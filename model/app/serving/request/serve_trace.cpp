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
std::string power_counters(const ServiceResult& result, const std::vector<double>& idle_watts) {
  std::string text;
  std::map<std::int32_t, double> ends;
  const auto add = [&](std::int32_t worker, double at_s, double watts) {
    text += fmt::format(
        R"(,{{"ph":"C","name":"boards of worker {} W","pid":0,"ts":{:.3f},"args":{{"watts":{:.3f}}}}})",
        worker, at_s * kMicro, watts);
  };
  for (const StepSlice& slice : result.slices) {
    const double idle = idle_watts.at(static_cast<std::size_t>(slice.worker));
    if (idle <= 0) continue;
    const auto before = ends.find(slice.worker);
    if (before == ends.end() ? slice.start_s > 0 : before->second < slice.start_s)
      add(slice.worker, before == ends.end() ? 0 : before->second, idle);
    add(slice.worker, slice.start_s, idle + slice.joules / slice.duration_s);
    ends[slice.worker] = slice.start_s + slice.duration_s;
  }
  for (const auto& [worker, end] : ends)
    add(worker, end, idle_watts.at(static_cast<std::size_t>(worker)));
  return text;
}

}  // namespace

std::string serve_trace_json(const ServiceResult& result, const std::vector<double>& idle_watts) {
  if (result.slices.empty()) return "";
  std::string text = "{\"traceEvents\":[";
  text += R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"workers"}},)";
  text += R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"requests"}})";
  double until = 0;
  for (const StepSlice& slice : result.slices) {
    until = slice.start_s + slice.duration_s;
    text += fmt::format(
        R"(,{{"ph":"X","name":"{}","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"decodes":{},"prompts":{},"tokens":{}}}}})",
        slice.prompts == 0   ? "decode"
        : slice.decodes == 0 ? "prefill"
                             : "mixed",
        slice.worker, slice.start_s * kMicro, slice.duration_s * kMicro, slice.decodes,
        slice.prompts, slice.tokens);
  }
  text += power_counters(result, idle_watts);
  std::size_t track = 0;
  for (const ServedRequest& request : result.requests) {
    if (request.arrival_s > until || track == kMaxTracks) break;
    const auto slice = [&](const char* name, double from, double length) {
      text += fmt::format(R"(,{{"ph":"X","name":"{}","pid":1,"tid":{},"ts":{:.3f},"dur":{:.3f}}})",
                          name, track, (request.arrival_s + from) * kMicro, length * kMicro);
    };
    const auto first = static_cast<double>(request.first_s);
    if (request.first_s >= 0) slice("first token", 0, first);
    if (request.end_s >= 0) slice("answer", first, static_cast<double>(request.end_s) - first);
    ++track;
  }
  return text + "]}\n";
}

}  // namespace foretell
