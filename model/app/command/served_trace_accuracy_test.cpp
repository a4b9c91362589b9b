// Services against servers that were measured request by request: vLLM on RTX PRO 6000, with the
// configuration that was published with the traces. Skipped without them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "model/app/command/testing/published_table.hpp"
#include "model/app/serving/request/measured_trace.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"

namespace foretell {
namespace {

struct MeasuredServer {
  const char* files;  // in the folder of traces, "NAME_requests.jsonl" and "NAME_meta.json"
  const char* workload;
};

void PrintTo(const MeasuredServer& server, std::ostream* stream) { *stream << server.files; }

class ServedTraceAccuracy : public ::testing::TestWithParam<MeasuredServer> {};

TEST_P(ServedTraceAccuracy, RequestByRequest) {
  const std::string name = std::string("traces/") + GetParam().files;
  const std::string trace = published_table(name + "_requests.jsonl");
  const std::string meta = published_table(name + "_meta.json");
  if (trace.empty() || meta.empty()) GTEST_SKIP() << "skipped, no data";
  std::ifstream file(meta);
  const nlohmann::json published = nlohmann::json::parse(file);
  const nlohmann::json& engine = published.at("engine_kwargs");
  ServeRequest request;
  request.machine.system = "rtx-pro-6000-server-x8";
  request.machine.set = {"system.peers=host"};  // the links that were published: 16 GB/s
  request.machine.workload = GetParam().workload;
  request.machine.dtype = "bf16";
  request.machine.tp = engine.at("tensor_parallel_size").get<int>();
  request.engine = "vllm@" + published.at("vllm_version").get<std::string>();
  request.max_batch = engine.at("max_num_seqs").get<std::int64_t>();
  request.max_tokens = engine.at("max_num_batched_tokens").get<std::int64_t>();
  request.trace = trace;
  MachinePool pool(predict);
  const MeasuredComparison one = compare_with_trace(trace, serve(pool, request).record.requests);
  std::cout << to_text(one) << '\n';
  EXPECT_NEAR(one.ttft_ratio, 1, 0.15);
  EXPECT_NEAR(one.tpot_ratio, 1, 0.08);
  EXPECT_NEAR(one.finish_ratio, 1, 0.05);
  EXPECT_GE(one.same_start_share, 0.95);
}

INSTANTIATE_TEST_SUITE_P(
    Servers, ServedTraceAccuracy,
    ::testing::Values(MeasuredServer{"llmservingsim_RTXPRO6000_Llama-3.1-8B", "Llama-3.1-8B"},
                      MeasuredServer{"llmservingsim_RTXPRO6000_Qwen3-32B", "Qwen3-32B"}));

}  // namespace
}  // namespace foretell
