// Transfers of a DMA ring.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/program/instruction.hpp"

namespace foretell {

enum class TransferDirection : std::uint8_t {
  kLoad,
  kStore,
  kOnChip
};                                                        // HBM->SBUF, SBUF->HBM, SBUF->SBUF
std::string_view to_string(TransferDirection direction);  // "load", "store", "copy"
enum TransferFlag : std::uint8_t { kTransposes = 1U << 0U, kCasts = 1U << 1U };

// One DMA transfer: `descriptors` pieces of `descriptor_bytes` each, at least one per partition
// row.
struct Transfer {
  TransferDirection direction = TransferDirection::kLoad;
  std::uint8_t flags = 0;
  std::uint16_t signal = kNoSemaphore;
  std::uint32_t descriptors = 0;
  std::uint32_t descriptor_bytes = 0;
  std::int32_t op = -1;
  std::uint32_t first_wait = 0;
  std::uint16_t wait_count = 0;
  std::uint64_t hbm_address = 0;

  std::uint64_t bytes() const { return std::uint64_t{descriptors} * descriptor_bytes; }
};

}  // namespace foretell
