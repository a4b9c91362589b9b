// `calibrate fit` of a CPU: what it refuses.
#include <gmock/gmock.h>

#include "calib/measurements/measurement.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/app/command/calibrate/emulated_rows.hpp"
#include "model/app/command/testing/command_runner.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Measurement product(std::int64_t rows) {
  Measurement record;
  record.device = "test";
  record.op = "gemm";
  record.dtype = "fp32";
  record.shape = {{"m", rows}, {"n", 768}, {"k", 768}};
  record.latency_us = 10;
  record.repeats = 9;
  record.states = {{"cache", "warm"}, {"threads", "1"}};
  record.provenance = {"test", "a machine", "2026-01-31", "a library"};
  return record;
}

class CalibrateCpu : public ::testing::Test {
 protected:
  CommandResult fit(const std::string& text) {
    const std::string file = folder_.write("measured.jsonl", text);
    return run_command({"calibrate", "fit", "--device", "c7a.xlarge", "--measurements", file, "-o",
                        folder_.file("factors")});
  }

  void expect_refusal(const std::string& text, const std::string& reason) {
    const CommandResult outcome = fit(text);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.messages, HasSubstr(reason));
  }

  TemporaryFolder folder_;
};

TEST_F(CalibrateCpu, AsksForMeasurements) {
  const CommandResult outcome = run_command({"calibrate", "fit", "--device", "c7a.xlarge"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.messages, HasSubstr("calibrate measure --device cpu"));
}

TEST_F(CalibrateCpu, NamesTheLineThatIsWrong) {
  const std::string good = to_line(product(1)) + "\n";
  expect_refusal("", "holds no measurement");
  expect_refusal(good + "{\"schema\": 1}\n", "measured.jsonl:2");
  std::string negative = good;
  negative.replace(negative.find("\"latency_us\":10"), 15, "\"latency_us\":-1");
  expect_refusal(negative, "latency_us");
  std::string anonymous = good;
  anonymous.replace(anonymous.find("\"source\":\"test\""), 15, "\"source\":\"\"");
  expect_refusal(anonymous, "source");
}

TEST_F(CalibrateCpu, RefusesWhatContradictsItselfAndWhatIsTooFew) {
  Measurement again = product(1);
  again.latency_us = 30;
  expect_refusal(to_line(product(1)) + "\n" + to_line(again) + "\n", "measured twice");
  Measurement elsewhere = product(2);
  elsewhere.provenance.machine = "another machine";
  expect_refusal(to_line(product(1)) + "\n" + to_line(elsewhere) + "\n", "2 machines");
  Measurement in_seconds = product(1024);
  in_seconds.latency_us = 0.01;
  expect_refusal(to_line(in_seconds) + "\n", "0.01 us cannot be: at its peak the machine takes");
  expect_refusal(to_line(product(0)) + "\n", "m: a size of 0 cannot be");
  Measurement loaded = product(1);
  loaded.readings["foreign_load"] = 0.6;
  expect_refusal(to_line(loaded) + "\n", "others used the processors");
  expect_refusal(to_line(product(1)) + "\n" + to_line(product(2)) + "\n", "cannot identify");
  Measurement there = product(1);
  there.provenance.machine = "A CPU (of-tomorrow), 7 cores, avx2";
  const std::string file = folder_.write("there.jsonl", to_line(there) + "\n");
  const CommandResult elsewhere_fit =
      run_command({"calibrate", "fit", "--device", "host", "--measurements", file});
  EXPECT_EQ(elsewhere_fit.code, 2);
  EXPECT_THAT(elsewhere_fit.messages, HasSubstr("measured on A CPU (of-tomorrow), 7 cores"));
}

// The whole of what was measured was refused for it.
TEST_F(CalibrateCpu, TypesWithoutInstructionsAreLeftOutWithAWord) {
  CpuDeviceSpec device = CpuCatalog().load("c7a.xlarge").spec.device;
  device.flops_per_cycle.erase("bf16");
  std::vector<CpuRow> rows(3);
  rows[0].op.dtype = rows[2].op.dtype = "bf16";
  rows[1].op.dtype = "fp32";
  std::ostringstream messages;
  Session session;
  session.messages = &messages;
  leave_out_emulated(device, rows, session);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].op.dtype, "fp32");
  EXPECT_THAT(messages.str(), HasSubstr("left out, 2 of 3 points: "));
  EXPECT_THAT(messages.str(), HasSubstr("has no instructions for bf16"));
  rows[0].op.dtype = "bf16";
  EXPECT_THROW(leave_out_emulated(device, rows, session), UserError);
}

}  // namespace
}  // namespace foretell
