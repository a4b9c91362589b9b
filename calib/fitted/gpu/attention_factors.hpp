// What attention kernels reach of a GPU's facts: fitted per device, framework, phase and data types
// (calib/factors/gpu/attention/<device>.yaml). A factor that is zero does not apply.
//
// As for matrix products, latencies are cycles of the boost clock and rates of an SM bytes per such
// cycle; only what scales with nothing is in seconds.
#pragma once

#include "calib/fitted/shared/common_factors.hpp"
#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

inline constexpr double kScoresAtOnce = 64;  // unit of score and masked_score

struct AttentionFactors {
  // Every phase.
  Seconds launch;              // of all kernels of the operator together
  double dram_efficiency = 0;  // of the DRAM peak
  double stages_ahead = 0;     // loads in flight, ahead of the stage that is computed
  double l2_share = 0;         // of the L2 capacity that data stay in until the next call
  BytesPerCycle l2_feed;       // L2 to all SMs together, per SM
  Cycles prologue;             // of a thread block
  BytesPerCycle sm_feed;       // queries, keys and values into one SM
  // Prompts.
  double mma_efficiency = 0;   // of the dense rate, in the loop over keys
  Cycles score;                // of 64 scores: exponential, maximum, sum
  Cycles masked_score;         // more for 64 scores of a step that crosses an edge of the mask
  BytesPerCycle prepare_feed;  // of an SM, in the pass that writes keys and values to the cache
  double prepare_hidden = 0;   // … share of the bytes of keys and values that pass beside queries
  Cycles prepare_block;        // of a thread block of that pass, where each writes one token
  Seconds other_head;          // more per call when a head is not 128 wide
  Cycles special_block;        // more per thread block: attention sinks, or packed queries
  double power_drop = 0;       // longer by this share per decade of time above 500 us
  // Steps and parts.
  Cycles step;   // least time of a step of 128 keys; of prompts the wait of each step
  Cycles split;  // combination of the parts of a sequence …
  Cycles part;   // … and of each part of them
  // Tokens.
  Seconds regroup;      // more per call when kernels of their own bring query heads together
  Cycles head;          // of every query head, spread over the SMs
  Seconds cold_stream;  // a stream from DRAM reaches its rate this much later …
  Bytes cold_bytes;     // … once it is much longer than this
  Cycles window_block;  // more per thread block when a window cuts the sequence
  CommonFactors common = common_factors();  // what all of them share
};

void fields(FieldList& list, AttentionFactors& factors);

}  // namespace foretell
