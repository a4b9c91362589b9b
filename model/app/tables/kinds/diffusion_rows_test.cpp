// Rows of energy tables about images and videos: how boards and sizes are read, and what is
// refused.
#include "model/app/tables/kinds/diffusion_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

const CsvRow kVideoHeader = {"model", "device",  "dtype", "n_devices", "batch_or_concurrency",
                             "tp",    "scenario"};

DiffusionRuns video_runs() {
  DiffusionRuns runs;
  runs.networks = {{"Wan", "wan2.1-t2v-1.3b"}};
  runs.systems = {{"H100", "h100-sxm"}};
  runs.nodes = {{"H100", "h100-sxm-x8"}};
  runs.precisions = {{"bfloat16", "bf16"}};
  runs.library = "pytorch";
  runs.picture_per_pixel = Seconds(1e-6);
  return runs;
}

Request video_row(const char* devices, const char* shares,
                  const char* scenario = "text-to-video 480x832 steps50 frames81") {
  return diffusion_request(video_runs(), NamedCells(kVideoHeader),
                           {"Wan", "H100", "bfloat16", devices, "2", shares, scenario}, Request{});
}

TEST(DiffusionRows, SharesOfBoardsAreRead) {
  const Request request = video_row("8", "ulysses4 ring2");
  EXPECT_EQ(request.system, "h100-sxm-x8");
  EXPECT_EQ(request.cp, 8);
  EXPECT_EQ(request.ring, 2);
  EXPECT_EQ(request.dp, 1);
  EXPECT_EQ(request.image_size, 480);
  EXPECT_EQ(request.image_width, 832);
  EXPECT_EQ(request.frames, 81);
  EXPECT_EQ(video_row("1", "ulysses1 ring1").system, "h100-sxm");
}

TEST(DiffusionRows, TheHostMakesPicturesPixelByPixel) {
  const DiffusionRuns runs = video_runs();
  const double video = 2 * 480 * 832 * 81 * 1e-6;
  EXPECT_DOUBLE_EQ(pictures_on_host(runs, video_row("8", "ulysses4 ring2")).value(), video);
  EXPECT_DOUBLE_EQ(pictures_on_host(runs, video_row("1", "ulysses1 ring1")).value(), video);
  const Request image = video_row("2", "ulysses2 ring1", "image 480x832 steps9");
  EXPECT_DOUBLE_EQ(pictures_on_host(runs, image).value(), video / 81);
}

TEST(DiffusionRows, WhatIsWrongIsSaid) {
  const auto refused = [](const char* devices, const char* shares, const char* scenario) {
    return message_of<UserError>([&] { video_row(devices, shares, scenario); });
  };
  const char* const video = "text-to-video 480x832 steps50 frames81";
  EXPECT_THAT(refused("8", "ulysses4 ring4", video),
              HasSubstr("'ulysses4 ring4' does not make up 8 devices; write ulysses8 ring1"));
  EXPECT_THAT(refused("8", "", video), HasSubstr("does not make up 8 devices"));
  EXPECT_THAT(refused("0", "ulysses1 ring1", video), HasSubstr("0"));
  EXPECT_THAT(refused("2", "ulysses2 ringx", video), HasSubstr("x"));
  EXPECT_THAT(refused("2", "ulysses2 ring1", "text-to-video 480p"), HasSubstr("states no size"));
}

}  // namespace
}  // namespace foretell
