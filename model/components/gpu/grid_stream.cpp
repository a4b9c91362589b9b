#include "model/components/gpu/grid_stream.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/components/shared/memory_access.hpp"
#include "model/timing/gpu/grid_phases.hpp"

namespace foretell {
namespace {

// Of a memory that does not say how large it is; what is asked of it lies within.
constexpr std::uint64_t kAddressSpan = std::uint64_t{1} << 33U;

}  // namespace

GridStream::GridStream(const sc_core::sc_module_name& name, std::size_t stream,
                       ProgramShared& shared, SmPool& sms, BytesPerSecond dram_rate,
                       BytesPerSecond l2_rate)
    : InOrderStream(name, stream, shared),
      dram("dram"),
      l2("l2"),
      queue_(shared.program.entries<Grid>(stream)),
      sms_(sms),
      only_(std::count_if(shared.program.streams.begin(), shared.program.streams.end(),
                          [](const Stream& other) { return other.kind() == StreamKind::kGrids; }) ==
            1),
      dram_peak_(dram_rate),
      l2_peak_(l2_rate) {
  SC_METHOD(launch);
  sensitive << launch_over_;
  dont_initialize();
}

void GridStream::begin_entry(std::size_t /*index*/) {
  const bool follows = position() > 0 && began() == ended_;
  const Ticks early = follows ? std::min(to_ticks(grid().early_launch), drained_) : 0;
  launch_over_.notify(to_sc_time(to_ticks(grid().launch) - early));
}

void GridStream::launch() {
  const Ticks launched = now_ticks() - began();
  const Ticks last_byte = std::max(transport(dram, grid().dram_bytes, grid().dram_rate, dram_peak_),
                                   transport(l2, grid().l2_bytes, grid().l2_rate, l2_peak_));
  const auto memory = static_cast<double>(std::max(last_byte, to_ticks(grid().memory_latency)));
  const Ticks tail = to_ticks(grid().tail);
  const GridWaves waves = sms_.waves(grid());
  const double all = static_cast<double>(launched + tail) + grid_body(grid(), waves, memory);
  const Ticks alone = std::max<Ticks>(0, std::llround(all * grid().stretch) - launched);
  const double drain = grid_drain(grid(), waves, memory);
  drained_ = std::llround((static_cast<double>(tail) + drain) * grid().stretch);
  sms_.start(grid_phases(grid(), waves, memory, static_cast<double>(alone)), alone, *this);
}

Ticks GridStream::transport(tlm_utils::simple_initiator_socket<GridStream>& socket, Bytes bytes,
                            BytesPerSecond rate, BytesPerSecond peak) {
  if (!(bytes > Bytes(0))) return 0;
  FORETELL_CHECK(rate > BytesPerSecond(0), "bytes without a rate");
  const Ticks latency = to_ticks(grid().memory_latency);
  MemoryAccess access;
  access.bytes =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bytes.value())));
  access.address = next_address_;
  next_address_ = (next_address_ + access.bytes) % kAddressSpan;
  access.occupied = std::max(1.0, std::round(bytes.value() * (peak / rate)));
  const Speaker speaker{[this] { return shared().program.place(stream(), position()); }};
  const Ticks last = path_.pass(*socket.operator->(), socket.name(), access, latency, speaker);
  // Beside others it shares the memory as the SMs say, which know what each of them asks for.
  return only_ && sms_.idle() ? last : latency + to_ticks(Bytes(access.occupied) / peak);
}

void GridStream::count(const Grid& grid, Ticks time, EnergyWork& work) {
  work += grid.work;
  work.dram += grid.dram_bytes;
  // A byte of memory is counted for its whole way to the SMs.
  if (grid.l2_bytes > grid.dram_bytes) work.l2 += grid.l2_bytes - grid.dram_bytes;
  work.busy += to_seconds(time);
}

void GridStream::grid_ended() {
  if (OperatorActivity* const counted = activity()) {
    counted->busy += grid().busy;
    counted->dram += grid().moved;
    counted->l2 += grid().l2_bytes;
    count(grid(), now_ticks() - began(), counted->work);
  }
  ended_ = now_ticks();
  end_entry();
}

}  // namespace foretell
