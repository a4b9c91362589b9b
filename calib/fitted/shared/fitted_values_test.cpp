#include "calib/fitted/shared/fitted_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

struct TwoFactors {
  double share = 0;
  Seconds call;
};

// What is known of the call; the values land in `factors`.
FittedValue call_of(const std::string& text, TwoFactors& factors) {
  FieldList list;
  list.value("share", factors.share, {0, 1}, "A share.");
  list.value("call", factors.call, {Seconds(0), Seconds(1)}, "A call.");
  Problems problems;
  const auto values = load_fitted_values(parse_document("share: {value: 0.5}\ncall: " + text, "f"),
                                         list, {}, {}, problems);
  problems.throw_if_any();
  return values.at("call");
}

TEST(FittedValues, HaveAnIntervalInTheirUnits) {
  TwoFactors factors;
  EXPECT_EQ(call_of("{value: 2 us, interval80: [1 us, 3 us]}", factors).interval80, "1 us .. 3 us");
  EXPECT_EQ(factors.share, 0.5);
  EXPECT_DOUBLE_EQ(factors.call.value(), 2e-6);
  EXPECT_EQ(call_of("{value: 2 us}", factors).interval80, "");
}

TEST(FittedValues, WrongOnesAreNamedWithTheirPlace) {
  const std::pair<const char*, const char*> wrong[] = {
      {"2 us", "f:2: call: expected a mapping"},
      {"{value: 2}", "f:2: call: '2' has no unit"},
      {"{value: 2 us, why: x}", "f:2: call.why: no such key"},
      {"{value: 2 us, interval80: [1 us]}", "f:2: call.interval80: expected two values"},
      {"{value: 2 us, interval80: [3 us, 1 us]}", "the low end is above the high end"},
      {"{value: 2 us, interval80: [1 us, 2 s]}", "'2 s' is outside"},
  };
  for (const auto& [text, message] : wrong) {
    TwoFactors factors;
    const std::string entry = text;
    EXPECT_THAT(message_of<UserError>([&] { call_of(entry, factors); }), HasSubstr(message));
  }
}

TEST(FittedValues, IntervalsOfPredictionsAreTwoRatios) {
  const auto [low, high] = read_interval80(parse_document("[0.9, 1.2]", "f"));
  EXPECT_EQ(low, 0.9);
  EXPECT_EQ(high, 1.2);
  for (const char* text : {"[0.9]", "0.9", "[0.9, much]"})
    EXPECT_THROW(read_interval80(parse_document(text, "f")), UserError) << text;
}

}  // namespace
}  // namespace foretell
