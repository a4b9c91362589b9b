#include "hw/spec/attention_factors.hpp"

namespace foretell {
namespace {

const Range<Seconds> kTime{Seconds(0), Seconds(1e-3)};
const Range<Cycles> kLatency{Cycles(0), Cycles(1e6)};
const Range<BytesPerCycle> kFeed{BytesPerCycle(0), BytesPerCycle(1e5)};

}  // namespace

void fields(FieldList& list, AttentionFactors& factors) {
  list.value("launch", factors.launch, kTime, "Launches of all kernels of one call.");
  list.value("dram_efficiency", factors.dram_efficiency, {0, 1},
             "Achieved share of the DRAM peak.");
  list.value("overlap", factors.overlap, {0, 100},
             "How well computing hides memory; 0 is not at all.");
  list.value("l2_share", factors.l2_share, {0, 2},
             "Share of L2 in which data stay until the next call.");
  list.value("l2_feed", factors.l2_feed, kFeed, "L2 to all SMs together, per SM.");
  list.value("prologue", factors.prologue, kLatency, "Start of a thread block.");
  list.value("sm_feed", factors.sm_feed, kFeed, "Queries, keys and values into one SM.");
  list.value("mma_efficiency", factors.mma_efficiency, {0, 2},
             "Achieved share of the dense rate in the loop over keys.");
  list.value("score", factors.score, kLatency, "Softmax of 64 scores of one query.");
  list.value("masked_score", factors.masked_score, kLatency,
             "More for 64 scores where the mask has an edge.");
  list.value("prepare_feed", factors.prepare_feed, kFeed,
             "Of one SM, in the pass that writes keys and values to the cache.");
  list.value("prepare_block", factors.prepare_block, kLatency,
             "Of a thread block of that pass, where each writes one token.");
  list.value("other_head", factors.other_head, kTime, "More per call when heads are not 128 wide.");
  list.value("special_block", factors.special_block, kLatency,
             "More per thread block with attention sinks or packed queries.");
  list.value("step", factors.step, kLatency,
             "Least time of a step of 128 keys; of prompts the wait of each step.");
  list.value("split", factors.split, kLatency, "Combination of the parts of a sequence.");
  list.value("part", factors.part, kLatency, "Combination, more for each part.");
  list.value("regroup", factors.regroup, kTime,
             "More per call when kernels of their own bring the query heads of keys together.");
  list.value("head", factors.head, kLatency, "Of every query head, spread over the SMs.");
  list.value("cold_stream", factors.cold_stream, kTime,
             "A stream from DRAM reaches its rate so much later.");
  list.value("cold_bytes", factors.cold_bytes, {Bytes(0), Bytes(1e10)},
             "Length of a stream that feels most of cold_stream.");
  list.value("window_block", factors.window_block, kLatency,
             "More per thread block when a window cuts the sequence.");
}

}  // namespace foretell
