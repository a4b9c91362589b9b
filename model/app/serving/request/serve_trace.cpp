#include <fmt/format.h>

#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

constexpr double kMicro = 1e6;
constexpr std::size_t kMaxTracks = 2000;  // requests shown

}  // namespace

std::string serve_trace_json(const ServiceResult& result) {
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
