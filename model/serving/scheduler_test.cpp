#include "model/serving/scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace foretell {
namespace {

WorkerRules simple_rules(std::int64_t tokens, std::int64_t sequences, std::int64_t blocks) {
  WorkerRules rules;
  rules.max_tokens = tokens;
  rules.max_sequences = sequences;
  rules.max_length = 1'000'000;
  rules.block = 16;
  rules.blocks = blocks;
  return rules;
}

Sequence sequence(std::int64_t number, std::int32_t input, std::int32_t output) {
  Sequence one;
  one.request = number;
  one.input = input;
  one.output = output;
  return one;
}

// Ends the step as a worker does; returns those that are done.
std::vector<Sequence*> end_step(Scheduler& scheduler, const StepPlan& plan) {
  std::vector<Sequence*> done;
  const auto give = [&done](Sequence* one) {
    if (++one->generated == one->output) done.push_back(one);
  };
  for (Sequence* one : plan.decodes) give(one);
  for (const PlannedChunk& chunk : plan.chunks) {
    if (chunk.ends_prompt) give(chunk.sequence);
  }
  scheduler.finish(done);
  return done;
}

std::map<std::int64_t, std::int64_t> chunks_of(const StepPlan& plan) {
  std::map<std::int64_t, std::int64_t> tokens;
  for (const PlannedChunk& chunk : plan.chunks) tokens[chunk.sequence->request] = chunk.tokens;
  return tokens;
}

using Chunks = std::map<std::int64_t, std::int64_t>;

// Tokens of a step bound prompts; a step of decodes alone holds all that run.
TEST(Scheduler, DecodesAloneAreBoundByPlacesAlone) {
  WorkerRules rules = simple_rules(16, 64, 1000);
  rules.prefill_first = true;
  rules.mixed = false;
  Scheduler scheduler(rules);
  std::vector<Sequence> all;
  for (int i = 0; i < 40; ++i) all.push_back(sequence(i, 8, 60));
  for (Sequence& one : all) scheduler.add(&one);
  for (int i = 0; i < 20; ++i) {
    const StepPlan& plan = scheduler.plan();
    EXPECT_EQ(plan.chunks.size(), 2U);
    end_step(scheduler, plan);
  }
  EXPECT_EQ(scheduler.plan().decodes.size(), 40U);
}

// An answer whose end the host has not seen keeps its place for a step, but stops no other where
// nothing runs.
TEST(Scheduler, PlacesOfAnswersThatJustEndedAreFreeAStepLater) {
  const WorkerRules rules = simple_rules(100, 2, 1000);
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 10, 2);
  Sequence b = sequence(1, 10, 9);
  Sequence c = sequence(2, 10, 9);
  for (Sequence* one : {&a, &b, &c}) scheduler.add(one);
  end_step(scheduler, scheduler.plan());
  EXPECT_EQ(end_step(scheduler, scheduler.plan()).size(), 1U);
  scheduler.hold_places(1);
  const StepPlan& held = scheduler.plan();
  EXPECT_EQ(held.refusal, Refusal::kSequences);
  EXPECT_TRUE(held.chunks.empty());
  end_step(scheduler, held);
  EXPECT_EQ(chunks_of(scheduler.plan()), (Chunks{{2, 10}}));

  Scheduler empty(rules);
  Sequence d = sequence(3, 10, 2);
  empty.add(&d);
  empty.hold_places(2);
  EXPECT_EQ(chunks_of(empty.plan()), (Chunks{{3, 10}}));
}

TEST(Scheduler, RunningFirstFillsTheBudgetWithChunksAndMixes) {
  const WorkerRules rules = simple_rules(100, 8, 1000);
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 70, 3);
  Sequence b = sequence(1, 50, 3);
  scheduler.add(&a);
  scheduler.add(&b);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 70}, {1, 30}}));
  EXPECT_TRUE(first.chunks[0].ends_prompt);
  EXPECT_FALSE(first.chunks[1].ends_prompt);
  end_step(scheduler, first);
  const StepPlan& second = scheduler.plan();
  EXPECT_EQ(second.decodes, std::vector<Sequence*>{&a});
  EXPECT_EQ(chunks_of(second), (Chunks{{1, 20}}));
  EXPECT_EQ(second.chunks[0].context, 30);
  EXPECT_EQ(second.decode_positions, 71);
}

TEST(Scheduler, PrefillFirstLeavesDecodesOut) {
  WorkerRules rules = simple_rules(100, 8, 1000);
  rules.prefill_first = true;
  rules.mixed = false;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 70, 3);
  Sequence b = sequence(1, 150, 3);
  scheduler.add(&a);
  scheduler.add(&b);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 70}, {1, 30}}));
  end_step(scheduler, first);
  // The prompt that was cut goes on alone until it is done.
  const StepPlan& second = scheduler.plan();
  EXPECT_TRUE(second.decodes.empty());
  EXPECT_EQ(chunks_of(second), (Chunks{{1, 100}}));
}

TEST(Scheduler, WithoutChunkingAPromptWaitsForAStepThatHoldsIt) {
  WorkerRules rules = simple_rules(100, 8, 1000);
  rules.chunking = false;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 70, 3);
  Sequence b = sequence(1, 50, 3);
  scheduler.add(&a);
  scheduler.add(&b);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 70}}));
  EXPECT_EQ(first.refusal, Refusal::kTokens);
  end_step(scheduler, first);
  EXPECT_EQ(chunks_of(scheduler.plan()), (Chunks{{1, 50}}));
  EXPECT_FALSE(scheduler.fits(101, 1));
}

TEST(Scheduler, PromptsAreHeldBackToComeTogether) {
  WorkerRules rules = simple_rules(100, 8, 1000);
  rules.schedule.wait_steps = 3;
  rules.schedule.wait_share = 0.8;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 70, 30);
  Sequence b = sequence(1, 10, 3);
  Sequence c = sequence(2, 80, 3);
  scheduler.add(&a);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 70}}));  // no request decodes
  end_step(scheduler, first);
  scheduler.add(&b);
  for (int step = 0; step < 3; ++step) {
    const StepPlan& plan = scheduler.plan();
    EXPECT_TRUE(plan.chunks.empty()) << step;
    end_step(scheduler, plan);
  }
  const StepPlan& fourth = scheduler.plan();
  EXPECT_EQ(chunks_of(fourth), (Chunks{{1, 10}}));
  end_step(scheduler, fourth);
  scheduler.add(&c);  // fills a step
  EXPECT_EQ(chunks_of(scheduler.plan()), (Chunks{{2, 80}}));
}

TEST(Scheduler, ChunksAreMultiplesOfTheirUnitUnlessTheyEndThePrompt) {
  WorkerRules rules = simple_rules(100, 8, 1000);
  rules.schedule.chunk_unit = 64;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 130, 3);
  scheduler.add(&a);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 64}}));
  end_step(scheduler, first);
  EXPECT_EQ(chunks_of(scheduler.plan()), (Chunks{{0, 66}}));  // it ends the prompt
}

TEST(Scheduler, WithoutBlocksTheLastComputesAgainFromTheHead) {
  const WorkerRules rules = simple_rules(1000, 8, 8);  // 128 tokens
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 60, 40);
  Sequence b = sequence(1, 60, 40);
  Sequence c = sequence(2, 16, 2);
  scheduler.add(&a);
  scheduler.add(&b);
  scheduler.add(&c);
  bool preempted = false;
  std::vector<std::int64_t> order;
  for (int step = 0; step < 500 && order.size() < 3; ++step) {
    const StepPlan& plan = scheduler.plan();
    EXPECT_FALSE(plan.empty());
    preempted = preempted || plan.preempted > 0;
    for (Sequence* one : end_step(scheduler, plan)) order.push_back(one->request);
    EXPECT_LE(scheduler.pool().used(), 8);
  }
  EXPECT_TRUE(preempted);
  EXPECT_GT(b.preemptions, 0);
  EXPECT_EQ(a.preemptions, 0);
  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(scheduler.pool().used(), 0);
}

TEST(Scheduler, FullAdmissionNeverPreempts) {
  WorkerRules rules = simple_rules(1000, 8, 8);
  rules.admission = Admission::kFull;
  rules.preemption = Preemption::kNever;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 60, 40);  // 7 blocks at its end
  Sequence b = sequence(1, 20, 2);   // 2
  scheduler.add(&a);
  scheduler.add(&b);
  const StepPlan& first = scheduler.plan();
  EXPECT_EQ(chunks_of(first), (Chunks{{0, 60}}));
  EXPECT_EQ(first.refusal, Refusal::kBlocks);
  for (int step = 0; step < 100 && scheduler.running() + scheduler.waiting() > 0; ++step) {
    end_step(scheduler, step == 0 ? first : scheduler.plan());
  }
  EXPECT_EQ(scheduler.preemptions(), 0);
  EXPECT_EQ(scheduler.pool().used(), 0);
  EXPECT_EQ(b.generated, 2);
}

TEST(Scheduler, PartialAdmissionReservesAShareOfTheAnswers) {
  WorkerRules rules = simple_rules(1000, 8, 10);
  rules.block = 10;  // 100 tokens
  rules.admission = Admission::kPartial;
  rules.preemption = Preemption::kMinToEnd;
  rules.prefill_first = true;
  rules.mixed = false;
  rules.schedule.partial_start = 0.5;
  rules.schedule.partial_floor = 0.5;
  rules.schedule.partial_clip = 4096;
  Scheduler scheduler(rules);
  Sequence a = sequence(0, 10, 60);  // reserves 30 once it runs
  Sequence b = sequence(1, 10, 30);  // asks for 10 + 30 + 10
  Sequence c = sequence(2, 10, 10);  // asks for 10 + 10 + 10 of 100 - 20 - 30 - 15
  scheduler.add(&a);
  scheduler.add(&b);
  scheduler.add(&c);
  EXPECT_EQ(chunks_of(scheduler.plan()), (Chunks{{0, 10}, {1, 10}, {2, 10}}));
  rules.schedule.partial_start = rules.schedule.partial_floor = 1;
  Scheduler careful(rules);
  Sequence d = a;
  Sequence e = b;
  d.computed = e.computed = d.blocks = e.blocks = 0;
  d.planned = e.planned = 0;
  careful.add(&d);
  careful.add(&e);
  EXPECT_EQ(chunks_of(careful.plan()), (Chunks{{0, 10}}));
}

}  // namespace
}  // namespace foretell
