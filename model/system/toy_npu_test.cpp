// A new kind of device takes an executor with its modules, a machine, and its rows of the registry;
// running it, deadlocks, times, critical path and timeline are there already.
//
// The toy: one array, one DMA engine that fills its SRAM, and an HBM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <sstream>

#include "model/base/errors.hpp"
#include "model/components/shared/hbm.hpp"
#include "model/components/shared/in_order_stream.hpp"
#include "model/components/shared/stream_registry.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/critical_path.hpp"
#include "model/system/machine.hpp"
#include "model/system/testing/trace_check.hpp"
#include "model/system/trace.hpp"

namespace foretell {
namespace {

using namespace literals;

struct ToySpec {
  Hertz clock{1e9};
  HbmSpec hbm;
};

// A column per cycle.
class ToyArray final : public InOrderStream {
 public:
  SC_HAS_PROCESS(ToyArray);
  ToyArray(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& all, Hertz clock)
      : InOrderStream(name, stream, all),
        queue_(all.program.entries<Instruction>(stream)),
        clock_(clock) {
    SC_METHOD(finish);
    sensitive << over_;
    dont_initialize();
  }

 private:
  void begin_entry(std::size_t index) override {
    over_.notify(to_sc_time(to_ticks(Seconds(queue_[index].n / clock_.value()))));
  }
  void finish() { end_entry(); }

  const std::vector<Instruction>& queue_;
  Hertz clock_;
  sc_core::sc_event over_;
};

class ToyDma final : public InOrderStream {
 public:
  SC_HAS_PROCESS(ToyDma);
  ToyDma(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& all)
      : InOrderStream(name, stream, all),
        memory("memory"),
        queue_(all.program.entries<Transfer>(stream)) {
    SC_METHOD(finish);
    sensitive << over_;
    dont_initialize();
  }
  tlm_utils::simple_initiator_socket<ToyDma> memory;

 private:
  void begin_entry(std::size_t index) override {
    tlm::tlm_generic_payload payload;
    data_.resize(queue_[index].bytes());
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(data_.data());
    payload.set_data_length(static_cast<unsigned>(data_.size()));
    payload.set_streaming_width(static_cast<unsigned>(data_.size()));
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    memory->b_transport(payload, delay);
    over_.notify(delay);
  }
  void finish() { end_entry(); }

  const std::vector<Transfer>& queue_;
  std::vector<unsigned char> data_;
  sc_core::sc_event over_;
};

class ToyNpu final : public Executor {
 public:
  ToyNpu(const sc_core::sc_module_name& name, const ToySpec& spec, const Program& program,
         const std::vector<StreamRow>& rows)
      : Executor(name, program, 0), spec_(spec), hbm_("hbm", spec.hbm) {
    attach_modules(*this, rows);
  }
  const char* kind() const override { return "toy NPU"; }
  void add_activity(const std::string& prefix,
                    std::vector<ModuleActivity>& modules) const override {
    for (std::size_t s = 0; s < program().streams.size(); ++s) {
      modules.push_back({prefix + program().streams[s].name, to_seconds(execution().busy[s]),
                         to_seconds(execution().stalled[s]), 0});
    }
    modules.push_back({prefix + "hbm", to_seconds(hbm_.busy()), Seconds(0),
                       static_cast<double>(hbm_.read_bytes())});
  }
  std::unique_ptr<StreamModule> make_array(std::size_t stream) {
    return std::make_unique<ToyArray>("array", stream, shared(), spec_.clock);
  }
  std::unique_ptr<StreamModule> make_dma(std::size_t stream) {
    auto dma = std::make_unique<ToyDma>("dma", stream, shared());
    dma->memory.bind(hbm_.socket);
    return dma;
  }

 private:
  const ToySpec& spec_;
  Hbm hbm_;
};

// The rows that the toy adds.
std::vector<StreamRow> with_toy() {
  std::vector<StreamRow> rows = stream_registry();
  rows.push_back({"toy NPU", StreamKind::kInstructions, [](Executor& npu, std::size_t stream) {
                    return static_cast<ToyNpu&>(npu).make_array(stream);
                  }});
  rows.push_back({"toy NPU", StreamKind::kTransfers, [](Executor& npu, std::size_t stream) {
                    return static_cast<ToyNpu&>(npu).make_dma(stream);
                  }});
  return rows;
}

class ToyMachine final : public Machine {
 public:
  ToyMachine(const ToySpec& spec, const Program& program)
      : rows_(with_toy()), npu_("npu0", spec, program, rows_) {
    sc_core::sc_spawn([this] { npu_.start(); });
  }
  std::vector<const Executor*> executors() const override { return {&npu_}; }
  std::string path_of(std::size_t /*executor*/) const override { return "npu0."; }

 private:
  std::vector<StreamRow> rows_;
  ToyNpu npu_;
};

ToySpec toy() {
  ToySpec spec;
  spec.hbm.bandwidth = BytesPerSecond(100e9);
  return spec;
}

constexpr std::size_t kArrayStream = 0;
constexpr std::size_t kDmaStream = 1;
constexpr int kTiles = 10;

// Tiles of 100 kB that take 1 us to load, two at a time in the SRAM, and `columns` ns to multiply.
Program tiles(std::uint32_t columns) {
  ProgramBuilder builder("tiles",
                         {{"array", std::vector<Instruction>{}}, {"dma", std::vector<Transfer>{}}});
  builder.begin_operator("product");
  std::vector<Deps> done;
  for (int tile = 0; tile < kTiles; ++tile) {
    Transfer load;
    load.descriptors = 100;
    load.descriptor_bytes = 1000;
    const Deps free = tile < 2 ? Deps{} : done[static_cast<std::size_t>(tile - 2)];
    const Deps loaded = builder.emit_to(kDmaStream, load, free);
    Instruction multiply;
    multiply.opcode = Opcode::kMultiplyMoving;
    multiply.n = columns;
    done.push_back(builder.emit_to(kArrayStream, multiply, loaded));
  }
  return std::move(builder).finish();
}

Execution run_toy(const Program& program) {
  const ToySpec spec = toy();
  return run_on_machine(program, [&] { return std::make_unique<ToyMachine>(spec, program); });
}

TEST(ToyNpu, LoadsAndProductsOverlapAndTheSlowerOfThemIsCritical) {
  for (const std::uint32_t columns : {400U, 3000U}) {
    const Program program = tiles(columns);
    const Execution execution = run_toy(program);
    const double load = 1e-6;
    const double multiply = columns * 1e-9;
    const double expected = load + multiply + (kTiles - 1) * std::max(load, multiply);
    EXPECT_NEAR(to_seconds(execution.end).value(), expected, 1e-12) << columns;
    const CriticalPath path = critical_path(program, execution.cores.front());
    EXPECT_EQ(to_string(largest(path.total)), multiply > load ? "tensor engine" : "dma");
    Ticks sum = 0;
    for (const Ticks time : path.total) sum += time;
    EXPECT_EQ(sum, execution.end);
  }
}

TEST(ToyNpu, ModulesAndTimelineShowIt) {
  const Program program = tiles(400);
  const Execution execution = run_toy(program);
  ASSERT_EQ(execution.modules.size(), 3U);
  EXPECT_EQ(execution.modules[0].path, "npu0.array");
  EXPECT_NEAR(execution.modules[0].busy.value(), kTiles * 400e-9, 1e-15);
  EXPECT_EQ(execution.modules[2].bytes, kTiles * 1e5);
  std::ostringstream out;
  const TraceDetails details;
  write_trace(out, {{"", program, execution, details}});
  const TraceCheck trace(out.str());
  EXPECT_THAT(trace.faults(), ::testing::IsEmpty());
  EXPECT_THAT(trace.threads(), ::testing::IsSupersetOf({"array", "dma dma"}));
}

TEST(ToyNpu, WithoutItsRowsTheStreamIsRefused) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "errors of elaboration cross a stack of SystemC that the sanitizer does not know";
#endif
  const Program program = tiles(400);
  const ToySpec spec = toy();
  const auto elaborate = [&]() -> std::unique_ptr<Machine> {
    struct Bare final : Machine {
      Bare(const ToySpec& of, const Program& what) : npu("npu0", of, what, stream_registry()) {}
      std::vector<const Executor*> executors() const override { return {&npu}; }
      std::string path_of(std::size_t /*executor*/) const override { return ""; }
      ToyNpu npu;
    };
    return std::make_unique<Bare>(spec, program);
  };
  EXPECT_THROW(run_on_machine(program, elaborate), UserError);
}

}  // namespace
}  // namespace foretell
