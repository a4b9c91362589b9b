// A stream of grids on one GPU: one after another, each launches, starts its thread blocks and its
// bytes together, and ends when both have passed, as far as they do not overlap.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/components/gpu/sm_pool.hpp"
#include "model/components/shared/in_order_stream.hpp"

namespace foretell {

class GridStream final : public InOrderStream {
 public:
  SC_HAS_PROCESS(GridStream);
  // `dram_rate`, `l2_rate`: of the servers that the sockets are bound to.
  GridStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared,
             SmPool& sms, BytesPerSecond dram_rate, BytesPerSecond l2_rate);

  tlm_utils::simple_initiator_socket<GridStream> dram;
  tlm_utils::simple_initiator_socket<GridStream> l2;

 private:
  void begin_entry(std::size_t index) override;
  void launch();         // SC_METHOD: the launch is over, thread blocks and bytes start
  void end_of_blocks();  // SC_METHOD: the last thread block has ended
  void finish();         // SC_METHOD: the grid has ended
  void end_grid_after(Ticks compute);
  // When the last byte has passed, from now; a grid that reaches less than the peak of the memory
  // occupies it longer.
  Ticks transport(tlm_utils::simple_initiator_socket<GridStream>& socket, Bytes bytes,
                  BytesPerSecond rate, BytesPerSecond peak);
  const Grid& grid() const { return queue_[position()]; }

  const std::vector<Grid>& queue_;
  SmPool& sms_;
  BytesPerSecond dram_peak_;
  BytesPerSecond l2_peak_;
  std::uint64_t next_address_ = 0;  // of the next operand
  Ticks launched_ = 0;              // of the grid at hand
  Ticks memory_ = 0;                // of the grid at hand, from launched_ to its last byte
  sc_core::sc_event launch_over_;
  sc_core::sc_event grid_over_;
};

}  // namespace foretell
