#include "calib/fitted/gpu/kernel_factors_library.hpp"

#include <gtest/gtest.h>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "calib/fitted/gpu/gemm_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

FactorFile sample(const std::string& device, const std::string& launch) {
  FactorTable set;
  set.table = "vllm context bf16 bf16";
  set.version = "1.2";
  set.fitted_on = "10 rows";
  set.held_out = "5 rows";
  set.interval_low = 0.9;
  set.interval_high = 1.2;
  set.factors = {{"launch", launch}, {"score", "2 cycles"}};
  return {device, "by heads", {}, {set}};
}

TEST(KernelFactorsFile, TheTextIsReadBackAsItWas) {
  const std::string text = factor_file_text(sample("h100-sxm", "8 us"));
  const FactorFile file = parse_kernel_factors(text, "f.yaml");
  EXPECT_EQ(factor_file_text(file), text);
  AttentionFactors factors;
  FieldList list;
  fields(list, factors);
  read_factor_set(file.tables.at(0), list);
  EXPECT_DOUBLE_EQ(factors.launch.value(), 8e-6);
  EXPECT_EQ(factor_texts(list).size(), 2U);
}

// Fits leave at zero what does not apply; predictions must not put another number there.
TEST(KernelFactorsFile, AFactorThatIsNotNamedDoesNotApply) {
  FactorTable set;
  set.factors = {{"launch", "8 us"}};
  GemmFactors factors;
  ASSERT_GT(factors.l2_share, 0);
  FieldList list;
  fields(list, factors);
  read_factor_set(set, list);
  EXPECT_DOUBLE_EQ(factors.l2_share, 0.001);  // the least that it may be
  EXPECT_EQ(factors.stages_ahead, 0);
  EXPECT_DOUBLE_EQ(factors.launch.value(), 8e-6);
}

TEST(KernelFactorsFile, NamesAndShapesAreChecked) {
  FactorFile file = sample("h100-sxm", "8 us");
  file.tables[0].factors = {{"lunch", "8 us"}};
  AttentionFactors factors;
  FieldList list;
  fields(list, factors);
  EXPECT_THROW(read_factor_set(file.tables[0], list), UserError);
  EXPECT_THROW(parse_kernel_factors("device: x\nsplit: y\ntables:\n  - {table: z}\n", "f"),
               UserError);
}

TEST(KernelFactorsFile, ASetOfTheSameTableIsReplaced) {
  FactorFile file = sample("h100-sxm", "8 us");
  put_factor_table(file, sample("h100-sxm", "9 us").tables[0]);
  ASSERT_EQ(file.tables.size(), 1U);
  EXPECT_EQ(file.tables[0].factors[0].second, "9 us");
}

TEST(KernelFactorsLibrary, TheNearestChipStandsInWithAWiderInterval) {
  const TemporaryFolder folder;
  for (const auto& [device, launch] : {std::pair{"a100-sxm", "10 us"}, {"h100-sxm", "8 us"}}) {
    folder.write(std::string(device) + ".yaml", factor_file_text(sample(device, launch)));
  }
  KernelFactorsLibrary library(folder.path());
  const GpuDeviceSpec h100 = GpuCatalog().load("h100-sxm").spec.device;
  const std::vector<std::string> tables = {"other", "vllm context bf16 bf16"};
  EXPECT_EQ(library.choose(h100, tables).device, "h100-sxm");
  EXPECT_DOUBLE_EQ(library.choose(h100, tables).set.interval_low, 0.9);
  library.hold_out("h100-sxm");
  EXPECT_EQ(library.choose(h100, tables).device, "a100-sxm");
  EXPECT_DOUBLE_EQ(library.choose(h100, tables).set.interval_high, 1.4);
  EXPECT_THROW(library.choose(h100, {"none"}), UserError);
}

// Both ratios squared, and no narrower than those of a chip that takes the factors of another.
TEST(KernelFactorsLibrary, AChangedDeviceIsLessSureThanTheMeasuredOneAndThanOthers) {
  for (const char* kind : {"gemm", "attention", "collective", "experts", "mla", "state_space"}) {
    const KernelFactorsLibrary library(kernel_factors_folder(kind));
    const GpuDeviceSpec measured = GpuCatalog().load("h200-sxm").spec.device;
    const GpuDeviceSpec changed =
        GpuCatalog().load("h200-sxm", {"device.hbm.bandwidth=6 TB/s"}).spec.device;
    ASSERT_TRUE(changed.changed && !measured.changed);
    GpuDeviceSpec other = measured;
    other.id = "none-such";
    FactorSet set;
    set.interval_low = 0.8;
    set.interval_high = 1.1;
    const auto own = library.interval80(set, "h200-sxm", measured);
    const auto wide = library.interval80(set, "h200-sxm", changed);
    const auto left_out = library.interval80(set, "h200-sxm", other);
    EXPECT_EQ(own, std::make_pair(0.8, 1.1));
    EXPECT_LE(wide.first, std::min(0.8 * 0.8, left_out.first) + 1e-12) << kind;
    EXPECT_GE(wide.second, std::max(1.1 * 1.1, left_out.second) - 1e-12) << kind;
  }
}

}  // namespace
}  // namespace foretell
