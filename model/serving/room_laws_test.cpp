// Laws of prompts that begin when the worker that makes their answer has room for them.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/serving/service.hpp"

namespace foretell {
namespace {

constexpr double kEveryStep = 0.01;

// Every step takes the same time.
class EvenTimer : public StepTimer {
 public:
  StepTime time(const StepShape& /*shape*/, int /*stage*/) override {
    StepTime time;
    time.total = Seconds(kEveryStep);
    return time;
  }
  std::int64_t executed() const override { return 0; }
};

WorkerRules rules_with(std::int64_t places, std::int64_t blocks) {
  WorkerRules rules;
  rules.max_tokens = 8192;
  rules.max_sequences = places;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = blocks;
  rules.overlap = false;
  return rules;
}

struct Separate {
  std::int64_t clients = 8;
  std::int64_t places = 64;
  std::int64_t blocks = 4000;
  std::int64_t reserve = 0;
  int prefill = 1;
  int decode = 1;
  bool room_first = true;
  std::int64_t output = 50;
};

ServiceResult served(const Separate& asked) {
  Load load;
  load.concurrency = asked.clients;
  load.requests = 10 * asked.clients;
  load.input_len = Distribution::certain(1000);
  load.output_len = Distribution::certain(static_cast<double>(asked.output));
  EvenTimer timer;
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules_with(64, 4000);
  setup.serving.rules.prefill_only = true;
  setup.serving.timer = &timer;
  setup.serving.workers = asked.prefill;
  ServingGroup decode;
  decode.rules = rules_with(asked.places, asked.blocks);
  decode.rules.decode_only = true;
  decode.rules.room_first = asked.room_first;
  decode.rules.room_reserve = asked.reserve;
  decode.timer = &timer;
  decode.workers = asked.decode;
  setup.decoding = {decode};
  setup.link = {Seconds(0), BytesPerSecond(1e12), Bytes(1e3)};
  ServiceResult result = run_service(setup);
  EXPECT_EQ(result.answered, load.requests);
  EXPECT_EQ(result.leaked_blocks, 0);
  return result;
}

// How long the last of the requests waited until its prompt began.
Seconds longest_wait(const ServiceResult& result) {
  Seconds longest;
  for (const ServedRequest& one : result.requests)
    longest = std::max(longest, one.start - one.arrival);
  return longest;
}

TEST(RoomLaws, WithRoomForAllNothingChanges) {
  for (const int prefill : {1, 2}) {
    Separate asked;
    asked.prefill = prefill;
    const ServiceResult first = served(asked);
    asked.room_first = false;
    const ServiceResult at_once = served(asked);
    EXPECT_EQ(first.end, at_once.end);
    EXPECT_EQ(ttft_of(first).mean.value(), ttft_of(at_once).mean.value());
    EXPECT_EQ(longest_wait(first), longest_wait(at_once));
  }
}

TEST(RoomLaws, PromptsWaitForAPlaceWhereAnswersAreMade) {
  Separate asked;
  asked.places = 4;  // of eight clients
  const ServiceResult full = served(asked);
  // The first four answers take 50 tokens; until then no other prompt begins.
  EXPECT_GT(longest_wait(full).value(), 45 * kEveryStep);
  asked.room_first = false;
  EXPECT_LT(longest_wait(served(asked)).value(), 5 * kEveryStep);
  // Places stand empty while prompts are computed: no more answers in the same time.
  EXPECT_GE(full.end, served(asked).end);
  asked.room_first = true;
  asked.places = 64;
  EXPECT_LT(longest_wait(served(asked)).value(), 5 * kEveryStep);
}

TEST(RoomLaws, PromptsWaitForBlocksAndWhatEveryRequestCountsWithBesides) {
  Separate asked;
  asked.blocks = 8 * (1000 + 50) / 16 + 16;  // of eight prompts with their answers
  EXPECT_LT(longest_wait(served(asked)).value(), 5 * kEveryStep);
  asked.reserve = 512;
  EXPECT_GT(longest_wait(served(asked)).value(), 45 * kEveryStep);
  // One alone is always let in, whatever it would have to leave.
  asked.clients = 1;
  asked.reserve = 1'000'000;
  EXPECT_LT(longest_wait(served(asked)).value(), 5 * kEveryStep);
}

// An answer of one token ends where its prompt was computed, and gives its room back.
TEST(RoomLaws, RoomOfAnswersThatDoNotComeIsGivenBack) {
  Separate asked;
  asked.places = 1;
  asked.output = 1;
  EXPECT_LT(longest_wait(served(asked)).value(), 9 * kEveryStep);
}

// Workers of both kinds take turns among their own.
TEST(RoomLaws, RoundsOfPrefillAndDecodeWorkersAreTheirOwn) {
  for (const bool room_first : {false, true}) {
    Separate asked;
    asked.prefill = 2;
    asked.decode = 2;
    asked.room_first = room_first;
    std::int64_t second = 0;
    for (const ServedRequest& one : served(asked).requests) second += one.worker;
    EXPECT_EQ(second, 40) << room_first;
  }
}

}  // namespace
}  // namespace foretell
