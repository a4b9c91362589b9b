// Collectives that the cores of a copy run together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/program/instruction.hpp"
#include "model/program/link_exchange.hpp"
#include "model/program/work_unit.hpp"

namespace foretell {

enum class CollectiveKind : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute
};
inline constexpr int kCollectiveKindCount = 5;
std::string_view to_string(CollectiveKind kind);  // "all_reduce", …

// What is exchanged, and among whom.
//
// `bytes` is the size that the vendor's nccom-test and nccl-tests state: the larger buffer of one
// rank. all_reduce: the buffer of a rank; all_gather: the gathered result; reduce_scatter: the
// input of a rank; all_to_all: the buffer of a rank, one piece for each; permute: what each rank
// sends.
//
// `ranks` of the copy belong together, `stride` apart: of 8 cores, 4 ranks with stride 1 are groups
// {0 1 2 3} and {4 5 6 7}, with stride 2 {0 2 4 6} and {1 3 5 7}. Every group does the same at the
// same time. 0: all cores of the copy.
struct CollectiveShape {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t bytes = 0;
  std::int32_t ranks = 0;
  std::int32_t stride = 1;
};
bool operator<(const CollectiveShape& a, const CollectiveShape& b);

// One collective of a program. Every core has the same list and joins in its order; on a NeuronCore
// the device's CC-cores move the data, so that the engines and the DMA rings of the core are free
// meanwhile.
struct Collective : CollectiveShape {
  std::int32_t op = -1;          // operator it belongs to, for attribution
  std::uint32_t first_wait = 0;  // into Program::waits
  std::uint16_t wait_count = 0;
  std::uint16_t signal = kNoSemaphore;  // semaphore raised by 1 at the end
  // Where the program decides how it is done: the rounds, what they keep busy, and what passes from
  // the end of the entry before until the first message.
  std::string name{};  // "AllReduce ring"; empty: that of the kind
  LinkExchange exchange{};
  Seconds launch{};
  UnitTimes busy{};
};

}  // namespace foretell
