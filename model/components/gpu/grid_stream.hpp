// A stream of grids on one GPU: one after another, each launches, then runs on the SMs beside those
// of other streams. DRAM and L2 say over their sockets how long its bytes take when it is alone.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/components/gpu/sm_pool.hpp"
#include "model/components/shared/in_order_stream.hpp"
#include "model/components/shared/memory_access.hpp"

namespace foretell {

class GridStream final : public InOrderStream, public SmClient {
 public:
  SC_HAS_PROCESS(GridStream);
  // `dram_rate`, `l2_rate`: of the servers that the sockets are bound to.
  GridStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared,
             SmPool& sms, BytesPerSecond dram_rate, BytesPerSecond l2_rate);

  tlm_utils::simple_initiator_socket<GridStream> dram;
  tlm_utils::simple_initiator_socket<GridStream> l2;

 private:
  void begin_entry(std::size_t index) override;
  void launch();  // SC_METHOD: the launch is over
  void grid_ended() override;
  // What an ended grid costs energy for.
  static void count(const Grid& grid, Ticks time, EnergyWork& work);
  // When the last byte has passed, from now, were it alone; a grid that reaches less than the peak
  // of the memory occupies it longer.
  Ticks transport(tlm_utils::simple_initiator_socket<GridStream>& socket, Bytes bytes,
                  BytesPerSecond rate, BytesPerSecond peak);
  const Grid& grid() const { return queue_[position()]; }

  const std::vector<Grid>& queue_;
  SmPool& sms_;
  bool only_;  // no other stream of grids uses the memories
  BytesPerSecond dram_peak_;
  BytesPerSecond l2_peak_;
  MemoryPath path_;
  std::uint64_t next_address_ = 0;  // of the next operand
  Ticks drained_ = 0;  // from where the grid before left SMs free to its end, were it alone
  Ticks ended_ = -1;   // of the grid before
  sc_core::sc_event launch_over_;
};

}  // namespace foretell
