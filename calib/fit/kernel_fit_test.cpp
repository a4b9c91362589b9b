#include "calib/fit/kernel_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/link_factors.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

TEST(KernelFit, FindsTheFactorsThatMadeTheTimesAndLeavesTheFixedOnes) {
  LinkFactors factors;
  factors.launch = Seconds(3e-6);
  factors.local_rate = BytesPerSecond(3e11);
  factors.peer = Seconds(1e-6);
  FieldList list;
  fields(list, factors);
  const auto time = [](Seconds launch, BytesPerSecond rate, double bytes) {
    return (launch + Bytes(bytes) / rate).value();
  };
  const KernelFit fit = fit_kernel(list, {"peer"}, 2000, 1, [&] {
    double sum = 0;
    for (double bytes = 1e3; bytes < 1e9; bytes *= 3) {
      const double truth = time(Seconds(5e-6), BytesPerSecond(8e11), bytes);
      sum += std::abs(time(factors.launch, factors.local_rate, bytes) / truth - 1);
    }
    return sum / 13;
  });
  EXPECT_EQ(fit.free, (std::vector<std::string>{"launch", "local_rate"}));
  EXPECT_LT(fit.loss, 1e-3);
  EXPECT_NEAR(factors.launch.value(), 5e-6, 5e-8);
  EXPECT_NEAR(factors.local_rate.value(), 8e11, 8e9);
  EXPECT_DOUBLE_EQ(factors.peer.value(), 1e-6);
}

TEST(KernelFit, AboutAQuarterOfTheHeadConfigurationsIsHeldOut) {
  int held_out = 0;
  int all = 0;
  for (const int heads : {1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128}) {
    for (int key_heads = 1; key_heads <= heads; key_heads *= 2) {
      for (const int head_dim : {64, 128, 256}) {
        ++all;
        held_out += is_held_out_heads(heads, key_heads, head_dim) ? 1 : 0;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(held_out) / all, 0.27, 0.06);
}

TEST(KernelFit, AboutAQuarterOfTheFamiliesOfProductsIsHeldOut) {
  int held_out = 0;
  int all = 0;
  for (std::int64_t n = 32; n <= 65536; n += 32 * (1 + n / 1024)) {
    for (std::int64_t k = 32; k <= 65536; k += 32 * (1 + k / 1024)) {
      held_out += is_held_out_family(n, k) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(held_out / static_cast<double>(all), 0.25, 0.02);
}

const char* const kPlanOfProducts = FORETELL_SOURCE_DIR "/calib/fit/gpu_gemm_plan.yaml";

TEST(KernelFit, NoTypeOfProductsHasMoreThanTwelveFreeFactors) {
  for (const char* architecture : {"ampere", "hopper", "blackwell"}) {
    for (const char* type : {"bf16", "int8_sq", "int8_wo"}) {
      GemmFactors factors;
      FieldList list;
      fields(list, factors);
      const std::string table = std::string("trtllm ") + type;
      const auto fixed = load_kernel_start(kPlanOfProducts, architecture, table, list);
      const auto above_zero = static_cast<std::size_t>(
          std::count_if(list.all().begin(), list.all().end(),
                        [](const Field& field) { return field.number() > 0; }));
      EXPECT_LE(above_zero - fixed.size(), 12U) << architecture << " " << type;
    }
  }
}

TEST(KernelFit, AnArchitectureWithoutAStartIsNamed) {
  GemmFactors factors;
  FieldList list;
  fields(list, factors);
  EXPECT_THAT(
      [&] { load_kernel_start(kPlanOfProducts, "volta", "trtllm bf16", list); },
      testing::ThrowsMessage<UserError>(testing::HasSubstr("no start for trtllm bf16 on volta")));
}

TEST(KernelFit, EntriesOfPlansNameTablesByPatterns) {
  const Node list = parse_document("[trtllm context*, '* bf16']", "plan.yaml");
  for (const char* table : {"trtllm context fp8 bf16", "trtllm context", "vllm bf16"}) {
    EXPECT_TRUE(plan_names(&list, table)) << table;
  }
  for (const char* table : {"trtllm", "vllm context fp8", "vllm bf16_block", "bf16"}) {
    EXPECT_FALSE(plan_names(&list, table)) << table;
  }
  EXPECT_TRUE(plan_names(nullptr, "anything"));
}

TEST(KernelFit, RowsAreDrawnOnceAndTheSameForASeed) {
  const std::vector<std::size_t> drawn = draw_rows(100, 30, 7);
  EXPECT_EQ(std::set<std::size_t>(drawn.begin(), drawn.end()).size(), 30U);
  EXPECT_EQ(drawn, draw_rows(100, 30, 7));
  EXPECT_EQ(draw_rows(5, 30, 7).size(), 5U);
}

}  // namespace
}  // namespace foretell
