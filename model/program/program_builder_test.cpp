// From dependencies to semaphores: what is waited for, and what is left out because it is implied.
#include "model/program/program_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "model/base/errors.hpp"
#include "model/testing/instructions.hpp"

namespace foretell {
namespace {

constexpr int kTensorQueue = static_cast<int>(Engine::kTensor);
constexpr int kVectorQueue = static_cast<int>(Engine::kVector);

const Instruction kCopy = lane(Opcode::kTensorCopy, 64);

const std::vector<Instruction>& queue(const Program& program, Engine engine) {
  return program.engine(engine);
}

std::vector<Wait> waits_of(const Program& program, const Instruction& i) {
  const auto begin = program.waits.begin() + static_cast<std::ptrdiff_t>(i.first_wait);
  return {begin, begin + i.wait_count};
}

Deps on(int queue, std::uint32_t index) {
  Deps deps;
  deps.add(queue, index);
  return deps;
}

TEST(Deps, KeepTheLatestEntryOfEachQueue) {
  Deps deps;
  EXPECT_EQ(deps.count(kTensorQueue), 0U);
  deps.add(kTensorQueue, 4);
  deps.add(kTensorQueue, 2);
  EXPECT_EQ(deps.count(kTensorQueue), 5U);
  Deps other = on(kTensorQueue, 1);
  other.add(kVectorQueue, 0);
  deps.merge(other);
  EXPECT_EQ(deps.count(kTensorQueue), 5U);
  EXPECT_EQ(deps.count(kVectorQueue), 1U);
}

TEST(ProgramBuilder, AWaitBecomesASemaphoreOfTheProducersQueue) {
  ProgramBuilder builder("one");
  const Deps first = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 64), {});
  builder.emit(Engine::kVector, kCopy, first);
  const Program program = std::move(builder).finish();
  const Instruction& producer = queue(program, Engine::kScalar)[0];
  const std::vector<Wait> waits = waits_of(program, queue(program, Engine::kVector)[0]);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(producer.signal, waits[0].semaphore);
  EXPECT_EQ(waits[0].threshold, 1U);
  EXPECT_EQ(program.semaphores[producer.signal], "scalar");
  validate(program, {});
}

TEST(ProgramBuilder, OnlyEntriesThatAreWaitedForSignal) {
  ProgramBuilder builder("some");
  Deps last;
  for (int i = 0; i < 5; ++i) last = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 64), {});
  builder.emit(Engine::kVector, kCopy, last);
  const Program program = std::move(builder).finish();
  const auto& scalar = queue(program, Engine::kScalar);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(scalar[i].signal, kNoSemaphore) << i;
  EXPECT_NE(scalar[4].signal, kNoSemaphore);
  EXPECT_EQ(waits_of(program, queue(program, Engine::kVector)[0])[0].threshold, 1U);
}

TEST(ProgramBuilder, AWaitThatAnEarlierOneOfTheQueueImpliesIsDropped) {
  ProgramBuilder builder("implied");
  const Deps a = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 64), {});
  const Deps b = builder.emit(Engine::kScalar, lane(Opcode::kActivate, 64), {});
  builder.emit(Engine::kVector, kCopy, b);
  builder.emit(Engine::kVector, kCopy, a);  // a ended before b
  builder.emit(Engine::kVector, kCopy, b);
  const Program program = std::move(builder).finish();
  const auto& vector = queue(program, Engine::kVector);
  EXPECT_EQ(vector[0].wait_count, 1);
  EXPECT_EQ(vector[1].wait_count, 0);
  EXPECT_EQ(vector[2].wait_count, 0);
  EXPECT_EQ(queue(program, Engine::kScalar)[0].signal, kNoSemaphore);
}

TEST(ProgramBuilder, AQueueDoesNotWaitForItself) {
  ProgramBuilder builder("self");
  const Deps a = builder.emit(Engine::kVector, kCopy, {});
  builder.emit(Engine::kVector, kCopy, a);
  const Program program = std::move(builder).finish();
  EXPECT_EQ(queue(program, Engine::kVector)[1].wait_count, 0);
  EXPECT_EQ(queue(program, Engine::kVector)[0].signal, kNoSemaphore);
}

TEST(ProgramBuilder, NeedingTheEntryJustBeforeIsADependentInstruction) {
  ProgramBuilder builder("dependent");
  const Deps a = builder.emit(Engine::kVector, kCopy, {});
  const Deps b = builder.emit(Engine::kVector, kCopy, a);
  builder.emit(Engine::kVector, kCopy, a);
  builder.emit(Engine::kVector, kCopy, b);
  const Program program = std::move(builder).finish();
  const auto& vector = queue(program, Engine::kVector);
  EXPECT_EQ(vector[0].flags & kDependsOnPrevious, 0);
  EXPECT_NE(vector[1].flags & kDependsOnPrevious, 0);
  EXPECT_EQ(vector[2].flags & kDependsOnPrevious, 0);  // one instruction in between
  EXPECT_EQ(vector[3].flags & kDependsOnPrevious, 0);
}

TEST(ProgramBuilder, RingsSignalAndWaitLikeEngines) {
  ProgramBuilder builder("rings");
  const Deps loaded = builder.emit(Ring::kWeights, load(128, 4096), {});
  const Deps used = builder.emit(Engine::kVector, kCopy, loaded);
  builder.emit(Ring::kOutputs, store(128, 4096), used);
  const Program program = std::move(builder).finish();
  ASSERT_EQ(program.ring_count(), static_cast<std::size_t>(kRingCount));
  const Transfer& in = program.ring(static_cast<std::size_t>(Ring::kWeights)).front();
  const Transfer& out = program.ring(static_cast<std::size_t>(Ring::kOutputs)).front();
  EXPECT_EQ(program.semaphores[in.signal], "weights");
  EXPECT_EQ(waits_of(program, queue(program, Engine::kVector)[0])[0].semaphore, in.signal);
  ASSERT_EQ(out.wait_count, 1);
  EXPECT_EQ(program.semaphores[program.waits[out.first_wait].semaphore], "vector");
  EXPECT_EQ(out.signal, kNoSemaphore);
}

TEST(ProgramBuilder, EntriesBelongToTheCurrentOperator) {
  ProgramBuilder builder("operators");
  builder.emit(Engine::kVector, kCopy, {});
  const std::int32_t query = builder.begin_operator("query");
  builder.emit(Engine::kVector, kCopy, {});
  const std::int32_t key = builder.begin_operator("key");
  builder.emit(Ring::kInputs, load(1, 64), {});
  builder.resume_operator(query);
  builder.emit(Engine::kVector, kCopy, {});
  const Program program = std::move(builder).finish();
  EXPECT_THAT(program.operators, ::testing::ElementsAre("query", "key"));
  EXPECT_EQ(queue(program, Engine::kVector)[0].op, -1);
  EXPECT_EQ(queue(program, Engine::kVector)[1].op, query);
  EXPECT_EQ(queue(program, Engine::kVector)[2].op, query);
  EXPECT_EQ(program.ring(static_cast<std::size_t>(Ring::kInputs))[0].op, key);
}

TEST(ProgramBuilder, ADependencyOnTheFutureIsABugOfTheCaller) {
  ProgramBuilder builder("future");
  EXPECT_THROW(builder.emit(Engine::kVector, kCopy, on(kTensorQueue, 0)), InternalError);
}

// What an execution in dependency order would see: dropping implied waits must not lose any.
TEST(ProgramBuilder, KeptWaitsImplyAllDependencies) {
  std::mt19937 random(7);
  constexpr std::array<Engine, 3> kEngines = {Engine::kVector, Engine::kScalar, Engine::kGpSimd};
  ProgramBuilder builder("random");
  std::array<std::vector<Deps>, kQueueCount> asked;
  std::vector<Deps> all;
  for (int i = 0; i < 500; ++i) {
    Deps deps;
    for (std::size_t d = random() % 3; d > 0 && !all.empty(); --d) {
      deps.merge(all[all.size() - 1 - random() % std::min<std::size_t>(all.size(), 20)]);
    }
    const Engine engine = kEngines[random() % kEngines.size()];
    asked[static_cast<std::size_t>(engine)].push_back(deps);
    all.push_back(builder.emit(engine, kCopy, deps));
  }
  const Program program = std::move(builder).finish();
  for (const Engine engine : kEngines) {
    const auto self = static_cast<int>(engine);
    Deps reached;  // what the queue knows to have ended
    for (std::size_t i = 0; i < queue(program, engine).size(); ++i) {
      for (const Wait& wait : waits_of(program, queue(program, engine)[i])) {
        // The threshold-th signalling entry of that semaphore's queue.
        std::uint32_t signals = 0;
        for (const Engine other : kEngines) {
          const auto& entries = queue(program, other);
          for (std::uint32_t e = 0; e < entries.size(); ++e) {
            if (entries[e].signal == wait.semaphore && ++signals == wait.threshold) {
              reached.add(static_cast<int>(other), e);
            }
          }
        }
        EXPECT_GE(signals, wait.threshold);
      }
      const Deps& needed = asked[static_cast<std::size_t>(self)][i];
      for (int q = 0; q < kQueueCount; ++q) {
        if (q == self) continue;
        EXPECT_GE(reached.count(q), needed.count(q)) << "entry " << i;
      }
    }
  }
}

}  // namespace
}  // namespace foretell
