// What a simulated service did: every request, and the service over time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"
#include "model/serving/log_histogram.hpp"

namespace foretell {

// Times of a request as its client sees them, since the service started. Seconds of which millions
// are kept are floats.
struct ServedRequest {
  Seconds arrival;
  float first_s = -1;  // after the arrival; -1: no token yet
  float end_s = -1;    // after the arrival; -1: not answered
  Seconds start{-1};   // the first step with some of its prompt begins; -1: none did
  std::int32_t input = 0;
  std::int32_t output = 0;
  std::int32_t preemptions = 0;
  std::int32_t worker = 0;
};

struct Statistic {
  Seconds mean;
  Seconds p50;
  Seconds p90;
  Seconds p95;
  Seconds p99;
};

// The state of the service over one second of the timeline.
struct TimelineSecond {
  double running = 0;  // mean number of requests on workers
  double waiting = 0;
  double kv_share = 0;
  double tokens = 0;   // answered in it
  double decodes = 0;  // sequences of its decode steps, summed up
  std::int64_t decode_steps = 0;
};

inline constexpr std::size_t kMaxSeconds = 100'000;  // of the timeline

// What workers spend their time with.
enum Spent {
  kIdle,
  kHost,
  kPrompts,
  kDecodeAttention,
  kDecodeRest,
  kExchange,
  kCopies,  // of KV blocks to and from the memory of the host
  kSpentKinds
};

// Time during which requests waited, by what they waited for.
enum WaitedFor { kForTokens, kForSequences, kForBlocks, kWaitKinds };

// While all places of the service are taken: from the first token of as many requests as there are
// places until so few are left that not all of them will be.
struct FullWindow {
  Seconds begin{-1};  // -1: not yet
  Seconds end{-1};
  Joules energy;  // of the devices of all workers, above active idle
  std::int64_t tokens = 0;

  bool is_whole() const { return end > begin && tokens > 0; }
};

struct StepSlice {  // for a timeline of the first steps
  Seconds start;
  Seconds duration;
  std::int32_t worker = 0;
  std::int32_t decodes = 0;
  std::int32_t prompts = 0;
  std::int64_t tokens = 0;
  Joules energy;  // of the devices of the worker, above active idle
};

struct ServiceResult {
  std::vector<ServedRequest> requests;  // in the order of their arrival
  std::int64_t warm_up = 0;             // this many of the first count in no statistic
  std::int64_t answered = 0;
  std::int64_t first_tokens = 0;  // requests that have one
  bool interrupted = false;
  Seconds end;  // the last answer
  Seconds last_arrival;
  LogHistogram itl;  // gaps between tokens as clients see them
  std::int64_t steps = 0;
  double batch_sum = 0;  // decodes of all steps that have some
  std::int64_t decode_steps = 0;
  Seconds kv_share_time;  // share of the blocks in use, over time and all workers
  double kv_share = 0;    // the mean of it
  Seconds busy;           // of all workers
  Joules step_energy;     // of the devices of all workers, above active idle
  Watts most_power;       // the highest StepTime::power
  FullWindow full;        // with ServiceSetup::places
  std::int64_t preemptions = 0;
  std::int64_t executed_steps = 0;  // calls of the machine that were simulated
  std::int64_t prompt_tokens = 0;   // computed, those of preempted requests again
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;     // of prompts, found in the prefix cache
  std::int64_t evicted_blocks = 0;    // from there
  std::int64_t offloaded_blocks = 0;  // of these, that went to the host
  std::int64_t copied_blocks = 0;     // between devices and the host, both ways
  std::int64_t leaked_blocks = 0;     // taken and never given back: 0 but after an interruption
  double waiting_at_last_arrival = 0;
  double moving_at_last_arrival = 0;  // KV caches on the link between workers, or waiting for it
  Seconds request_time;               // integral of the number of requests in the service over time
  std::array<Seconds, kSpentKinds> spent{};
  Seconds host_bound;  // of it, when steps waited for the host, or it took longer than the devices
  std::array<Seconds, kWaitKinds> waited{};
  Seconds link_busy;
  Bytes transferred;
  std::vector<TimelineSecond> timeline;
  Seconds timeline_step{1};
  std::vector<StepSlice> slices;
};

// Adds a step that begins now to the timeline.
void note_batch(ServiceResult& result, Seconds now, std::int64_t decodes);

// Over all answered requests after the warm-up.
Statistic ttft_of(const ServiceResult& result);
Statistic tpot_of(const ServiceResult& result);  // (end - first token) / (tokens - 1)
Statistic itl_of(const ServiceResult& result);
Statistic e2e_of(const ServiceResult& result);
// Times of the same requests at shares of them: the smallest value that a share of all does not
// exceed, as in Statistic. Empty when nothing was answered.
enum class ServedTime { kTtft, kTpot, kE2e };
std::vector<Seconds> times_at(const ServiceResult& result, ServedTime which,
                              const std::vector<double>& shares);
double output_tokens_per_s(const ServiceResult& result);
double requests_per_s(const ServiceResult& result);

// By which factor the rates of an open load could be higher, were the machine infinitely fast:
// requests are answered as they come. `by_chance`: arrivals are drawn, and more come in one run of
// ten. Infinite where all come at once.
double arrival_limit(const ServiceResult& result, bool by_chance);

}  // namespace foretell
