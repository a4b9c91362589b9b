#include "model/components/gpu/grid_stream.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/components/shared/payload_limit.hpp"
#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {

GridStream::GridStream(const sc_core::sc_module_name& name, std::size_t stream,
                       ProgramShared& shared, SmPool& sms, BytesPerSecond dram_rate,
                       BytesPerSecond l2_rate)
    : InOrderStream(name, stream, shared),
      dram("dram"),
      l2("l2"),
      queue_(shared.program.entries<Grid>(stream)),
      sms_(sms),
      dram_peak_(dram_rate),
      l2_peak_(l2_rate) {
  SC_METHOD(launch);
  sensitive << launch_over_;
  dont_initialize();
  SC_METHOD(end_of_blocks);
  sensitive << sms.drained;
  dont_initialize();
  SC_METHOD(finish);
  sensitive << grid_over_;
  dont_initialize();
}

void GridStream::begin_entry(std::size_t /*index*/) {
  launch_over_.notify(to_sc_time(to_ticks(grid().launch)));
}

void GridStream::launch() {
  launched_ = now_ticks();
  const Ticks last_byte = std::max(transport(dram, grid().dram_bytes, grid().dram_rate, dram_peak_),
                                   transport(l2, grid().l2_bytes, grid().l2_rate, l2_peak_));
  memory_ = std::max(last_byte, to_ticks(grid().memory_latency));
  if (grid().ctas.empty()) {
    end_grid_after(0);
  } else {
    sms_.start(grid());
  }
}

Ticks GridStream::transport(tlm_utils::simple_initiator_socket<GridStream>& socket, Bytes bytes,
                            BytesPerSecond rate, BytesPerSecond peak) {
  if (!(bytes > Bytes(0))) return 0;
  FORETELL_CHECK(rate > BytesPerSecond(0), "bytes without a rate");
  sc_core::sc_time delay = to_sc_time(to_ticks(grid().memory_latency));
  double left = std::max(1.0, std::round(bytes.value() * (peak / rate)));
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  while (left > 0) {
    const double piece = std::min(left, kMaxPayload);
    payload.set_data_length(static_cast<unsigned>(piece));
    sc_core::sc_time until = to_sc_time(to_ticks(grid().memory_latency));
    socket->b_transport(payload, until);
    delay = until;
    left -= piece;
  }
  return to_ticks(delay);
}

void GridStream::count(const Grid& grid, Ticks time, EnergyWork& work) {
  work += grid.work;
  work.dram += grid.dram_bytes;
  // A byte of memory is counted for its whole way to the SMs.
  if (grid.l2_bytes > grid.dram_bytes) work.l2 += grid.l2_bytes - grid.dram_bytes;
  work.busy += to_seconds(time);
}

void GridStream::end_of_blocks() { end_grid_after(now_ticks() - launched_); }

void GridStream::end_grid_after(Ticks compute) {
  const double both =
      overlapped(static_cast<double>(compute), static_cast<double>(memory_), grid().overlap);
  const double all = static_cast<double>(launched_ - began() + to_ticks(grid().tail)) + both;
  const Ticks end = began() + std::llround(all * grid().stretch);
  grid_over_.notify(to_sc_time(std::max<Ticks>(0, end - now_ticks())));
}

void GridStream::finish() {
  if (OperatorActivity* const counted = activity()) {
    counted->busy += grid().busy;
    counted->dram += grid().moved;
    counted->l2 += grid().l2_bytes;
    count(grid(), now_ticks() - began(), counted->work);
  }
  end_entry();
}

}  // namespace foretell
