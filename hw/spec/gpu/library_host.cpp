#include "hw/spec/gpu/library_host.hpp"

#include <fmt/format.h>

#include <map>

#include "model/base/errors.hpp"
#include "model/config/entry_reader.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr double kMsPerSecond = 1e3;
constexpr Seconds kLongestSample(0.1);

// By kind of operator: how many times as long its launch takes as that of another one.
std::map<std::string, double> read_longer(const Node& longer) {
  constexpr double kMost = 100;
  std::map<std::string, double> ratios;
  if (longer.entries.empty()) {
    throw UserError(longer.where() +
                    ": host.longer: names no operator; write how many times as long the host takes "
                    "for it, as {Conv: 3.8}");
  }
  EntryReader reader(longer, "longer");
  for (const MapEntry& entry : longer.entries) {
    double& ratio = ratios[entry.key];
    reader.number(entry.key.c_str(), ratio);
    if (ratio >= 1 && ratio <= kMost) continue;
    throw UserError(
        fmt::format("{}: host.longer.{}: {:g} is not allowed; it must be from 1 to {:g}",
                    longer.where(), entry.key, ratio, kMost));
  }
  reader.finish();
  return ratios;
}

}  // namespace

Seconds read_host_time(const Node& host, const char* key, const std::string& text, Seconds most) {
  const auto refuse = [&](const std::string& why) {
    throw UserError(fmt::format("{}: {}: {}", host.where(), key, why));
  };
  Seconds time;
  try {
    time = parse_quantity<Seconds>(text);
  } catch (const UserError& error) {
    refuse(error.what());
  }
  if (time < Seconds(0) || time > most) {
    refuse(fmt::format("{} is not allowed; it must be from 0 us to {:g} ms", text,
                       most.value() * kMsPerSecond));
  }
  return time;
}

void read_host_of_library(const Node& host, KernelLibrary& library) {
  std::string per_launch;
  std::string per_call;
  std::string per_sample;
  std::string per_prompt_layer;
  EntryReader reader(host, "host");
  reader.text("per_launch", per_launch);
  reader.text("per_call", per_call);
  reader.text("per_sample", per_sample);
  reader.text("per_prompt_layer", per_prompt_layer);
  reader.text("until", library.per_prompt_layer_until);
  const Node* longer = reader.node("longer");
  reader.finish();
  if (longer != nullptr) library.longer_launch = read_longer(*longer);
  if (per_launch.empty() && per_call.empty() && per_sample.empty() && per_prompt_layer.empty()) {
    throw UserError(
        host.where() +
        ": host: says no time; write how long the host takes for a kernel, as per_launch: 9 us, "
        "for a call, for a token of a sequence or for a layer of a prompt");
  }
  if (!per_launch.empty()) library.per_launch = read_host_time(host, "host.per_launch", per_launch);
  if (!per_call.empty()) library.per_call = read_host_time(host, "host.per_call", per_call);
  if (!per_sample.empty()) {
    library.per_sample = read_host_time(host, "host.per_sample", per_sample, kLongestSample);
  }
  if (per_prompt_layer.empty()) return;
  library.per_prompt_layer = read_host_time(host, "host.per_prompt_layer", per_prompt_layer);
}

}  // namespace foretell
