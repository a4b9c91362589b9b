// How many numbers the tables of GPU kernels were fitted with.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

// Sets of factors of a kind, as their files state them.
std::vector<StatedFactors> stated_of(const std::string& kind) {
  std::vector<StatedFactors> sets;
  const std::filesystem::path folder = factors_folder() / "gpu" / kind;
  for (const std::string& id : ids_in(folder)) {
    const std::string text = read_text_file(file_of(folder, id));
    for (const auto& set : parse_kernel_factors(text, id).tables) sets.push_back(set.stated);
  }
  return sets;
}

std::size_t count_of(const std::string& kind) {
  std::size_t count = 0;
  for (const StatedFactors& set : stated_of(kind)) count += set.own.size();
  return count;
}

TEST(FittedValues, KernelsHaveFew) {
  EXPECT_LE(count_of("gemm"), 114U);
  // Three more for encoders in FlashAttention-3, whose softmax hides under products.
  EXPECT_LE(count_of("attention"), 205U);
  EXPECT_LE(count_of("attention_block"), 88U);
  EXPECT_LE(count_of("operator"), 178U);
  EXPECT_LE(count_of("experts"), 103U);
  EXPECT_LE(count_of("mla"), 70U);
  EXPECT_LE(count_of("mla_products"), 29U);
  EXPECT_LE(count_of("state_space"), 50U);
  EXPECT_LE(count_of("collective"), 40U);
  EXPECT_LE(count_of("expert_exchange"), 23U);
}

// Fewer than 900 of all kinds. Who adds a value takes another away, or says here why not.
TEST(FittedValues, AllKindsTogetherDoNotGrow) {
  std::size_t all = 0;
  for (const char* kind : {"gemm", "attention", "attention_block", "operator", "experts", "mla",
                           "mla_products", "state_space", "collective", "expert_exchange"}) {
    RecordProperty(kind, static_cast<int>(count_of(kind)));
    all += count_of(kind);
  }
  RecordProperty("all", static_cast<int>(all));
  EXPECT_LT(all, 900U);
}

TEST(FittedValues, ATableThatIsLikeAnotherStatesTheFewerPart) {
  for (const char* kind : {"gemm", "attention", "operator"}) {
    std::size_t shared = 0;
    for (const StatedFactors& set : stated_of(kind)) {
      if (!set.like) continue;
      EXPECT_LE(set.own.size(), 11U) << kind << ", like " << set.like->table;
      ++shared;
    }
    EXPECT_GE(3 * shared, stated_of(kind).size()) << kind;  // at least a third of the tables
  }
}

}  // namespace
}  // namespace foretell
