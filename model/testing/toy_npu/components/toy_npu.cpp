#include "model/testing/toy_npu/components/toy_npu.hpp"

#include <tlm_utils/simple_initiator_socket.h>

#include <limits>
#include <memory>
#include <systemc>

#include "model/components/shared/in_order_stream.hpp"
#include "model/components/shared/memory_server.hpp"
#include "model/components/shared/stream_registry.hpp"
#include "model/system/machine.hpp"
#include "model/testing/toy_npu/timing/toy_timing.hpp"

namespace foretell {
namespace {

// A column per cycle.
class ToyArray final : public InOrderStream {
 public:
  SC_HAS_PROCESS(ToyArray);
  ToyArray(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& all,
           const ToyArraySpec& array)
      : InOrderStream(name, stream, all),
        queue_(all.program.entries<Instruction>(stream)),
        array_(array) {
    SC_METHOD(finish);
    sensitive << over_;
    dont_initialize();
  }

 private:
  void begin_entry(std::size_t index) override {
    over_.notify(to_sc_time(to_ticks(toy_array_time(array_, queue_[index].n))));
  }
  void finish() { end_entry(); }

  const std::vector<Instruction>& queue_;
  const ToyArraySpec& array_;
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
  ToyNpu(const sc_core::sc_module_name& name, const ToyNpuSpec& spec, const Program& program,
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
    return std::make_unique<ToyArray>("array", stream, shared(), spec_.array);
  }
  std::unique_ptr<StreamModule> make_dma(std::size_t stream) {
    auto dma = std::make_unique<ToyDma>("dma", stream, shared());
    dma->memory.bind(hbm_.socket);
    return dma;
  }

 private:
  const ToyNpuSpec& spec_;
  MemoryServer hbm_;
};

const std::vector<StreamRow>& toy_rows() {
  static const std::vector<StreamRow> kRows = {
      {"toy NPU", StreamKind::kInstructions,
       [](Executor& npu, std::size_t stream) {
         return static_cast<ToyNpu&>(npu).make_array(stream);
       }},
      {"toy NPU", StreamKind::kTransfers,
       [](Executor& npu, std::size_t stream) {
         return static_cast<ToyNpu&>(npu).make_dma(stream);
       }},
  };
  return kRows;
}

class ToyMachine final : public Machine {
 public:
  ToyMachine(const ToyNpuSpec& spec, const Program& program)
      : npu_("npu0", spec, program, toy_rows()) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    sc_core::sc_spawn([this] { npu_.start(); }, "start", &options);
  }
  std::vector<Executor*> executors() override { return {&npu_}; }
  std::string path_of(std::size_t /*executor*/) const override { return "npu0."; }

 private:
  ToyNpu npu_;
};

}  // namespace

ProgramLimits toy_limits(const ToyNpuSpec& spec) {
  ProgramLimits limits;
  limits.moving_columns = std::numeric_limits<std::uint32_t>::max();
  limits.hbm_bytes = static_cast<std::uint64_t>(spec.hbm.capacity.value());
  return limits;
}

Execution simulate_toy(const ToyNpuSpec& spec, const Program& program) {
  validate(program, toy_limits(spec));
  return run_on_machine(program, [&] { return std::make_unique<ToyMachine>(spec, program); });
}

}  // namespace foretell
