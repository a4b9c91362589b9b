// A foreign memory in the place of ours, for each kind of device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/components/shared/memory.hpp"
#include "model/program/device_streams.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/machine.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/testing/neuron_exemplar.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using namespace literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

// What it was given; of the memory that was made last.
struct Seen {
  int requests = 0;
  std::uint64_t bytes = 0;
  bool valid = true;
};
Seen seen;
std::uint64_t last_address = 0;

// A memory as one finds it elsewhere: a latency for each request and a rate. It serves requests one
// after the other when it has a queue, else at once.
class ForeignMemory final : public Memory {
 public:
  ForeignMemory(const char* name, tlm::tlm_response_status answer, bool answers, bool queues)
      : Memory(name), socket("socket"), answer_(answer), answers_(answers), queues_(queues) {
    socket.register_b_transport(this, &ForeignMemory::b_transport);
    socket.register_nb_transport_fw(this, &ForeignMemory::nb_transport_fw);
  }
  tlm_utils::multi_passthrough_target_socket<ForeignMemory> socket;
  Target& target() override { return socket; }

 private:
  void b_transport(int /*id*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++seen.requests;
    seen.bytes += payload.get_data_length();
    seen.valid = seen.valid && payload.get_data_ptr() != nullptr &&
                 payload.get_streaming_width() >= payload.get_data_length() &&
                 payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE &&
                 payload.get_byte_enable_ptr() == nullptr;
    last_address = payload.get_address();
    if (!answers_) sc_core::wait(delay);  // which no method process may do
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (queues_) delay = std::max(now + delay, free_at_) - now;
    delay += sc_core::sc_time(1.0 + payload.get_data_length() / 100.0, sc_core::SC_NS);
    free_at_ = now + delay;
    payload.set_response_status(answer_);
  }
  tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& /*phase*/, sc_core::sc_time& delay) {
    if (!answers_) return tlm::TLM_ACCEPTED;
    b_transport(id, payload, delay);
    return tlm::TLM_COMPLETED;
  }

  tlm::tlm_response_status answer_;
  bool answers_;
  bool queues_;
  sc_core::sc_time free_at_;
};

void register_foreign() {
  const auto add = [](const char* model, tlm::tlm_response_status answer, bool answers,
                      bool queues = false) {
    register_memory(model, [=](const char* name, const HbmSpec&) {
      return std::make_unique<ForeignMemory>(name, answer, answers, queues);
    });
  };
  add("foreign", tlm::TLM_OK_RESPONSE, true);
  add("queued", tlm::TLM_OK_RESPONSE, true, true);
  add("broken", tlm::TLM_ADDRESS_ERROR_RESPONSE, true);
  add("silent", tlm::TLM_OK_RESPONSE, false);
  seen = {};
}

Program neuron_program() {
  ProgramBuilder builder("loads");
  for (int i = 0; i < 2; ++i) {
    Transfer transfer;
    transfer.descriptors = 16;
    transfer.descriptor_bytes = 65536;
    builder.emit(Ring::kWeights, transfer, {});
  }
  return std::move(builder).finish();
}

Seconds run_neuron(const std::string& model) {
  NeuronSystemSpec system = exemplar_inf2();
  system.device.hbm.model = model;
  return to_seconds(simulate(system, {}, {}, neuron_program()).end);
}

Seconds run_gpu(const std::string& model) {
  ProgramBuilder builder("kernels", gpu_streams(false));
  Grid grid;
  grid.name = "copy";
  add_ctas(grid, 100, Seconds(1e-6));
  grid.dram_bytes = Bytes(8e6);
  grid.dram_rate = BytesPerSecond(0.8e12);
  grid.stages_ahead = 1.4;
  emit_grid(builder, grid, {});
  GpuDeviceSpec device = exemplar_gpu();
  device.hbm.model = model;
  return to_seconds(simulate(GpuMachine{device}, std::move(builder).finish()).end);
}

// Two copies of 4 MB, in one stream or in two.
constexpr double kCopied = 4e6;

Execution run_copies(const std::string& model, int streams) {
  std::vector<Stream> empty;
  for (int s = 0; s < streams; ++s)
    empty.push_back({"stream" + std::to_string(s), std::vector<Grid>{}});
  ProgramBuilder builder("copies", empty);
  Grid copy;
  copy.name = "copy";
  copy.dram_bytes = Bytes(kCopied);
  copy.dram_rate = BytesPerSecond(1e12);
  for (int c = 0; c < 2; ++c) builder.emit_to(static_cast<std::size_t>(c % streams), copy, {});
  GpuDeviceSpec device = exemplar_gpu();
  device.hbm.model = model;
  device.hbm.standard = "hbm3";
  device.hbm.stacks = 2;
  return simulate(GpuMachine{device}, std::move(builder).finish());
}

double copies_us(const std::string& model, int streams) {
  return to_seconds(run_copies(model, streams).end).value() * 1e6;
}

Seconds run_cpu(const std::string& model) {
  CpuSystemSpec system = CpuCatalog().load("c7a.2xlarge").spec;
  system.device.dram.model = model;
  Loop loop;
  loop.name = "sum";
  loop.threads = 4;
  loop.core_dram = BytesPerSecond(12e9);
  loop.dram = dram_bandwidth(system);
  loop.chunks = {{64, Seconds(1e-6), Seconds(0), Bytes(1e5)}};
  ProgramBuilder builder("loops", cpu_streams());
  builder.emit_to(kLoopStream, loop, {});
  return to_seconds(simulate(CpuMachine{system}, std::move(builder).finish()).end);
}

struct Device {
  const char* name;
  Seconds (*run)(const std::string& model);
  std::uint64_t bytes;
  const char* entry;
  const char* module;
  const char* key;
};

class ForeignMemoryTest : public testing::TestWithParam<Device> {
 protected:
  ForeignMemoryTest() { register_foreign(); }
  std::string message(const std::string& model) {
    try {
      GetParam().run(model);
    } catch (const UserError& error) {
      return error.what();
    }
    return "ran";
  }
};

TEST_P(ForeignMemoryTest, TakesThePlaceOfOurs) {
  const Seconds ours = GetParam().run("");
  EXPECT_EQ(GetParam().run("rate"), ours);
  EXPECT_EQ(seen.requests, 0);
  const Seconds theirs = GetParam().run("foreign");
  EXPECT_GT(seen.requests, 0);
  EXPECT_EQ(seen.bytes, GetParam().bytes);
  EXPECT_TRUE(seen.valid);
  EXPECT_GT(last_address, 0U);
  EXPECT_NE(theirs, ours);
  EXPECT_EQ(GetParam().run("foreign"), theirs);
}

TEST_P(ForeignMemoryTest, AnErrorNamesTheEntryTheModuleAndTheKey) {
  EXPECT_THAT(message("broken"),
              AllOf(HasSubstr(GetParam().entry), HasSubstr(GetParam().module),
                    HasSubstr(GetParam().key), HasSubstr("TLM_ADDRESS_ERROR_RESPONSE")));
  EXPECT_GT(GetParam().run(""), Seconds(0));  // the next simulation is not harmed
}

TEST_P(ForeignMemoryTest, NoAnswerNamesTheEntryTheModuleAndTheKey) {
  EXPECT_THAT(message("silent"), AllOf(HasSubstr(GetParam().entry), HasSubstr(GetParam().module),
                                       HasSubstr(GetParam().key), HasSubstr("not answer")));
  EXPECT_GT(GetParam().run(""), Seconds(0));
}

TEST_P(ForeignMemoryTest, AnUnknownOneNamesTheKeyAndThoseThatThereAre) {
  EXPECT_THAT(message("fast"),
              AllOf(HasSubstr(std::string(GetParam().key) + ": 'fast'"), HasSubstr("rate, banks")));
}

INSTANTIATE_TEST_SUITE_P(
    Devices, ForeignMemoryTest,
    testing::Values(Device{"neuron", run_neuron, 2U * 16U * 65536U, "dma weights[0]",
                           "core0.dma.hbm", "device.hbm.model"},
                    Device{"gpu", run_gpu, 8000000U, "[0]", "dram", "device.hbm.model"},
                    Device{"cpu", run_cpu, 6400000U, "[0]", "memory", "device.dram.model"}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

TEST(Banks, AreSlowerThanThePeakAndSayWhereTheRestWent) {
  NeuronSystemSpec system = exemplar_inf2();
  system.device.hbm.bandwidth = BytesPerSecond(50e9);
  const Seconds rate = to_seconds(simulate(system, {}, {}, neuron_program()).end);
  system.device.hbm.model = "banks";
  system.device.hbm.standard = "hbm2";
  system.device.hbm.stacks = 2;
  const Execution banks = simulate(system, {}, {}, neuron_program());
  EXPECT_GT(to_seconds(banks.end), rate);
  Seconds refresh(0);
  Seconds transfers(0);
  for (const ModuleActivity& module : banks.modules) {
    if (module.path == "chip0.hbm.refresh") refresh = module.busy;
    if (module.path == "chip0.hbm.transfers") transfers = module.busy;
  }
  EXPECT_GT(refresh, transfers * 0.05);
  EXPECT_NEAR(transfers.value(), 2 * 16 * 65536 / 50e9, 1e-9);
}

TEST(SeveralStreams, AreServedByWhateverMemoryStandsThere) {
  register_foreign();
  EXPECT_NEAR(copies_us("", 1), 8, 1e-3);
  EXPECT_NEAR(copies_us("", 2), 8, 1e-3);
  // 100 GB/s, one request after the other.
  EXPECT_NEAR(copies_us("queued", 1), 80, 0.01);
  EXPECT_NEAR(copies_us("queued", 2), 80, 0.01);
  // The same rate for each of two requests at once.
  EXPECT_NEAR(copies_us("foreign", 1), 80, 0.01);
  EXPECT_NEAR(copies_us("foreign", 2), 40, 0.01);
  EXPECT_EQ(seen.bytes, 2U * 2U * 2U * static_cast<unsigned>(kCopied));
}

TEST(SeveralStreams, BanksSlowThemDownAsOne) {
  const double rate = copies_us("", 2);
  const double one = copies_us("banks", 1);
  const double two = copies_us("banks", 2);
  EXPECT_GT(one, rate * 1.001);
  EXPECT_NEAR(two, one, 0.01 * one);
  const Execution execution = run_copies("banks", 2);
  EXPECT_EQ(execution.hbm_read, 2U * static_cast<unsigned>(kCopied));
}

TEST(SeveralStreams, AnAnswerThatIsAnErrorOrMissingNamesTheStreamThatAsked) {
  register_foreign();
  for (const char* model : {"broken", "silent"}) {
    EXPECT_THAT(message_of<UserError>([&] { run_copies(model, 2); }),
                AllOf(HasSubstr("[0] copy: the memory at"), HasSubstr("gpu0.sms.dram"),
                      HasSubstr("device.hbm.model")));
  }
}

TEST(Banks, WithoutTimingsNameTheModuleAndTheKeys) {
  GpuDeviceSpec device = exemplar_gpu();
  device.hbm.model = "banks";
  ProgramBuilder builder("none", gpu_streams(false));
  Grid grid;
  add_ctas(grid, 1, Seconds(1e-6));
  emit_grid(builder, grid, {});
  const Program program = std::move(builder).finish();
  const auto message = [&] {
    return message_of<UserError>([&] { simulate(GpuMachine{device}, program); });
  };
  EXPECT_THAT(message(), AllOf(HasSubstr("memory gpu0."), HasSubstr("device.hbm.standard"),
                               HasSubstr("device.hbm.model")));
  device.hbm.standard = "hbm3";
  EXPECT_THAT(message(), AllOf(HasSubstr("memory gpu0."), HasSubstr("device.hbm.stacks")));
}

TEST(Banks, AreRefusedForDimmsWithTheKey) {
  EXPECT_THAT(message_of<UserError>([] { run_cpu("banks"); }),
              AllOf(HasSubstr("device.dram.model"), HasSubstr("'rate'")));
}

}  // namespace
}  // namespace foretell
