// What exchanges between GPUs have to obey: alone on the links they take the closed form of the
// collective library, bytes are conserved, lock step changes nothing, and traffic of others delays
// them by what it takes.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/components/gpu/gpu_node.hpp"
#include "model/components/shared/simulation_context.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/gpu_run.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {
namespace {

const GpuDeviceSpec& h100() {
  static const GpuDeviceSpec kDevice = GpuCatalog().load("h100-sxm").spec.device;
  return kDevice;
}

LinkFactors links() {
  LinkFactors factors = exemplar_link_factors();
  factors.switch_reduce = 0.7;
  return factors;
}

Grid kernel_of(const LinkExchange& exchange) {
  Grid kernel;
  kernel.launch = links().launch;
  kernel.exchange = exchange;
  return kernel;
}

// Every collective and protocol at a few sizes, with the time that the closed form gives.
struct ExchangeCase {
  LinkExchange exchange;
  Seconds time;
};

std::vector<ExchangeCase> cases() {
  std::vector<ExchangeCase> all;
  for (const double bytes : {512.0, 65536.0, 3e6, 2e9}) {
    for (const int ranks : {2, 4, 8}) {
      for (const GpuCollective op :
           {GpuCollective::kAllReduce, GpuCollective::kAllGather, GpuCollective::kReduceScatter,
            GpuCollective::kAllToAll, GpuCollective::kSend}) {
        const GpuCollectiveShape shape{op, ranks, Bytes(bytes)};
        const GpuCollectiveTime nccl = nccl_time(h100(), links(), shape);
        all.push_back({nccl_exchange(h100(), links(), shape, nccl.protocol), nccl.time});
        if (op != GpuCollective::kAllReduce || bytes > 4e6) continue;
        const GpuCollectiveTime custom = custom_time(h100(), links(), shape);
        all.push_back({custom_exchange(h100(), links(), shape, custom.protocol), custom.time});
      }
    }
  }
  return all;
}

TEST(GpuExchangeLaws, AloneOnTheLinksItTakesTheClosedForm) {
  std::vector<GridSequence> programs;
  for (const ExchangeCase& one : cases()) programs.push_back({{kernel_of(one.exchange)}});
  const std::vector<Seconds> times = simulate_gpu(h100(), programs);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(times[i] / cases()[i].time, 1, 1e-5) << i;
    const ExchangeTime parts = exchange_time(cases()[i].exchange);
    EXPECT_NEAR((links().launch + parts.latency + parts.moving) / cases()[i].time, 1, 1e-9) << i;
  }
}

TEST(GpuExchangeLaws, EveryByteThatLeavesAGpuArrivesAtAnother) {
  for (const ExchangeCase& one : cases()) {
    const GpuNodeExecution run = simulate_gpus(h100(), {{{kernel_of(one.exchange)}}}, true);
    ASSERT_EQ(run.links.size(), static_cast<std::size_t>(one.exchange.ranks));
    for (const GpuLinkTraffic& gpu : run.links) {
      EXPECT_EQ(gpu.sent, gpu.received);
      EXPECT_NEAR(static_cast<double>(gpu.sent), sent_bytes(one.exchange).value(), 64);
    }
  }
}

TEST(GpuExchangeLaws, EveryGpuByItselfTakesWhatLockStepTakes) {
  Grid between;
  between.launch = Seconds(2e-6);
  add_ctas(between, 500, Seconds(7e-6));
  std::vector<GridSequence> programs;
  for (const ExchangeCase& one : cases()) {
    if (one.exchange.ranks == 4) programs.push_back({{between, kernel_of(one.exchange)}});
  }
  const GpuNodeExecution lock_step = simulate_gpus(h100(), programs, true);
  const GpuNodeExecution all = simulate_gpus(h100(), programs, false);
  EXPECT_EQ(lock_step.times, all.times);
}

// Another sends to the second GPU from the start.
class Stranger : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Stranger);
  Stranger(const sc_core::sc_module_name& name, std::uint32_t bytes) : sc_module(name), out("out") {
    payload_.set_command(tlm::TLM_WRITE_COMMAND);
    payload_.set_data_length(bytes);
    out.register_nb_transport_bw(this, &Stranger::done);
    SC_METHOD(send);
  }
  tlm_utils::simple_initiator_socket<Stranger> out;

 private:
  void send() {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->nb_transport_fw(payload_, phase, delay);
  }
  tlm::tlm_sync_enum done(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_generic_payload payload_;
};

TEST(GpuExchangeLaws, TrafficOfOthersOnALinkDelaysItByWhatItTakes) {
  const BytesPerSecond peak(100e9);
  LinkExchange exchange = plain_exchange(peak, Seconds(0), {GpuCollective::kSend, 2, Bytes(1e9)});
  const Program program = grids_in_order({kernel_of(exchange)});
  const Program idle;
  const double alone = links().launch.value() + 1e9 / 100e9;
  SimulationContext context;
  GpuNode node("node", h100(), 2, {peak, {}}, program, idle, true, false);
  Stranger stranger("stranger", 500'000'000);
  stranger.out.bind(node.gpu(1).links().incoming().socket);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  sc_core::sc_spawn([&node] { node.gpu(0).start(); }, "start", &options);
  context.run();
  const EntryTimes& run = node.gpu(0).execution().entries[kGpuCollectives].front();
  const double head_start = links().launch.value();  // that the stranger has
  EXPECT_NEAR(to_seconds(run.end - run.begin).value(), alone + 0.5e9 / 100e9 - head_start, 1e-9);
}

TEST(GpuExchangeLaws, MoreBytesAndSlowerLinksAreNeverFaster) {
  std::vector<GridSequence> programs;
  for (double bytes = 1024; bytes < 1e9; bytes *= 3) {
    const GpuCollectiveShape shape{GpuCollective::kAllReduce, 8, Bytes(bytes)};
    const GpuProtocol protocol = nccl_time(h100(), links(), shape).protocol;
    programs.push_back({{kernel_of(nccl_exchange(h100(), links(), shape, protocol))}});
  }
  const std::vector<Seconds> times = simulate_gpu(h100(), programs);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  for (GridSequence& program : programs) {
    for (LinkRound& round : program.kernels[0].exchange.rounds) round.links.rate *= 0.5;
  }
  const std::vector<Seconds> slower = simulate_gpu(h100(), programs);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_GT(slower[i], times[i]);
}

}  // namespace
}  // namespace foretell
