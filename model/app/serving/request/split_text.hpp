// --prefill 'tp=4,workers=2', --speculate 3,acceptance=0.7,draft=Llama-3.2-1B
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretell {

// Workers that do one of prefill and decode.
struct WorkerSplit {
  int tp = 1;
  int pp = 1;  // pipeline stages of a worker
  int workers = 1;
  int attention_dp = 1;            // ranks with sequences of their own, tp devices each
  int ep = 0;                      // groups of experts that are apart; 0: not stated
  int moe_tp = 0;                  // devices that share the width of an expert, likewise
  std::int64_t max_sequences = 0;  // batch=N; 0: the engine's
  std::int64_t max_tokens = 0;     // tokens=N
};

struct Speculation {
  std::int64_t drafts = 0;
  double acceptance = 0;  // of one guess
  std::string draft;      // the network that guesses; "": not stated, and guesses take no time
  int tp = 0;             // devices that share it; 0: as the network that is served
};

// UserErrors start with the option and say what is known.
WorkerSplit parse_split(std::string_view option, std::string_view text);
Speculation parse_speculation(std::string_view text);

// No worker that does one of prefill and decode guesses with a draft network. UserError for one.
void check_drafted_workers(const Speculation& speculation, bool separate);

}  // namespace foretell
