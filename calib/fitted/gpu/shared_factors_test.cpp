#include "calib/fitted/gpu/shared_factors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

using Place = std::pair<std::string, std::string>;

FindStated in(const std::map<Place, StatedFactors>& sets) {
  return [&sets](const std::string& device, const std::string& table) {
    const auto set = sets.find({device, table});
    return set == sets.end() ? nullptr : &set->second;
  };
}

const FactorTexts* nothing_in_common(const std::string&) { return nullptr; }

TEST(ResolveFactors, OwnValuesCountBeforeSharedOnesAndSomeAreLeftOut) {
  const std::map<Place, StatedFactors> sets = {
      {{"a", "x"}, {{{"launch", "8 us"}, {"score", "2 cycles"}, {"split", "5 cycles"}}, {}}},
      {{"a", "y"}, {{{"score", "3 cycles"}}, FactorParent{"a", "x", {"split"}}}},
      {{"b", "y"}, {{{"launch", "9 us"}}, FactorParent{"a", "y", {}}}}};
  const auto resolved = resolve_factors("b", "y", in(sets), nothing_in_common);
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->factors, ElementsAre(Pair("launch", "9 us"), Pair("score", "3 cycles")));
  EXPECT_THAT(resolved->devices, ElementsAre("a", "b"));
  EXPECT_FALSE(resolve_factors("c", "y", in(sets), nothing_in_common));
}

TEST(ResolveFactors, WhatChipsHaveInCommonCountsAfterTheSameTableAndBeforeAnother) {
  const FactorTexts of_y = {{"launch", "1 us"}, {"score", "7 cycles"}, {"split", "4 cycles"}};
  const FindCommon common = [&of_y](const std::string& table) {
    return table == "y" ? &of_y : nullptr;
  };
  const std::map<Place, StatedFactors> sets = {
      {{"a", "x"}, {{{"launch", "8 us"}, {"score", "2 cycles"}, {"step", "5 cycles"}}, {}}},
      {{"a", "y"}, {{{"split", "3 cycles"}}, FactorParent{"a", "x", {}}, true}},
      {{"b", "y"}, {{{"launch", "9 us"}}, FactorParent{"a", "y", {}}}},
      {{"c", "y"}, {{{"launch", "6 us"}}, {}}}};
  const auto resolved = resolve_factors("b", "y", in(sets), common);
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->factors,
              UnorderedElementsAre(Pair("launch", "9 us"), Pair("split", "3 cycles"),
                                   Pair("score", "7 cycles"), Pair("step", "5 cycles")));
  EXPECT_THAT(resolved->devices, ElementsAre("a", "b"));  // no chip stands for what all have
  // A set that does not say so has nothing in common with others.
  EXPECT_THAT(resolve_factors("c", "y", in(sets), common)->factors,
              ElementsAre(Pair("launch", "6 us")));
}

TEST(ResolveFactors, WhatIsUsualOfTheKindIsTakenByName) {
  const FactorTexts usual = {{"launch", "1 us"}, {"score", "7 cycles"}, {"split", "4 cycles"}};
  const FindCommon common = [&usual](const std::string& table) {
    return table == kUsualTable ? &usual : nullptr;
  };
  const std::map<Place, StatedFactors> sets = {
      {{"a", "x"}, {{{"launch", "8 us"}, {"step", "2 cycles"}}, {}, false, {"split"}}},
      {{"a", "y"}, {{{"step", "3 cycles"}}, FactorParent{"a", "x", {}}, false, {"launch"}}}};
  EXPECT_THAT(resolve_factors("a", "y", in(sets), common)->factors,
              UnorderedElementsAre(Pair("step", "3 cycles"), Pair("launch", "1 us"),
                                   Pair("split", "4 cycles")));
  EXPECT_FALSE(resolve_factors("a", "y", in(sets), nothing_in_common));
}

TEST(ResolveFactors, ARingIsAMistakeAndAMissingSetIsNothing) {
  const std::map<Place, StatedFactors> sets = {{{"a", "x"}, {{}, FactorParent{"a", "y", {}}}},
                                               {{"a", "y"}, {{}, FactorParent{"a", "x", {}}}},
                                               {{"a", "z"}, {{}, FactorParent{"a", "none", {}}}}};
  EXPECT_THROW(resolve_factors("a", "x", in(sets), nothing_in_common), UserError);
  EXPECT_FALSE(resolve_factors("a", "z", in(sets), nothing_in_common));
}

class SharedFiles : public testing::Test {
 protected:
  void write(const std::string& device, const std::string& tables) const {
    folder.write(device + ".yaml", "device: " + device + "\nsplit: by hash\ntables:\n" + tables);
  }
  const TemporaryFolder folder;
  const GpuDeviceSpec h200 = GpuCatalog().load("h200-sxm").spec.device;
};

constexpr const char* kHead =
    "    version: 1\n    fitted_on: rows\n    held_out: rows\n    interval80: [0.9, 1.1]\n";

TEST_F(SharedFiles, ATableTakesWhatItDoesNotStateFromAnotherChip) {
  const std::string table = std::string("  - table: t\n") + kHead;
  write("h100-sxm", table + "    factors: {launch: {value: 8 us}, score: {value: 2 cycles}}\n");
  write("h200-sxm",
        table + "    like: {device: h100-sxm, table: t}\n    factors: {launch: {value: 9 us}}\n");
  KernelFactorsLibrary library(folder.path());
  EXPECT_THAT(library.choose(h200, {"t"}).set.factors,
              ElementsAre(Pair("launch", "9 us"), Pair("score", "2 cycles")));
  // A number that both share is left out with either: nothing remains.
  library.hold_out("h100-sxm");
  EXPECT_THROW(library.choose(h200, {"t"}), UserError);
}

TEST_F(SharedFiles, ATableWithNothingInCommonSaysWhatIsMissing) {
  write("h200-sxm", std::string("  - table: t\n") + kHead +
                        "    common: true\n    factors: {launch: {value: 9 us}}\n");
  try {
    KernelFactorsLibrary(folder.path()).choose(h200, {"t"});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("factors of t on h200-sxm say `common: true`"));
    EXPECT_THAT(error.what(), HasSubstr("common.yaml beside them has no such table"));
  }
}

TEST_F(SharedFiles, ATableWithoutTheOneItIsLikeSaysWhatIsMissing) {
  write("h200-sxm", std::string("  - table: t\n") + kHead +
                        "    like: {device: h100-sxm, table: other}\n    factors: {}\n");
  try {
    KernelFactorsLibrary(folder.path()).choose(h200, {"t"});
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("like those of other on h100-sxm"));
    EXPECT_THAT(error.what(), HasSubstr("calibrate fit --device h100-sxm"));
  }
}

TEST_F(SharedFiles, ProductsShareInTheSameWay) {
  const std::string table = std::string("  - table: f bf16\n") + kHead;
  write("h100-sxm", table +
                        "    factors: {launch: {value: 2 us}, mma_efficiency: {value: 0.8}, step: "
                        "{value: 100 cycles}}\n");
  write("h200-sxm", table +
                        "    like: {device: h100-sxm, table: f bf16, without: [step]}\n"
                        "    factors: {mma_efficiency: {value: 0.7}}\n");
  KernelFactorsLibrary library(folder.path());
  const GemmFactors factors = choose_gemm(library, h200, "f", "bf16").set.factors;
  EXPECT_EQ(factors.launch, Seconds(2e-6));
  EXPECT_DOUBLE_EQ(factors.mma_efficiency, 0.7);
  EXPECT_EQ(factors.step, Cycles(0));
  const std::string text = folder.read("h200-sxm.yaml");
  EXPECT_THAT(factor_file_text(parse_kernel_factors(text, "f")),
              HasSubstr("without: [step]}\n    factors:\n      mma_efficiency: {value: 0.7}\n"));
  library.hold_out("h100-sxm");
  EXPECT_THROW(choose_gemm(library, h200, "f", "bf16"), UserError);
}

}  // namespace
}  // namespace foretell
