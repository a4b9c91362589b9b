// The one seam between a server and the machine that runs its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

// Tokens of one prompt that a step computes, after `context` tokens that are in the KV cache.
struct StepChunk {
  std::int64_t tokens = 0;
  std::int64_t context = 0;
};

// What one step of a worker computes.
struct StepShape {
  std::int64_t decodes = 0;           // sequences that get their next token
  std::int64_t tokens_each = 1;       // that each of them computes: more with drafts
  std::int64_t decode_positions = 0;  // sum of the KV rows that they read, new ones included
  std::vector<StepChunk> chunks;
  std::int64_t finished_prompts = 0;  // chunks that end their prompt: they get a token, too
  std::int64_t images = 0;            // of prompts, of which tokens are made before the step
  std::int64_t padded_tokens = 0;     // at least all tokens; more where graphs are padded
  // Ranks that have attention of their own and share layers of experts: padded tokens of a rank on
  // average, which the experts get from each; 0: as many as this one.
  std::int64_t shared_tokens = 0;

  std::int64_t tokens() const {
    std::int64_t sum = decodes * tokens_each;
    for (const StepChunk& chunk : chunks) sum += chunk.tokens;
    return sum;
  }
};

// Time of a step on the machine and what it is made of.
struct StepTime {
  Seconds total;        // on the device, host apart
  Seconds attention;    // of decodes: reading the KV cache
  Seconds prompts;      // what the chunks add: attention and, by tokens, their share of the rest
  Seconds exchange;     // collectives between the devices of the worker
  double launches = 0;  // kernels, one by one; 0: the call is launched as a whole
  Seconds images;       // making tokens of them on the device, not in `total`
  double image_launches = 0;  // kernels of that
  Joules energy;              // of the devices of a rank, above what they draw at active idle
  Seconds handover;           // of a stage of a pipeline: its activations to the next one
  Watts power;                // of one device meanwhile, where no limit holds it; 0: one does
  Seconds copies;  // of KV blocks to and from the host, ahead of the step; not of the timer
};

class StepTimer {
 public:
  StepTimer() = default;
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  virtual ~StepTimer() = default;

  // Deterministic: equal shapes take equal times. The shape has at least one token. `stage`: from
  // 0, below stages().
  virtual StepTime time(const StepShape& shape, int stage) = 0;
  // Parts of the network that follow one another on devices of their own.
  virtual int stages() const { return 1; }
  // How many calls of the machine were simulated so far.
  virtual std::int64_t executed() const = 0;
};

}  // namespace foretell
