// Does a network fit the memory of a GPU, and where would it?
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/app/request/gpu_request.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/predict/gpu_memory.hpp"
#include "model/predict/memory_use.hpp"

namespace foretell {
namespace {

// Servers cut prompts into pieces of this many tokens (max_num_tokens of TensorRT-LLM and vLLM's
// max_num_batched_tokens); more are never active at once.
constexpr std::int64_t kTokensAtOnce = 8192;

MemoryUse use_of_stage(const GpuRequest& resolved, int tensor_parallel, const LayerRange& layers) {
  const Request& request = resolved.request;
  const std::int64_t positions = cached_positions(resolved);
  const auto use = [&](const GpuRequest& asked, Phase phase, std::int64_t tokens,
                       std::int64_t kv_len) {
    return memory_of_gpu(
        build_gpu_generation_graph(asked, phase, tokens, kv_len, tensor_parallel, layers));
  };
  const bool encodes = resolved.model.family == Family::kEncoderDecoder;  // prompts whole
  GpuRequest piece = resolved;
  const std::int64_t tokens =
      encodes ? request.input_len : std::min(request.input_len, kTokensAtOnce);
  if (!encodes)
    piece.request.batch = std::clamp<std::int64_t>(kTokensAtOnce / tokens, 1, request.batch);
  const MemoryUse prefill =
      use(piece, Phase::kPrefill, tokens, std::max(request.input_len, positions));
  const MemoryUse decode = use(resolved, Phase::kDecode, 1, positions);
  MemoryUse both = largest(prefill, decode);
  if (encodes)  // two programs, each with its weights
    both.weights = prefill.weights + decode.weights;
  return both;
}

// Of the GPU of the stage that needs most: the first has the embeddings, the last the head, and the
// first ones one layer more where the layers do not divide.
MemoryUse use_of_gpu(const GpuRequest& resolved, int tensor_parallel, int stages) {
  if (trains(resolved.request)) return memory_of_training(build_training_step(resolved), Bytes(0));
  if (resolved.request.input_len == 0) return memory_of_gpu(build_gpu_graph(resolved));
  MemoryUse most;
  for (const int stage : {0, 1, stages - 1}) {
    if (stage >= stages) continue;
    const MemoryUse use =
        use_of_stage(resolved, tensor_parallel, stage_layers(resolved.model.layers, stages, stage));
    if (use.total() > most.total()) most = use;
  }
  return most;
}

struct GpuFit {
  std::string system;
  int tensor_parallel = 1;
  Bytes memory;  // of all the GPUs that take part
};

// With the overrides of the request; without the systems that these do not fit.
std::vector<GpuSystemSpec> systems_as_set(const GpuRequest& resolved) {
  std::vector<std::string> set;
  for (const std::string& assignment : machine_set(resolved.request)) {
    if (!starts_with(trim(assignment), "factors.")) set.push_back(assignment);
  }
  std::vector<GpuSystemSpec> systems;
  const GpuCatalog catalog;
  for (const std::string& id : catalog.systems()) {
    try {
      systems.push_back(catalog.load(id, set).spec);
    } catch (const UserError&) {
      continue;
    }
  }
  return systems;
}

// Those that hold one copy, the least memory first.
std::vector<GpuFit> systems_that_fit(const GpuRequest& resolved) {
  const bool shares = resolved.request.input_len > 0;
  std::vector<GpuFit> fits;
  const std::vector<GpuSystemSpec> systems = systems_as_set(resolved);
  for (int ranks = 1; ranks <= (shares ? 8 : 1); ranks *= 2) {
    if (ranks > 1 && resolved.model.heads % ranks != 0) continue;
    const Bytes needed = use_of_gpu(resolved, ranks, 1).total();
    for (const GpuSystemSpec& spec : systems) {
      if (spec.devices < ranks || (ranks == 1 && spec.devices > 1)) continue;
      if (needed > spec.device.hbm.capacity) continue;
      fits.push_back({spec.id, ranks, spec.device.hbm.capacity * spec.devices});
    }
    if (!fits.empty()) break;
  }
  std::stable_sort(fits.begin(), fits.end(),
                   [](const GpuFit& a, const GpuFit& b) { return a.memory < b.memory; });
  return fits;
}

}  // namespace

MemoryUse check_gpu_memory(const GpuRequest& resolved) {
  const GpuSystemSpec& spec = resolved.system.spec;
  const MemoryUse use = use_of_gpu(resolved, resolved.request.tp, resolved.request.pp);
  const Bytes capacity = spec.device.hbm.capacity;
  if (use.total() <= capacity) return use;
  std::string lacks = fmt::format(
      "{}: each GPU of {} needs {:.1f} GiB (weights {:.1f}, KV cache {:.1f}, activations {:.1f}, "
      "inputs and outputs {:.1f}), {:.1f} GiB more than its {:.1f} GiB",
      resolved.model.name, spec.id, use.total().value() / kGiB, use.weights.value() / kGiB,
      use.kv_cache.value() / kGiB, use.activations.value() / kGiB,
      use.inputs_outputs.value() / kGiB, (use.total() - capacity).value() / kGiB,
      capacity.value() / kGiB);
  if (trains(resolved.request)) throw UserError(lacks + "; " + training_memory_text(use));
  const bool wide_cache = size_of(resolved.precision.kv_cache) >= Bytes(2);
  if (wide_cache && use.total() - use.kv_cache * 0.5 <= capacity)
    lacks += "; --kv-dtype fp8 makes it fit";
  const std::vector<GpuFit> fits = systems_that_fit(resolved);
  if (fits.empty() && runs_forward(resolved.model.family)) {
    throw UserError(lacks + "; no GPU here holds it alone: lower " +
                    (resolved.model.family == Family::kOnnx
                         ? "the sizes of its inputs, with --dim where the file leaves them open"
                         : "--batch or the lengths"));
  }
  if (fits.empty() && resolved.request.input_len == 0) {
    throw UserError(lacks +
                    "; no GPU here holds it alone: generation of tokens is shared with --tp, give "
                    "--input-len and --output-len, or take a smaller weight type, for example "
                    "--dtype int8-weights");
  }
  if (fits.empty()) {
    throw UserError(lacks +
                    "; no GPU system here holds it: lower --batch or the lengths, or take a "
                    "smaller weight type, for example --dtype int8-weights");
  }
  const GpuFit& smallest = fits.front();
  throw UserError(
      lacks + "; the smallest GPU system that holds it: --on " + smallest.system +
      (smallest.tensor_parallel > 1 ? fmt::format(" --tp {}", smallest.tensor_parallel) : ""));
}

}  // namespace foretell
