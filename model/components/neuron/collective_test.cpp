// Links, the turns that memory gives to its initiators, and the queue of collectives of a core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/components/neuron/collective_queue.hpp"
#include "model/components/neuron/lockstep_network.hpp"
#include "model/components/neuron/neuron_link.hpp"
#include "model/components/shared/core_test_bench.hpp"
#include "model/components/shared/memory_server.hpp"

namespace foretell {
namespace {

using namespace literals;

// Runs what it is given at the time it is given, inside a simulation.
class At : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(At);
  At(const sc_core::sc_module_name& name, std::function<void()> what) : sc_module(name) {
    what_ = std::move(what);
    SC_METHOD(run);
  }

 private:
  void run() { what_(); }
  std::function<void()> what_;
};

// --- Links ---------------------------------------------------------------------------------------

// Notes when packets arrive at the other end of a link.
class LinkEnd : public sc_core::sc_module {
 public:
  explicit LinkEnd(const sc_core::sc_module_name& name) : sc_module(name), in("in"), out("out") {
    in.register_b_transport(this, &LinkEnd::b_transport);
  }

  void send(unsigned bytes, Ticks pace) {
    std::vector<unsigned char> data(bytes);
    CollectivePacket packet;
    packet.pace = pace;
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(data.data());
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_extension(&packet);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->b_transport(payload, delay);
    payload.clear_extension(&packet);
  }

  struct Arrival {
    Ticks first_byte;
    Ticks pace;
    Ticks queued;
  };
  std::vector<Arrival> arrivals;
  tlm_utils::simple_target_socket<LinkEnd> in;
  tlm_utils::simple_initiator_socket<LinkEnd> out;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto* packet = payload.get_extension<CollectivePacket>();
    arrivals.push_back({now_ticks() + to_ticks(delay), packet->pace, packet->queued});
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

TEST(NeuronLink, PacketsFollowEachOtherAtTheRateOfTheLink) {
  SimulationContext context;
  const LinkSpec spec{2, 100.0_GBps, 1.5_us, 100.0_ns};
  NeuronLink link("link", spec);
  LinkEnd end("end");
  end.out.bind(link.in);
  link.out.bind(end.in);
  const At start("start", [&] {
    end.send(10000, 0);  // 100 ns on the link
    end.send(10000, to_ticks(190.0_ns));
    end.send(5000, 0);
  });
  context.run();
  ASSERT_EQ(end.arrivals.size(), 3U);
  EXPECT_EQ(end.arrivals[0].first_byte, to_ticks(100.0_ns));  // the latency
  EXPECT_EQ(end.arrivals[0].pace, to_ticks(100.0_ns));        // not faster than the link
  EXPECT_EQ(end.arrivals[0].queued, 0);
  EXPECT_EQ(end.arrivals[1].first_byte, to_ticks(200.0_ns));
  EXPECT_EQ(end.arrivals[1].pace, to_ticks(190.0_ns));  // nor than its sender
  EXPECT_EQ(end.arrivals[1].queued, to_ticks(100.0_ns));
  // A slow sender leaves room between its bytes: the link is taken for 100 ns, not for 190.
  EXPECT_EQ(end.arrivals[2].first_byte, to_ticks(300.0_ns));
  EXPECT_EQ(link.bytes(), 25000U);
  EXPECT_EQ(link.busy(), to_ticks(250.0_ns));
}

// --- Turns at the memory -------------------------------------------------------------------------

class Initiator : public sc_core::sc_module {
 public:
  explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name), out("out") {}

  // Returns when the last byte has passed.
  Ticks access(unsigned bytes) {
    std::vector<unsigned char> data(bytes);
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(data.data());
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    out->b_transport(payload, delay);
    return now_ticks() + to_ticks(delay);
  }
  tlm_utils::simple_initiator_socket<Initiator> out;
};

TEST(MemoryServer, AShortAccessDoesNotWaitForALongOneOfAnother) {
  SimulationContext context;
  MemoryServer hbm("hbm", {32_GiB, 100.0_GBps, 0.0_ns, "", "", 0});
  Initiator first("first");
  Initiator second("second");
  first.out.bind(hbm.socket);
  second.out.bind(hbm.socket);
  std::vector<Ticks> ends;
  const At start("start", [&] {
    ends.push_back(first.access(1000000));  // 10 us
    ends.push_back(second.access(1000));    // 10 ns, taking turns with the other one
    ends.push_back(second.access(1000));
    ends.push_back(first.access(1000));
  });
  context.run();
  EXPECT_EQ(ends[0], to_ticks(10.0_us));
  EXPECT_EQ(ends[1], to_ticks(20.0_ns));
  EXPECT_EQ(ends[2], to_ticks(40.0_ns));
  // What the second took comes out of what the first gets next: 10 us + 20 ns, and 10 ns more.
  EXPECT_EQ(ends[3], to_ticks(10.03_us));
  EXPECT_EQ(hbm.busy(), to_ticks(10.03_us));
}

TEST(MemoryServer, EqualInitiatorsGetEqualShares) {
  SimulationContext context;
  MemoryServer hbm("hbm", {32_GiB, 100.0_GBps, 0.0_ns, "", "", 0});
  std::vector<std::unique_ptr<Initiator>> all;
  for (const char* name : {"a", "b", "c", "d"}) {
    all.push_back(std::make_unique<Initiator>(name));
    all.back()->out.bind(hbm.socket);
  }
  std::vector<Ticks> last(all.size());
  const At start("start", [&] {
    for (int round = 0; round < 50; ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) last[i] = all[i]->access(1000);
    }
  });
  context.run();
  for (const Ticks end : last) {
    EXPECT_NEAR(static_cast<double>(end), static_cast<double>(to_ticks(2.0_us)),
                static_cast<double>(to_ticks(40.0_ns)));
  }
}

// Asks again as soon as it has been served, `left` times, for bytes of its own size.
class Reader : public Initiator {
 public:
  SC_HAS_PROCESS(Reader);
  Reader(const sc_core::sc_module_name& name, unsigned bytes, int times, Ticks begin)
      : Initiator(name), bytes_(bytes), left_(times) {
    SC_METHOD(read);
    sensitive << next_;
    dont_initialize();
    next_.notify(to_sc_time(begin));
  }
  Ticks last_end = 0;

 private:
  void read() {
    last_end = access(bytes_);
    if (--left_ > 0) next_.notify(to_sc_time(last_end - now_ticks()));
  }
  unsigned bytes_;
  int left_;
  sc_core::sc_event next_;
};

// However many initiators ask, whatever they ask for and whenever: the memory neither rests while
// one waits nor serves more than its rate.
TEST(MemoryServer, WorksAtItsRateAsLongAsAnInitiatorWaits) {
  for (const std::size_t count : {2U, 3U, 4U, 8U}) {
    SimulationContext context;
    MemoryServer hbm("hbm", {32_GiB, 100.0_GBps, 0.0_ns, "", "", 0});
    std::vector<std::unique_ptr<Reader>> all;
    for (std::size_t i = 0; i < count; ++i) {
      const auto bytes = static_cast<unsigned>(1000 + 700 * (i % 3));
      const std::string name = "reader" + std::to_string(i);
      all.push_back(std::make_unique<Reader>(name.c_str(), bytes, 400000 / static_cast<int>(bytes),
                                             to_ticks(3.0_ns) * static_cast<Ticks>(i)));
      all.back()->out.bind(hbm.socket);
    }
    context.run();
    Ticks last = 0;
    for (const auto& reader : all) last = std::max(last, reader->last_end);
    EXPECT_LE(last, hbm.busy()) << count;
    EXPECT_NEAR(static_cast<double>(last) / static_cast<double>(hbm.busy()), 1, 0.01) << count;
  }
}

// --- The queue of a core -------------------------------------------------------------------------

// Every collective takes 1 us.
class OneMicrosecond : public sc_core::sc_module, public CollectiveNetwork {
 public:
  SC_HAS_PROCESS(OneMicrosecond);
  explicit OneMicrosecond(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_METHOD(end);
    sensitive << due_;
    dont_initialize();
  }
  void join(int /*rank*/, std::uint32_t index, const Collective& /*collective*/,
            CollectiveMember& member) override {
    joined.push_back(index);
    member_ = &member;
    due_.notify(to_sc_time(to_ticks(1.0_us)));
  }
  std::vector<std::uint32_t> joined;

 private:
  void end() { member_->collective_done(); }
  CollectiveMember* member_ = nullptr;
  sc_core::sc_event due_;
};

TEST(CollectiveQueue, CollectivesRunInOrderAndOneAtATime) {
  ProgramBuilder builder("queue");
  Collective collective;
  collective.bytes = 8;
  const Deps late =
      builder.emit(Engine::kScalar, lane(Opcode::kActivate, 14000 - 60), {});  // 10 us
  builder.emit(collective, {});
  builder.emit(collective, late);
  builder.emit(collective, {});  // ready at once, after one that is not
  const Deps last = builder.emit(collective, {});
  builder.emit(Engine::kVector, lane(Opcode::kTensorCopy, 512, kReadsSbuf), last);
  const Program program = std::move(builder).finish();

  SimulationContext context;
  OneMicrosecond network("network");
  NeuronCoreScaling scaling;
  scaling.semaphore_latency = to_ticks(50.0_ns);
  const NeuronDeviceSpec device = exemplar_inf2().device;  // outlives the chip
  NeuronChip chip("chip0", device, scaling, program, 1, Seconds(0), &network);
  context.run();
  ASSERT_TRUE(chip.core(0).finished());
  EXPECT_THAT(network.joined, ::testing::ElementsAre(0, 1, 2, 3));
  const ProgramExecution& core = chip.core(0).execution();
  const std::vector<EntryTimes>& ran = core.entries[kCollectiveQueue];
  EXPECT_EQ(ran[0].begin, 0);
  EXPECT_EQ(ran[0].end, to_ticks(1.0_us));
  EXPECT_EQ(ran[1].begin,
            core.entries[static_cast<std::size_t>(Engine::kScalar)][0].end + to_ticks(50.0_ns));
  EXPECT_EQ(ran[1].cause.queue, static_cast<std::int32_t>(Engine::kScalar));
  EXPECT_EQ(ran[2].begin, ran[1].end);
  EXPECT_EQ(ran[2].cause.queue, kCollectiveQueue);
  EXPECT_EQ(ran[2].cause.index, 1U);
  EXPECT_EQ(ran[3].begin, ran[2].end);
  const EntryTimes& reader = core.entries[static_cast<std::size_t>(Engine::kVector)][0];
  EXPECT_EQ(reader.begin, ran[3].end + to_ticks(50.0_ns));
  EXPECT_EQ(reader.cause.queue, kCollectiveQueue);
  EXPECT_EQ(core.busy[kCollectiveQueue], to_ticks(4.0_us));
}

// --- Lock step -----------------------------------------------------------------------------------

TEST(LockstepNetwork, TakesTheKnownTimeAndPassesItsTrafficThroughTheMemory) {
  for (const std::uint64_t bytes : {10ULL, 1000003ULL, 300000007ULL}) {
    SimulationContext context;
    const CollectiveCostTable costs = {
        {{CollectiveKind::kAllReduce, 1000}, {to_ticks(5000.0_us), bytes, bytes / 2}}};
    LockstepNetwork network("network", costs);
    MemoryServer hbm("hbm", {32_GiB, 820.0_GBps, 150.0_ns, "", "", 0});
    network.hbm.bind(hbm.socket);
    struct Member final : CollectiveMember {
      void collective_done() override { done = now_ticks(); }
      Ticks done = -1;
    } member;
    Collective collective;
    collective.bytes = 1000;
    const At start("start", [&] { network.join(0, 0, collective, member); });
    context.run();
    EXPECT_EQ(member.done, to_ticks(5000.0_us));
    EXPECT_EQ(hbm.read_bytes(), bytes);
    EXPECT_EQ(hbm.written_bytes(), bytes / 2);
  }
}

}  // namespace
}  // namespace foretell
