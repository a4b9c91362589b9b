// Services whose tokens a draft network guesses: laws, on GPUs and on NeuronCores, and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;

ServeRequest one_client(const std::string& system, int tp, const std::string& speculate) {
  ServeRequest request;
  request.machine.system = system;
  request.machine.workload = "Llama-3.1-8B";
  request.machine.dtype = "bf16";
  request.machine.tp = tp;
  if (system.rfind("trn", 0) == 0) request.machine.context = 2048;
  request.concurrency = 1;
  request.input_len = "512";
  request.output_len = "64";
  request.requests = 4;
  request.speculate = speculate;
  return request;
}

ServeRecord record_of(const ServeRequest& request) {
  MachinePool pool(predict);
  return serve(pool, request).record;
}

double tpot_of(const ServeRequest& request) { return record_of(request).summary.tpot_s.mean; }

const std::vector<std::pair<std::string, int>> kSystems = {{"h100-sxm", 1}, {"trn2.48xlarge", 8}};

TEST(DraftedMachine, ADraftCostsTimeAndMemory) {
  for (const auto& [system, tp] : kSystems) {
    const ServeRecord free = record_of(one_client(system, tp, "4,acceptance=0.7"));
    const ServeRecord drafted =
        record_of(one_client(system, tp, "4,acceptance=0.7,draft=Llama-3.2-1B"));
    EXPECT_GT(drafted.summary.tpot_s.mean, free.summary.tpot_s.mean) << system;
    EXPECT_GT(drafted.summary.ttft_s.mean, free.summary.ttft_s.mean) << system;
    EXPECT_GT(drafted.summary.memory_bytes.at("weights"), free.summary.memory_bytes.at("weights"))
        << system;
    EXPECT_THAT(free.context.notes, Contains(HasSubstr("guesses take no time"))) << system;
    EXPECT_THAT(drafted.context.notes, Contains(HasSubstr("4 passes of Llama-3.2-1B"))) << system;
  }
}

TEST(DraftedMachine, ALargerDraftCostsMore) {
  for (const auto& [system, tp] : kSystems) {
    EXPECT_GT(tpot_of(one_client(system, tp, "4,acceptance=0.7,draft=Llama-3.1-8B")),
              tpot_of(one_client(system, tp, "4,acceptance=0.7,draft=Llama-3.2-1B")))
        << system;
  }
}

// As vLLM's draft_tensor_parallel_size: fewer devices read the same weights.
TEST(DraftedMachine, ADraftOnFewerDevicesTakesMoreOfEach) {
  const ServeSummary few =
      record_of(one_client("trn2.48xlarge", 8, "4,acceptance=0.7,draft=Llama-3.2-1B,tp=2")).summary;
  const ServeSummary all =
      record_of(one_client("trn2.48xlarge", 8, "4,acceptance=0.7,draft=Llama-3.2-1B")).summary;
  EXPECT_GT(few.memory_bytes.at("weights"), all.memory_bytes.at("weights"));
}

TEST(DraftedMachine, ADraftOfFewerHeadsThanDevicesSaysWhatToDo) {
  try {
    record_of(one_client("trn2.48xlarge", 32, "4,acceptance=0.7,draft=Llama-3.2-1B"));
  } catch (const UserError& error) {
    FAIL() << error.what();  // 32 heads on 32 cores
  }
  ServeRequest request = one_client("trn2.48xlarge", 64, "4,acceptance=0.7,draft=Llama-3.2-1B");
  request.machine.workload = "Llama-3.1-70B";
  try {
    record_of(request);
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("tp=N in --speculate"));
  }
}

// A network that guesses for itself computes every token once more than without guesses.
TEST(DraftedMachine, ANetworkThatGuessesForItselfGainsLittle) {
  for (const auto& [system, tp] : kSystems) {
    ServeRequest plain = one_client(system, tp, "");
    ServeRequest itself = one_client(system, tp, "3,acceptance=1,draft=Llama-3.1-8B");
    for (ServeRequest* request : {&plain, &itself}) {
      request->machine.set = {"engine.host.per_step=0 ms", "engine.host.per_sequence=0 us"};
    }
    EXPECT_GT(tpot_of(itself), 0.75 * tpot_of(plain)) << system;
  }
}

TEST(DraftedMachine, TheSameSeedSaysTheSame) {
  const ServeRequest request = one_client("h100-sxm", 1, "4,acceptance=0.7,draft=Llama-3.2-1B");
  EXPECT_EQ(tpot_of(request), tpot_of(request));
}

TEST(DraftedMachine, BadInputIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"4,acceptance=0.7,draft=Qwen3-0.6B", "vocabulary of 151936 words and Llama-3.1-8B one of"},
      {"4,acceptance=0.7,draft=resnet50", "is no decoder"},
      {"4,acceptance=0.7,draft=Llama-3.2-1", "Llama-3.2-1B"},
      {"4,draft=Llama-3.2-1B", "does not say how many guesses are right"},
      {"4,acceptance=0.7,drafts=Llama-3.2-1B", "draft"},
      {"4,acceptance=1.7,draft=Llama-3.2-1B", "acceptance"},
      {"0,acceptance=0.7,draft=Llama-3.2-1B", "--speculate"},
      {"4,acceptance=0.7,draft=Llama-3.2-1B,tp=2", "name as many or fewer"},
      {"4,acceptance=0.7,tp=1", "is of a draft network"},
      {"4,acceptance=0.7,draft=", "draft: is empty"},
      {"4,acceptance=0.7,acceptance=0.9", "acceptance: is stated twice"},
  };
  for (const auto& [speculate, message] : cases) {
    try {
      record_of(one_client("h100-sxm", 1, speculate));
      ADD_FAILURE() << speculate;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message)) << speculate;
    }
  }
}

TEST(DraftedMachine, SeparateWorkersDoNotGuessWithADraft) {
  ServeRequest request = one_client("h100-sxm-x8", 1, "4,acceptance=0.7,draft=Llama-3.2-1B");
  request.machine.tp = 0;
  request.prefill = "tp=1";
  request.decode = "tp=1";
  EXPECT_THROW(record_of(request), UserError);
}

}  // namespace
}  // namespace foretell
