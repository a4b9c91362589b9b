#include "model/timing/gpu/attention_block_timing.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr double kOwnBytes = 2;    // of an element of the cache
constexpr double kWideBytes = 4;   // FP32
constexpr double kCopyPasses = 3;  // read, written, read
// Keys of several heads lie side by side: before a batched product takes them as matrices of a
// query and a head, they are copied once more (torch.einsum).
constexpr double kMergePasses = 2;
// A score of a head is written by the product, read and written by scale and mask, read twice and
// written by the softmax, and read by the product with values. One of an indexer's is written by
// the product, read and written by scale, copy and mask, and read by the largest of a block.
constexpr double kScorePasses = 9;
constexpr double kIndexScorePasses = 8;

double as_alone(double factor) { return factor > 0 ? factor : 1; }

// Slabs that `queries` are divided into, as many to one as fit the budget.
double slabs_of(double queries, double bytes_of_query, Bytes slab) {
  if (!(bytes_of_query > 0)) return 0;
  const double together = std::clamp(std::floor(slab.value() / bytes_of_query), 1.0, queries);
  return std::ceil(queries / together);
}

Seconds reference_time(const ReferenceWork& work, const AttentionBlockFactors& factors,
                       const GpuDeviceSpec& device) {
  Seconds time = device.launch_floor * (factors.slab_kernels * work.slabs);
  const auto at_share = [&](Bytes bytes, double share) {
    if (share > 0) time += bytes / (device.hbm.bandwidth * share);
  };
  at_share(work.expanded, factors.expand);
  at_share(work.converted, factors.convert);
  const double feed =
      factors.gather.value() * device.clock.boost.value() * static_cast<double>(device.sms);
  if (feed > 0) time += Seconds(work.gathered.value() / feed);
  return time;
}

}  // namespace

ReferenceWork reference_work(const ReferenceShape& shape, Bytes slab) {
  const auto keys = static_cast<double>(shape.keys);
  const auto cached = static_cast<double>(shape.batch) * keys;
  const auto queries = static_cast<double>(shape.batch) * static_cast<double>(shape.queries);
  const auto pair = static_cast<double>(2 * shape.key_width);
  const auto index = static_cast<double>(shape.index_width);
  const double scores = 2 * static_cast<double>(shape.heads);  // before and after the softmax
  const double attends = slabs_of(queries, keys * (pair + scores) * kWideBytes, slab);
  const double chooses =
      slabs_of(queries, keys * (index + static_cast<double>(shape.index_heads)) * kWideBytes, slab);
  ReferenceWork work;
  work.slabs = attends + chooses;
  work.gathered = Bytes(cached * (pair + index) * kOwnBytes);
  work.converted = Bytes(cached * (attends * pair + chooses * index) * (kOwnBytes + kWideBytes));
  const double scored = kScorePasses * static_cast<double>(shape.heads) +
                        kIndexScorePasses * static_cast<double>(shape.index_heads);
  const double merged = shape.key_heads > 1 ? pair * kMergePasses : 0;
  work.expanded =
      Bytes(queries * keys * kWideBytes * ((pair + index) * kCopyPasses + merged + scored));
  return work;
}

ReferenceWork pool_copy(const ReferenceShape& shape, double pool) {
  ReferenceWork work;
  work.slabs = 1;
  work.converted = Bytes(pool * 2 * kOwnBytes * static_cast<double>(shape.batch) *
                         static_cast<double>(shape.keys) * static_cast<double>(shape.index_width));
  return work;
}

double attention_in_layer(const AttentionBlockFactors& factors, bool narrow_cache) {
  const bool other = narrow_cache && factors.narrow_cache > 0;
  return as_alone(other ? factors.narrow_cache : factors.attention);
}

Seconds attention_block_time(const AttentionBlockWork& work, const AttentionBlockFactors& factors,
                             const GpuDeviceSpec& device) {
  const double products = work.halvings > 0 ? factors.narrow : factors.products;
  const bool all = !work.chosen && factors.all_keys > 0;
  const double attention = all ? factors.all_keys : attention_in_layer(factors, work.narrow_cache);
  Seconds graph = work.others + work.products * as_alone(products) + work.attention * attention +
                  work.indexer * as_alone(factors.indexer);
  if (work.reference.slabs > 0) graph += reference_time(work.reference, factors, device);
  graph += device.launch_floor * factors.kernels;
  graph += factors.head_copies * (work.tokens * work.heads) / device.hbm.bandwidth;
  if (work.chooses) graph += factors.choice;
  const bool other_host = work.chooses && factors.host_chooses > Seconds(0);
  const Seconds host = other_host ? factors.host_chooses : factors.host;
  return std::max(graph, host + factors.host_quantises * work.halvings);
}

}  // namespace foretell
