// A stream of grids on one GPU: one after another, each launches, then runs on the SMs beside those
// of other streams.
#pragma once

#include <systemc>

#include "model/components/gpu/sm_pool.hpp"
#include "model/components/shared/in_order_stream.hpp"

namespace foretell {

class GridStream final : public InOrderStream, public SmClient {
 public:
  SC_HAS_PROCESS(GridStream);
  GridStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared,
             SmPool& sms);

 private:
  void begin_entry(std::size_t index) override;
  void launch();  // SC_METHOD: the launch is over
  void grid_ended(Ticks drained) override;
  // What an ended grid costs energy for.
  static void count(const Grid& grid, Ticks time, EnergyWork& work);
  const Grid& grid() const { return queue_[position()]; }

  const std::vector<Grid>& queue_;
  SmPool& sms_;
  Ticks drained_ = 0;  // from where the grid before left SMs free to its end, were it alone
  Ticks ended_ = -1;   // of the grid before
  sc_core::sc_event launch_over_;
};

}  // namespace foretell
