// A request with its names looked up on a system of a family, and what is the same for all
// families from there to the record: memory check, call, generation, pipeline, timeline.
#pragma once

#include <string>
#include <vector>

#include "model/app/request/record/make_record.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/predict/generation.hpp"
#include "model/predict/pipeline.hpp"
#include "model/system/kernel_trace.hpp"
#include "model/system/trace.hpp"

namespace foretell {

// What a call is shown from: the program and its execution, or kernels and loops with what they
// read of one another.
struct ShownCall {
  Program program;
  Execution execution;
  TraceDetails details;
  std::vector<KernelRun> kernels;
};

// Where a network may lie: devices that each have their memory and several parts that work.
struct MemoryPlace {
  std::string system;
  int devices = 1;
  int parts = 1;                   // of a device: cores of a NeuronCore device, copies of a CPU
  Bytes capacity;                  // of a device
  std::vector<int> degrees = {1};  // parts that may share a copy, ascending
  double size = 0;                 // smaller is better: a price, or bytes
  bool is_several = false;  // several instances, named where one holds too little; after the others
};

// What counts for the memory of a family.
struct MemoryRules {
  std::string part;  // of the message: "each GPU of h100-sxm"
  bool needs_plural = false;
  Bytes runtime;  // that training needs beside the network
  Pass prefill;   // that needs most
  Pass decode;
  bool program_each = true;    // the prefill and the steps of an encoder-decoder have their weights
  double batches = 1;          // that a copy holds a cache of
  bool narrow_caches = false;  // --kv-dtype could halve the cache
  std::string advice;          // where no other system is looked for
};

class ResolvedDevice {
 public:
  ResolvedDevice() = default;
  ResolvedDevice(const ResolvedDevice&) = delete;
  ResolvedDevice& operator=(const ResolvedDevice&) = delete;
  virtual ~ResolvedDevice() = default;

  virtual const ResolvedWorkload& workload() const = 0;
  // With the parameters that this network uses; after the calls also the notes and the interval
  // that they gave.
  virtual SystemFacts facts() const = 0;
  virtual std::vector<std::string> notes() const { return {}; }

  // Executes a call of a part of the machine. UserError for operators and types without a mapping.
  virtual Metrics call(const Graph& graph, Phase phase) = 0;
  virtual ShownCall show(const Graph& graph, Phase phase) const = 0;
  virtual KernelTraceWords words() const { return {}; }

  virtual MemoryUse memory_of(const Graph& graph) const = 0;
  virtual MemoryRules memory_rules() const = 0;
  virtual MemoryPlace place() const = 0;
  // Systems of the family with the overrides of the request, for those that it does not fit on.
  virtual std::vector<MemoryPlace> other_places() const { return {}; }

  // Generation: the length that is compiled for this many positions of the cache, or tokens of a
  // prompt; the same where none is.
  virtual bool compiles_lengths() const { return false; }
  virtual std::int64_t compiled_length(std::int64_t positions) const { return positions; }
  virtual std::int64_t compiled_prompt(std::int64_t tokens) const { return tokens; }
  // What the host and the software add, and how finely steps are walked.
  virtual void set_overheads(Generation& /*generation*/) const {}
  virtual Pipeline stages(Phase phase) const;
  virtual Seconds handover(Bytes /*bytes*/) const { return Seconds(0); }
};

// Passes of the generation of a request.
Pass prefill_pass(const ResolvedDevice& device);
Pass decode_pass(const ResolvedDevice& device, std::int64_t kv_len);

// One decode step of the request's batch with this many positions in the cache, as its generation
// would see it. The memory is not checked, the prefill not executed.
Seconds decode_step(ResolvedDevice& device, std::int64_t positions);

// The time to the first token of the request, as its generation would see it. UserError when the
// request does not fit the memory.
Seconds first_token(ResolvedDevice& device);

// The positions of the cache that a step with this many of them reads: the compiled length, or all.
std::int64_t read_positions(const ResolvedDevice& device, std::int64_t positions);

// Executes a call of the request in the SystemC model, with its timeline where one is asked for.
// UserError when it cannot be mapped or does not fit the memory.
Metrics simulate(ResolvedDevice& device);

}  // namespace foretell
