// Calls that share a GPU: what a prompt beside the tokens of others may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/gpu_call.hpp"
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
  GpuCall call(const Graph& graph) const { return {graph, precision_, system_, factors_}; }

  GpuSystemSpec system_;
  GpuFactors factors_;
  PrecisionPolicy precision_;
  Graph prompt_;
  Graph token_;
};

TEST_P(CallsTogether, ACallAloneTakesWhatItTakes) {
  const double alone = run_gpu_calls_together({call(prompt_)}).front().value();
  EXPECT_NEAR(alone, run_gpu_call(call(prompt_)).metrics.device.value(), 10 * kPico);
}

TEST_P(CallsTogether, NeverSlowerThanInTurnNorFasterThanAlone) {
  const double prompt = run_gpu_calls_together({call(prompt_)}).front().value();
  const double token = run_gpu_calls_together({call(token_)}).front().value();
  const std::vector<Seconds> both = run_gpu_calls_together({call(prompt_), call(token_)});
  EXPECT_GE(both[0].value(), prompt - kPico);
  EXPECT_GE(both[1].value(), token - kPico);
  const double last = std::max(both[0], both[1]).value();
  EXPECT_LT(last, prompt + token);           // launches and free SMs of one serve the other
  EXPECT_GT(both[1].value(), 1.05 * token);  // beside a prompt a token is slower
}

INSTANTIATE_TEST_SUITE_P(Gpus, CallsTogether, testing::Values("h100-sxm", "a100-sxm", "t4"),
                         [](const auto& gpu) {
                           std::string name = gpu.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace foretell
