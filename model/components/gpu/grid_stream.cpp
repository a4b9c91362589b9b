#include "model/components/gpu/grid_stream.hpp"

#include <algorithm>

namespace foretell {

GridStream::GridStream(const sc_core::sc_module_name& name, std::size_t stream,
                       ProgramShared& shared, SmPool& sms)
    : InOrderStream(name, stream, shared), queue_(shared.program.entries<Grid>(stream)), sms_(sms) {
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
  sms_.start(
      grid(), now_ticks() - began(),
      [this] { return shared().program.place(stream(), position()); }, *this);
}

void GridStream::count(const Grid& grid, Ticks time, EnergyWork& work) {
  work += grid.work;
  work.busy += to_seconds(time);
  if (grid.work.l2 > Bytes(0)) return;
  work.dram += grid.dram_bytes;
  // A byte of memory crosses from L2 to the SMs as well.
  work.l2 += std::max(grid.l2_bytes, grid.dram_bytes);
}

void GridStream::grid_ended(Ticks drained) {
  if (OperatorActivity* const counted = activity()) {
    counted->busy += grid().busy;
    counted->dram += grid().moved;
    counted->l2 += grid().l2_bytes;
    count(grid(), now_ticks() - began(), counted->work);
  }
  drained_ = drained;
  ended_ = now_ticks();
  end_entry();
}

}  // namespace foretell
