// Laws that any server keeps: queues with known answers, conservation, monotony.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/base/errors.hpp"
#include "model/serving/service.hpp"

namespace foretell {
namespace {

// A machine whose steps take a constant and a time per token.
class PlainTimer : public StepTimer {
 public:
  PlainTimer(double step, double token, double position = 0)
      : step_(step), token_(token), position_(position) {}
  StepTime time(const StepShape& shape, int /*stage*/) override {
    ++calls_;
    StepTime time;
    time.total = Seconds(step_ + token_ * static_cast<double>(shape.tokens()) +
                         position_ * static_cast<double>(shape.decode_positions));
    return time;
  }
  std::int64_t executed() const override { return calls_; }

 private:
  double step_;
  double token_;
  double position_;
  std::int64_t calls_ = 0;
};

WorkerRules plain_rules(std::int64_t tokens, std::int64_t sequences, std::int64_t blocks) {
  WorkerRules rules;
  rules.max_tokens = tokens;
  rules.max_sequences = sequences;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = blocks;
  rules.overlap = false;
  return rules;
}

Load poisson(double rate, std::int64_t requests, Distribution input, Distribution output) {
  Load load;
  load.arrivals = parse_arrivals("poisson", rate);
  load.requests = requests;
  load.input_len = std::move(input);
  load.output_len = std::move(output);
  return load;
}

Load closed(std::int64_t clients, std::int64_t requests, std::int64_t input, std::int64_t output) {
  Load load;
  load.concurrency = clients;
  load.requests = requests;
  load.input_len = Distribution::certain(static_cast<double>(input));
  load.output_len = Distribution::certain(static_cast<double>(output));
  return load;
}

ServiceSetup setup_of(const Load& load, const WorkerRules& rules, StepTimer& timer,
                      int workers = 1) {
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules;
  setup.serving.timer = &timer;
  setup.serving.workers = workers;
  return setup;
}

// A machine that remembers what it was asked.
class RecordingTimer : public PlainTimer {
 public:
  using PlainTimer::PlainTimer;
  StepTime time(const StepShape& shape, int stage) override {
    shapes.push_back(shape);
    StepTime time = PlainTimer::time(shape, stage);
    time.launches = 100;
    return time;
  }
  std::vector<StepShape> shapes;
};

// Ranks in lock step share their experts: idle ones count among those that the tokens come from.
TEST(ServiceLaws, RanksGiveTheirExpertsTheTokensOfAll) {
  const Load load = closed(3, 30, 64, 16);
  RecordingTimer timer(0.001, 1e-6);
  ServiceSetup setup = setup_of(load, plain_rules(2048, 64, 1000), timer);
  setup.serving.ranks = 4;  // one of them is always idle
  const ServiceResult result = run_service(setup);
  EXPECT_EQ(result.answered, 30);
  EXPECT_EQ(result.leaked_blocks, 0);
  for (const StepShape& shape : timer.shapes) {
    EXPECT_GE(shape.shared_tokens, 1);
    if (shape.chunks.empty()) {
      EXPECT_LE(shape.shared_tokens, 1);
    }
  }
  timer.shapes.clear();
  setup.serving.ranks = 1;
  run_service(setup);
  for (const StepShape& shape : timer.shapes) EXPECT_EQ(shape.shared_tokens, 0);
}

// A look at new requests every N decode steps delays them by at most N steps, and by about half of
// that where they come at any time; no request waits for an idle worker.
TEST(ServiceLaws, ALookEveryFewStepsDelaysFirstTokensByHalfOfIt) {
  constexpr double kStep = 0.01;
  constexpr std::int64_t kInterval = 20;
  const Load load = poisson(2, 4000, Distribution::certain(16), Distribution::uniform(180, 220));
  PlainTimer timer(kStep, 0);
  WorkerRules rules = plain_rules(4096, 256, 100'000);
  const Statistic at_once = ttft_of(run_service(setup_of(load, rules, timer)));
  rules.schedule.receive_interval = kInterval;
  const ServiceResult late = run_service(setup_of(load, rules, timer));
  const Statistic delayed = ttft_of(late);
  EXPECT_EQ(late.answered, 4000);
  EXPECT_LE(delayed.p99, at_once.p99 + Seconds(kInterval * kStep));
  EXPECT_GT((delayed.mean - at_once.mean).value(), 0.25 * kInterval * kStep);
  EXPECT_LT((delayed.mean - at_once.mean).value(), 0.55 * kInterval * kStep);
  const Load rare = poisson(0.01, 50, Distribution::certain(16), Distribution::certain(4));
  EXPECT_NEAR(ttft_of(run_service(setup_of(rare, rules, timer))).p50.value(), kStep, 1e-6);
}

// Tokens that leave in groups of N: the first comes with its group, N - 1 steps later; the service
// is no slower, and an answer shorter than a group comes as a whole.
TEST(ServiceLaws, TheFirstTokenComesWithItsGroup) {
  constexpr double kStep = 0.01;
  constexpr std::int64_t kGroup = 10;
  const Load load = closed(1, 20, 16, 100);
  PlainTimer timer(kStep, 0);
  WorkerRules rules = plain_rules(4096, 256, 100'000);
  const ServiceResult single = run_service(setup_of(load, rules, timer));
  rules.stream_interval = kGroup;
  const ServiceResult grouped = run_service(setup_of(load, rules, timer));
  EXPECT_DOUBLE_EQ(grouped.end.value(), single.end.value());
  EXPECT_NEAR(ttft_of(grouped).mean.value() - ttft_of(single).mean.value(), (kGroup - 1) * kStep,
              1e-6);
  rules.first_at_once = true;
  const ServiceResult early = run_service(setup_of(load, rules, timer));
  EXPECT_DOUBLE_EQ(early.end.value(), single.end.value());
  EXPECT_NEAR(ttft_of(early).mean.value(), ttft_of(single).mean.value(), 1e-9);
  EXPECT_NEAR(tpot_of(early).mean.value(), tpot_of(single).mean.value(), 1e-9);
  rules.first_at_once = false;
  const Load brief = closed(1, 20, 16, 4);
  const ServiceResult whole = run_service(setup_of(brief, rules, timer));
  for (const ServedRequest& request : whole.requests) EXPECT_EQ(request.first_s, request.end_s);
}

// Without a graph a step takes the longer of its launches and its kernels.
TEST(ServiceLaws, LaunchesBoundStepsWithoutAGraph) {
  const Load load = closed(1, 5, 64, 2);
  RecordingTimer timer(0.001, 0);
  WorkerRules rules = plain_rules(2048, 64, 1000);
  rules.host.per_launch = Seconds(50e-6);  // 100 of them: 5 ms
  rules.graph_sizes = {1, 2, 4};
  const ServiceResult result = run_service(setup_of(load, rules, timer));
  EXPECT_NEAR(ttft_of(result).mean.value(), 0.005, 1e-6);  // a prompt: no graph
  EXPECT_NEAR(tpot_of(result).mean.value(), 0.001, 1e-6);  // a decode: one
}

// One request at a time, answered in one step: a queue with one server.
TEST(ServiceLaws, WaitsLikeAQueueWithFixedService) {
  constexpr double kService = 0.01;
  constexpr double kUse = 0.7;
  const Load load =
      poisson(kUse / kService, 400'000, Distribution::certain(10), Distribution::certain(1));
  PlainTimer timer(kService, 0);
  const ServiceResult result = run_service(setup_of(load, plain_rules(1000, 1, 1000), timer));
  const double expected = kService * (1 + kUse / (2 * (1 - kUse)));  // Pollaczek, Khinchine
  EXPECT_NEAR(e2e_of(result).mean.value(), expected, 0.01 * expected);
}

TEST(ServiceLaws, WaitsLikeAQueueWithExponentialService) {
  constexpr double kToken = 1e-5;
  constexpr double kUse = 0.6;
  std::vector<Distribution::Point> lengths;  // exponential, mean 1000 tokens
  for (int i = 0; i < 4000; ++i) {
    const double value = 2.5 + 5.0 * i;
    lengths.push_back({std::round(value), std::exp(-value / 1000)});
  }
  const Distribution input(lengths);
  const double service = kToken * input.mean();
  const Load load = poisson(kUse / service, 1'000'000, input, Distribution::certain(1));
  PlainTimer timer(0, kToken);
  const ServiceResult result = run_service(setup_of(load, plain_rules(100'000, 1, 10'000), timer));
  const double expected = service / (1 - kUse);
  EXPECT_NEAR(e2e_of(result).mean.value(), expected, 0.01 * expected);
}

TEST(ServiceLaws, LittlesLawIsExact) {
  const Load load = poisson(20, 5000, Distribution::uniform(50, 500), Distribution::uniform(2, 60));
  PlainTimer timer(0.002, 1e-5);
  const ServiceResult result = run_service(setup_of(load, plain_rules(2048, 64, 4000), timer, 2));
  double seconds = 0;
  for (const ServedRequest& request : result.requests) {
    ASSERT_GE(request.end_s, request.first_s);
    seconds += static_cast<double>(request.end_s);
  }
  EXPECT_NEAR(result.request_time.value(), seconds, 1e-4 * seconds);  // floats
}

// The timeline and the distributions say what the sums and the statistics say.
TEST(ServiceLaws, TheTimelineHoldsEveryStepAndTheDistributionsEveryRequest) {
  PlainTimer timer(0.01, 0.0001);
  const Load load = poisson(20, 500, Distribution::certain(100), Distribution::certain(20));
  const ServiceResult result = run_service(setup_of(load, plain_rules(2048, 8, 1000), timer));
  double decodes = 0;
  double tokens = 0;
  std::int64_t steps = 0;
  for (const TimelineSecond& second : result.timeline) {
    decodes += second.decodes;
    steps += second.decode_steps;
    tokens += second.tokens;
  }
  EXPECT_DOUBLE_EQ(decodes, result.batch_sum);
  EXPECT_EQ(steps, result.decode_steps);
  EXPECT_NEAR(tokens, static_cast<double>(result.output_tokens), 20);  // of the last instant
  const std::vector<Seconds> times = times_at(result, ServedTime::kTtft, {0, 0.5, 0.9, 0.99, 1});
  const Statistic ttft = ttft_of(result);
  EXPECT_EQ(times[1], ttft.p50);
  EXPECT_EQ(times[2], ttft.p90);
  EXPECT_EQ(times[3], ttft.p99);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(times_at(result, ServedTime::kE2e, {0.99}).front(), e2e_of(result).p99);
  EXPECT_EQ(times_at(result, ServedTime::kTpot, {0.5}).front(), tpot_of(result).p50);
}

TEST(ServiceLaws, TokensAndBlocksAreConserved) {
  WorkerRules rules = plain_rules(512, 64, 300);
  for (const bool prefill_first : {false, true}) {
    for (const Admission admission : {Admission::kNone, Admission::kPartial, Admission::kFull}) {
      rules.prefill_first = prefill_first;
      rules.mixed = !prefill_first;
      rules.admission = admission;
      rules.preemption = admission == Admission::kFull      ? Preemption::kNever
                         : admission == Admission::kPartial ? Preemption::kMinToEnd
                                                            : Preemption::kLastToHead;
      rules.schedule.partial_start = 0.5;
      rules.schedule.partial_clip = 4096;
      const Load load =
          poisson(50, 800, Distribution::uniform(10, 900), Distribution::uniform(1, 300));
      PlainTimer timer(0.002, 1e-5);
      const ServiceResult result = run_service(setup_of(load, rules, timer));
      EXPECT_EQ(result.answered, 800);
      EXPECT_EQ(result.leaked_blocks, 0);
      std::int64_t input = 0;
      std::int64_t output = 0;
      for (const ServedRequest& request : result.requests) {
        input += request.input;
        output += request.output;
      }
      EXPECT_EQ(result.output_tokens, output);
      if (result.preemptions == 0) {
        EXPECT_EQ(result.prompt_tokens, input);
      } else {
        EXPECT_GT(result.prompt_tokens, input);
      }
      if (admission == Admission::kNone) {
        EXPECT_GT(result.preemptions, 0);
      }
      if (admission == Admission::kFull) {
        EXPECT_EQ(result.preemptions, 0);
      }
    }
  }
}

double throughput(const WorkerRules& rules, double step, double token, double position,
                  int workers) {
  const Load load = closed(64, 640, 300, 100);
  PlainTimer timer(step, token, position);
  return output_tokens_per_s(run_service(setup_of(load, rules, timer, workers)));
}

TEST(ServiceLaws, MoreOfAnythingNeverLowersTheThroughput) {
  double last = 0;
  for (const std::int64_t blocks : {40, 80, 160, 400, 1200, 2000}) {
    WorkerRules rules = plain_rules(1024, 64, blocks);
    rules.admission = Admission::kFull;
    rules.preemption = Preemption::kNever;
    const double now = throughput(rules, 0.01, 1e-6, 1e-8, 1);
    EXPECT_GE(now, last * (1 - 1e-9)) << blocks;
    last = now;
  }
  last = 0;
  for (const double position : {1e-6, 1e-7, 1e-8, 0.0}) {
    const double now = throughput(plain_rules(1024, 64, 4000), 0.01, 1e-6, position, 1);
    EXPECT_GE(now, last) << position;
    last = now;
  }
  last = 0;
  for (const int workers : {1, 2, 4, 8}) {
    const double now = throughput(plain_rules(1024, 64, 4000), 0.001, 1e-5, 1e-7, workers);
    EXPECT_GE(now, last) << workers;
    last = now;
  }
  last = 0;
  for (const std::int64_t budget : {128, 512, 2048, 8192, 32768}) {
    const double now = throughput(plain_rules(budget, 64, 4000), 0.01, 1e-6, 1e-8, 1);
    EXPECT_GE(now, last * (1 - 1e-9)) << budget;
    last = now;
  }
}

TEST(ServiceLaws, EqualInputGivesEqualBytes) {
  const Load load = poisson(50, 500, Distribution::uniform(10, 900), Distribution::uniform(1, 90));
  const auto run = [&load] {
    PlainTimer timer(0.002, 1e-5);
    return run_service(setup_of(load, plain_rules(512, 64, 300), timer, 2));
  };
  const ServiceResult a = run();
  const ServiceResult b = run();
  ASSERT_EQ(a.requests.size(), b.requests.size());
  for (std::size_t i = 0; i < a.requests.size(); ++i) {
    EXPECT_EQ(a.requests[i].first_s, b.requests[i].first_s);
    EXPECT_EQ(a.requests[i].end_s, b.requests[i].end_s);
  }
}

TEST(ServiceLaws, AClosedLoopKeepsItsClientsBusy) {
  const Load load = closed(8, 80, 100, 50);
  PlainTimer timer(0.01, 0);
  const ServiceResult result = run_service(setup_of(load, plain_rules(8192, 64, 4000), timer));
  // All eight start together and stay together: 50 steps of 10 ms each, ten times.
  EXPECT_NEAR(result.end.value(), 10 * 50 * 0.01, 1e-6);
  EXPECT_NEAR(tpot_of(result).p50.value(), 0.01, 1e-6);
  EXPECT_NEAR(itl_of(result).p50.value(), 0.01, 1e-5);
  EXPECT_NEAR(output_tokens_per_s(result), 8 / 0.01, 1);
}

TEST(ServiceLaws, HostTimeIsHiddenByOverlapAlone) {
  const Load load = closed(8, 80, 100, 50);
  WorkerRules rules = plain_rules(8192, 64, 4000);
  rules.host.per_step = Seconds(0.004);
  PlainTimer timer(0.01, 0);
  EXPECT_NEAR(tpot_of(run_service(setup_of(load, rules, timer))).mean.value(), 0.014, 1e-6);
  rules.overlap = true;
  EXPECT_NEAR(tpot_of(run_service(setup_of(load, rules, timer))).mean.value(), 0.01, 1e-6);
  rules.host.per_step = Seconds(0.03);
  EXPECT_NEAR(tpot_of(run_service(setup_of(load, rules, timer))).mean.value(), 0.03, 1e-6);
}

TEST(ServiceLaws, SeparateDecodeWorkersGetTheCacheOverTheLink) {
  const Load load = closed(4, 40, 1000, 20);
  PlainTimer timer(0.01, 0);
  ServiceSetup setup = setup_of(load, plain_rules(8192, 64, 4000), timer);
  setup.serving.rules.prefill_only = true;
  ServingGroup decode;
  decode.rules = plain_rules(8192, 64, 4000);
  decode.rules.decode_only = true;
  decode.timer = &timer;
  setup.decoding = {decode};
  setup.link = {Seconds(0), BytesPerSecond(1e9), Bytes(1e5)};
  const ServiceResult result = run_service(setup);
  EXPECT_EQ(result.answered, 40);
  EXPECT_EQ(result.leaked_blocks, 0);
  EXPECT_DOUBLE_EQ(result.transferred.value(), 40 * 1000 * 1e5);
  EXPECT_NEAR(result.link_busy.value(), 4.0, 1e-6);
  // Four caches of 0.1 s each cross one link: it is what binds.
  EXPECT_GT(result.end.value(), 4.0);
  EXPECT_LT(result.end.value(), 4.5);
}

// A machine cut into equal stages: each takes its part of a step, and a time to hand over.
class StagedTimer : public StepTimer {
 public:
  StagedTimer(double step, double token, int stages, double handover = 0)
      : whole_(step, token), stages_(stages), handover_(handover) {}
  StepTime time(const StepShape& shape, int stage) override {
    StepTime time = whole_.time(shape, stage);
    time.total = Seconds(time.total.value() / stages_);
    if (stage + 1 < stages_) time.handover = Seconds(handover_);
    return time;
  }
  int stages() const override { return stages_; }
  std::int64_t executed() const override { return whole_.executed(); }

 private:
  PlainTimer whole_;
  int stages_;
  double handover_;
};

// `seats`: of each batch in flight.
ServiceResult staged(const Load& load, int stages, std::int64_t seats = 64, double handover = 0) {
  StagedTimer timer(0.012, 1e-5, stages, handover);
  return run_service(setup_of(load, plain_rules(2048, seats, 12000), timer));
}

TEST(ServiceLaws, StagesWorkAtTheSameTime) {
  const Load load = closed(256, 2560, 200, 100);
  const double one = output_tokens_per_s(staged(load, 1));
  double last = one;
  for (const int stages : {2, 4}) {
    const double now = output_tokens_per_s(staged(load, stages));  // with their own seats
    EXPECT_GT(now, last * 1.5) << stages;
    EXPECT_LE(now, one * stages) << stages;
    last = now;
    const double shared = output_tokens_per_s(staged(load, stages, 64 / stages));
    EXPECT_GT(shared, one) << stages;  // fewer tokens in each step
    EXPECT_LT(shared, now) << stages;
  }
}

TEST(ServiceLaws, AStepWaitsForTheStageThatIsTaken) {
  const Load load = closed(2, 20, 10, 50);  // a batch of its own for each
  StagedTimer even(0.01, 0, 2);
  const ServiceResult result = run_service(setup_of(load, plain_rules(2048, 8, 1000), even));
  EXPECT_NEAR(tpot_of(result).mean.value(), 0.01,
              1e-4);  // one is in the first stage, the other in the last
  StagedTimer slow(0.01, 0, 2, 0.002);
  EXPECT_NEAR(tpot_of(run_service(setup_of(load, plain_rules(2048, 8, 1000), slow))).mean.value(),
              0.012, 1e-4);
  const Load four = closed(4, 40, 10, 50);  // two in each batch
  EXPECT_NEAR(tpot_of(run_service(setup_of(four, plain_rules(2048, 8, 1000), even))).mean.value(),
              0.01, 1e-4);
}

TEST(ServiceLaws, OneHostPreparesTheStepsOfAllBatches) {
  WorkerRules rules = plain_rules(2048, 8, 1000);
  rules.overlap = true;
  rules.host.per_step = Seconds(0.008);
  StagedTimer timer(0.01, 0, 2);
  const Load one = closed(1, 10, 10, 50);
  EXPECT_NEAR(tpot_of(run_service(setup_of(one, rules, timer))).mean.value(), 0.01, 1e-4);
  const Load two = closed(2, 20, 10, 50);  // a batch of its own for each
  EXPECT_NEAR(tpot_of(run_service(setup_of(two, rules, timer))).mean.value(), 0.016, 1e-4);
  rules.overlap = false;
  EXPECT_NEAR(tpot_of(run_service(setup_of(one, rules, timer))).mean.value(), 0.018, 1e-4);
}

TEST(ServiceLaws, APipelineIsNeverFasterForOneRequestThanTheWhole) {
  const Load load = closed(1, 20, 300, 50);
  const double whole = e2e_of(staged(load, 1)).mean.value();
  const double cut = e2e_of(staged(load, 2)).mean.value();
  EXPECT_NEAR(cut, whole, 1e-6 * whole);
  EXPECT_NEAR(e2e_of(staged(load, 2, 64, 0.001)).mean.value(), whole + 50 * 0.001, 1e-4 * whole);
}

TEST(ServiceLaws, PipelinesConserveTokensAndBlocks) {
  const Load load = poisson(40, 800, Distribution::uniform(10, 900), Distribution::uniform(1, 300));
  StagedTimer timer(0.002, 1e-5, 3, 1e-4);
  WorkerRules rules = plain_rules(512, 22, 100);
  const ServiceResult result = run_service(setup_of(load, rules, timer, 2));
  EXPECT_EQ(result.answered, 800);
  EXPECT_EQ(result.leaked_blocks, 0);
  EXPECT_GT(result.preemptions, 0);
  std::int64_t output = 0;
  for (const ServedRequest& request : result.requests) {
    output += request.output;
    EXPECT_LT(request.worker, 2);
  }
  EXPECT_EQ(result.output_tokens, output);
  // Stages are busy for no longer than there are.
  double busy = 0;
  for (const Spent kind : {kHost, kPrompts, kDecodeAttention, kDecodeRest})
    busy += result.spent[kind].value();
  EXPECT_LE(busy, result.end.value() * 2 * 3 * (1 + 1e-9));
}

TEST(ServiceLaws, AnInterruptionGivesWhatWasAnswered) {
  const Load load = closed(8, 800, 100, 50);
  PlainTimer timer(0.01, 0);
  ServiceSetup setup = setup_of(load, plain_rules(8192, 64, 4000), timer);
  setup.progress = [](double share) { return share < 0.25; };
  const ServiceResult result = run_service(setup);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GE(result.answered, 200);
  EXPECT_LT(result.answered, 300);
}

TEST(ServiceLaws, ARequestThatNoWorkerHoldsIsRefused) {
  PlainTimer timer(0.01, 0);
  const Load load = closed(1, 1, 1000, 1000);
  try {
    run_service(setup_of(load, plain_rules(8192, 64, 100), timer));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("needs 125 KV blocks of 16 tokens"));
  }
}

}  // namespace
}  // namespace foretell
