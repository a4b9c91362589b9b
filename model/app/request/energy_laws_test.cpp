// Energy of requests on every family: conservation, limits and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/app/request/prediction.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Request on_h200() {
  Request request;
  request.system = "h200-sxm";
  request.workload = "llama-3-8b";
  request.dtype = "bf16";
  request.batch = 8;
  request.seq_len = 2048;
  return request;
}

Request bert_on(const char* system) {
  Request request;
  request.system = system;
  request.workload = "bert-base-uncased";
  request.dtype = "bf16";
  request.batch = 4;
  request.seq_len = 128;
  return request;
}

RunSummary summary_of(const Request& request) { return predict(request).summary; }

std::string refusal(const Request& request) {
  try {
    predict(request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(EnergyLaws, PartsAddUpToWattsTimesTime) {
  for (const char* system : {"h200-sxm", "inf2.xlarge"}) {
    const RunSummary summary = summary_of(bert_on(system));
    ASSERT_TRUE(summary.energy && summary.watts && summary.joules_per_request) << system;
    double joules = 0;
    for (const EnergyPartRecord& part : summary.energy->parts) joules += part.joules;
    EXPECT_NEAR(joules / 4, *summary.joules_per_request, 1e-9 * joules) << system;
    EXPECT_NEAR(*summary.watts, *summary.joules_per_request * summary.throughput,
                1e-9 * *summary.watts)
        << system;
    EXPECT_GT(*summary.wall_watts, *summary.watts) << system;
  }
}

// Of a distribution of lengths, too: those of the calls that it is made of, by how often they are.
// What clocks below the highest save of the active idle power is taken from that, not from the
// work.
TEST(EnergyLaws, OperatorsAndTheIdlePowerAddUpToAllParts) {
  Request request;
  request.system = "h100-sxm-x8";
  request.workload = "Llama-3.1-8B";
  request.dtype = "bf16";
  request.input_len = 256;
  request.output_len = 16;
  request.tp = 2;
  request.batch = 8;
  const EnergyRecord energy = *summary_of(request).energy;
  double sum = 0;
  for (const auto& [op, joules] : energy.joules_by_operator) {
    EXPECT_GT(joules, 0) << op;
    sum += joules;
  }
  double parts = 0;
  for (const EnergyPartRecord& part : energy.parts) {
    if (part.kind != "active idle") parts += part.joules;
  }
  EXPECT_NEAR(sum, parts, 1e-9 * parts);
}

TEST(EnergyLaws, PartsOfAMixtureAddUp) {
  for (const char* system : {"h200-sxm", "inf2.xlarge", "c7i.4xlarge"}) {
    Request request = bert_on(system);
    set_length(request, request_field("seq"), "--seq", "list:1/512");
    const RunSummary summary = summary_of(request);
    ASSERT_TRUE(summary.energy && summary.joules_per_request) << system;
    double joules = 0;
    for (const EnergyPartRecord& part : summary.energy->parts) joules += part.joules;
    EXPECT_NEAR(joules / 4, *summary.joules_per_request, 1e-9 * joules) << system;
  }
}

TEST(EnergyLaws, TokensOfAGenerationShareItsJoules) {
  Request request = on_h200();
  request.seq_len = 0;
  request.input_len = 256;
  request.output_len = 64;
  const RunSummary summary = summary_of(request);
  ASSERT_TRUE(summary.joules_per_token);
  EXPECT_NEAR(*summary.joules_per_token * 64, *summary.joules_per_request,
              1e-9 * *summary.joules_per_request);
}

TEST(EnergyLaws, DevicesWithoutPublishedPowerSayThatTheyAreNotCalibrated) {
  const RunRecord record = predict(bert_on("inf2.xlarge"));
  EXPECT_THAT(record.context.notes, Contains(HasSubstr("not calibrated")));
  EXPECT_EQ(*record.summary.calibrated_energy, 0);
  const Interval band = record.summary.interval80.at("watts");
  EXPECT_LE(band.low, 0.5 * *record.summary.watts + 1e-9);
  EXPECT_GE(band.high, 2 * *record.summary.watts - 1e-9);
}

// What the host draws is as it is: the interval at the wall is that of the boards and of what each
// of their watts adds.
TEST(EnergyLaws, WattsAtTheWallHaveAnInterval) {
  for (const char* system : {"inf2.xlarge", "h200-sxm"}) {
    const RunSummary summary = predict(bert_on(system)).summary;
    const Interval boards = summary.interval80.at("watts");
    const Interval wall = summary.interval80.at("wall_watts");
    EXPECT_LT(wall.low, *summary.wall_watts) << system;
    EXPECT_GT(wall.high, *summary.wall_watts) << system;
    EXPECT_GE(wall.high - wall.low, boards.high - boards.low) << system;
    EXPECT_GT(wall.low / *summary.wall_watts, boards.low / *summary.watts) << system;
  }
}

TEST(EnergyLaws, TighterPowerLimitIsSlowerAndIsKept) {
  const RunSummary free = summary_of(on_h200());
  double call = free.call_s;
  for (const char* limit : {"600W", "450 W", "350"}) {
    Request request = on_h200();
    request.power_limit = limit;
    const RunSummary limited = summary_of(request);
    EXPECT_GE(limited.call_s, call) << limit;
    EXPECT_LE(*limited.watts, std::stod(limit) * 1.01) << limit;
    call = limited.call_s;
  }
  EXPECT_GT(call, 1.05 * free.call_s);
}

// A board with less power for an operation than the measured one runs at the clock that its own
// limit leaves; one that is stated must not give it a higher one.
TEST(EnergyLaws, ALimitMakesNoBoardFaster) {
  for (const char* system : {"a100-pcie-80gb-x8", "h100-pcie-x8"}) {
    Request request;
    request.system = system;
    request.workload = "resnet50";
    request.dtype = "int8";
    request.batch = 64;
    double call = summary_of(request).call_s;
    for (const char* limit : {"250W", "200W", "160W"}) {
      request.power_limit = limit;
      const double limited = summary_of(request).call_s;
      EXPECT_GE(limited, call) << system << " " << limit;
      call = limited;
    }
  }
}

TEST(EnergyLaws, LowerClockIsSlowerAndDrawsLess) {
  Request request = on_h200();
  request.clock = "900MHz";
  const RunSummary slow = summary_of(request);
  const RunSummary full = summary_of(on_h200());
  EXPECT_GT(slow.call_s, full.call_s);
  EXPECT_LT(*slow.watts, *full.watts);
}

// Where no limit binds, the time is that of the clock and the joules are those of the voltage.
TEST(EnergyLaws, LessVoltageAtTheSameClockTakesFewerJoulesInTheSameTime) {
  Request request = on_h200();
  request.clock = "1100MHz";
  RunSummary before = summary_of(request);
  PowerFacts facts = load_gpu_energy(GpuCatalog().load("h200-sxm", {}).spec.device).facts;
  for (const double voltage : {0.72, 0.7}) {
    request.voltage = std::to_string(voltage);
    facts.voltage_most = voltage;
    const RunSummary less = summary_of(request);
    EXPECT_EQ(less.call_s, before.call_s) << voltage;
    EXPECT_LT(*less.joules_per_request, *before.joules_per_request) << voltage;
    // What operators add to idle power, and that, are all parts.
    double joules = idle_power(1, facts).value() * less.call_s;
    for (const auto& [op, energy] : less.energy->joules_by_operator) joules += energy;
    double parts = 0;
    for (const EnergyPartRecord& part : less.energy->parts) parts += part.joules;
    EXPECT_NEAR(joules / parts, 1, 1e-6) << voltage;
    before = less;
  }
}

// At its limit a board that takes less for an operation keeps a higher clock.
// Less than the curve has for the clock that the limit leaves.
TEST(EnergyLaws, LessVoltageUnderALimitIsFaster) {
  Request request = on_h200();
  request.power_limit = "450W";
  const RunSummary full = summary_of(request);
  request.voltage = "0.65";
  const RunSummary less = summary_of(request);
  EXPECT_LT(less.call_s, 0.99 * full.call_s);
  EXPECT_LT(*less.joules_per_request, 0.98 * *full.joules_per_request);
}

// The limit of a board holds for what it draws in its own process.
TEST(EnergyLaws, ACoarserProcessAtTheLimitIsSlowerAndKeepsIt) {
  Request request = on_h200();
  const RunSummary base = summary_of(request);
  request.node = "7nm";
  const RunSummary coarser = summary_of(request);
  EXPECT_GT(coarser.call_s, base.call_s);
  EXPECT_LE(*coarser.watts, 700);
  EXPECT_GT(*coarser.joules_per_request, 1.05 * *base.joules_per_request);
}

TEST(EnergyLaws, EnergyHasAPriceWithTheLossesOfTheBuilding) {
  Request request = on_h200();
  request.usd_per_kwh = 0.1;
  const RunSummary plain = summary_of(request);
  request.pue = 1.5;
  const RunSummary dearer = summary_of(request);
  EXPECT_NEAR(*dearer.energy_usd_per_million, 1.5 * *plain.energy_usd_per_million, 1e-12);
  EXPECT_NEAR(*plain.energy_usd_per_million,
              *plain.wall_watts / plain.throughput * 0.1 / 3.6e6 * 1e6, 1e-9);
}

TEST(EnergyLaws, FinerProcessTakesLessEnergyAndAreaInTheSameTime) {
  Request request = bert_on("a100-sxm");
  const RunSummary base = summary_of(request);
  request.node = "3nm";
  const RunSummary finer = summary_of(request);
  EXPECT_EQ(finer.call_s, base.call_s);
  EXPECT_LT(*finer.joules_per_request, *base.joules_per_request);
  EXPECT_LT(*finer.area_mm2, *base.area_mm2);
}

TEST(EnergyLaws, WhatIsPossibleIsSaid) {
  Request request = on_h200();
  request.power_limit = "50W";
  EXPECT_THAT(refusal(request), HasSubstr("to 700 W"));
  request.power_limit = "900W";
  EXPECT_THAT(refusal(request), HasSubstr("to 700 W"));
  request.set = {"device.sms=264"};
  request.power_limit = "1e30W";
  EXPECT_THAT(refusal(request), HasSubstr("to 100000 W, not 1e+30 W"));
  request.power_limit = "100kW";
  EXPECT_GT(predict(request).summary.call_s, 0);
  request.set.clear();
  request.power_limit = "a lot";
  EXPECT_THAT(refusal(request), HasSubstr("write 500W"));
  request = on_h200();
  request.clock = "5 GHz";
  EXPECT_THAT(refusal(request), HasSubstr("MHz"));
  request.clock = "fast";
  EXPECT_THAT(refusal(request), HasSubstr("burst, sustained"));
  request = on_h200();
  request.node = "1nm";
  EXPECT_THAT(refusal(request), AllOf(HasSubstr("3nm"), Not(HasSubstr("nearest"))));
  request = on_h200();
  request.power_limit = "0.1kW";
  EXPECT_THAT(refusal(request), HasSubstr("not 100 W"));
  request = on_h200();
  request.voltage = "0.5";
  EXPECT_THAT(refusal(request), HasSubstr("takes 0.63 to 1 of its full voltage, not 0.5"));
  request.voltage = "1.1";
  EXPECT_THAT(refusal(request), HasSubstr("not 1.1"));
  request.clock = "1830MHz";
  request.voltage = "0.8";
  EXPECT_THAT(refusal(request), HasSubstr("takes 0.9 to 1 of its full voltage at 1830 MHz"));
  request.clock = "900MHz";
  request.voltage = "0.5";
  EXPECT_THAT(refusal(request), HasSubstr("takes 0.63 to 1"));
  request.voltage = "850mV";
  EXPECT_THAT(refusal(request), HasSubstr("write 0.9 or 90%"));
  request = on_h200();
  request.pue = 1.2;
  EXPECT_THAT(refusal(request), HasSubstr("usd-per-kwh"));
}

}  // namespace
}  // namespace foretell
