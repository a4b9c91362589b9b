#include "calib/fitted/gpu/link_factors.hpp"

namespace foretell {
namespace {

const Range<Seconds> kLinkTime{Seconds(0), Seconds(1e-3)};

}  // namespace

void fields(FieldList& list, LinkFactors& factors) {
  list.value("launch", factors.launch, kLinkTime, "Of the kernel, until the first message.");
  list.value("link_efficiency", factors.link_efficiency, {0, 2},
             "Achieved share of the peak of the links of a GPU, one direction.");
  list.value("local_rate", factors.local_rate, {BytesPerSecond(0), BytesPerSecond(1e14)},
             "Through the GPU itself: every byte of the operand once.");
  list.value("hop_ll", factors.hop_ll, kLinkTime, "Step of a ring with flags in every 8 bytes.");
  list.value("hop_ll128", factors.hop_ll128, kLinkTime, "Step of a ring with flags in 128 bytes.");
  list.value("hop_simple", factors.hop_simple, kLinkTime,
             "Step of a ring with flags beside the data.");
  list.value("cost_ll", factors.cost_ll, {0, 100},
             "Time of a byte with flags in every 8 bytes, of one with flags beside the data.");
  list.value("cost_ll128", factors.cost_ll128, {0, 100},
             "Time of a byte with flags in 128 bytes, of one with flags beside the data.");
  list.value("start_simple", factors.start_simple, kLinkTime,
             "Filling the pipeline when flags are beside the data.");
  list.value("start_message", factors.start_message, kLinkTime,
             "Filling the pipeline of a message between two GPUs beyond 16 KiB.");
  list.value("peer", factors.peer, kLinkTime, "All-to-all: of each other GPU.");
  list.value("switch_reduce", factors.switch_reduce, {0, 2},
             "Traffic of an all-reduce that the switch sums, of that of a ring.");
  list.value("host", factors.host, kLinkTime,
             "Between two launches by the host; kernels that take longer hide it.");
  list.value("barrier", factors.barrier, kLinkTime, "Of each other GPU that a barrier waits for.");
  list.value("two_shot", factors.two_shot, kLinkTime,
             "More for a sum that is scattered and gathered in one kernel.");
}

LinkFactors link_factors(const FactorTable& set) {
  LinkFactors factors;
  FieldList list;
  fields(list, factors);
  read_factor_set(set, list);
  return factors;
}

}  // namespace foretell
