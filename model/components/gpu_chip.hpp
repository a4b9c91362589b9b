// One GPU: a stream of kernels, the SMs that run their thread blocks, L2, DRAM and links.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/spec/gpu_spec.hpp"
#include "model/components/collective_network.hpp"
#include "model/components/gpu_links.hpp"
#include "model/components/hbm.hpp"
#include "model/components/sm_pool.hpp"
#include "model/components/ticks.hpp"
#include "model/program/gpu_kernel.hpp"

namespace foretell {

// What became of one program. Times count from the start of the simulation.
struct GpuProgramExecution {
  Ticks begin = 0;
  Ticks end = 0;
};

// Where the kernels of a stream that exchange data with other GPUs do so.
class ExchangeNetwork {
 public:
  virtual ~ExchangeNetwork() = default;
  // The part of rank `rank` in exchange number `index` of its stream begins now.
  virtual void join(int rank, std::uint32_t index, const LinkExchange& exchange,
                    CollectiveMember& member) = 0;
};

// Kernels one after another. A kernel launches, starts its thread blocks and its bytes together,
// and ends when both have passed, as far as they do not overlap. Kernels that exchange data with
// other GPUs end when their part of that is done.
class GpuStream : public sc_core::sc_module, public CollectiveMember {
 public:
  SC_HAS_PROCESS(GpuStream);
  // `l2_rate`: of the server behind the socket `l2`.
  GpuStream(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, SmPool& sms,
            BytesPerSecond l2_rate);

  tlm_utils::simple_initiator_socket<GpuStream> dram;
  tlm_utils::simple_initiator_socket<GpuStream> l2;

  // Programs that run one after another from the start; they outlive the simulation. Those that
  // exchange data have been given a network.
  void run(const std::vector<GpuProgram>& programs);
  void join_through(ExchangeNetwork& network, int rank);
  void collective_done() override { end_kernel_after(now_ticks() - launched_); }

  const std::vector<GpuProgramExecution>& executions() const { return executions_; }
  std::uint64_t kernels() const { return kernels_; }

 private:
  void launch();         // SC_METHOD: the launch is over, thread blocks and bytes start
  void end_of_blocks();  // SC_METHOD: the last thread block has ended
  void next();           // SC_METHOD: the kernel has ended
  void start_launch();
  void end_kernel_after(Ticks compute);
  // When the last byte has passed, from now; the server takes bytes at its peak rate, so a kernel
  // that reaches less of it occupies it longer.
  Ticks transport(tlm_utils::simple_initiator_socket<GpuStream>& socket, Bytes bytes,
                  BytesPerSecond rate, BytesPerSecond peak);
  const GpuKernel& kernel() const { return (*programs_)[program_].kernels[kernel_]; }

  BytesPerSecond dram_peak_;
  BytesPerSecond l2_peak_;
  SmPool& sms_;
  const std::vector<GpuProgram>* programs_ = nullptr;
  std::size_t program_ = 0;
  std::size_t kernel_ = 0;
  Ticks launched_ = 0;  // of the kernel at hand
  Ticks kernel_begin_ = 0;
  Ticks memory_ = 0;  // of the kernel at hand, from launched_ to its last byte
  sc_core::sc_event launch_over_;
  sc_core::sc_event kernel_over_;
  std::vector<GpuProgramExecution> executions_;
  std::uint64_t kernels_ = 0;
  ExchangeNetwork* network_ = nullptr;
  int rank_ = 0;
  std::uint32_t exchanges_ = 0;
};

class GpuChip : public sc_core::sc_module {
 public:
  // `link_peak`: of its links to others, one direction; 0: none, as it is alone.
  GpuChip(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec,
          BytesPerSecond link_peak = {});

  GpuStream& stream() { return stream_; }
  GpuLinks& links() { return *links_; }
  Hbm& hbm() { return hbm_; }  // for others to bind to
  const SmPool& sms() const { return sms_; }

 private:
  HbmSpec l2_server_;
  Hbm hbm_;
  Hbm l2_;
  SmPool sms_;
  GpuStream stream_;
  std::unique_ptr<GpuLinks> links_;
};

}  // namespace foretell
