// The bridge from a resolved request to mapping and system.
#include <fmt/format.h>

#include "hw/spec/sdk_version.hpp"
#include "model/base/errors.hpp"
#include "model/cli/resolved_request.hpp"
#include "model/predict/neuron_call.hpp"

namespace foretell {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Copies are spread over the devices; the fullest device counts.
int copies_per_device(const ResolvedRequest& resolved) {
  const NeuronSystemSpec& spec = resolved.system.spec;
  return (resolved.request.dp + spec.devices - 1) / spec.devices;
}

void check_memory(const ResolvedRequest& resolved, const Graph& graph, int copies) {
  const NeuronSystemSpec& spec = resolved.system.spec;
  const Bytes copy = memory_of_copy(graph);
  const Bytes capacity = spec.device.hbm.capacity;
  if (copy * copies <= capacity) return;
  const auto fitting = static_cast<int>(capacity / copy);
  std::string advice;
  if (fitting > 0) {
    advice = fmt::format("--dp {} fits {}", fitting * spec.devices, spec.id);
  } else {
    advice = fmt::format(
        "no instance has more than {:.0f} GiB per device; lower --batch or --seq, or take a "
        "smaller weight "
        "type, for example --dtype int8-weights",
        capacity.value() / kGiB);
  }
  throw UserError(fmt::format("{}: {} on one device of {} need {:.1f} GiB, it has {:.1f} GiB; {}",
                              resolved.model.name,
                              copies == 1 ? "one copy" : fmt::format("{} copies", copies), spec.id,
                              (copy * copies).value() / kGiB, capacity.value() / kGiB, advice));
}

}  // namespace

Metrics simulate(const ResolvedRequest& resolved) {
  const Graph graph = build_resolved_graph(resolved);
  const int copies = copies_per_device(resolved);
  check_memory(resolved, graph, copies);
  NeuronCall call{graph, resolved.precision, resolved.system.spec, resolved.system.factors};
  call.copies_per_device = copies;
  call.sdk_engine_time = sdk_engine_time(resolved.system.factors, resolved.request.sdk);
  call.exact = resolved.request.exact;
  return run_neuron_call(call).metrics;
}

}  // namespace foretell
