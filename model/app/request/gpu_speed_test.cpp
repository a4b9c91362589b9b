// How long it takes to predict a network on GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "model/app/request/resolve/gpu_request.hpp"
#include "model/predict/calls/gpu_call.hpp"

namespace foretell {
namespace {

// The fastest of a few: the machine may have other work.
double seconds_of(const std::function<void()>& work) {
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

TEST(GpuSpeed, PrefillAndDecodeOfALayerOfALargeModelTakeATenthOfASecondEach) {
  Request request;
  request.system = "a100-sxm-x4";
  request.workload = "gpt3-175b";
  request.dtype = "fp16";
  request.batch = 8;
  request.tp = 4;
  request.input_len = 2048;
  request.output_len = 2;
  request.set = {"workload.layers=1", "workload.context=4096"};
  const GpuRequest resolved = resolve_gpu(request);
  const GpuFactors factors = factors_of(resolved);
  const auto run = [&](Phase phase, std::int64_t tokens, std::int64_t kv_len) {
    const Graph graph = build_gpu_generation_graph(resolved, phase, tokens, kv_len, 4);
    return run_gpu_call({{}, graph, resolved.precision, resolved.system.spec, factors})
        .metrics.call;
  };
  EXPECT_LT(seconds_of([&] { run(Phase::kPrefill, 2048, 2048); }), 0.1);
  EXPECT_LT(seconds_of([&] { run(Phase::kDecode, 1, 2049); }), 0.1);
  const Seconds prefill = run(Phase::kPrefill, 2048, 2048);
  EXPECT_GT(prefill, Seconds(20e-3));
  EXPECT_LT(prefill, Seconds(120e-3));
}

}  // namespace
}  // namespace foretell
