#include "model/app/request/resolve/resolved_device.hpp"

#include <algorithm>

#include "model/app/request/memory_check.hpp"
#include "model/app/request/trace_file.hpp"

namespace foretell {
namespace {

bool encodes(const ResolvedDevice& device) {
  return device.workload().model.family == Family::kEncoderDecoder;
}

// Through all stages.
PipelinePass run_pass(ResolvedDevice& device, const Pass& pass) {
  const ResolvedWorkload& resolved = device.workload();
  return run_pipeline(
      device.stages(pass.phase), [&](Bytes bytes) { return device.handover(bytes); },
      [&](const LayerRange& layers) {
        return kept_pass_graph(resolved, pass, resolved.request.tp, layers);
      },
      [&](const Graph& graph) { return device.call(graph, pass.phase); });
}

bool reads_compiled(const ResolvedDevice& device) {
  return device.compiles_lengths() && device.workload().request.kv != "exact";
}

Generation generation_of(ResolvedDevice& device) {
  const Request& request = device.workload().request;
  Generation generation;
  generation.prefill = [&device] { return run_pass(device, prefill_pass(device)); };
  generation.decode = [&device](std::int64_t kv_len) {
    return run_pass(device, decode_pass(device, kv_len));
  };
  generation.stages = request.pp;
  generation.input_len = request.input_len;
  generation.output_len = request.output_len;
  generation.prompt_in_cache = !encodes(device);
  generation.exact = request.exact;
  if (reads_compiled(device)) {
    generation.bucket = [&device](std::int64_t positions) {
      return device.compiled_length(positions);
    };
  }
  device.set_overheads(generation);
  return generation;
}

// Positions that the median decode step sees.
std::int64_t median_kv_len(const ResolvedDevice& device) {
  const Request& request = device.workload().request;
  const std::int64_t median =
      median_positions(encodes(device) ? 0 : request.input_len, request.output_len);
  return request.kv == "exact" ? median : device.compiled_length(median);
}

// For a generation: the prefill and, after it, the median decode step, of the first stage. The
// prediction itself stays what it is without a timeline.
void write_timeline(const ResolvedDevice& device) {
  const ResolvedWorkload& resolved = device.workload();
  const Request& request = resolved.request;
  if (request.trace_file.empty()) return;
  if (request.input_len == 0) {
    const ShownCall call = device.show(build_resolved_graph(resolved), Phase::kForward);
    return write_shown(request.trace_file, device.words(), {{"", &call}});
  }
  const LayerRange layers = stage_layers(resolved.model.layers, request.pp, 0);
  const auto show = [&](const Pass& pass) {
    return device.show(build_pass_graph(resolved, pass, request.tp, layers), pass.phase);
  };
  const ShownCall prefill = show(prefill_pass(device));
  const ShownCall step = show(decode_pass(device, median_kv_len(device)));
  write_shown(request.trace_file, device.words(), {{"prefill", &prefill}, {"decode step", &step}});
}

}  // namespace

Pipeline ResolvedDevice::stages(Phase /*phase*/) const {
  Pipeline pipeline;
  pipeline.layers = workload().model.layers;
  pipeline.stages = workload().request.pp;
  return pipeline;
}

Pass prefill_pass(const ResolvedDevice& device) {
  const Request& request = device.workload().request;
  const std::int64_t cached = cached_positions(device.workload());
  Pass pass;
  pass.phase = Phase::kPrefill;
  pass.tokens =
      encoded_positions(device.workload().model, device.compiled_prompt(request.input_len));
  if (device.compiles_lengths()) {
    pass.kv_len = std::max(pass.tokens, device.compiled_length(cached));
  } else {
    pass.kv_len = encodes(device) ? cached : request.input_len;
  }
  if (encodes(device)) pass.encoder_len = pass.tokens;
  return pass;
}

Pass decode_pass(const ResolvedDevice& device, std::int64_t kv_len) {
  Pass pass{Phase::kDecode, 1, kv_len};
  if (encodes(device)) pass.encoder_len = prefill_pass(device).encoder_len;
  return pass;
}

Seconds decode_step(ResolvedDevice& device, std::int64_t positions) {
  return run_decode_step(generation_of(device), positions);
}

Seconds first_token(ResolvedDevice& device) {
  check_memory(device);
  return run_first_token(generation_of(device));
}

std::int64_t read_positions(const ResolvedDevice& device, std::int64_t positions) {
  return reads_compiled(device) ? device.compiled_length(positions) : positions;
}

Metrics simulate(ResolvedDevice& device) {
  const ResolvedWorkload& resolved = device.workload();
  const MemoryUse memory = check_memory(device);
  Metrics metrics = resolved.request.input_len > 0
                        ? run_generation(generation_of(device))
                        : device.call(*kept_graph(resolved), Phase::kForward);
  metrics.memory = memory;
  metrics.memory_capacity = device.place().capacity;
  if (trains(resolved.request))
    note_training(build_training_step(resolved), resolved.request, metrics);
  write_timeline(device);
  return metrics;
}

}  // namespace foretell
