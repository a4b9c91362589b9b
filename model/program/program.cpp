#include "model/program/program.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Where an entry stands; becomes text only when there is something to complain about.
struct Place {
  const Program& program;
  std::size_t stream;
  std::size_t index;
};

[[noreturn]] void refuse(const Place& place, const std::string& why) {
  throw EntryError(place.stream, place.index,
                   place.program.place(place.stream, place.index) + ": " + why);
}

[[noreturn]] void refuse_above(std::uint64_t value, std::uint64_t limit, const Place& place,
                               const char* what) {
  refuse(place, std::string(what) + " is " + std::to_string(value) + ", the limit is " +
                    std::to_string(limit));
}

inline void require_at_most(std::uint64_t value, std::uint64_t limit, const Place& place,
                            const char* what) {
  if (value > limit) refuse_above(value, limit, place, what);
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
  if (wait_count == 0 && signal == kNoSemaphore && first_wait <= program.waits.size()) return;
  const std::size_t known = program.semaphores.size();
  const auto require_known = [&](std::uint16_t semaphore) {
    if (semaphore < known) return;
    refuse(place, "semaphore number " + std::to_string(semaphore) +
                      " does not exist; the program declares " + std::to_string(known));
  };
  require_at_most(std::uint64_t{first_wait} + wait_count, program.waits.size(), place,
                  "end of its list of waits");
  const Wait* const waits = program.waits.data() + first_wait;
  for (std::uint16_t w = 0; w < wait_count; ++w) require_known(waits[w].semaphore);
  if (signal != kNoSemaphore) require_known(signal);
}

void validate_work(std::size_t stream, const Instruction& i, const ProgramLimits& limits,
                   const Place& place) {
  if (i.opcode == Opcode::kSemaphoreOnly) return;
  const auto engine = static_cast<Engine>(stream);
  if (!runs_on(i.opcode, engine)) {
    refuse(place, "the " + std::string(to_string(engine)) +
                      " engine does not run it; put it in the " + engines_of(i.opcode) + " queue");
  }
  if (i.n == 0) refuse(place, "size n is 0; state at least 1 element");
  const bool tensor = engine == Engine::kTensor;
  const std::uint32_t most = tensor ? limits.contraction_rows : limits.partitions;
  if (i.partitions == 0) refuse(place, "0 partitions; state 1 to " + std::to_string(most));
  require_at_most(i.partitions, most, place, "partitions");
  if (tensor) {
    validate_tensor(i, limits, place);
  } else {
    validate_lane(engine, i, limits, place);
  }
}

void validate_work(std::size_t /*stream*/, const Transfer& t, const ProgramLimits& limits,
                   const Place& place) {
  if (t.bytes() == 0) refuse(place, "moves 0 bytes; state descriptors and their size");
  if (limits.hbm_bytes > 0 && t.direction != TransferDirection::kOnChip) {
    require_at_most(t.hbm_address, limits.hbm_bytes, place, "address in HBM");
    require_at_most(t.bytes(), limits.hbm_bytes, place, "size in HBM");  // the sum cannot wrap now
    require_at_most(t.hbm_address + t.bytes(), limits.hbm_bytes, place, "end address in HBM");
  }
}

void require_rate(Bytes bytes, BytesPerSecond rate, const Place& place, const char* memory) {
  if (bytes < Bytes(0)) refuse(place, std::string("moves less than 0 bytes of ") + memory);
  if (bytes > Bytes(0) && !(rate > BytesPerSecond(0))) {
    refuse(place, std::string("moves bytes of ") + memory + " and states no rate for them");
  }
}

void validate_exchange(const LinkExchange& exchange, const ProgramLimits& limits,
                       const Place& place) {
  if (exchange.ranks < 2) refuse(place, "a group of one exchanges nothing; state 2 ranks or more");
  if (limits.ranks > 0) {
    require_at_most(static_cast<std::uint64_t>(exchange.ranks),
                    static_cast<std::uint64_t>(limits.ranks), place, "number of GPUs in a group");
  }
  if (exchange.rounds.empty()) refuse(place, "has no round of messages");
  for (const LinkRound& round : exchange.rounds) {
    if (round.times < 1) refuse(place, "a round happens 0 times; state 1 or more");
    const int most = std::max(round.links.peers, round.network.peers);
    if (most < 1 || most >= exchange.ranks) {
      refuse(place, "sends to " + std::to_string(most) + " peers in a group of " +
                        std::to_string(exchange.ranks));
    }
    require_rate(round.links.each, round.links.rate, place, "a link");
    require_rate(round.network.each, round.network.rate, place, "the network");
    require_rate(round.local, round.local_rate, place, "L2");
  }
}

void validate_work(std::size_t /*stream*/, const Collective& c, const ProgramLimits& limits,
                   const Place& place) {
  if (!c.exchange.rounds.empty() || c.exchange.ranks > 0)  // its rounds say what it moves
    return validate_exchange(c.exchange, limits, place);
  if (c.bytes == 0) refuse(place, "moves 0 bytes; state the size of the buffer of a rank");
  if (limits.hbm_bytes > 0) require_at_most(c.bytes, limits.hbm_bytes, place, "size in HBM");
}

void validate_work(std::size_t /*stream*/, const Grid& grid, const ProgramLimits& /*limits*/,
                   const Place& place) {
  if (grid.ctas_per_sm < 1) refuse(place, "an SM holds none of its thread blocks; state 1 or more");
  for (const CtaRun& run : grid.ctas) {
    if (run.count < 1) refuse(place, "a run of 0 thread blocks; state 1 or more");
    if (run.duration < Seconds(0)) refuse(place, "a thread block takes less than no time");
  }
  require_rate(grid.dram_bytes, grid.dram_rate, place, "DRAM");
  require_rate(grid.l2_bytes, grid.l2_rate, place, "L2");
  if (grid.early_launch > grid.launch) refuse(place, "more of its launch is early than there is");
  if (!(grid.stages_ahead >= 0)) refuse(place, "less than 0 stages ahead");
  if (!(grid.stretch > 0)) refuse(place, "stretch is not above 0");
}

void validate_work(std::size_t /*stream*/, const Loop& loop, const ProgramLimits& limits,
                   const Place& place) {
  if (loop.threads < 1) refuse(place, "no thread runs it; state 1 or more");
  if (limits.threads > 0) {
    require_at_most(static_cast<std::uint64_t>(loop.threads),
                    static_cast<std::uint64_t>(limits.threads), place, "number of threads");
  }
  Bytes dram;
  for (const CpuChunkRun& run : loop.chunks) {
    if (run.count < 0) refuse(place, "a run of less than 0 chunks");
    dram += run.dram;
  }
  require_rate(dram, loop.core_dram, place, "DRAM (a core)");
  require_rate(dram, loop.dram, place, "DRAM");
  if (!(loop.stages_ahead >= 0)) refuse(place, "less than 0 stages ahead");
}

void validate_work(std::size_t /*stream*/, const HostCall& call, const ProgramLimits& /*limits*/,
                   const Place& place) {
  if (call.time < Seconds(0)) refuse(place, "takes less than no time");
}

std::string label_of(const Instruction& i) { return std::string(to_string(i.opcode)); }
std::string label_of(const Transfer& t) { return std::string(to_string(t.direction)); }
std::string label_of(const Collective& c) {
  return c.name.empty() ? std::string(to_string(c.kind)) : c.name;
}
std::string label_of(const Grid& grid) { return grid.name; }
std::string label_of(const Loop& loop) { return loop.name; }
std::string label_of(const HostCall& call) { return call.name; }

}  // namespace

std::string_view to_string(StreamKind kind) {
  static constexpr std::array<std::string_view, std::variant_size_v<Work>> kNames = {
      "instructions", "transfers", "collectives", "grids", "loops", "host calls"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(TransferDirection direction) {
  static constexpr std::array<std::string_view, 3> kNames = {"load", "store", "copy"};
  return kNames.at(static_cast<std::size_t>(direction));
}

std::size_t Program::entry_count() const {
  std::size_t count = 0;
  for (const Stream& stream : streams) count += stream.size();
  return count;
}

EntryLinks Program::links(std::size_t stream, std::size_t index) const {
  return std::visit(
      [index](const auto& entries) {
        const auto& entry = entries[index];
        return EntryLinks{entry.op, entry.first_wait, entry.wait_count, entry.signal};
      },
      streams[stream].work);
}

std::vector<bool> Program::raised_in_order() const {
  constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> raiser(semaphores.size(), kNobody);
  std::vector<bool> in_order(semaphores.size(), true);
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    const auto note = [&](const auto& entries) {
      for (const auto& entry : entries) {
        if (entry.signal == kNoSemaphore) continue;
        std::size_t& first = raiser[entry.signal];
        if (first == kNobody) first = stream;
        if (first != stream) in_order[entry.signal] = false;
      }
    };
    std::visit(note, streams[stream].work);
  }
  return in_order;
}

std::string Program::label(std::size_t stream, std::size_t index) const {
  return std::visit([index](const auto& entries) { return label_of(entries[index]); },
                    streams[stream].work);
}

std::string Program::place(std::size_t stream, std::size_t index) const {
  const bool transfer = streams[stream].kind() == StreamKind::kTransfers;
  std::string text = transfer ? "dma " : "";
  text.append(streams[stream].name).append("[").append(std::to_string(index)).append("]");
  if (!transfer) text.append(" ").append(label(stream, index));
  return text;
}

std::vector<Instruction>& Program::engine(std::size_t engine) {
  if (streams.empty()) {
    for (int e = 0; e < kEngineCount; ++e) {
      streams.push_back(
          {std::string(to_string(static_cast<Engine>(e))), std::vector<Instruction>{}});
    }
  }
  return entries<Instruction>(engine);
}

const std::vector<Instruction>& Program::engine(std::size_t engine) const {
  static const std::vector<Instruction> kNone;
  return streams.empty() ? kNone : entries<Instruction>(engine);
}

void Program::add_ring(std::string ring, std::vector<Transfer> transfers) {
  engine(std::size_t{0});
  streams.push_back({std::move(ring), std::move(transfers)});
}

std::size_t Program::ring_count() const {
  return static_cast<std::size_t>(
      std::count_if(streams.begin(), streams.end(),
                    [](const Stream& stream) { return stream.kind() == StreamKind::kTransfers; }));
}

std::vector<Transfer> Program::transfers() const {
  std::vector<Transfer> all;
  for (const Stream& stream : streams) {
    const auto* transfers = std::get_if<std::vector<Transfer>>(&stream.work);
    if (transfers != nullptr) all.insert(all.end(), transfers->begin(), transfers->end());
  }
  return all;
}

std::size_t Program::collective_queue() const {
  std::size_t stream = 0;
  while (stream < streams.size() && streams[stream].kind() != StreamKind::kCollectives) ++stream;
  return stream;
}

const std::vector<Collective>& Program::collectives() const {
  static const std::vector<Collective> kNone;
  const std::size_t stream = collective_queue();
  return stream == streams.size() ? kNone : entries<Collective>(stream);
}

void validate(const Program& program, const ProgramLimits& limits) {
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    const auto check = [&](const auto& entries) {
      for (std::size_t index = 0; index < entries.size(); ++index) {
        const Place place{program, stream, index};
        const auto& entry = entries[index];
        validate_semaphores(program, entry.first_wait, entry.wait_count, entry.signal, place);
        validate_work(stream, entry, limits, place);
      }
    };
    std::visit(check, program.streams[stream].work);
  }
}

}  // namespace foretell
