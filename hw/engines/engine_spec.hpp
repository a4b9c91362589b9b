// What a serving engine does in one step, as typed facts of one release.
//
// Words that name a rule are explained where the scheduler follows them (model/serving). Sizes are
// per worker: the GPUs that share one copy of the network.
#pragma once

#include <map>
#include <string>

#include "model/base/units.hpp"

namespace foretell {

class FieldList;

// How many tokens and sequences a step may have.
struct EngineLimits {
  int max_tokens = 0;        // computed in one step
  int max_sequences = 0;     // that hold KV blocks
  int small_max_tokens = 0;  // the same on devices with less memory than `large_device`
  int small_max_sequences = 0;
  Bytes large_device;
  std::string whole_context;  // yes | no: a step has room for the longest context; "": no
  std::string divided;        // yes | no: max_tokens are of all ranks of a worker; "": no
  std::string tuned;          // yes | no: both follow from memory and lengths, see TunedLimits;
                              // "": no
};

struct EngineSchedule {
  std::string order;          // running-first | prefill-first
  std::string mixed;          // yes | no: decode steps and prompts share a step
  std::string chunking;       // yes | no: a prompt may be cut
  int chunk_unit = 1;         // a cut is a multiple of it
  int prefills_per_step = 0;  // most prompts in a step; 0: no limit
  int wait_steps = 0;         // prompts are held back for this many steps while others decode …
  double wait_share = 0;      // … or until they fill this share of a step
  int balance_steps = 0;     // ranks in lock step: prompts are held back for this many steps, until
                             // each rank has one; 0: they are not
  int receive_interval = 1;  // decode steps from one look at what has arrived to the next
  std::string admission;     // none | partial | full: KV that a request must find for its answer
  double watermark = 0;      // share of the blocks that a new request must leave free
  double partial_start = 0;  // partial: share of the answer that is reserved …
  double partial_floor = 0;  // … falling to this …
  double partial_steps = 1;  // … in this many decode steps
  int partial_clip = 0;      // tokens of an answer that count at most
  std::string preemption;    // last-to-head | fewest-to-end | swap | never
  std::string two_batch;     // yes | no: experts of one half of a step exchange while the other
                             // half computes; "" stands for no
  std::string room_first;    // separate workers begin a prompt when the one that makes its answer
                           // has room for it and for this many tokens of each request; "": at once
};

struct EngineMemory {
  int block = 1;     // tokens of a KV block
  double share = 0;  // of the memory that `base` names
  std::string base;  // total | free | static: what `share` is of, see kv_memory()
  Bytes reserve;     // what the process keeps beside weights and workspace: fitted or measured
  Bytes reserve_per_token;   // of the largest step, beside the activations of the network
  Bytes reserve_per_logit;   // of a sequence that there may be and a word: what samples tokens
  Bytes reserve_of_group;    // more of it where devices exchange over their own links
  std::string prefix_cache;  // yes | no: blocks of answered requests are found again; "": no
  Bytes host_pool;           // of the host per device, for blocks that leave it; 0: none
};

struct EngineGraphs {
  std::string sizes;  // "1,2,4,8..256/8,272..512/16": steps padded up to one of them
  std::string mixed;  // yes | no: also steps with prompts
  int largest = 0;    // 0: as many as there may be sequences
};

// Time of the processor per step. With `overlap` it runs beside the GPU, and a step takes the
// longer of the two, after the gap that no overlap hides.
struct HostTimes {
  Seconds per_step;
  Seconds per_sequence;      // in the step
  Seconds gap;               // before a step that overlaps, while the GPU waits
  Seconds gap_per_sequence;  // … longer for each that decodes
  Seconds gap_per_message;  // … and for each message to a client: one for `stream_interval` tokens
  Seconds per_request;      // from its arrival until it can be scheduled
  Seconds per_answer;       // of a request, for each answer that is being sent when it comes
  Seconds per_prompt_token;  // of what turns texts into tokens, one request after another
  Seconds per_launch;        // of a kernel in a step without a graph
  // For a server that was not warmed up (`cold`): kernels are compiled and loaded when they are
  // first called.
  Seconds first_prompt;  // besides, of the first step with a prompt
  Seconds first_piece;   // … with a later piece of a prompt that reads latents, by other kernels
};

struct EngineHost : HostTimes {
  std::string first_on;         // architecture of the devices where it is so; "": of all
  std::string cold;             // yes | no; "": no
  std::string overlap;          // yes | no
  std::string prefill_overlap;  // the same of workers that compute prompts alone; "": as `overlap`
  int stream_interval = 1;      // tokens that are sent to the client together
  std::string first_token;      // at-once | with-group: when the first of them is sent; "": the
                                // latter
};

struct EngineSpec {
  std::string id;       // "vllm-0.8": the name of its file
  std::string engine;   // "vllm"
  std::string since;    // first release that it describes: "0.8"
  std::string name;     // "vLLM V1"
  std::string library;  // whose kernels it calls: "vllm"
  EngineLimits limits;
  EngineSchedule schedule;
  EngineMemory memory;
  EngineGraphs graphs;
  EngineHost host;
};

void fields(FieldList& list, EngineSpec& spec);
void fields(FieldList& list, EngineLimits& limits);
void fields(FieldList& list, EngineSchedule& schedule);
void fields(FieldList& list, EngineMemory& memory);
void fields(FieldList& list, EngineGraphs& graphs);
void fields(FieldList& list, EngineHost& host);

}  // namespace foretell
