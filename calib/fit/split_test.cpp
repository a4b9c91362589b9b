#include "calib/fit/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kText =
    "family: encoder\n"
    "fit: {large: [a, b]}\n"
    "held_out: {small: [c]}\n"
    "apart: {d: its rows measure the host}\n";

TEST(Split, SaysWhichSideANetworkIsOn) {
  const Split split = Split::parse(kText, "s.yaml");
  EXPECT_EQ(split.family(), "encoder");
  EXPECT_EQ(split.find("b").side, Side::kFit);
  EXPECT_EQ(split.find("b").architecture, "large");
  EXPECT_EQ(split.find("c").side, Side::kHeldOut);
  EXPECT_EQ(split.find("c").architecture, "small");
  EXPECT_EQ(split.find("d").side, Side::kApart);
}

TEST(Split, NetworksThatArriveLaterAreHeldOut) {
  const NetworkSide unknown = Split::parse(kText, "s.yaml").find("bert-of-tomorrow");
  EXPECT_EQ(unknown.side, Side::kHeldOut);
  EXPECT_EQ(unknown.architecture, "bert-of-tomorrow");
}

TEST(Split, NoNetworkIsOnBothSides) {
  EXPECT_THAT(
      [] { Split::parse("family: f\nfit: {x: [a]}\nheld_out: {y: [a]}\n", "s.yaml"); },
      ThrowsMessage<UserError>(HasSubstr("s.yaml:3: a is named twice; a network has one side")));
}

TEST(Split, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT([] { Split::parse("family: f\nfit: {x: a}\nheld_out: {y: [b]}\n", "s.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("s.yaml:2: fit.x: expected a list of networks")));
  EXPECT_THAT([] { Split::parse("family: f\nheld_out: {y: [b]}\n", "s.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("fit")));
  EXPECT_THAT([] { Split::parse("family: f\nfit: [a]\nheld_out: {y: [b]}\n", "s.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("expected a mapping of architectures")));
}

// The line that the project draws, so that moving it cannot go unnoticed.
TEST(Split, OfTheProject) {
  const Split split =
      Split::load(std::string(FORETELL_SOURCE_DIR) + "/calib/fit/neuron_split.yaml");
  for (const char* network : {"bert-large-cased", "bert-large-uncased", "roberta-large", "gpt2"}) {
    EXPECT_EQ(split.find(network).side, Side::kFit) << network;
  }
  for (const char* network :
       {"distilbert-base-cased", "distilbert-base-uncased", "gpt2-large", "bert-base-uncased",
        "distilbert-base-cased-distilled-squad", "albert-base-v2", "electra-base"}) {
    EXPECT_EQ(split.find(network).side, Side::kHeldOut) << network;
  }
  EXPECT_EQ(split.find("xlm-roberta-base").side, Side::kApart);
}

}  // namespace
}  // namespace foretell
