#include "model/serving/worker_rules.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

EngineSpec engine_with(const char* base) {
  EngineSpec engine;
  engine.memory.base = base;
  engine.memory.reserve = Bytes(2e9);
  engine.memory.reserve_of_group = Bytes(1e9);
  engine.memory.reserve_per_token = Bytes(1e3);
  return engine;
}

constexpr double kShare = 0.9;
constexpr std::int64_t kTokens = 1'000'000;  // 1 GB of reserve
const DeviceUse kAlone{Bytes(80e9), Bytes(40e9), Bytes(5e9), false, 0};

double kv_of(const char* base, const DeviceUse& use) {
  return kv_memory(engine_with(base), kShare, use, {kTokens, 1}).kv.value();
}

TEST(WorkerRules, AStepHasRoomForAPromptThatIsNotCut) {
  EngineSpec engine = engine_with("total");
  engine.schedule.chunking = "no";
  engine.limits.max_tokens = 8192;
  engine.limits.max_sequences = 64;
  engine.graphs.sizes = "none";
  RuleChoices choices;
  constexpr std::int64_t kContext = 131072;
  choices.longest_prompt = 1000;
  const auto tokens = [&] { return rules_of(engine, choices, Bytes(0), kContext).max_tokens; };
  EXPECT_EQ(tokens(), 8192);
  choices.longest_prompt = 20000;
  EXPECT_EQ(tokens(), 20000 + 64);  // beside those who are served
  engine.limits.whole_context = "yes";
  EXPECT_EQ(tokens(), kContext);
  choices.max_tokens = 4096;  // stated: counts whatever comes
  EXPECT_EQ(tokens(), 4096);
}

TEST(WorkerRules, RanksDivideAStepWhereTheEngineSaysSo) {
  EngineSpec engine = engine_with("total");
  engine.schedule.chunking = "yes";
  engine.limits.max_tokens = 8192;
  engine.limits.max_sequences = 512;
  engine.graphs.sizes = "1,2,512,2048";
  engine.graphs.largest = 2048;
  RuleChoices choices;
  choices.ranks = 8;
  EXPECT_EQ(rules_of(engine, choices, Bytes(0), 1).max_tokens, 8192);
  engine.limits.divided = "yes";
  const WorkerRules rules = rules_of(engine, choices, Bytes(0), 1);
  EXPECT_EQ(rules.max_tokens, 1024);
  EXPECT_EQ(rules.graph_sizes.back(), 2048);  // of decodes, whose number is no matter of the step
  choices.ranks = 1;
  EXPECT_EQ(rules_of(engine, choices, Bytes(0), 1).max_tokens, 8192);
}

TEST(KvMemory, IsWhatTheShareLeaves) {
  EXPECT_DOUBLE_EQ(kv_of("total", kAlone), 0.9 * 80e9 - 40e9 - 5e9 - 3e9);
  EXPECT_DOUBLE_EQ(kv_of("free", kAlone), 0.9 * (80e9 - 40e9 - 5e9 - 3e9));
  EXPECT_DOUBLE_EQ(kv_of("static", kAlone), 0.9 * (80e9 - 3e9) - 40e9);
}

TEST(KvMemory, CommunicatorsTakeMore) {
  DeviceUse group = kAlone;
  group.exchanges = true;
  EXPECT_DOUBLE_EQ(kv_of("total", kAlone) - kv_of("total", group), 1e9);
  EXPECT_NEAR(kv_of("free", kAlone) - kv_of("free", group), 0.9e9, 1);
  EXPECT_NEAR(kv_of("static", kAlone) - kv_of("static", group), 0.9e9, 1);
}

TEST(KvMemory, LogitsOfAllPlacesTakeMore) {
  EngineSpec engine = engine_with("free");
  DeviceUse use = kAlone;
  use.vocab = 100'000;
  const auto kv = [&](std::int64_t places) {
    return kv_memory(engine, 1, use, {kTokens, places}).kv.value();
  };
  EXPECT_DOUBLE_EQ(kv(2000), kv(1));
  engine.memory.reserve_per_logit = Bytes(28);
  EXPECT_DOUBLE_EQ(kv(1) - kv(2001), 2000. * 100'000 * 28);
}

TEST(KvMemory, IsNeverLessThanNone) {
  DeviceUse full = kAlone;
  full.weights = Bytes(79e9);
  for (const char* base : {"total", "free", "static"}) EXPECT_EQ(kv_of(base, full), 0) << base;
}

}  // namespace
}  // namespace foretell
