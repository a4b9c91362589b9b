#include "model/base/names.hpp"

#include <gmock/gmock.h>

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Names, HaveWordsAndRuns) {
  EXPECT_THAT(words_of(" A100-SXM4_80GB/"), ElementsAre("a100", "sxm4", "80gb"));
  EXPECT_THAT(runs_of("h100-sxm-x8"), ElementsAre("h", "100", "sxm", "x", "8"));
  EXPECT_THAT(runs_of("-./"), IsEmpty());
}

TEST(Names, AreSpeltAlikeWhateverStandsBetweenLettersAndDigits) {
  EXPECT_TRUE(is_spelt_like("Llama3 70b", "Llama-3-70B"));
  EXPECT_TRUE(is_spelt_like("rtx4090", "rtx-4090"));
  EXPECT_TRUE(is_spelt_like("vit_base_patch16-224", "vit_base_patch16_224"));
}

// What is between two numbers, or two words, is part of the name.
TEST(Names, OfOtherNumbersAreOtherNames) {
  EXPECT_FALSE(is_spelt_like("llama370b", "Llama-3-70B"));
  EXPECT_FALSE(is_spelt_like("Llama-31-8B", "Llama-3.1-8B"));
  EXPECT_FALSE(is_spelt_like("bertlarge", "bert-large"));
  EXPECT_FALSE(is_spelt_like("", ""));
}

TEST(Names, AreFoundAsTheyAreOrAsTheOnlyOneThatIsSpeltAlike) {
  EXPECT_EQ(name_spelt("A-10", {"a10", "a-10", "a1"}), "a-10");
  EXPECT_EQ(name_spelt("a_10", {"a10", "b10"}), "a10");
  EXPECT_EQ(name_spelt("a_10", {"a10", "a-10"}), "");
  EXPECT_EQ(name_spelt("a_10", {"b10"}), "");
}

TEST(Names, ThatBeginSoAreFoundOnceAndInTheirOrder) {
  const std::vector<std::string> names = {"p5.48xlarge", "p5.4xlarge", "p5en.48xlarge", "p4",
                                          "p5.48xlarge"};
  EXPECT_THAT(names_begun("P5", names), ElementsAre("p5.48xlarge", "p5.4xlarge", "p5en.48xlarge"));
  EXPECT_THAT(names_begun("p5.4", names), ElementsAre("p5.4xlarge"));  // 48 is another number
}

TEST(Names, MayLackAPartInTheMiddle) {
  const std::vector<std::string> names = {"Llama-3-8B", "Llama-3-70B", "CodeLlama-70b",
                                          "Llama-3.1-70B", "llama3 70b"};
  EXPECT_THAT(names_skipped_to("llama70b", names), ElementsAre("Llama-3-70B", "Llama-3.1-70B"));
  EXPECT_THAT(names_skipped_to("llama-b70", names), IsEmpty());
  EXPECT_THAT(names_skipped_to("llama3", names), IsEmpty());
}

TEST(Names, ThatAreTooShortBeginNone) { EXPECT_THAT(names_begun("p", {"p4", "p-5"}), IsEmpty()); }

}  // namespace
}  // namespace foretell
