// The rules of an engine with the numbers of one worker filled in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/engines/engine_spec.hpp"
#include "model/base/units.hpp"

namespace foretell {

enum class Admission { kNone, kPartial, kFull };
enum class Preemption { kLastToHead, kMinToEnd, kSwap, kNever };

struct WorkerRules {
  std::int64_t max_tokens = 0;
  std::int64_t max_sequences = 0;
  std::int64_t max_length = 0;  // longest context of the network
  bool prefill_first = false;
  bool mixed = true;
  bool chunking = true;
  EngineSchedule schedule;  // its numbers
  Admission admission = Admission::kNone;
  Preemption preemption = Preemption::kLastToHead;
  std::int64_t watermark_blocks = 0;
  std::int64_t block = 1;
  std::int64_t blocks = 0;                // of the KV cache
  std::vector<std::int64_t> graph_sizes;  // ascending
  bool mixed_graphs = false;
  HostTimes host;
  bool overlap = true;
  std::int64_t stream_interval = 1;
  bool first_at_once = false;     // the first token does not wait for the others of its group
  bool prefill_only = false;      // answers are made by other workers
  bool decode_only = false;       // prompts come with their KV from other workers
  bool room_first = false;        // … which begin when there is room for the prompt here
  std::int64_t room_reserve = 0;  // tokens that each request here counts with besides
  double prefix_share = 0;    // of a prompt, found in the prefix cache: given, nothing is looked up
  bool prefix_cache = false;  // blocks of what was computed are kept and found again
  std::int64_t host_blocks = 0;   // of the host, per worker; of the prefix cache, or of kSwap
  Bytes block_bytes;              // of a KV block on one device, which its link to the host moves
  BytesPerSecond host_rate;       // of that link, in one direction
  std::int64_t images = 0;        // that every prompt begins with
  std::int64_t image_tokens = 0;  // that one of them takes of it
  std::int64_t drafts = 0;        // tokens that are guessed per step
  double acceptance = 0;          // probability that a guess is right
};

// What a run may state in place of the engine's own limits; 0: not stated.
struct RuleChoices {
  std::int64_t max_tokens = 0;
  std::int64_t max_sequences = 0;
  std::string chunk;  // "off", or tokens per step
  double kv_fraction = 0;
  std::int64_t longest_prompt = 1;  // that comes
  int ranks = 1;                    // with attention of their own, of a worker
};

// `device_memory` chooses between the limits of small and large devices.
WorkerRules rules_of(const EngineSpec& engine, const RuleChoices& choices, Bytes device_memory,
                     std::int64_t max_length);

// What the memory of the devices of a worker is used for, per device.
struct KvMemory {
  Bytes capacity;
  Bytes weights;
  Bytes workspace;  // activations of the largest step
  Bytes reserve;
  Bytes kv;  // what is left for blocks by the rule of the engine; may be 0
};

// The largest step that there may be.
struct LargestStep {
  std::int64_t tokens = 0;
  std::int64_t sequences = 0;
};

// What a device holds before there are KV blocks.
struct DeviceUse {
  Bytes capacity;
  Bytes weights;
  Bytes workspace;
  bool exchanges = false;  // with other devices, over links of their own
  std::int64_t vocab = 0;  // words of the network
};

// total: share of the device, less everything else. free: share of what everything else leaves.
// static: share of what the engine leaves, less weights; activations have the rest.
KvMemory kv_memory(const EngineSpec& engine, double share, const DeviceUse& use,
                   const LargestStep& largest);

}  // namespace foretell
