// `calibrate intervals --kind published`, from a table to the file that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/command/testing/command_runner.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/gpu_place.hpp"
#include "model/app/request/resolve/gpu_request.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

class PublishedIntervals : public ::testing::Test {
 protected:
  CommandResult run(const std::string& table, const std::vector<std::string>& more = {}) {
    std::vector<std::string> line = {
        "calibrate", "intervals", "--kind", "published", "--table", folder.write("t.csv", table),
        "-o",        output,      "--jobs", "1"};
    line.insert(line.end(), more.begin(), more.end());
    return run_command(line, predict);
  }

  // Two networks of the fit part, with times far above any prediction in the other row.
  static std::string images(const std::string& more = "") {
    return "system,workload,batch,compute_dtype,call_ms\n"
           "h100-sxm,resnet50,8,fp16,0.9\nh100-sxm,resnet18,8,fp16,0.4\n" +
           more;
  }

  TemporaryFolder folder;
  std::string output = folder.file("made.yaml");
};

TEST_F(PublishedIntervals, AreMadeOfTheFitPartByWhatRunsTheNetwork) {
  ASSERT_EQ(network_part("resnet50"), Part::kFit);
  ASSERT_EQ(network_part("resnet18"), Part::kFit);
  ASSERT_NE(network_part("vgg16"), Part::kFit);
  const CommandResult first = run(images());
  ASSERT_EQ(first.code, 0) << first.messages;
  EXPECT_THAT(first.messages, HasSubstr("network of images: 2 rows of 2 networks"));
  const Interval made = IntervalTable::load(output)
                            .choose("gpu", "network of images", "any", IntervalQuantity::kCall)
                            .ratio;
  EXPECT_LE(made.low, 1);
  EXPECT_GT(made.high, 1);
  const CommandResult second = run(images("h100-sxm,vgg16,8,fp16,900\n"));
  ASSERT_EQ(second.code, 0) << second.messages;
  EXPECT_EQ(IntervalTable::load(output)
                .choose("gpu", "network of images", "any", IntervalQuantity::kCall)
                .ratio.high,
            made.high);
}

// A network far from those that were judged, or in a type of operands that none of them has, is
// less certain than one beside them.
TEST_F(PublishedIntervals, WidenAwayFromWhatWasJudged) {
  const CommandResult made = run(images());
  ASSERT_EQ(made.code, 0) << made.messages;
  const IntervalTable table = IntervalTable::load(output);
  const auto high_at = [&table](const Place& place) {
    return table.choose("gpu", "network of images", "any", IntervalQuantity::kCall, place)
        .ratio.high;
  };
  const double near = high_at({8 * 196, 16, 1, 16});
  EXPECT_GT(near, 1);
  EXPECT_GT(high_at({512 * 196, 16, 1, 16}), near);
  EXPECT_GT(high_at({8192 * 196, 16, 1, 16}), high_at({512 * 196, 16, 1, 16}));
  EXPECT_GT(high_at({8 * 196, 128, 1, 16}), near);
  EXPECT_GT(high_at({8 * 196, 16, 1, 8}), near);
}

// An image is as far from others as its patches of 16 pixels and its blocks say.
TEST_F(PublishedIntervals, ImagesStandByPatchesAndBlocks) {
  Request request;
  request.system = "h100-sxm";
  request.workload = "resnet50";
  request.dtype = "fp16";
  request.batch = 8;
  EXPECT_EQ(place_on_gpus(resolve_gpu(request)), (Place{8 * 14 * 14, 16, 1, 16}));
  request.image_size = 448;
  EXPECT_EQ(place_on_gpus(resolve_gpu(request)), (Place{8 * 28 * 28, 16, 1, 16}));
  request.workload = "resnet18";
  EXPECT_EQ(place_on_gpus(resolve_gpu(request)), (Place{8 * 28 * 28, 8, 1, 16}));
}

// Kernels of images are the same whoever launches them; a host makes its rows count for hosts, too.
TEST_F(PublishedIntervals, ImagesThatAHostLaunchesCountForBoth) {
  const CommandResult made =
      run("system,workload,batch,compute_dtype,library,call_ms\n"
          "h100-sxm,resnet50,8,fp16,,0.9\nh100-sxm,resnet18,8,fp16,torchscript,1.4\n"
          "h100-sxm,vgg11,8,fp16,torchscript,0.9\n");
  ASSERT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.messages, HasSubstr("network of images: 3 rows of 3 networks"));
  EXPECT_THAT(made.messages, HasSubstr("network by host: 2 rows of 2 networks"));
}

// First tokens have an interval of their own, which predictions take for them and nothing else.
TEST_F(PublishedIntervals, FirstTokensHaveTheirOwn) {
  const CommandResult made =
      run("system,workload,phase,batch,tp,input_len,output_len,compute_dtype,ttft_ms\n"
          "h100-sxm,Llama-2-7b,decode,1,1,128,1,fp16,8\n"
          "h100-sxm-x4,Llama-2-70b,decode,1,4,128,1,fp16,20\n");
  ASSERT_EQ(made.code, 0) << made.messages;
  EXPECT_THAT(made.messages, HasSubstr("first token of network: 2 rows of 2 networks"));
  const IntervalTable table = IntervalTable::load(output);
  EXPECT_GT(table.choose("gpu", "network", "any", IntervalQuantity::kTtft).ratio.high, 1);
  EXPECT_NE(table.choose("gpu", "network", "any", IntervalQuantity::kCall).note, "");
}

TEST_F(PublishedIntervals, OneNetworkAloneAndOtherTablesAreRefused) {
  const CommandResult alone =
      run("system,workload,batch,compute_dtype,call_ms\nh100-sxm,resnet50,8,fp16,0.9\n");
  EXPECT_EQ(alone.code, kUserMistake);
  EXPECT_THAT(alone.messages, HasSubstr("no class has rows of two networks"));
  EXPECT_EQ(run("gpu,dtype,m,n,k\n").code, kUserMistake);
  const CommandResult device = run(images(), {"--device", "h100-sxm"});
  EXPECT_EQ(device.code, kUserMistake);
  EXPECT_THAT(device.messages, HasSubstr("--device: is of --kind networks"));
}

}  // namespace
}  // namespace foretell
