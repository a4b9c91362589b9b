#include "reports/render/plan_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

RejectedDeployment fallen(const char* cause, std::int64_t tp, const std::string& reason) {
  RejectedDeployment one;
  one.dtype = "bf16";
  one.tp = tp;
  one.cause = cause;
  one.reason = reason;
  return one;
}

SystemPlan plan_of(const std::string& system, std::vector<RejectedDeployment> rejected) {
  SystemPlan plan;
  plan.system = system;
  plan.rejected = std::move(rejected);
  return plan;
}

PlanRecord record_of(std::vector<SystemPlan> systems) {
  PlanRecord record;
  record.systems = std::move(systems);
  return record;
}

TEST(PlanText, SystemsFallOutUnderWhatTheyLack) {
  const std::string text =
      plan_text(record_of({plan_of("small", {fallen(kNoMemory, 1, "needs 30 GiB; take more")}),
                           plan_of("old", {fallen(kRefused, 0, "old: no fp8; take bf16")}),
                           plan_of("older", {fallen(kRefused, 2, "older: no fp8; take fp16")}),
                           plan_of("odd", {fallen(kRefused, 3, "odd: 32 heads on 3 cores")}),
                           plan_of("late", {fallen(kTooSlow, 1, "the queue grows")})}),
                0);
  EXPECT_THAT(text, HasSubstr("  late: bf16 with tp 1: the queue grows\n"));
  EXPECT_THAT(text, HasSubstr("  small: too little memory, for example: needs 30 GiB\n"));
  EXPECT_THAT(text, HasSubstr("  old, older: no fp8\n"));
  EXPECT_THAT(text, HasSubstr("  odd: 32 heads on 3 cores\n"));
}

TEST(PlanText, WhatComesNearestStandsForASystem) {
  RejectedDeployment near = fallen(kTooSlow, 2, "tpot.p99 is 50 ms");
  near.excess = 1.2;
  RejectedDeployment far = near;
  far.excess = 3;
  far.reason = "tpot.p99 is 90 ms";
  const std::string text =
      plan_text(record_of({plan_of("one", {fallen(kRefused, 0, "no fp8"), far, near,
                                           fallen(kNoMemory, 1, "needs 30 GiB")}),
                           plan_of("two", {fallen(kNoMemory, 1, "needs 30 GiB"),
                                           fallen(kRefused, 8, "32 heads on 8 cores")})}),
                0);
  EXPECT_THAT(text, HasSubstr("  one: bf16 with tp 2: tpot.p99 is 50 ms\n"));
  EXPECT_THAT(text, HasSubstr("  two: too little memory, for example: needs 30 GiB\n"));
  EXPECT_THAT(text, Not(HasSubstr("90 ms")));
}

TEST(PlanText, WhatWasInterruptedSaysSo) {
  PlanRecord record = record_of({});
  EXPECT_THAT(plan_text(record, 0), Not(HasSubstr("INTERRUPTED")));
  record.interrupted = true;
  EXPECT_THAT(plan_text(record, 0), HasSubstr("INTERRUPTED"));
  EXPECT_THAT(plan_text(record, 0), HasSubstr("no system was searched"));
  EXPECT_THAT(to_json(record), HasSubstr("\"interrupted\":true"));
}

TEST(PlanText, NothingHoldsOnlyWhereMemoryIsMissing) {
  const SystemPlan small = plan_of("small", {fallen(kNoMemory, 1, "needs 30 GiB")});
  const SystemPlan old = plan_of("old", {fallen(kRefused, 0, "no fp8")});
  const SystemPlan late = plan_of("late", {fallen(kTooSlow, 1, "the queue grows")});
  EXPECT_TRUE(nothing_holds(record_of({small, old})));
  EXPECT_FALSE(nothing_holds(record_of({old})));
  EXPECT_FALSE(nothing_holds(record_of({small, late})));
}

}  // namespace
}  // namespace foretell
