// What a library adds to a layer of attention beside the kernels of its operators, or takes from
// them: fitted on whole layers (calib/factors/gpu/attention_block/<device>.yaml, tables
// "<framework> <kind> <phase>"), each number for all shapes and types of a table. Zero does not
// apply.
#pragma once

#include "model/base/units.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct AttentionBlockFactors {
  Seconds host;             // of the host per call, where it launches kernel by kernel
  Seconds host_chooses;     // … where there are more keys than an indexer may choose
  Seconds host_quantises;   // … more for each halving of the type of projections, by its passes
  double kernels = 0;       // small kernels of a call, each of the floor of a launch in a graph
  Bytes head_copies;        // moved for each token and head, beside the operators
  Seconds choice;           // of choosing where there are more keys than may be chosen
  double attention = 0;     // time of attention beside that of its kernels alone; 0: as alone
  double narrow_cache = 0;  // … of attention to a cache in FP8; 0: as to one in BF16
  double all_keys = 0;      // … of attention to all keys in a layer that else chooses
  double indexer = 0;       // … of the scores of an indexer and its choice
  double products = 0;      // … of projections in BF16
  double narrow = 0;        // … of projections in narrower types, with what quantises for them
  double slab_kernels = 0;  // kernels for each slab of keys in FP32 …
  double expand = 0;        // … share of DRAM that the copies of keys for every query reach
  double convert = 0;       // … that conversions and copies of whole caches reach
  BytesPerCycle gather;     // … of an SM, that pages of keys are put together at
};

void fields(FieldList& list, AttentionBlockFactors& factors);

}  // namespace foretell
