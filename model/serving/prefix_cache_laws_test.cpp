// Prefix cache, memory of the host and swapping: conservation of blocks, the order of eviction, and
// that more of either never computes more.
#include <gtest/gtest.h>

#include <random>

#include "model/serving/prefix_cache.hpp"
#include "model/serving/service.hpp"

namespace foretell {
namespace {

// Takes blocks for a request alone and leaves them in the cache under its name.
void pass_through(BlockPool& pool, PrefixCache& cache, std::int64_t own, std::int64_t blocks) {
  const PrefixKeys keys{{}, own};
  const PrefixCache::Hit hit = cache.acquire(keys, blocks);
  cache.make_room(blocks - hit.blocks);
  ASSERT_TRUE(pool.take(blocks - hit.blocks));
  const std::int64_t kept = cache.adopt(keys, hit.blocks, blocks);
  pool.give_back(blocks - hit.blocks - kept);
  cache.release(keys);
}

std::int64_t found(PrefixCache& cache, std::int64_t own, std::int64_t most) {
  const std::int64_t hit = cache.acquire({{}, own}, most).blocks;
  cache.release({{}, own});
  return hit;
}

TEST(PrefixCacheLaws, EvictsTheLongestUnusedAndOfOneChainItsEnd) {
  BlockPool pool(10);
  PrefixCache cache(pool, 0);
  pass_through(pool, cache, 1, 4);
  pass_through(pool, cache, 2, 4);
  EXPECT_EQ(found(cache, 1, 9), 4);  // used last now
  pass_through(pool, cache, 3, 5);   // needs 3 more than are free
  EXPECT_EQ(found(cache, 2, 9), 1);
  EXPECT_EQ(found(cache, 1, 9), 4);
  EXPECT_EQ(cache.evicted(), 3);
  EXPECT_EQ(cache.blocks(), pool.used());
}

TEST(PrefixCacheLaws, BlocksInUseStay) {
  BlockPool pool(4);
  PrefixCache cache(pool, 0);
  pass_through(pool, cache, 1, 3);
  const PrefixKeys keys{{}, 1};
  EXPECT_EQ(cache.acquire(keys, 2).blocks, 2);
  cache.make_room(4);
  EXPECT_EQ(pool.free(), 1);
  cache.release(keys);
  cache.make_room(4);
  EXPECT_EQ(pool.free(), 4);
  EXPECT_EQ(found(cache, 1, 3), 0);
}

TEST(PrefixCacheLaws, TheHostGivesBackWhatWasEvicted) {
  BlockPool pool(4);
  PrefixCache cache(pool, 3);
  pass_through(pool, cache, 1, 3);
  pass_through(pool, cache, 2, 4);  // all of 1 goes to the host
  EXPECT_EQ(cache.host_blocks(), 3);
  const PrefixCache::Hit hit = cache.acquire({{}, 1}, 3);
  EXPECT_EQ(hit.blocks, 3);
  EXPECT_EQ(hit.loaded, 3);
  cache.release({{}, 1});
  EXPECT_EQ(found(cache, 2, 4), 4);  // one of it on the device, the others from the host
}

TEST(PrefixCacheLaws, CountsAgreeWhateverComes) {
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> any(0, 1000);
  for (const std::int64_t host : {0, 5, 40}) {
    BlockPool pool(30);
    PrefixCache cache(pool, host);
    for (int i = 0; i < 5000; ++i) {
      pass_through(pool, cache, any(random) % 12, 1 + any(random) % 30);
      ASSERT_EQ(cache.blocks(), pool.used());
      ASSERT_EQ(cache.evictable(), pool.used());  // none is in use now
      ASSERT_GE(cache.host_blocks(), 0);
      ASSERT_LE(cache.host_blocks(), host);
    }
    cache.make_room(30);
    EXPECT_EQ(pool.free(), 30);
  }
}

class PlainSteps : public StepTimer {
 public:
  StepTime time(const StepShape& shape, int /*stage*/) override {
    StepTime time;
    time.total = Seconds(1e-3 + 1e-5 * static_cast<double>(shape.tokens()));
    return time;
  }
  std::int64_t executed() const override { return 0; }
};

WorkerRules rules_with(std::int64_t blocks) {
  WorkerRules rules;
  rules.max_tokens = 512;
  rules.max_sequences = 64;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = blocks;
  rules.overlap = false;
  rules.block_bytes = Bytes(1e6);
  rules.host_rate = BytesPerSecond(1e10);
  return rules;
}

// Sessions of several turns, each of which begins with all that came before, and a common opening.
Load conversations(int sessions, int turns) {
  Load load;
  for (int turn = 0; turn < turns; ++turn) {
    for (int session = 0; session < sessions; ++session) {
      TrafficRequest request;
      request.arrival_s = 2.0 * turn + 0.01 * session;
      request.input_len = 160 + 112 * turn;
      request.output_len = 33;
      request.session = session;
      request.opening = {{session % 2, 64}};
      load.trace.push_back(request);
    }
  }
  load.requests = static_cast<std::int64_t>(load.trace.size());
  return load;
}

ServiceResult serve_with(const WorkerRules& rules, const Load& load) {
  PlainSteps timer;
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules;
  setup.serving.timer = &timer;
  return run_service(setup);
}

std::int64_t prompt_tokens(const Load& load) {
  std::int64_t sum = 0;
  for (const TrafficRequest& one : load.trace) sum += one.input_len;
  return sum;
}

TEST(PrefixCacheLaws, FoundAndComputedTokensAreThoseOfThePrompts) {
  const Load load = conversations(12, 5);
  WorkerRules rules = rules_with(4000);
  const ServiceResult without = serve_with(rules, load);
  EXPECT_EQ(without.prompt_tokens, prompt_tokens(load));
  rules.prefix_cache = true;
  const ServiceResult with = serve_with(rules, load);
  ASSERT_EQ(with.preemptions, 0);
  EXPECT_EQ(with.prompt_tokens + with.cached_tokens, prompt_tokens(load));
  // Every turn but the first finds all full blocks of the prompt and the answer before it.
  std::int64_t sure = 0;
  for (int turn = 1; turn < 5; ++turn) sure += 12 * ((160 + 112 * (turn - 1) + 32) / 16 * 16);
  EXPECT_GE(with.cached_tokens, sure);
  EXPECT_EQ(with.leaked_blocks, 0);
  EXPECT_EQ(with.answered, load.requests);
}

// Prompts that part later and later: a tree of two common blocks, two times three, and so on.
Load branches(int depth) {
  Load load;
  for (int number = 0; number < 1 << depth; ++number) {
    TrafficRequest request;
    request.arrival_s = number;
    request.input_len = 16 * (3 * depth + 2) + 8;
    request.output_len = 2;
    request.opening.push_back({0, 32});
    for (int level = 1; level <= depth; ++level)
      request.opening.push_back({(1 << level) + (number >> (depth - level)), 48});
    load.trace.push_back(request);
  }
  load.requests = static_cast<std::int64_t>(load.trace.size());
  return load;
}

TEST(PrefixCacheLaws, EveryBranchIsComputedOnce) {
  const Load load = branches(4);
  WorkerRules rules = rules_with(1000);
  rules.prefix_cache = true;
  const ServiceResult all = serve_with(rules, load);
  // 2 blocks at the root, then 2 + 4 + 8 + 16 branches of 3, and 8 tokens of each prompt alone.
  EXPECT_EQ(all.prompt_tokens, 16 * (2 + 3 * 30) + 16 * 8);
  EXPECT_EQ(all.prompt_tokens + all.cached_tokens, prompt_tokens(load));
  EXPECT_EQ(all.leaked_blocks, 0);
  // Branch after branch, the ones just left are never needed again: room for little more than one
  // prompt finds as much. In another order it does not.
  rules.blocks = 20;
  EXPECT_EQ(serve_with(rules, load).cached_tokens, all.cached_tokens);
  Load mixed = load;
  for (std::size_t i = 0; i < mixed.trace.size(); ++i)
    mixed.trace[i].opening = load.trace[i * 5 % mixed.trace.size()].opening;
  const ServiceResult few = serve_with(rules, mixed);
  EXPECT_EQ(few.answered, load.requests);
  EXPECT_EQ(few.leaked_blocks, 0);
  EXPECT_GT(few.evicted_blocks, 0);
  EXPECT_LT(few.cached_tokens, all.cached_tokens);
  EXPECT_GE(few.cached_tokens, 15 * 32);
}

// A router that knows who computed what finds more than one that takes turns.
TEST(PrefixCacheLaws, TheRouterKnowsWhoComputedWhat) {
  const Load load = branches(6);
  const auto cached = [&](Router router) {
    PlainSteps timer;
    ServiceSetup setup;
    setup.load = &load;
    setup.router = router;
    setup.serving.workers = 4;
    setup.serving.rules = rules_with(1000);
    setup.serving.rules.prefix_cache = true;
    setup.serving.timer = &timer;
    return run_service(setup).cached_tokens;
  };
  EXPECT_GT(cached(Router::kPrefixAware), cached(Router::kRoundRobin));
}

TEST(PrefixCacheLaws, MoreBlocksAndTheHostNeverFindLess) {
  const Load load = conversations(24, 5);
  std::int64_t before = -1;
  for (const std::int64_t blocks : {60, 120, 300, 600, 1200, 2400}) {
    WorkerRules rules = rules_with(blocks);
    rules.prefix_cache = true;
    const ServiceResult alone = serve_with(rules, load);
    rules.host_blocks = 2400;
    const ServiceResult host = serve_with(rules, load);
    EXPECT_EQ(alone.answered, load.requests);
    EXPECT_EQ(host.answered, load.requests);
    EXPECT_EQ(alone.leaked_blocks + host.leaked_blocks, 0);
    EXPECT_GE(host.cached_tokens, alone.cached_tokens) << blocks;
    if (alone.preemptions == 0) {
      EXPECT_GE(alone.cached_tokens, before) << blocks;
      before = alone.cached_tokens;
    }
  }
}

TEST(PrefixCacheLaws, EveryAdmissionKeepsItsBlocks) {
  const Load load = conversations(24, 5);
  for (const Admission admission : {Admission::kNone, Admission::kPartial, Admission::kFull}) {
    WorkerRules rules = rules_with(110);
    rules.prefix_cache = true;
    rules.admission = admission;
    rules.schedule.partial_clip = 4096;
    rules.schedule.partial_start = 0.7;
    rules.schedule.partial_floor = 0.1;
    rules.prefill_first = admission == Admission::kPartial;
    rules.preemption = admission == Admission::kFull      ? Preemption::kNever
                       : admission == Admission::kPartial ? Preemption::kMinToEnd
                                                          : Preemption::kLastToHead;
    const ServiceResult result = serve_with(rules, load);
    EXPECT_EQ(result.answered, load.requests);
    EXPECT_EQ(result.leaked_blocks, 0);
    EXPECT_GT(result.cached_tokens, 0);
  }
}

TEST(SwapLaws, SwappedSequencesComputeNothingAgain) {
  Load load;
  load.offline = true;
  load.requests = 40;
  load.input_len = Distribution::certain(100);
  load.output_len = Distribution::certain(200);
  WorkerRules rules = rules_with(100);
  const ServiceResult again = serve_with(rules, load);
  ASSERT_GT(again.preemptions, 0);
  EXPECT_GT(again.prompt_tokens, 40 * 100);
  rules.preemption = Preemption::kSwap;
  rules.host_blocks = 1000;
  const ServiceResult swapped = serve_with(rules, load);
  EXPECT_GT(swapped.preemptions, 0);
  EXPECT_EQ(swapped.prompt_tokens, 40 * 100);
  EXPECT_EQ(swapped.answered, 40);
  EXPECT_EQ(swapped.leaked_blocks, 0);
  EXPECT_GT(swapped.copied_blocks, 0);
  EXPECT_EQ(swapped.copied_blocks % 2, 0);  // all that went came back
  // The copies take their bytes over the link, one after the other.
  EXPECT_NEAR(swapped.spent[kCopies].value(),
              static_cast<double>(swapped.copied_blocks) * 1e6 / 1e10,
              1e-9 * static_cast<double>(swapped.copied_blocks));
  rules.host_blocks = 0;  // no room: computed again, as without
  EXPECT_EQ(serve_with(rules, load).end, again.end);
  rules.host_blocks = 1000;
  rules.host_rate = BytesPerSecond(1e8);
  EXPECT_GT(serve_with(rules, load).end, swapped.end);
}

}  // namespace
}  // namespace foretell
