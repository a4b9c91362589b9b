#include "calib/measure/cpu/reference.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

namespace foretell {
namespace {

using ::testing::ElementsAre;

TEST(Reference, ProductsOfABatch) {
  // [[1 2], [3 4]] x [[5], [6]], then the same doubled
  const std::vector<float> a = {1, 2, 3, 4, 2, 4, 6, 8};
  const std::vector<float> b = {5, 6, 5, 6};
  EXPECT_THAT(reference_product(a, b, {2, 2, 1, 2}, 0.5), ElementsAre(8.5, 19.5, 17, 39));
}

TEST(Reference, AConvolutionOfOnePixelIsAProduct) {
  const std::vector<float> image = {1, 2, 3, 4, 5, 6, 7, 8};  // 2 channels of 2 x 2
  const std::vector<float> filters = {1, 10, 2, 20};          // 2 filters
  const auto result = reference_convolution(image, filters, {1, 2, 2, 2, 2, 1, 1, 0}, 1);
  EXPECT_THAT(result, ElementsAre(51, 62, 73, 84, 102, 124, 146, 168));
}

TEST(Reference, AConvolutionPadsAndStrides) {
  const std::vector<float> image(9, 1.0F);
  const std::vector<float> filter(9, 1.0F);
  EXPECT_THAT(reference_convolution(image, filter, {1, 1, 3, 3, 1, 3, 2, 1}, 1),
              ElementsAre(4, 4, 4, 4));
}

TEST(Reference, SoftmaxSumsToOneAndKeepsTheOrder) {
  const auto rows = reference_rows("softmax", {{0, 1, 2, 5, 5, 5}}, 2, 3);
  EXPECT_NEAR(std::accumulate(rows.begin(), rows.begin() + 3, 0.0), 1, 1e-12);
  EXPECT_LT(rows[0], rows[1]);
  EXPECT_NEAR(rows[4], 1.0 / 3, 1e-12);
}

TEST(Reference, ANormHasTheMeanAndDeviationItIsGiven) {
  const auto row = reference_rows("layer_norm", {{1, 2, 3, 4}, {2, 2, 2, 2}, {7, 7, 7, 7}}, 1, 4);
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / 4;
  EXPECT_NEAR(mean, 7, 1e-9);
  double variance = 0;
  for (const double value : row) variance += (value - mean) * (value - mean) / 4;
  EXPECT_NEAR(std::sqrt(variance), 2, 1e-4);
}

TEST(Reference, TheRestWorksElementByElement) {
  EXPECT_THAT(reference_rows("add", {{1, 2}, {3, 4}}, 1, 2), ElementsAre(4, 6));
  EXPECT_THAT(reference_rows("reduce", {{1, 2, 3, 4}}, 2, 2), ElementsAre(3, 7));
  EXPECT_THAT(reference_rows("copy", {{1, 2}}, 1, 2), ElementsAre(1, 2));
  EXPECT_THAT(reference_rows("gelu", {{0, 100}}, 1, 2), ElementsAre(0, 100));
}

TEST(Reference, ErrorsAreRelativeToWhatIsAllowed) {
  EXPECT_NEAR(largest_error({1.0F, 2.02F}, {1, 2}, 0.01), 1, 1e-3);
  EXPECT_GT(largest_error({1.0F}, {1.1}, 0.01), 1);
  // Eight-bit results saturate.
  EXPECT_LE(largest_error({127.0F}, {500}, 1.01), 1);
  EXPECT_GT(largest_error({125.0F}, {500}, 1.01), 1);
}

}  // namespace
}  // namespace foretell
