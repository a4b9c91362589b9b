#include "model/program/program.hpp"

#include <string>
#include <string_view>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Where an entry stands; becomes text only when there is something to complain about.
struct Place {
  std::size_t number;  // of the queue, as in EntryError
  std::string_view queue;
  std::size_t index;
  std::string_view opcode;  // empty for a transfer

  std::string text() const {
    const bool transfer = opcode.empty();
    std::string name = transfer ? "dma " : "";
    name.append(queue).append("[").append(std::to_string(index)).append("]");
    if (!transfer) name.append(" ").append(opcode);
    return name;
  }
};

[[noreturn]] void refuse(const Place& place, const std::string& why) {
  throw EntryError(place.number, place.index, place.text() + ": " + why);
}

void require_at_most(std::uint64_t value, std::uint64_t limit, const Place& place,
                     const char* what) {
  if (value <= limit) return;
  refuse(place, std::string(what) + " is " + std::to_string(value) + ", the limit is " +
                    std::to_string(limit));
}

// A tile of the array is a rectangle of 32x32 quadrants, and not a single one of them: tile sizes
// are multiples of 32 and may not be 32 in both directions on this core (ISA:918-934).
void validate_tile(std::uint16_t tile, const Place& place) {
  if (tile == 0) return;
  constexpr unsigned kSide = 4;
  const unsigned mask = tile;
  unsigned rows = 0;
  unsigned columns = 0;
  for (unsigned q = 0; q < kSide * kSide; ++q) {
    if ((mask >> q & 1U) == 0) continue;
    rows |= 1U << (q / kSide);
    columns |= 1U << (q % kSide);
  }
  unsigned rectangle = 0;
  for (unsigned q = 0; q < kSide * kSide; ++q) {
    if ((rows >> (q / kSide) & 1U) != 0 && (columns >> (q % kSide) & 1U) != 0) rectangle |= 1U << q;
  }
  const auto contiguous = [](unsigned bits) {
    const unsigned lowest = bits & (0U - bits);
    return ((bits + lowest) & bits) == 0;
  };
  if (rectangle != mask || !contiguous(rows) || !contiguous(columns)) {
    refuse(place, "its PE tile is no rectangle of 32x32 quadrants");
  }
  if ((mask & (mask - 1)) == 0) {
    refuse(place,
           "a PE tile of 32 rows and 32 columns does not exist on this core; the "
           "smallest are 32x64 and 64x32");
  }
}

void validate_tensor(const Instruction& i, const ProgramLimits& limits, const Place& place) {
  validate_tile(i.tile, place);
  if (i.opcode == Opcode::kLoadStationary) {
    require_at_most(i.n, limits.stationary_columns, place, "columns of the stationary operand");
    return;
  }
  require_at_most(i.n, limits.moving_columns, place, "columns of the moving operand");
  require_at_most(i.aux, limits.stationary_columns, place, "columns of the stationary operand");
  if (i.psum_bank != kNoBank) {
    require_at_most(std::uint64_t{i.psum_bank} + 1, limits.psum_banks, place,
                    "PSUM bank number + 1");
    require_at_most(i.n, limits.psum_bank_columns, place,
                    "FP32 columns written to one PSUM bank (overflow)");
  }
}

bool takes_two_tensors(Opcode opcode) {
  return opcode == Opcode::kTensorTensor || opcode == Opcode::kTensorTensorScan ||
         opcode == Opcode::kScalarTensorTensor || opcode == Opcode::kTensorCopyPredicated;
}

void validate_lane(Engine engine, const Instruction& i, const ProgramLimits& limits,
                   const Place& place) {
  const bool psum = (i.flags & (kReadsPsum | kWritesPsum)) != 0;
  if (psum && engine == Engine::kGpSimd) {
    refuse(place, "the gpsimd engine has no access to PSUM; use vector or scalar");
  }
  if (takes_two_tensors(i.opcode) && (i.flags & (kReadsPsum | kReadsSbuf)) == kReadsPsum) {
    refuse(place, "both tensors are in PSUM; one of them has to be in SBUF");
  }
  require_at_most(i.n, psum ? limits.psum_free_elements : limits.sbuf_free_elements, place,
                  psum ? "elements per partition in PSUM" : "elements per partition in SBUF");
  if (i.opcode == Opcode::kBnStats) {
    require_at_most(i.n, limits.bn_stats_elements, place, "elements per partition of bn_stats");
  }
}

// Semaphores that an entry of a queue names, by position.
void validate_semaphores(const Program& program, std::uint32_t first_wait, std::uint16_t wait_count,
                         std::uint16_t signal, const Place& place) {
  const auto require_known = [&](std::uint16_t semaphore) {
    if (semaphore < program.semaphores.size()) return;
    refuse(place, "semaphore number " + std::to_string(semaphore) +
                      " does not exist; the program declares " +
                      std::to_string(program.semaphores.size()));
  };
  require_at_most(std::uint64_t{first_wait} + wait_count, program.waits.size(), place,
                  "end of its list of waits");
  for (std::uint16_t w = 0; w < wait_count; ++w) {
    require_known(program.waits[first_wait + w].semaphore);
  }
  if (signal != kNoSemaphore) require_known(signal);
}

void validate_instruction(const Program& program, Engine engine, const Instruction& i,
                          const ProgramLimits& limits, const Place& place) {
  validate_semaphores(program, i.first_wait, i.wait_count, i.signal, place);
  if (i.opcode == Opcode::kSemaphoreOnly) return;
  if (!runs_on(i.opcode, engine)) {
    refuse(place, "the " + std::string(to_string(engine)) +
                      " engine does not run it; put it in the " + engines_of(i.opcode) + " queue");
  }
  if (i.n == 0) refuse(place, "size n is 0; state at least 1 element");
  if (i.partitions == 0) refuse(place, "0 partitions; state 1 to 128");
  require_at_most(i.partitions, limits.partitions, place, "partitions");
  if (engine == Engine::kTensor) {
    validate_tensor(i, limits, place);
  } else {
    validate_lane(engine, i, limits, place);
  }
}

void validate_transfer(const Program& program, const Transfer& t, const ProgramLimits& limits,
                       const Place& place) {
  validate_semaphores(program, t.first_wait, t.wait_count, t.signal, place);
  if (t.bytes() == 0) refuse(place, "moves 0 bytes; state descriptors and their size");
  if (limits.hbm_bytes > 0 && t.direction != TransferDirection::kOnChip) {
    require_at_most(t.hbm_address, limits.hbm_bytes, place, "address in HBM");
    require_at_most(t.bytes(), limits.hbm_bytes, place, "size in HBM");  // the sum cannot wrap now
    require_at_most(t.hbm_address + t.bytes(), limits.hbm_bytes, place, "end address in HBM");
  }
}

void validate_collective(const Program& program, const Collective& c, const ProgramLimits& limits,
                         const Place& place) {
  validate_semaphores(program, c.first_wait, c.wait_count, c.signal, place);
  if (c.bytes == 0) refuse(place, "moves 0 bytes; state the size of the buffer of a rank");
  if (limits.hbm_bytes > 0) require_at_most(c.bytes, limits.hbm_bytes, place, "size in HBM");
}

}  // namespace

std::size_t Program::instruction_count() const {
  std::size_t count = 0;
  for (const auto& queue : engines) count += queue.size();
  return count;
}

std::size_t Program::transfer_count() const {
  std::size_t count = 0;
  for (const auto& ring : rings) count += ring.transfers.size();
  return count;
}

void validate(const Program& program, const ProgramLimits& limits) {
  for (int e = 0; e < kEngineCount; ++e) {
    const auto engine = static_cast<Engine>(e);
    const auto& queue = program.engines[static_cast<std::size_t>(e)];
    for (std::size_t index = 0; index < queue.size(); ++index) {
      const Place place{static_cast<std::size_t>(e), to_string(engine), index,
                        to_string(queue[index].opcode)};
      validate_instruction(program, engine, queue[index], limits, place);
    }
  }
  for (std::size_t r = 0; r < program.rings.size(); ++r) {
    const DmaRing& ring = program.rings[r];
    for (std::size_t index = 0; index < ring.transfers.size(); ++index) {
      validate_transfer(program, ring.transfers[index], limits,
                        {kEngineCount + r, ring.name, index, {}});
    }
  }
  for (std::size_t index = 0; index < program.collectives.size(); ++index) {
    const Collective& collective = program.collectives[index];
    const Place place{program.collective_queue(), "collectives", index, to_string(collective.kind)};
    validate_collective(program, collective, limits, place);
  }
}

}  // namespace foretell
