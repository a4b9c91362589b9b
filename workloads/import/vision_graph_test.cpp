#include "workloads/import/vision_graph.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Graph image_graph(const std::string& name, std::int64_t batch = 1, std::int64_t image_size = 0) {
  Binding binding;
  binding.batch = batch;
  binding.image_size = image_size;
  return build_graph(WorkloadLibrary().load(name), binding);
}

// Multiply-accumulates of products and convolutions, without what is added to their results.
double macs(const Graph& graph) {
  double sum = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (op.kind != "Conv" && op.kind != "ConvTranspose" && op.kind != "MatMul") continue;
    const double bias = op.kind == "MatMul" || op.inputs.size() < 3
                            ? 0
                            : static_cast<double>(element_count(graph.tensor(op.outputs[0]).shape));
    sum += (graph.flops(static_cast<OpId>(i)).value() - bias) / 2;
  }
  return sum;
}

struct Known {
  const char* name;
  std::int64_t parameters;
  double giga_macs;  // 0: nobody states it
};

class PublishedTotals : public ::testing::TestWithParam<Known> {};

// Parameters to the unit, multiply-accumulates to the digits that are published (torchvision's
// model table; the darknet and U-Net repositories).
TEST_P(PublishedTotals, ParametersAndMultiplyAccumulates) {
  const Graph graph = image_graph(GetParam().name);
  EXPECT_EQ(graph.parameter_count(), GetParam().parameters);
  if (GetParam().giga_macs > 0) {
    EXPECT_NEAR(macs(graph) / 1e9, GetParam().giga_macs, 0.006 * GetParam().giga_macs);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Vision, PublishedTotals,
    ::testing::Values(Known{"resnet18", 11'689'512, 1.814}, Known{"resnet34", 21'797'672, 3.664},
                      Known{"resnet50", 25'557'032, 4.089}, Known{"resnet101", 44'549'160, 7.801},
                      Known{"resnet152", 60'192'808, 11.514}, Known{"vgg11", 132'863'336, 7.609},
                      Known{"vgg13", 133'047'848, 11.308}, Known{"vgg16", 138'357'544, 15.470},
                      Known{"vgg19", 143'667'240, 19.632}, Known{"unet", 31'037'698, 0},
                      Known{"YOLO v4", 64'363'101, 0}),
    [](const auto& known) {
      std::string name = known.param.name;
      name.erase(std::remove(name.begin(), name.end(), ' '), name.end());
      return name;
    });

TEST(Vision, WorkGrowsWithBatchAndPixels) {
  EXPECT_EQ(macs(image_graph("resnet18", 8)), 8 * macs(image_graph("resnet18")));
  EXPECT_EQ(image_graph("UNet", 1, 448).parameter_count(), image_graph("UNet").parameter_count());
  EXPECT_EQ(macs(image_graph("UNet", 1, 448)), 4 * macs(image_graph("UNet")));
}

TEST(Vision, SizesThatDoNotFitAreRefused) {
  const auto message = [](const char* name, std::int64_t size) -> std::string {
    try {
      image_graph(name, 1, size);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("vgg16", 256), HasSubstr("--image-size must be 224"));
  EXPECT_THAT(message("UNet", 100), HasSubstr("multiple of 16"));
}

}  // namespace
}  // namespace foretell
