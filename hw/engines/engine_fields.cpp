#include "hw/engines/engine_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {
namespace {

constexpr int kMaxTokens = 1 << 20;
constexpr int kMaxSequences = 1 << 16;
constexpr Bytes kMaxReserve(1e12);
constexpr Seconds kLongest(1);
constexpr Seconds kLongestStart(600);

}  // namespace

void fields(FieldList& list, EngineLimits& limits) {
  list.count("max_tokens", limits.max_tokens, {1, kMaxTokens}, "Tokens computed in one step.");
  list.count("max_sequences", limits.max_sequences, {1, kMaxSequences},
             "Requests that hold KV blocks at one time.");
  list.count("small_max_tokens", limits.small_max_tokens, {1, kMaxTokens},
             "The same on devices with less memory than large_device.");
  list.count("small_max_sequences", limits.small_max_sequences, {1, kMaxSequences},
             "The same on devices with less memory than large_device.");
  list.value("large_device", limits.large_device, {Bytes(0), kMaxReserve},
             "Memory from which on a device counts as large.");
  list.optional_text(
      "whole_context", limits.whole_context, {"yes", "no"},
      "A step has room for the longest context of the network, where prompts are "
      "not cut; otherwise for the longest prompt that comes, beside a token of every sequence.");
  list.optional_text("divided", limits.divided, {"yes", "no"},
                     "Ranks with attention of their own divide max_tokens; otherwise each has as "
                     "many.");
  list.optional_text("tuned", limits.tuned, {"yes", "no"},
                     "Tokens and requests of a step follow from the memory and the mean lengths, "
                     "where none are stated (hw/engines/choice/tuned_limits.yaml).");
}

void fields(FieldList& list, EngineSchedule& schedule) {
  list.text("order", schedule.order, {"running-first", "prefill-first"},
            "What a step is filled with first.");
  list.text("mixed", schedule.mixed, {"yes", "no"}, "Prompts and decode steps share a step.");
  list.text("chunking", schedule.chunking, {"yes", "no"}, "A prompt may be cut into chunks.");
  list.count("chunk_unit", schedule.chunk_unit, {1, kMaxTokens},
             "A chunk that does not end its prompt is a multiple of it.");
  list.count("prefills_per_step", schedule.prefills_per_step, {0, kMaxSequences},
             "Most prompts in a step; 0: no limit.");
  list.count("wait_steps", schedule.wait_steps, {0, kMaxSequences},
             "Steps that prompts are held back while others decode, to come together.");
  list.value("wait_share", schedule.wait_share, {0, 1},
             "Share of a step that ends this earlier when they fill it.");
  list.optional_count("balance_steps", schedule.balance_steps, {0, kMaxSequences},
                      "Ranks with attention of their own hold prompts back until each has one and "
                      "a place for it, for this many steps at most while all decode.");
  list.count("receive_interval", schedule.receive_interval, {1, kMaxSequences},
             "Decode steps between two looks at what has arrived; after a prompt and when idle "
             "there is one at once.");
  list.text("admission", schedule.admission, {"none", "partial", "full"},
            "KV that a new request must find free for its answer.");
  list.value("watermark", schedule.watermark, {0, 1},
             "Share of the blocks that a new request leaves free.");
  list.value("partial_start", schedule.partial_start, {0, 1},
             "Partial admission: share of the answer reserved at first.");
  list.value("partial_floor", schedule.partial_floor, {0, 1}, "The lowest that it falls to.");
  list.value("partial_steps", schedule.partial_steps, {1, 1e6}, "Decode steps until it is there.");
  list.count("partial_clip", schedule.partial_clip, {1, kMaxTokens},
             "Tokens of an answer that count at most.");
  list.text("preemption", schedule.preemption, {"last-to-head", "fewest-to-end", "swap", "never"},
            "Who gives its KV blocks back when there are none, and where it waits; swap: the last, "
            "whose blocks go to the host.");
  list.optional_text("two_batch", schedule.two_batch, {"yes", "no"},
                     "Half of a step exchanges with the experts while the other half computes.");
  list.optional_text("room_first", schedule.room_first, {},
                     "Separate workers begin a prompt when the one that makes its answer has a "
                     "place and KV blocks for it, and for this many tokens of every request there; "
                     "no: they begin at once.");
}

void fields(FieldList& list, EngineMemory& memory) {
  list.count("block", memory.block, {1, 4096}, "Tokens of a KV block.");
  list.value("share", memory.share, {0.01, 1}, "Share of the memory that the engine takes.");
  list.text("base", memory.base, {"total", "free", "static"},
            "What it is a share of: the device, what weights and activations leave, or what is "
            "free before weights are loaded, for weights and KV blocks alone.");
  list.value("reserve", memory.reserve, {Bytes(0), kMaxReserve},
             "Kept by the process beside weights and activations.");
  list.value("reserve_per_token", memory.reserve_per_token, {Bytes(0), kMaxReserve},
             "The same per token of the largest step.");
  list.optional_value("reserve_per_logit", memory.reserve_per_logit, {Bytes(0), Bytes(1e3)},
                      "Kept per word of the vocabulary for each request that there may be: logits, "
                      "and what sorts them.");
  list.optional_value("reserve_of_group", memory.reserve_of_group, {Bytes(0), kMaxReserve},
                      "Kept besides where devices exchange over links of their own: communicators "
                      "and their buffers.");
  list.optional_text("prefix_cache", memory.prefix_cache, {"yes", "no"},
                     "Blocks of what was computed are found again by prompts that begin alike.");
  list.optional_value("host_pool", memory.host_pool, {Bytes(0), Bytes(1e13)},
                      "Memory of the host per device for KV blocks that leave it.");
}

void fields(FieldList& list, EngineGraphs& graphs) {
  list.text("sizes", graphs.sizes, {}, "Sizes that steps are padded to: \"1,2,4,8..256/8\".");
  list.text("mixed", graphs.mixed, {"yes", "no"}, "Steps with prompts run as graphs, too.");
  list.count("largest", graphs.largest, {0, kMaxTokens},
             "Largest size; 0: the most sequences that there may be.");
}

void fields(FieldList& list, EngineHost& host) {
  list.value("per_step", host.per_step, {Seconds(0), kLongest}, "Host time of a step.");
  list.value("per_sequence", host.per_sequence, {Seconds(0), kLongest},
             "The same per sequence in the step.");
  list.optional_value("gap", host.gap, {Seconds(0), kLongest},
                      "Between two steps, although the host overlaps: the GPU waits while results "
                      "are read, and requests end and begin.");
  list.optional_value("gap_per_sequence", host.gap_per_sequence, {Seconds(0), kLongest},
                      "Longer than that for each sequence that decodes.");
  list.optional_value("gap_per_message", host.gap_per_message, {Seconds(0), kLongest},
                      "Longer than that for each message to a client: one of every sequence for "
                      "each stream_interval tokens; none of requests that are all there at once.");
  list.value("per_request", host.per_request, {Seconds(0), kLongest},
             "From the arrival of a request until it can be scheduled, and back.");
  list.optional_value("per_answer", host.per_answer, {Seconds(0), kLongest},
                      "Longer than that for each answer that is made when the request comes: the "
                      "process that takes it sends their tokens in turn.");
  list.optional_value("per_prompt_token", host.per_prompt_token, {Seconds(0), kLongest},
                      "Of a token of a prompt in the tokenizer, which takes one request after "
                      "another.");
  list.value("per_launch", host.per_launch, {Seconds(0), kLongest},
             "Launch of a kernel in a step without a graph.");
  list.optional_value("first_prompt", host.first_prompt, {Seconds(0), kLongestStart},
                      "Besides, of the first step with a prompt of a cold server: kernels are "
                      "compiled and loaded.");
  list.optional_value("first_piece", host.first_piece, {Seconds(0), kLongestStart},
                      "The same of the first step with a later piece of a prompt that reads "
                      "latents.");
  list.optional_text("first_on", host.first_on, {},
                     "Architecture of the devices where kernels are compiled when they are first "
                     "called; otherwise on all.");
  list.optional_text("cold", host.cold, {"yes", "no"},
                     "The server was not warmed up before the requests that count.");
  list.text("overlap", host.overlap, {"yes", "no"},
            "The host works while the GPU does: it prepares a step while the one before it runs, "
            "so that who comes later joins the step after that.");
  list.optional_text("prefill_overlap", host.prefill_overlap, {"yes", "no"},
                     "The same of separate workers that compute prompts; otherwise as overlap.");
  list.count("stream_interval", host.stream_interval, {1, 10000},
             "Tokens that are sent to the client together.");
  list.optional_text("first_token", host.first_token, {"at-once", "with-group"},
                     "Where tokens are sent together, the first leaves as soon as the worker that "
                     "answers has computed the prompt, or with its group.");
}

void fields(FieldList& list, EngineSpec& spec) {
  list.group("limits", spec.limits);
  list.group("schedule", spec.schedule);
  list.group("memory", spec.memory);
  list.group("graphs", spec.graphs);
  list.group("host", spec.host);
}

}  // namespace foretell
