// What the tower for images of a decoder computes, and where its tokens go.
#include "workloads/import/hf/vision/image_prompt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/base/errors.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

const char* const kNetwork = "Qwen3-VL-8B";  // patches of 16 pixels, 2 x 2 of them a token

double tower_flops(std::int64_t images, std::int64_t height, std::int64_t width, int ranks = 1) {
  const ModelConfig model = WorkloadLibrary().load(kNetwork);
  const PatchedImage image = patched_image(model.parts_of_decoder.tower, height, width);
  return build_image_tower(model, images, image, ranks).total_flops().value();
}

Graph prompt_graph(std::int64_t images, std::int64_t side, int ranks = 1) {
  Binding binding;
  binding.batch = 2;
  binding.seq_len = binding.kv_len = 600;
  binding.phase = Phase::kPrefill;
  binding.tensor_parallel = ranks;
  binding.images = images;
  binding.image_size = binding.image_width = side;
  return build_graph(WorkloadLibrary().load(kNetwork), binding);
}

TEST(ImagePrompt, SidesAreRoundedUpToWholeTokens) {
  TowerPart tower;
  tower.patch = 16;
  tower.merge = 2;
  EXPECT_EQ(patched_image(tower, 1024, 1024).tokens, 32 * 32);
  EXPECT_EQ(patched_image(tower, 1000, 33).tokens, 32 * 2);
  EXPECT_EQ(patched_image(tower, 1, 1).patches(), 4);
  tower.merge = 1;
  tower.pool = 4;  // as the 256 tokens of 896 x 896 pixels of Gemma 3, whose patches have 14
  tower.patch = 14;
  EXPECT_EQ(patched_image(tower, 896, 896).tokens, 256);
  EXPECT_EQ(patched_image(tower, 896, 896).patches(), 4096);
}

// The tower as a graph has the weights that are counted where it only takes memory, but for the
// table of positions, of which it reads the rows of its image.
TEST(ImagePrompt, TheTowerHasTheParametersThatAreCounted) {
  const ModelConfig model = WorkloadLibrary().load(kNetwork);
  const TowerPart& tower = model.parts_of_decoder.tower;
  const Graph graph =
      build_image_tower(model, 1, patched_image(tower, 768, 768), 1);  // 48 x 48 positions
  const auto weights = static_cast<double>(graph.parameter_count());
  EXPECT_NEAR(weights / static_cast<double>(parameters_of(tower)), 1, 0.002);
}

TEST(ImagePrompt, WorkGrowsWithImagesAndFasterWithTheirSize) {
  const double one = tower_flops(1, 512, 512);
  EXPECT_NEAR(tower_flops(3, 512, 512) / one, 3, 1e-9);
  EXPECT_EQ(tower_flops(1, 256, 1024), one);       // as many patches
  EXPECT_GT(tower_flops(1, 1024, 1024), 4 * one);  // each sees all others of its image
  EXPECT_LT(tower_flops(1, 1024, 1024), 16 * one);
}

TEST(ImagePrompt, CoresShareTheBlocksOfTheTower) {
  const double one = tower_flops(4, 512, 512);
  const double half = tower_flops(4, 512, 512, 2);
  EXPECT_GT(half, 0.5 * one);
  EXPECT_LT(half, 0.6 * one);
  // 16 heads do not divide among 3: each core computes all.
  EXPECT_EQ(tower_flops(4, 512, 512, 3), one);
}

TEST(ImagePrompt, ThePromptHasTheTowerOfAllItsSequences) {
  const double text = prompt_graph(0, 0).total_flops().value();
  const double both = prompt_graph(2, 512).total_flops().value();
  EXPECT_NEAR((both - text) / tower_flops(4, 512, 512), 1, 1e-3);
  bool scattered = false;
  const Graph shared = prompt_graph(2, 512, 2);
  for (const Op& op : shared.ops()) scattered |= op.name == "embeddings.images";
  EXPECT_TRUE(scattered);
}

TEST(ImagePrompt, NoTowerNoImages) {
  const ModelConfig model = WorkloadLibrary().load("Qwen3-8B");
  EXPECT_THROW(build_image_tower(model, 1, PatchedImage{2, 2, 1}, 1), UserError);
}

}  // namespace
}  // namespace foretell
