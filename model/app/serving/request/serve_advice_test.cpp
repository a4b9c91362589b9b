// What a service says of what it takes for granted, and what to do where it has no room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

ServeRequest asked(const char* system, const char* workload, int tp) {
  ServeRequest request;
  request.machine.system = system;
  request.machine.workload = workload;
  request.machine.dtype = "bf16";
  request.machine.tp = tp;
  request.concurrency = 2;
  request.input_len = "64";
  request.output_len = "4";
  request.requests = 4;
  return request;
}

ServeRecord served(const ServeRequest& request) {
  MachinePool pool(predict);
  return serve(pool, request).record;
}

std::string error_of(const ServeRequest& request) {
  try {
    served(request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Kernels of a chip that was not measured are others'; a service says so as a run does, once, also
// where prompts and answers are computed by workers of their own.
TEST(ServeAdvice, NotesOfKernelsAreThoseOfARun) {
  ServeRequest request = asked("l40s-x8", "Llama-3.1-8B", 1);
  Request run = request.machine;
  run.library = "vllm";  // of the engine that serves
  run.batch = 2;
  run.input_len = 64;
  run.output_len = 4;
  const std::vector<std::string> of_run = predict(run).context.notes;
  request.prefill = request.decode = "tp=1,workers=1";
  request.machine.tp = 0;
  std::vector<std::string> notes = served(request).context.notes;
  int taken = 0;
  for (const std::string& note : of_run) {
    const bool of_energy = note.find("energy: ") == 0;
    if (!of_energy && note.find("factors of ") == std::string::npos) continue;
    ++taken;
    EXPECT_THAT(notes, Contains(note));
  }
  EXPECT_GT(taken, 3) << "of products, attention, passes and energies";
  std::sort(notes.begin(), notes.end());
  EXPECT_EQ(std::adjacent_find(notes.begin(), notes.end()), notes.end());
}

// What the message names has room for many requests; half of it, which has room for few, is no
// error.
TEST(ServeAdvice, NamesTheLeastTensorParallelismThatHasRoom) {
  EXPECT_THAT(error_of(asked("h100-sxm-x8", "Llama-3.1-70B", 1)),
              HasSubstr("--tp 4 leaves room on h100-sxm-x8"));
  EXPECT_EQ(error_of(asked("h100-sxm-x8", "Llama-3.1-70B", 2)), "");
  EXPECT_THAT(error_of(asked("h100-sxm-x2", "Llama-3.1-70B", 1)),
              HasSubstr("--tp 2 leaves room on h100-sxm-x2"));
  EXPECT_THAT(error_of(asked("h100-sxm", "Llama-3.1-70B", 1)),
              HasSubstr("no --tp of h100-sxm leaves room"));
}

// Where nothing is said of it, a copy takes what its memory needs and room for requests, and no
// more; where no number of devices leaves that much room, the one that leaves the most.
TEST(ServeAdvice, ACopyTakesTheFewestDevicesThatHaveRoom) {
  const ServeRecord wide = served(asked("h100-sxm-x8", "Llama-3.1-70B", 0));
  EXPECT_THAT(wide.context.notes,
              Contains(HasSubstr("--tp was not stated: a copy takes 4 devices")));
  EXPECT_EQ(wide.summary.tpot_s.mean,
            served(asked("h100-sxm-x8", "Llama-3.1-70B", 4)).summary.tpot_s.mean);
  EXPECT_THAT(served(asked("h100-sxm-x2", "Llama-3.1-70B", 0)).context.notes,
              Contains(HasSubstr("--tp was not stated: a copy takes 2 devices")));
  EXPECT_THAT(served(asked("h100-sxm-x8", "Llama-3.1-8B", 0)).context.notes,
              Each(Not(HasSubstr("--tp"))));
  EXPECT_THAT(wide.context.notes, Contains(HasSubstr("4 of 8 devices serve; --dp 2 makes")));
  EXPECT_THAT(served(asked("h100-sxm-x8", "Llama-3.1-70B", 8)).context.notes,
              Each(Not(HasSubstr("--dp"))));
  EXPECT_THAT(error_of(asked("h100-sxm", "Llama-3.1-70B", 0)),
              HasSubstr("no --tp of h100-sxm leaves room"));
}

TEST(ServeAdvice, SaysThatAReleaseIsNewerThanAllThatAreDescribed) {
  ServeRequest request = asked("h100-sxm", "Llama-3.1-8B", 1);
  request.engine = "vllm@0.8.5";
  EXPECT_THAT(served(request).context.notes, Each(Not(HasSubstr("engine:"))));
  request.engine = "vllm@99.1";
  EXPECT_THAT(served(request).context.notes,
              Contains(HasSubstr("engine: vllm@99.1 works as vllm")));
}

// A price of the one side alone would be less than the service costs.
TEST(ServeAdvice, GivesNoCostOfWhichAPartIsUnknown) {
  ServeRequest request = asked("h100-sxm-x8", "Llama-3.1-8B", 0);
  request.prefill = "tp=1,workers=1";
  request.decode = "tp=2,workers=1";
  request.decode_system = "inf2.48xlarge";
  request.link_rate = "12.5 GB/s";
  const ServeRecord record = served(request);
  EXPECT_FALSE(record.summary.cost_usd_per_million.has_value());
  EXPECT_THAT(record.context.notes, Contains(HasSubstr("no price of h100-sxm-x8 is known")));
  request.machine.system = "p5.48xlarge";
  EXPECT_GT(served(request).summary.cost_usd_per_million.value_or(0), 0);
}

// As of single calls: a price that is given counts, and a machine that is changed has none.
TEST(ServeAdvice, CostsAreThoseOfTheMachineAsItIsSet) {
  for (const char* system : {"inf2.xlarge", "g6.xlarge"}) {
    ServeRequest request = asked(system, "Llama-3.2-1B", 1);
    request.machine.set = {"system.price.on_demand=1 USD/h"};
    const double once = served(request).summary.cost_usd_per_million.value_or(0);
    request.machine.set = {"system.price.on_demand=3 USD/h"};
    EXPECT_NEAR(served(request).summary.cost_usd_per_million.value_or(0), 3 * once,
                1e-9 + 1e-6 * once)
        << system;
    EXPECT_GT(once, 0) << system;
    request.machine.set = {"device.hbm.bandwidth=1 TB/s"};
    const ServeRecord changed = served(request);
    EXPECT_FALSE(changed.summary.cost_usd_per_million.has_value()) << system;
    EXPECT_THAT(changed.context.notes, Contains(HasSubstr("no cost: the published price")));
  }
}

// However fast the machine is, no more is answered than comes; clients that wait send more.
TEST(ServeAdvice, AnOpenLoadIsAnsweredNoFasterThanItComes) {
  ServeRequest request = asked("h100-sxm", "Llama-3.2-1B", 1);
  request.requests = 100;
  const auto ratio_of = [&](const char* name, double value) {
    return served(request).summary.interval80.at(name).high / value;
  };
  const double closed = ratio_of("requests_per_s", served(request).summary.requests_per_s);
  request.concurrency = 0;
  request.rate = 1;
  request.arrivals = "uniform";
  const ServeSummary open = served(request).summary;
  const double high = open.interval80.at("requests_per_s").high;
  EXPECT_GT(closed, 1.1);
  EXPECT_GE(high, open.requests_per_s);
  EXPECT_LT(high, 1.2 * request.rate);  // a deviation of 100 that are drawn is a tenth of them
  EXPECT_NEAR(open.interval80.at("output_tokens_per_s").high, 4 * high, 1e-6);
}

TEST(ServeAdvice, WhatIsNotReadIsRefused) {
  const auto refusal = [](const std::function<void(ServeRequest&)>& change) {
    ServeRequest request = asked("h100-sxm", "Llama-3.2-1B", 1);
    change(request);
    return error_of(request);
  };
  EXPECT_THAT(refusal([](ServeRequest& request) { request.link_rate = "5 GB/s"; }),
              HasSubstr("give --prefill and --decode, too"));
  EXPECT_THAT(refusal([](ServeRequest& request) { request.decode_system = "h200-sxm"; }),
              HasSubstr("give --prefill and --decode, too"));
  EXPECT_THAT(refusal([](ServeRequest& request) { request.arrivals = "uniform"; }),
              HasSubstr("how requests of --rate come"));
  EXPECT_THAT(refusal([](ServeRequest& request) {
                request.concurrency = 0;
                request.rate = 1;
                request.start = "staggered";
              }),
              HasSubstr("how clients of --concurrency begin"));
  EXPECT_THAT(refusal([](ServeRequest& request) { request.slo = "ttft.p99<=1s,ttft.p99<=2s"; }),
              HasSubstr("ttft.p99 is promised twice"));
  EXPECT_THAT(refusal([](ServeRequest& request) {
                request.output_len = "1";
                request.slo = "tpot.p99<=1ms";
              }),
              HasSubstr("answers of one token have no time between tokens"));
}

// A parameter that is set to the value that it has is the machine that is sold.
TEST(ServeAdvice, WhatIsSetAsItIsChangesNothing) {
  ServeRequest request = asked("p5.48xlarge", "Llama-3.2-1B", 1);
  const ServeRecord before = served(request);
  request.machine.set = {"device.hbm.bandwidth=3350000 MB/s"};
  const ServeRecord same = served(request);
  EXPECT_EQ(same.summary.cost_usd_per_million, before.summary.cost_usd_per_million);
  EXPECT_EQ(same.summary.interval80.at("tpot_s.mean").high,
            before.summary.interval80.at("tpot_s.mean").high);
}

TEST(ServeAdvice, SaysThatWorkersTakeSeveralSystems) {
  ServeRequest request = asked("h100-sxm", "Llama-3.1-8B", 0);
  request.prefill = "tp=1,workers=1";
  request.decode = "tp=1,workers=1";
  EXPECT_THAT(served(request).context.notes, Contains(HasSubstr("take 2 devices")));
}

// Two requests a tenth of a second apart, each answered before the next could come: no queue grows,
// though one waits when the last arrives.
TEST(ServeAdvice, AQueueGrowsOnlyWhereMoreComesThanIsAnswered) {
  ServeRequest request = asked("h100-sxm", "Llama-3.1-8B", 1);
  request.concurrency = 0;
  request.rate = 1;
  request.requests = 2;
  EXPECT_THAT(served(request).context.notes, Each(Not(HasSubstr("queue grows"))));
  request.rate = 1e9;
  request.requests = 200;
  EXPECT_THAT(served(request).context.notes, Contains(HasSubstr("queue grows")));
}

// 512 tokens of 128 KiB cross 1 GB/s in 67 ms: 14.9 prompts a second.
TEST(ServeAdvice, ALinkThatBindsIsNamedWithTheRateThatItBears) {
  ServeRequest request = asked("h100-sxm-x8", "Llama-3.1-8B", 0);
  request.prefill = "tp=1,workers=1";
  request.decode = "tp=1,workers=1";
  request.input_len = "512";
  request.concurrency = 0;
  request.rate = 25;
  request.requests = 200;
  request.link_rate = "1 GB/s";
  EXPECT_THAT(
      served(request).context.notes,
      Contains(AllOf(HasSubstr("the link between prefill and decode binds"),
                     HasSubstr("the largest rate that is stable is about 14.9 requests/s"))));
  request.rate = 10;
  EXPECT_THAT(served(request).context.notes, Each(Not(HasSubstr("link between"))));
  request.rate = 25;
  request.link_rate = "50 GB/s";
  EXPECT_THAT(served(request).context.notes, Each(Not(HasSubstr("link between"))));
}

TEST(ServeAdvice, TheRecordListsExpertsAndLibrary) {
  ServeRequest request = asked("h200-sxm-x8", "gpt-oss-120b", 4);
  request.machine.ep = 4;
  request.machine.library = "vllm";
  const auto scenario = served(request).context.scenario;
  using Entry = std::pair<std::string, std::string>;
  EXPECT_THAT(scenario, Contains(Entry("ep", "4")));
  EXPECT_THAT(scenario, Contains(Entry("library", "vllm")));
}

// There are no eighths of an instance to rent.
TEST(ServeAdvice, AMachineIsPaidForAsAWhole) {
  const auto usd_per_hour = [](int dp) {
    ServeRequest request = asked("p5.48xlarge", "Llama-3.1-8B", 1);
    request.machine.dp = dp;
    const ServeSummary summary = served(request).summary;
    return summary.cost_usd_per_million.value() * summary.output_tokens_per_s * 3600 / 1e6;
  };
  EXPECT_NEAR(usd_per_hour(1), usd_per_hour(8), 1e-6);
  EXPECT_NEAR(usd_per_hour(8), 55.04, 0.01);
}

}  // namespace
}  // namespace foretell
