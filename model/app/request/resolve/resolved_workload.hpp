// What a request asks to run, with its names looked up and its lengths filled in, before any
// machine is looked at. Families of devices add theirs (resolved_device.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/pipeline.hpp"
#include "model/predict/queueing.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"
#include "workloads/ir/training/training_step.hpp"

namespace foretell {

// What the mappers of a family take as graphs.
struct GraphRules {
  bool general_operators = false;   // of decoders made of parts: no operators of their own
  bool narrow_activations = false;  // of quantised networks, see model/mapping/gpu
  bool narrow_residuals = true;     // … and sums of two of them
  bool gather_logits = false;       // with tensor parallelism every core gets those of all
};

struct ResolvedWorkload {
  Request request;  // as asked for, with every default that applies filled in
  ModelConfig model;
  PrecisionPolicy precision;
  Serving serving;
  std::vector<std::string> narrow_pipes;  // types below two bytes that the machine multiplies in
  GraphRules graphs;
  std::vector<std::string> notes;     // defaults taken and limits that a reader should know
  std::vector<std::string> unstated;  // … of them, values taken that the request does not state

  void note_unstated(std::string text) {
    unstated.push_back(text);
    notes.push_back(std::move(text));
  }
};

// Looks up the network and the data type, `default_dtype` where none is stated, and fills in the
// lengths. UserError for unknown names (with the nearest), and for what the network does not do on
// any machine.
void resolve_workload(const Request& request, const std::string& default_dtype,
                      ResolvedWorkload& resolved);

// Overrides of the machine, and of the fitted factors ("factors.…") apart from it; those of the
// network left out.
struct MachineSet {
  std::vector<std::string> system;
  std::vector<std::string> factors;
};
std::vector<std::string> machine_set(const Request& request);
MachineSet split_machine_set(const Request& request);

// The parts of a machine that copies of a network are spread over.
struct MachineParts {
  std::string name;  // of one: "core", "GPU"
  int available = 0;
  // Name of a system with this number of them, "" where there is none; may be empty.
  std::function<std::string(std::int64_t)> system_of = {};
};

// "lower --dp or --tp or --cp": what makes the copies of a request smaller or fewer.
std::string what_to_lower(const Request& request);

// Fills in --tp, --pp and --dp. `ways`: parts that share a stage, beside --tp. UserError when the
// machine has fewer parts than are asked for. Returns the parts of a copy.
int share_parts(const MachineParts& parts, int ways, ResolvedWorkload& resolved);

// Tokens that are taken when the request does not say: 128, as published tables of encoders do, or
// the longest that the network takes.
std::int64_t default_sequence(const ModelConfig& model);

// The operator graph of one forward pass of one copy, or of one step of training, with the data
// types of the policy.
Graph build_resolved_graph(const ResolvedWorkload& resolved);

// The same, kept where inputs are (model/base/kept_inputs.hpp): a changed rate of the machine needs
// no new graph.
std::shared_ptr<const Graph> kept_graph(const ResolvedWorkload& resolved);

// A pass of a generation.
struct Pass {
  Phase phase = Phase::kPrefill;
  std::int64_t tokens = 0;       // per sequence
  std::int64_t kv_len = 0;       // rows of the cache
  std::int64_t encoder_len = 0;  // of encoder-decoders: tokens of the prompt
  std::int64_t batch = 0;        // sequences; 0: those of the request
  std::int64_t context = 0;      // prefill of a later piece: tokens of the prompt before it
  bool whole = false;            // in one piece, also with --two-batch
};

// The graph that one of `tensor_parallel` parts runs in a pass, of all layers or those of a
// pipeline stage.
Graph build_pass_graph(const ResolvedWorkload& resolved, const Pass& pass, int tensor_parallel,
                       const LayerRange& layers = {});
std::shared_ptr<const Graph> kept_pass_graph(const ResolvedWorkload& resolved, const Pass& pass,
                                             int tensor_parallel, const LayerRange& layers);

// Sizes that the request gives the network in a forward pass.
Binding binding_of(const ResolvedWorkload& resolved);

// Whether the request is about training, and the step of one copy of it.
bool trains(const Request& request);
TrainingStep build_training_step(const ResolvedWorkload& resolved);
// What training needs the memory for, and what would lower it.
std::string training_memory_text(const MemoryUse& use);
// Adds to the metrics of the step what it is made of.
void note_training(const TrainingStep& step, const Request& request, Metrics& metrics);

// Rows of the KV cache that the whole generation needs. The decoder of an encoder-decoder reads the
// prompt from a cache of its own.
std::int64_t cached_positions(const ResolvedWorkload& resolved);

}  // namespace foretell
