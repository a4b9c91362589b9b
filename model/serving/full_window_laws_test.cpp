// Laws of the time in which all places of a service are taken.
#include <gtest/gtest.h>

#include <vector>

#include "model/serving/service.hpp"

namespace foretell {
namespace {

constexpr double kMeteredStep = 0.01;
constexpr double kMeteredJoules = 3;

// Every step takes the same time, and as much energy as it makes tokens.
class MeteredTimer : public StepTimer {
 public:
  StepTime time(const StepShape& shape, int /*stage*/) override {
    StepTime time;
    time.total = Seconds(kMeteredStep);
    time.energy = Joules(kMeteredJoules * static_cast<double>(shape.tokens()));
    return time;
  }
  std::int64_t executed() const override { return 0; }
};

ServiceResult filled(std::int64_t requests, std::int64_t places, std::int64_t asked) {
  Load load;
  load.offline = true;
  load.requests = requests;
  load.input_len = Distribution::certain(1);
  load.output_len = Distribution({{20, 1}, {60, 1}, {200, 1}});
  MeteredTimer timer;
  ServiceSetup setup;
  setup.load = &load;
  setup.places = asked;
  setup.serving.timer = &timer;
  WorkerRules& rules = setup.serving.rules;
  rules.max_tokens = 8192;
  rules.max_sequences = places;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = 100'000;
  rules.overlap = false;
  return run_service(setup);
}

TEST(FullWindow, HoldsStepsInWhichAllPlacesAreTakenAndNoOthers) {
  constexpr std::int64_t kPlaces = 16;
  const ServiceResult result = filled(200, kPlaces, kPlaces);
  const FullWindow& full = result.full;
  ASSERT_TRUE(full.is_whole());
  EXPECT_GT(full.end, full.begin);
  EXPECT_LT(full.end, result.end);
  const auto tokens = static_cast<double>(full.tokens);
  // A token for every place in every step, but for those that end and begin in it.
  EXPECT_NEAR(tokens / ((full.end - full.begin).value() / kMeteredStep), kPlaces, 0.01 * kPlaces);
  EXPECT_NEAR(full.energy.value() / tokens, kMeteredJoules, 0.01 * kMeteredJoules);
  // The whole run has a tail in which places are empty.
  EXPECT_LT(static_cast<double>(result.output_tokens) / (result.end.value() / kMeteredStep),
            0.98 * kPlaces);
}

TEST(FullWindow, IsLeftOutWhereNobodyAsksAndWhereTooFewRequestsCome) {
  EXPECT_FALSE(filled(200, 16, 0).full.is_whole());
  const ServiceResult few = filled(10, 16, 16);  // places that are never all taken
  EXPECT_FALSE(few.full.is_whole());
  EXPECT_EQ(few.answered, 10);
}

TEST(FullWindow, AskingChangesNothingElse) {
  const ServiceResult with = filled(200, 16, 16);
  const ServiceResult without = filled(200, 16, 0);
  EXPECT_DOUBLE_EQ(with.end.value(), without.end.value());
  EXPECT_DOUBLE_EQ(with.step_energy.value(), without.step_energy.value());
  EXPECT_EQ(with.output_tokens, without.output_tokens);
}

}  // namespace
}  // namespace foretell
