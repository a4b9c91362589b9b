#include "model/base/errors.hpp"

#include <gmock/gmock.h>

namespace foretell {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::vector<std::string> kKeys = {"bandwidth", "capacity", "latency"};

TEST(NearestName, FindsMissingSwappedAndWrongLetters) {
  EXPECT_EQ(nearest_name("bandwith", kKeys), "bandwidth");
  EXPECT_EQ(nearest_name("badnwidth", kKeys), "bandwidth");
  EXPECT_EQ(nearest_name("lotency", kKeys), "latency");
}

TEST(NearestName, IgnoresCase) { EXPECT_EQ(nearest_name("CAPACITY", kKeys), "capacity"); }

TEST(NearestName, ANeighbourSwapCountsAsOneEdit) {
  // "ab" has room for one edit only; without the swap rule "ba" would be two away.
  EXPECT_EQ(nearest_name("ab", {"ba"}), "ba");
}

TEST(NearestName, StopsAtAThirdOfTheName) {
  EXPECT_EQ(nearest_name("bxxdwixth", {"bandwidth"}), "bandwidth");  // 3 of 9 letters
  EXPECT_EQ(nearest_name("bxxxwixth", {"bandwidth"}), "");           // 4 of 9
  EXPECT_EQ(nearest_name("gpu", kKeys), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(NearestName, APartOfANameFindsTheShortestThatHasIt) {
  const std::vector<std::string> networks = {"bert-large-uncased", "bert-base-uncased", "gpt2"};
  EXPECT_EQ(nearest_name("bert", networks), "bert-base-uncased");
  EXPECT_EQ(nearest_name("BERT-LARG", networks), "bert-large-uncased");
  EXPECT_EQ(nearest_name("bert-bas", {"albert-base-v2", "bert-base-uncased"}), "bert-base-uncased");
  EXPECT_EQ(nearest_name("bert-base", {"roberta-base", "bert-base-uncased"}), "bert-base-uncased");
  EXPECT_EQ(nearest_name("llama3", {"Llama-3.1-70B", "Llama-3-8B"}), "Llama-3-8B");
  EXPECT_EQ(nearest_name("deepseek_v3", {"DeepSeek-V3", "DeepSeek-R1"}), "DeepSeek-V3");
  EXPECT_EQ(nearest_name("be", networks), "");  // too short to tell
}

TEST(NearestName, AProductNameFindsTheNameThatItHolds) {
  const std::vector<std::string> names = {"a100-sxm-40gb", "a100-sxm", "a100", "Llama-3.1-8B",
                                          "Llama-3-8B"};
  EXPECT_EQ(nearest_name("A100-SXM4-80GB", names), "a100-sxm");
  EXPECT_EQ(nearest_name("NVIDIA A100-SXM4-40GB", names), "a100-sxm-40gb");
  EXPECT_EQ(nearest_name("meta-llama/Llama-3.1-8B-Instruct", names), "Llama-3.1-8B");
  EXPECT_EQ(nearest_name("a100-sxm-4gb", names), "a100-sxm-40gb");
}

TEST(NearestName, APartOfANameInTheMiddleMayBeLeftOut) {
  const std::vector<std::string> systems = {"a10-x8",      "p4",         "h100-pcie-x8",
                                            "h100-sxm-x8", "p5.4xlarge", "a100-pcie-80gb"};
  EXPECT_EQ(nearest_name("h100x8", systems), "h100-sxm-x8");
  EXPECT_EQ(nearest_name("a100-80gb", systems), "a100-pcie-80gb");
  EXPECT_EQ(nearest_name("p5", systems), "p5.4xlarge");  // and not p4, one letter away
  EXPECT_EQ(nearest_name("a10x8", systems), "a10-x8");
  EXPECT_EQ(nearest_name("b100x8", {"h100-sxm-x8"}), "");
}

TEST(NearestName, PrefersTheFirstOfEquallyNear) {
  EXPECT_EQ(nearest_name("bat", {"cat", "bar"}), "cat");
}

TEST(UnknownName, NamesTheNearestAndTheShortList) {
  EXPECT_STREQ(
      unknown_name("parameter", "latencey", kKeys).what(),
      "unknown parameter 'latencey'; nearest is 'latency'; there are: bandwidth, capacity, "
      "latency");
}

TEST(UnknownName, LeavesOutAListThatIsTooLong) {
  std::vector<std::string> many(24, "name");
  EXPECT_THAT(unknown_name("system", "zzz", many).what(), HasSubstr("there are: name, name"));
  many.emplace_back("name");
  EXPECT_STREQ(unknown_name("system", "zzz", many).what(),
               "unknown system 'zzz'; `foretell list systems` shows all");
}

TEST(InternalError, SaysFileAndLine) {
  try {
    FORETELL_CHECK(1 == 2, "one is not two");
    FAIL() << "the check passed";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("errors_test.cpp:"));
    EXPECT_THAT(error.what(), EndsWith(": one is not two"));
  }
}

TEST(InternalError, IsNoUserError) {
  EXPECT_THROW(
      {
        try {
          FORETELL_CHECK(false, "bug");
        } catch (const UserError&) {
        }
      },
      InternalError);
}

TEST(InternalError, AFulfilledConditionDoesNothing) {
  EXPECT_NO_THROW(FORETELL_CHECK(true, "fine"));
}

TEST(Errors, ASlipIsOneEditOfAWordThatTells) {
  for (const char* slip : {"dtyp", "dtpye", "dtypes", "dtipe", "DTYP"})
    EXPECT_TRUE(is_slip_of(slip, "dtype")) << slip;
  EXPECT_FALSE(is_slip_of("dtype", "dtype"));
  EXPECT_FALSE(is_slip_of("dates", "dtype"));
  EXPECT_FALSE(is_slip_of("dp", "pp"));
}

}  // namespace
}  // namespace foretell
