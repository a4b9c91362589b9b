#include "calib/fitted/gpu/attention_factors.hpp"

namespace foretell {
namespace {

const Range<Seconds> kTime{Seconds(0), Seconds(1e-3)};
const Range<Cycles> kStepLatency{Cycles(0), Cycles(1e6)};
const Range<BytesPerCycle> kCacheFeed{BytesPerCycle(0), BytesPerCycle(1e5)};

}  // namespace

void fields(FieldList& list, AttentionFactors& factors) {
  list.value("launch", factors.launch, kTime, "Launches of all kernels of one call.");
  list.value("dram_efficiency", factors.dram_efficiency, {0, 1},
             "Achieved share of the DRAM peak.");
  list.value("stages_ahead", factors.stages_ahead, {0, 150},
             "Stages of loads in flight ahead of the one that is computed; 0: none.");
  list.value("l2_share", factors.l2_share, {0, 2},
             "Share of L2 in which data stay until the next call.");
  list.value("l2_feed", factors.l2_feed, kCacheFeed, "L2 to all SMs together, per SM.");
  list.value("prologue", factors.prologue, kStepLatency, "Start of a thread block.");
  list.value("sm_feed", factors.sm_feed, kCacheFeed, "Queries, keys and values into one SM.");
  list.value("mma_efficiency", factors.mma_efficiency, {0, 2},
             "Achieved share of the dense rate in the loop over keys.");
  list.value("score", factors.score, kStepLatency, "Softmax of 64 scores of one query.");
  list.value("masked_score", factors.masked_score, kStepLatency,
             "More for 64 scores where the mask has an edge.");
  list.value("prepare_feed", factors.prepare_feed, kCacheFeed,
             "Of one SM, in the pass that writes keys and values to the cache.");
  list.value("prepare_hidden", factors.prepare_hidden, {0, 1},
             "Share of the bytes of keys and values that pass beside those of queries there.");
  list.value("prepare_block", factors.prepare_block, kStepLatency,
             "Of a thread block of that pass, where each writes one token.");
  list.value("other_head", factors.other_head, kTime, "More per call when heads are not 128 wide.");
  list.value("special_block", factors.special_block, kStepLatency,
             "More per thread block with attention sinks or packed queries.");
  list.value("power_drop", factors.power_drop, {0, 2},
             "Slower clocks of long kernels, share per decade of time above 500 us.");
  list.value("step", factors.step, kStepLatency,
             "Least time of a step of 128 keys; of prompts the wait of each step.");
  list.value("split", factors.split, kStepLatency, "Combination of the parts of a sequence.");
  list.value("part", factors.part, kStepLatency, "Combination, more for each part.");
  list.value("regroup", factors.regroup, kTime,
             "More per call when kernels of their own bring the query heads of keys together.");
  list.value("head", factors.head, kStepLatency, "Of every query head, spread over the SMs.");
  list.value("cold_stream", factors.cold_stream, kTime,
             "A stream from DRAM reaches its rate this much later.");
  list.value("cold_bytes", factors.cold_bytes, {Bytes(0), Bytes(1e10)},
             "Length of a stream that feels most of cold_stream.");
  list.value("window_block", factors.window_block, kStepLatency,
             "More per thread block when a window cuts the sequence.");
}

}  // namespace foretell
