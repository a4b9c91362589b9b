// What happens before a request reaches the scheduler, and what a server does the first time: the
// tokenizer, the process that sends tokens, kernels that are loaded.
#include <gtest/gtest.h>

#include "model/serving/service.hpp"

namespace foretell {
namespace {

// Every step takes the same.
class SteadyTimer : public StepTimer {
 public:
  explicit SteadyTimer(double step) : step_(step) {}
  StepTime time(const StepShape& /*shape*/, int /*stage*/) override {
    StepTime time;
    time.total = Seconds(step_);
    return time;
  }
  std::int64_t executed() const override { return 0; }

 private:
  double step_;
};

WorkerRules wide_rules(std::int64_t tokens) {
  WorkerRules rules;
  rules.max_tokens = tokens;
  rules.max_sequences = 64;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = 10'000;
  rules.overlap = false;
  return rules;
}

ServiceResult serve_load(const Load& load, const WorkerRules& rules, double step) {
  SteadyTimer timer(step);
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules;
  setup.serving.timer = &timer;
  return run_service(setup);
}

ServiceResult serve_clients(std::int64_t clients, std::int64_t requests, Distribution input,
                            Distribution output, const WorkerRules& rules, double step) {
  Load load;
  load.concurrency = clients;
  load.requests = requests;
  load.input_len = std::move(input);
  load.output_len = std::move(output);
  return serve_load(load, rules, step);
}

Distribution always(double tokens) { return Distribution::certain(tokens); }

// Requests that come at once leave the tokenizer one after the other.
TEST(FrontEndLaws, TheTokenizerTakesOneRequestAfterAnother) {
  constexpr double kToken = 1e-5;
  constexpr double kStep = 1e-4;
  WorkerRules rules = wide_rules(100'000);
  rules.host.per_prompt_token = Seconds(kToken);
  rules.host.per_request = Seconds(0.5);
  const ServiceResult result = serve_clients(4, 4, always(1000), always(1), rules, kStep);
  ASSERT_EQ(result.requests.size(), 4U);
  for (std::size_t i = 0; i < result.requests.size(); ++i) {
    const double tokens = 1000 * (static_cast<double>(i) + 1);
    EXPECT_NEAR(result.requests[i].first_s, tokens * kToken + 0.5 + kStep, 1e-6);
  }
}

// Of a host that overlaps, steps wait for the gap alone: it grows with sequences and with messages
// to clients, of which groups need fewer and offline runs none. Without overlap all of the host's
// work shows, and the gap is part of it.
TEST(FrontEndLaws, StepsOfAHostThatOverlapsWaitForTheGap) {
  constexpr double kStep = 0.01;
  WorkerRules rules = wide_rules(100'000);
  rules.overlap = true;
  rules.first_at_once = true;
  rules.host.per_step = Seconds(3e-3);
  rules.host.gap = Seconds(1e-3);
  rules.host.gap_per_sequence = Seconds(1e-4);
  rules.host.gap_per_message = Seconds(4e-4);
  Load load;
  load.concurrency = 2;
  load.requests = 2;
  load.input_len = always(16);
  load.output_len = always(101);
  const auto beyond_the_step = [&] {
    return tpot_of(serve_load(load, rules, kStep)).p50.value() - kStep;
  };
  EXPECT_NEAR(beyond_the_step(), 1e-3 + 2 * (1e-4 + 4e-4), 1e-6);
  rules.stream_interval = 4;
  EXPECT_NEAR(beyond_the_step(), 1e-3 + 2 * (1e-4 + 1e-4), 1e-6);
  load.concurrency = 0;
  load.offline = true;
  EXPECT_NEAR(beyond_the_step(), 1e-3 + 2 * 1e-4, 1e-6);
  rules.host.per_step = Seconds(kStep + 2e-3);  // longer than the step
  EXPECT_NEAR(beyond_the_step(), 2e-3 + 1e-3 + 2 * 1e-4, 1e-6);
  rules.overlap = false;
  EXPECT_NEAR(beyond_the_step(), kStep + 2e-3, 1e-6);
}

// Requests that are there from the beginning are tokens already.
TEST(FrontEndLaws, OfflineRequestsNeedNoTokenizer) {
  WorkerRules rules = wide_rules(100'000);
  rules.host.per_prompt_token = Seconds(1e-3);
  Load load;
  load.offline = true;
  load.requests = 8;
  load.input_len = always(1000);
  load.output_len = always(1);
  SteadyTimer timer(0.001);
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules;
  setup.serving.timer = &timer;
  EXPECT_NEAR(run_service(setup).end.value(), 0.001, 1e-6);
}

// A request that comes while others are answered waits for the process that sends their tokens, at
// most for all of them.
TEST(FrontEndLaws, ManyAnswersDelayARequest) {
  WorkerRules rules = wide_rules(100'000);
  rules.host.per_request = Seconds(0.01);
  rules.host.per_answer = Seconds(0.002);
  const Distribution answers = Distribution::uniform(40, 60);
  const double alone =
      ttft_of(serve_clients(1, 20, always(100), answers, rules, 0.001)).mean.value();
  EXPECT_NEAR(alone, 0.011, 1e-6);
  const double among =
      ttft_of(serve_clients(16, 320, always(100), answers, rules, 0.001)).mean.value();
  rules.host.per_answer = Seconds(0);
  const double without =
      ttft_of(serve_clients(16, 320, always(100), answers, rules, 0.001)).mean.value();
  EXPECT_GT(among, without + 0.25 * 15 * 0.002);
  EXPECT_LE(among, without + 15 * 0.002 + 0.001);
}

// A host that works ahead prepares a step when the one before it begins: who comes later waits for
// one step more; who finds no other served waits for none.
TEST(FrontEndLaws, AHostThatWorksAheadTakesNewRequestsAStepLater) {
  constexpr double kStep = 0.01;
  const auto mean_first = [](bool overlap, double rate, double output) {
    WorkerRules rules = wide_rules(100'000);
    rules.overlap = overlap;
    Load load;
    load.arrivals = parse_arrivals("poisson", rate);
    load.requests = 2000;
    load.input_len = always(100);
    load.output_len = always(output);
    SteadyTimer timer(kStep);
    ServiceSetup setup;
    setup.load = &load;
    setup.serving.rules = rules;
    setup.serving.timer = &timer;
    return ttft_of(run_service(setup)).mean.value();
  };
  EXPECT_NEAR(mean_first(false, 20, 100), 1.5 * kStep, 0.03 * kStep);  // twenty in service
  EXPECT_NEAR(mean_first(true, 20, 100), 2.5 * kStep, 0.03 * kStep);
  EXPECT_NEAR(mean_first(true, 0.01, 4), kStep, 0.01 * kStep);
}

// What kernels take when they are first called is waited for once, that of later pieces of prompts
// when the first comes.
TEST(FrontEndLaws, KernelsAreLoadedOnce) {
  WorkerRules rules = wide_rules(100);
  rules.host.first_prompt = Seconds(3);
  rules.host.first_piece = Seconds(7);
  const ServiceResult whole = serve_clients(1, 3, always(64), always(4), rules, 0.001);
  EXPECT_NEAR(whole.requests[0].first_s, 3.001, 1e-6);
  EXPECT_NEAR(whole.requests[1].first_s, 0.001, 1e-6);
  EXPECT_NEAR(whole.end.value(), 3 + 3 * 4 * 0.001, 1e-6);
  const ServiceResult pieces = serve_clients(1, 3, always(150), always(4), rules, 0.001);
  EXPECT_NEAR(pieces.requests[0].first_s, 3 + 7 + 0.002, 1e-6);
  EXPECT_NEAR(pieces.requests[1].first_s, 0.002, 1e-6);
}

}  // namespace
}  // namespace foretell
