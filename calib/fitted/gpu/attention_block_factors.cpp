#include "calib/fitted/gpu/attention_block_factors.hpp"

namespace foretell {
namespace {

const Range<Seconds> kOfCall{Seconds(0), Seconds(1e-2)};
constexpr double kMostKernels = 1000;

}  // namespace

void fields(FieldList& list, AttentionBlockFactors& factors) {
  list.value("host", factors.host, kOfCall,
             "Of the host per call, where it launches kernel by kernel.");
  list.value("host_chooses", factors.host_chooses, kOfCall,
             "The same where there are more keys than an indexer may choose.");
  list.value("host_quantises", factors.host_quantises, kOfCall,
             "More of the host for each halving of the type of projections, by its passes.");
  list.value("kernels", factors.kernels, {0, kMostKernels},
             "Small kernels of a call, each of the floor of a launch in a graph.");
  list.value("head_copies", factors.head_copies, {Bytes(0), Bytes(1e6)},
             "Moved for each token and head, beside the operators.");
  list.value("choice", factors.choice, kOfCall,
             "Of choosing where there are more keys than may be chosen.");
  list.value("attention", factors.attention, {0, 20},
             "Time of attention beside that of its kernels alone; 0: as alone.");
  list.value("narrow_cache", factors.narrow_cache, {0, 20},
             "Time of attention to a cache in FP8; 0: as to one in BF16.");
  list.value("all_keys", factors.all_keys, {0, 20},
             "Time of attention to all keys in a layer that else chooses; 0: as to chosen ones.");
  list.value("indexer", factors.indexer, {0, 20},
             "Time of an indexer beside that of its kernels alone; 0: as alone.");
  list.value("products", factors.products, {0, 20},
             "Time of projections in BF16 beside that of their kernels alone; 0: as alone.");
  list.value("narrow", factors.narrow, {0, 20},
             "Time of projections in narrower types beside that of their kernels alone.");
  list.value("slab_kernels", factors.slab_kernels, {0, kMostKernels},
             "Kernels for each slab of keys in FP32, where a framework attends by operators.");
  list.value("expand", factors.expand, {0, 1.2},
             "Share of the DRAM peak that copies of keys for every query reach.");
  list.value("convert", factors.convert, {0, 1.2},
             "Share of the DRAM peak that conversions and copies of whole caches reach.");
  list.value("gather", factors.gather, {BytesPerCycle(0), BytesPerCycle(1e5)},
             "Of one SM, that pages of keys are put together at.");
}

}  // namespace foretell
