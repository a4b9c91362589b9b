#include "model/components/gpu_chip.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/components/payload_limit.hpp"
#include "model/timing/soft_limits.hpp"

namespace foretell {
namespace {

constexpr double kL2PortBytes = 64;  // of an SM, per cycle

HbmSpec l2_server_of(const GpuDeviceSpec& spec) {
  HbmSpec server;
  server.capacity = spec.l2.capacity;
  server.bandwidth =
      BytesPerSecond(kL2PortBytes * spec.clock.boost.value() * static_cast<double>(spec.sms));
  return server;
}

// Time of two activities that overlap imperfectly; see GpuKernel::overlap.
}  // namespace

GpuStream::GpuStream(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec, SmPool& sms,
                     BytesPerSecond l2_rate)
    : sc_module(name),
      dram("dram"),
      l2("l2"),
      dram_peak_(spec.hbm.bandwidth),
      l2_peak_(l2_rate),
      sms_(sms) {
  SC_METHOD(launch);
  sensitive << launch_over_;
  dont_initialize();
  SC_METHOD(end_of_blocks);
  sensitive << sms.drained;
  dont_initialize();
  SC_METHOD(next);
  sensitive << kernel_over_;
  dont_initialize();
}

void GpuStream::run(const std::vector<GpuProgram>& programs) {
  programs_ = &programs;
  program_ = kernel_ = 0;
  executions_.assign(programs.size(), {});
  if (!programs.empty()) start_launch();
}

void GpuStream::join_through(ExchangeNetwork& network, int rank) {
  network_ = &network;
  rank_ = rank;
}

void GpuStream::start_launch() {
  FORETELL_CHECK(!(*programs_)[program_].kernels.empty(), "a program without kernels");
  FORETELL_CHECK(kernel().exchange.ranks == 0 || network_ != nullptr, "an exchange with nobody");
  kernel_begin_ = now_ticks();
  if (kernel_ == 0) executions_[program_].begin = kernel_begin_;
  launch_over_.notify(to_sc_time(to_ticks(kernel().launch)));
}

void GpuStream::launch() {
  ++kernels_;
  launched_ = now_ticks();
  const Ticks last_byte =
      std::max(transport(dram, kernel().dram_bytes, kernel().dram_rate, dram_peak_),
               transport(l2, kernel().l2_bytes, kernel().l2_rate, l2_peak_));
  memory_ = std::max(last_byte, to_ticks(kernel().memory_latency));
  if (kernel().exchange.ranks > 0) {
    network_->join(rank_, exchanges_++, kernel().exchange, *this);
  } else if (kernel().ctas.empty()) {
    end_kernel_after(0);
  } else {
    sms_.start(kernel());
  }
}

Ticks GpuStream::transport(tlm_utils::simple_initiator_socket<GpuStream>& socket, Bytes bytes,
                           BytesPerSecond rate, BytesPerSecond peak) {
  if (!(bytes > Bytes(0))) return 0;
  FORETELL_CHECK(rate > BytesPerSecond(0), "bytes without a rate");
  sc_core::sc_time delay = to_sc_time(to_ticks(kernel().memory_latency));
  double left = std::max(1.0, std::round(bytes.value() * (peak / rate)));
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  while (left > 0) {
    const double piece = std::min(left, kLargestPayload);
    payload.set_data_length(static_cast<unsigned>(piece));
    sc_core::sc_time until = to_sc_time(to_ticks(kernel().memory_latency));
    socket->b_transport(payload, until);
    delay = until;
    left -= piece;
  }
  return to_ticks(delay);
}

void GpuStream::end_of_blocks() { end_kernel_after(now_ticks() - launched_); }

void GpuStream::end_kernel_after(Ticks compute) {
  const double both =
      overlapped(static_cast<double>(compute), static_cast<double>(memory_), kernel().overlap);
  const double all =
      static_cast<double>(launched_ - kernel_begin_ + to_ticks(kernel().tail)) + both;
  const Ticks end = kernel_begin_ + std::llround(all * kernel().stretch);
  kernel_over_.notify(to_sc_time(std::max<Ticks>(0, end - now_ticks())));
}

void GpuStream::next() {
  if (++kernel_ == (*programs_)[program_].kernels.size()) {
    executions_[program_].end = now_ticks();
    kernel_ = 0;
    ++program_;
  }
  if (program_ < programs_->size()) start_launch();
}

GpuChip::GpuChip(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec,
                 BytesPerSecond link_peak)
    : sc_module(name),
      l2_server_(l2_server_of(spec)),
      hbm_("hbm", spec.hbm),
      l2_("l2", l2_server_),
      sms_("sms", spec.sms),
      stream_("stream", spec, sms_, l2_server_.bandwidth) {
  stream_.dram.bind(hbm_.socket);
  stream_.l2.bind(l2_.socket);
  if (!(link_peak > BytesPerSecond(0))) return;
  links_ = std::make_unique<GpuLinks>("links", link_peak, l2_server_.bandwidth);
  links_->l2.bind(l2_.socket);
}

}  // namespace foretell
