#include "model/components/shared/stream_registry.hpp"

#include <algorithm>
#include <string>
#include <systemc>

#include "model/base/errors.hpp"
#include "model/components/cpu/cpu_chip.hpp"
#include "model/components/gpu/gpu_chip.hpp"
#include "model/components/neuron/neuron_core.hpp"
#include "model/components/shared/in_order_stream.hpp"

namespace foretell {
namespace {

// The host of a device as far as a program asks for it: calls that follow one another.
class HostStream final : public InOrderStream {
 public:
  SC_HAS_PROCESS(HostStream);
  HostStream(const sc_core::sc_module_name& name, std::size_t stream, ProgramShared& shared)
      : InOrderStream(name, stream, shared),
        queue_(shared.program.entries<HostCall>(stream)),
        over_("over") {
    SC_METHOD(finish);
    sensitive << over_;
    dont_initialize();
  }

 private:
  void begin_entry(std::size_t index) override {
    over_.notify(to_sc_time(to_ticks(queue_[index].time)));
  }
  void finish() { end_entry(); }  // SC_METHOD: the call is over

  const std::vector<HostCall>& queue_;
  sc_core::sc_event over_;
};

using Module = std::unique_ptr<StreamModule>;

// `Made` by a member function of the executor.
template <class Of, Module (Of::*Make)(std::size_t)>
Module made_by(Executor& executor, std::size_t stream) {
  return (static_cast<Of&>(executor).*Make)(stream);
}

Module host(Executor& executor, std::size_t stream) {
  const std::string name = "host" + std::to_string(stream);
  return std::make_unique<HostStream>(name.c_str(), stream, executor.shared());
}

}  // namespace

const std::vector<StreamRow>& stream_registry() {
  static const std::vector<StreamRow> kRows = {
      {"NeuronCore", StreamKind::kInstructions, made_by<NeuronCore, &NeuronCore::make_engine>},
      {"NeuronCore", StreamKind::kTransfers, made_by<NeuronCore, &NeuronCore::make_ring>},
      {"NeuronCore", StreamKind::kCollectives, made_by<NeuronCore, &NeuronCore::make_collectives>},
      {"GPU", StreamKind::kGrids, made_by<GpuChip, &GpuChip::make_grids>},
      {"GPU", StreamKind::kCollectives, made_by<GpuChip, &GpuChip::make_collectives>},
      {"GPU", StreamKind::kHostCalls, host},
      {"CPU", StreamKind::kLoops, made_by<CpuChip, &CpuChip::make_loops>},
      {"CPU", StreamKind::kHostCalls, host},
  };
  return kRows;
}

void attach_modules(Executor& executor, const std::vector<StreamRow>& rows) {
  for (std::size_t s = 0; s < executor.program().streams.size(); ++s) {
    const Stream& stream = executor.program().streams[s];
    std::string known;
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const StreamRow& candidate) {
      if (candidate.executor != executor.kind()) return false;
      known += (known.empty() ? "" : ", ") + std::string(to_string(candidate.kind));
      return candidate.kind == stream.kind();
    });
    if (row == rows.end()) {
      throw UserError("stream '" + stream.name + "' of program '" + executor.program().name +
                      "' holds " + std::string(to_string(stream.kind())) + ", which a " +
                      executor.kind() + " does not run; it runs " + known);
    }
    executor.attach(row->make(executor, s));
  }
}

}  // namespace foretell
