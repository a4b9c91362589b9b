// Requests with images in their prompts.
#include "model/app/request/resolve/prompt_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

Request asked(const std::string& system, std::int64_t images, std::int64_t side) {
  Request request;
  request.system = system;
  request.workload = "Qwen3-VL-8B";
  request.dtype = "bf16";
  request.input_len = 1200;
  request.output_len = 4;
  request.images = images;
  request.image_size = side;
  return request;
}

std::string image_error(const Request& request) {
  try {
    predict(request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// The first token waits for the tower, the others do not.
TEST(PromptImages, TakeTimeBeforeTheFirstToken) {
  for (const char* system : {"h100-sxm", "c7i.48xlarge"}) {
    const RunSummary text = predict(asked(system, 0, 0)).summary;
    const RunSummary small = predict(asked(system, 1, 512)).summary;
    const RunSummary large = predict(asked(system, 1, 1024)).summary;
    EXPECT_GT(*small.ttft_s, *text.ttft_s) << system;
    EXPECT_GT(*large.ttft_s, *small.ttft_s) << system;
    EXPECT_NEAR(*large.tpot_s / *text.tpot_s, 1, 0.01) << system;
  }
}

TEST(PromptImages, TheUsualSizeIsSaid) {
  const RunRecord record = predict(asked("h100-sxm", 1, 0));
  EXPECT_EQ(record.context.scenario.image_size, 1024);
  EXPECT_THAT(record.context.notes, testing::Contains(HasSubstr("image-size not stated: 1024")));
}

TEST(PromptImages, WrongOnesNameTheOption) {
  Request request = asked("h100-sxm", 2, 1024);
  EXPECT_THAT(image_error(request), HasSubstr("give --input-len 2048 or more"));
  request = asked("h100-sxm", 0, 512);
  EXPECT_THAT(image_error(request), HasSubstr("say with --images"));
  request = asked("h100-sxm", 1, 0);
  request.image_width = 512;
  EXPECT_THAT(image_error(request), HasSubstr("give --image-size, too"));
  request = asked("h100-sxm", 1, 512);
  request.frames = 8;
  EXPECT_THAT(image_error(request), HasSubstr("leave --frames out"));
  request = asked("h100-sxm", 1, 0);
  request.workload = "Qwen3-8B";
  EXPECT_THAT(image_error(request), HasSubstr("reads no images"));
  request = asked("h100-sxm", 1, 512);
  request.input_len = request.output_len = 0;
  EXPECT_THAT(image_error(request), HasSubstr("--input-len"));
}

}  // namespace
}  // namespace foretell
