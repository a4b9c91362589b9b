// Images in the prompts of a service: each is encoded once, before its first token is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/serving/service.hpp"

namespace foretell {
namespace {

constexpr double kImageStep = 0.01;
constexpr double kImage = 0.004;  // of one

// Counts the images that it is asked for.
class ImageCounter : public StepTimer {
 public:
  StepTime time(const StepShape& shape, int /*stage*/) override {
    images += shape.images;
    StepTime time;
    time.total = Seconds(kImageStep);
    time.images = Seconds(kImage) * static_cast<double>(shape.images);
    time.image_launches = shape.images > 0 ? 1 : 0;
    return time;
  }
  std::int64_t executed() const override { return 1; }

  std::int64_t images = 0;
};

Load prompts_of(std::int64_t tokens) {
  Load load;
  load.concurrency = 1;
  load.requests = 20;
  load.input_len = Distribution::certain(static_cast<double>(tokens));
  load.output_len = Distribution::certain(4);
  return load;
}

WorkerRules image_rules(std::int64_t images, std::int64_t tokens_of_one) {
  WorkerRules rules;
  rules.max_tokens = 1024;
  rules.max_sequences = 8;
  rules.max_length = 1 << 20;
  rules.block = 16;
  rules.blocks = 10'000;
  rules.overlap = false;
  rules.images = images;
  rules.image_tokens = tokens_of_one;
  return rules;
}

ServiceResult serve_images(const Load& load, const WorkerRules& rules, ImageCounter& timer) {
  ServiceSetup setup;
  setup.load = &load;
  setup.serving.rules = rules;
  setup.serving.timer = &timer;
  return run_service(setup);
}

TEST(ImageLaws, EveryImageIsEncodedOnceHoweverItsPromptIsCut) {
  for (const std::int64_t tokens : {300, 1024, 2500}) {  // in one, one and three pieces
    ImageCounter timer;
    const Load load = prompts_of(tokens);
    const ServiceResult result = serve_images(load, image_rules(3, 100), timer);
    EXPECT_EQ(result.answered, 20);
    EXPECT_EQ(timer.images, 20 * 3) << tokens;
  }
}

TEST(ImageLaws, ThoseThatACacheHoldsAreNot) {
  ImageCounter timer;
  const Load load = prompts_of(1000);
  WorkerRules rules = image_rules(4, 200);
  rules.prefix_share = 0.5;  // 500 of 1,000 tokens: the images that begin at 0, 200 and 400
  serve_images(load, rules, timer);
  EXPECT_EQ(timer.images, 20);
}

TEST(ImageLaws, TheFirstTokenWaitsForThem) {
  ImageCounter none;
  ImageCounter some;
  const Load load = prompts_of(800);
  const Seconds text = ttft_of(serve_images(load, image_rules(0, 0), none)).mean;
  const Seconds images = ttft_of(serve_images(load, image_rules(4, 200), some)).mean;
  EXPECT_EQ(none.images, 0);
  EXPECT_NEAR((images - text).value(), 4 * kImage, 1e-6);
  WorkerRules slow = image_rules(4, 200);
  slow.host.per_launch = Seconds(0.05);  // longer than the device takes
  const Seconds launched = ttft_of(serve_images(load, slow, some)).mean;
  EXPECT_NEAR((launched - text).value(), 0.05, 1e-6);
}

}  // namespace
}  // namespace foretell
