// Laws of ranks in lock step that hold their prompts back until each has one.
#include <gtest/gtest.h>

#include <utility>

#include "model/serving/service.hpp"

namespace foretell {
namespace {

constexpr double kDecode = 0.01;
constexpr double kPrompt = 0.1;

// A step with a prompt takes longer; the slowest rank counts.
class PromptTimer : public StepTimer {
 public:
  StepTime time(const StepShape& shape, int /*stage*/) override {
    StepTime time;
    time.total = Seconds(shape.chunks.empty() ? kDecode : kPrompt);
    return time;
  }
  std::int64_t executed() const override { return 0; }
};

ServiceResult served(std::int64_t clients, int ranks, int steps) {
  Load load;
  load.concurrency = clients;
  load.requests = 20 * clients;
  load.input_len = Distribution::certain(100);
  load.output_len = Distribution::uniform(160, 240);
  PromptTimer timer;
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules.max_tokens = 8192;
  setup.serving.rules.max_sequences = 64;
  setup.serving.rules.max_length = 1 << 20;
  setup.serving.rules.block = 16;
  setup.serving.rules.blocks = 4000;
  setup.serving.rules.overlap = false;
  setup.serving.rules.schedule.balance_steps = steps;
  setup.serving.ranks = ranks;
  setup.serving.timer = &timer;
  return run_service(setup);
}

// Prompts come together, so that decodes wait for fewer of them; the first token waits for others,
// but no longer than this many steps.
TEST(BalanceLaws, HeldPromptsSpareDecodesAndCostFirstTokens) {
  constexpr std::int64_t kSteps = 20;
  const ServiceResult at_once = served(64, 4, 0);
  const ServiceResult held = served(64, 4, kSteps);
  EXPECT_EQ(held.answered, at_once.answered);
  EXPECT_EQ(held.output_tokens, at_once.output_tokens);
  EXPECT_LT(tpot_of(held).mean.value(), 0.9 * tpot_of(at_once).mean.value());
  EXPECT_GT(ttft_of(held).mean.value(), ttft_of(at_once).mean.value());
  EXPECT_LT(ttft_of(held).p50.value(), kSteps * kDecode + 2 * kPrompt);
}

// Nothing is held where one rank has no decodes, nor on one rank.
TEST(BalanceLaws, NobodyWaitsForARankThatIsIdle) {
  for (const auto& [clients, ranks] : {std::pair{1, 4}, {8, 1}}) {
    const ServiceResult at_once = served(clients, ranks, 0);
    const ServiceResult held = served(clients, ranks, 50);
    EXPECT_EQ(held.end, at_once.end);
    EXPECT_EQ(ttft_of(held).mean.value(), ttft_of(at_once).mean.value());
  }
}

}  // namespace
}  // namespace foretell
