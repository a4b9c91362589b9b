#include "model/predict/calls/whole_call.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

ResourceMetrics& resource_at(const std::string& path, std::vector<ResourceMetrics>& resources) {
  for (ResourceMetrics& known : resources) {
    if (known.path == path) return known;
  }
  ResourceMetrics added;
  added.path = path;
  resources.push_back(added);
  return resources.back();
}

void add_operators(const CallPhase& phase, Seconds start, Metrics& call) {
  int windows = 0;  // of the phases before
  for (const OperatorMetrics& op : call.operators) windows = std::max(windows, op.window + 1);
  const double longer = (phase.time - phase.overhead) / phase.metrics->device;
  for (OperatorMetrics op : phase.metrics->operators) {
    op.name = std::string(phase.name) + "." + op.name;
    op.start = start + phase.overhead + op.start;
    op.duration = op.duration * longer;
    op.flops = op.flops * phase.count;
    op.bytes = op.bytes * phase.count;
    op.work = op.work * phase.count;
    op.window += windows;
    call.operators.push_back(std::move(op));
  }
}

void add_resources(const CallPhase& phase, Seconds total, Metrics& call) {
  const double share = (phase.time - phase.overhead) / total;
  for (const ResourceMetrics& one : phase.metrics->resources) {
    ResourceMetrics& resource = resource_at(one.path, call.resources);
    resource.busy = std::min(1.0, resource.busy + one.busy * share);
    resource.stalled = std::min(1 - resource.busy, resource.stalled + one.stalled * share);
    resource.bytes += one.bytes * phase.count;
  }
}

}  // namespace

void fill_whole_call(const std::vector<CallPhase>& phases, Metrics& call) {
  call.operators.clear();
  call.resources.clear();
  call.hbm_read = call.hbm_written = Bytes(0);
  Seconds total;
  for (const CallPhase& phase : phases) total += phase.time;
  FORETELL_CHECK(total > Seconds(0), "a call without time");
  std::map<std::string, Seconds> bounds;
  Seconds start;
  for (const CallPhase& phase : phases) {
    if (!(phase.time > Seconds(0)) || !(phase.metrics->device > Seconds(0))) continue;
    add_operators(phase, start, call);
    add_resources(phase, total, call);
    call.hbm_read += phase.metrics->hbm_read * phase.count;
    call.hbm_written += phase.metrics->hbm_written * phase.count;
    bounds["host call overhead"] += phase.overhead;
    bounds[phase.metrics->bottleneck] += phase.time - phase.overhead;
    start += phase.time;
  }
  Seconds host;
  for (const CallPhase& phase : phases) host += phase.overhead;
  if (host > Seconds(0)) {
    ResourceMetrics& resource = resource_at("host", call.resources);
    resource.busy = std::min(1.0, resource.busy + host / total);
  }
  call.bottleneck =
      std::max_element(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
}

}  // namespace foretell
