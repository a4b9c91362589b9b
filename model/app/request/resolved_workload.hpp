// What a request asks to run, with its names looked up and its lengths filled in, before any
// machine is looked at. Families of devices add theirs (resolved_request.hpp, gpu_request.hpp).
#pragma once

#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/queueing.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"
#include "workloads/ir/training/training_step.hpp"

namespace foretell {

struct ResolvedWorkload {
  Request request;  // as asked for, with every default that applies filled in
  ModelConfig model;
  PrecisionPolicy precision;
  Serving serving;
  std::vector<std::string> narrow_pipes;  // types below two bytes that the machine multiplies in
  bool masks_windows = false;             // the machine's attention leaves out what a window hides
  std::vector<std::string> notes;         // defaults taken and limits that a reader should know
};

// Looks up the network and the data type, `default_dtype` where none is stated, and fills in the
// lengths. UserError for unknown names (with the nearest), and for what the network does not do on
// any machine.
void resolve_workload(const Request& request, const std::string& default_dtype,
                      ResolvedWorkload& resolved);

// Overrides of the machine; those of the network left out.
std::vector<std::string> machine_set(const Request& request);

// Tokens that are taken when the request does not say: 128, as published tables of encoders do, or
// the longest that the network takes.
std::int64_t default_sequence(const ModelConfig& model);

// The operator graph of one forward pass of one copy, or of one step of training, with the data
// types of the policy.
Graph build_resolved_graph(const ResolvedWorkload& resolved);

// Sizes that the request gives the network in a forward pass.
Binding binding_of(const ResolvedWorkload& resolved);

// Whether the request is about training, and the step of one copy of it.
bool trains(const Request& request);
TrainingStep build_training_step(const ResolvedWorkload& resolved);
// What training needs so much memory for, and what would lower it.
std::string training_memory_text(const MemoryUse& use);
// Adds to the metrics of the step what it is made of.
void note_training(const TrainingStep& step, const Request& request, Metrics& metrics);

// Rows of the KV cache that the whole generation needs. The decoder of an encoder-decoder reads the
// prompt from a cache of its own.
std::int64_t cached_positions(const ResolvedWorkload& resolved);

}  // namespace foretell
