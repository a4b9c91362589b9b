// Which factors time a row of a table on a GPU of which there are none.
#include "model/predict/rows/layer_rows.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

LayerRow latent_tokens(const std::string& version) {
  LayerRow row;
  row.kind = LayerKind::kLatent;
  row.gpu = "h200-sxm";
  row.version = version;
  row.dtype = "bf16";
  row.tables = {"trtllm generation default bf16 bf16"};
  LatentShape shape;
  shape.prompt = false;
  shape.keys = 64;
  shape.heads = 16;
  row.shape = shape;
  return row;
}

TEST(LayerRows, LaunchesOfAGpuLeftOutFollowTheRelease) {
  // H100, the nearest, was measured with 1.2.0rc5, B200 with 1.3.0rc20.
  LayerRowPredictor predictor(LayerKind::kLatent, {}, {"", "h200-sxm"});
  const RowTime of_nearest = predictor.predict(latent_tokens("1.2.0rc5"));
  const RowTime of_release = predictor.predict(latent_tokens("1.3.0rc20"));
  EXPECT_EQ(of_release.note, of_nearest.note);
  EXPECT_LT(of_release.time, of_nearest.time);
  // A release that no chip was measured with takes those of the nearest.
  EXPECT_EQ(predictor.predict(latent_tokens("9.9")).time, of_nearest.time);
}

TEST(LayerRows, AGpuThatWasMeasuredHasItsOwnWhateverTheRelease) {
  LayerRowPredictor predictor(LayerKind::kLatent, {}, {});
  EXPECT_EQ(predictor.predict(latent_tokens("1.2.0rc5")).time,
            predictor.predict(latent_tokens("1.3.0rc20")).time);
}

TEST(LayerRows, AFrameworkThatIsNotKnownIsRefused) {
  LayerRowPredictor predictor(LayerKind::kLatent, {}, {});
  LayerRow row = latent_tokens("1.2.0rc5");
  row.tables = {"abc generation default bf16 bf16"};
  EXPECT_THROW(predictor.predict(row), UserError);
  row.tables = {" generation default bf16 bf16"};  // not stated
  EXPECT_GT(predictor.predict(row).time, Seconds(0));
}

TEST(LayerKernelLibrary, SaysHowManyKernelsACallLaunches) {
  const LayerKernelLibrary library;
  // The first entry counts: the longer name comes first.
  EXPECT_EQ(library.launches("sglang sglang_fused_moe_triton fp8_block"), 8);
  EXPECT_EQ(library.launches("sglang sglang_fused_moe_triton bf16"), 6);
  EXPECT_EQ(library.launches("another"), 0);
}

}  // namespace
}  // namespace foretell
