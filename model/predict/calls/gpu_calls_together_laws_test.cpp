// Calls that share a GPU: what a prompt beside the tokens of others may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

constexpr double kPico = 1e-12;

// A long call that fills the SMs and a short one that streams weights, as prompts and tokens do.
class CallsTogether : public testing::TestWithParam<const char*> {
 protected:
  CallsTogether()
      : system_(GpuCatalog().load(GetParam()).spec),
        factors_(system_.device, ""),
        precision_(precision_on_gpu(find_precision("fp16"), system_.device)),
        prompt_(graph(32, 128)),
        token_(graph(1, 1)) {}

  Graph graph(std::int64_t batch, std::int64_t seq_len) const {
    Graph made = network("bert-base-uncased", batch, seq_len, "fp16");
    apply_precision(precision_, &made);
    return made;
  }

  // The kernels of one call, or of two, each in a stream of its own: when each has ended.
  std::vector<double> ends_of(const std::vector<const Graph*>& calls) const {
    constexpr std::array<std::size_t, 2> kStreams = {kGridStream, kBesideStream};
    ProgramBuilder builder("calls together", gpu_streams(false));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      Deps before;
      for (MappedOp& op : map_to_gpu({{}, *calls[i], precision_, system_, factors_})) {
        for (Grid& kernel : op.program.kernels) {
          kernel.unit = op.engine;
          before = emit_grid(builder, std::move(kernel), before, kStreams.at(i));
        }
      }
    }
    const Execution execution =
        simulate(GpuMachine{system_.device, false, false}, std::move(builder).finish());
    std::vector<double> ends;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      ends.push_back(
          to_seconds(execution.cores.front().entries[kStreams.at(i)].back().end).value());
    }
    return ends;
  }

  GpuSystemSpec system_;
  GpuFactors factors_;
  PrecisionPolicy precision_;
  Graph prompt_;
  Graph token_;
};

TEST_P(CallsTogether, ACallAloneTakesWhatItTakes) {
  const GpuCall call{{}, prompt_, precision_, system_, factors_};
  EXPECT_NEAR(ends_of({&prompt_}).front(), run_gpu_call(call).metrics.device.value(), 10 * kPico);
}

TEST_P(CallsTogether, NeverSlowerThanInTurnNorFasterThanAlone) {
  const double prompt = ends_of({&prompt_}).front();
  const double token = ends_of({&token_}).front();
  const std::vector<double> both = ends_of({&prompt_, &token_});
  EXPECT_GE(both[0], prompt - kPico);
  EXPECT_GE(both[1], token - kPico);
  const double last = std::max(both[0], both[1]);
  EXPECT_LT(last, prompt + token);   // launches and free SMs of one serve the other
  EXPECT_GT(both[1], 1.04 * token);  // beside a prompt a token is slower
}

INSTANTIATE_TEST_SUITE_P(Gpus, CallsTogether, testing::Values("h100-sxm", "a100-sxm", "t4"),
                         [](const auto& gpu) {
                           std::string name = gpu.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace foretell
