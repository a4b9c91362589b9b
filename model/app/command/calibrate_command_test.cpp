// calibrate fit, from the command line to the files, with a stand-in whose factors are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "calib/fitted/neuron/neuron_factors_file.hpp"
#include "model/app/command/application.hpp"
#include "model/app/command/testing/scoped_variable.hpp"
#include "model/app/request/testing/fake_predictor.hpp"
#include "model/config/document.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr double kOverhead = 0.3e-3;
constexpr double kDerate = 1.2;  // of Inferentia2
constexpr const char* kHeader =
    "system,workload,family,phase,batch,dp,compute_dtype,sdk,use,call_ms\n";
constexpr const char* kSplit = "family: encoder\nfit: {large: [a]}\nheld_out: {small: [b]}\n";
constexpr const char* kPlan =
    "noise: 0.02\n"
    "starts:\n"
    "  - devices: [inferentia2, trainium1]\n"
    "    factors:\n"
    "      call_overhead: {prior: 0.1 ms, width: 0.3 ms, low: 0 us, high: 2 ms, why: w}\n"
    "      clock_derate: {prior: 1, width: 0.3, low: 0.8, high: 1.5, devices: [inferentia2], "
    "why: w}\n";

double factor(const Request& request, const std::string& name, double neutral, double scale) {
  const std::string start = "factors." + name + "=";
  for (const std::string& set : request.set) {
    if (set.rfind(start, 0) == 0) return std::stod(set.substr(start.size())) * scale;
  }
  return neutral;
}

double call_seconds(double overhead, double derate, std::int64_t batch) {
  return overhead + 1e-3 * derate * static_cast<double>(batch);
}

// Overheads are written in µs by the text of quantities.
RunRecord overhead_and_clock(const Request& request) {
  Request plain = request;
  plain.batch = 1;
  RunRecord record = fake_predict(plain);
  record.context.scenario.batch = request.batch;
  record.summary.call_s = call_seconds(factor(request, "call_overhead", 0, 1e-6),
                                       factor(request, "clock_derate", 1, 1), request.batch);
  return record;
}

std::string rows(const std::string& workload) {
  std::string text;
  for (const char* system : {"inf2.xlarge", "trn1.2xlarge"}) {
    const double derate = system[0] == 'i' ? kDerate : 1;
    for (const int batch : {1, 2, 4, 8}) {
      text += std::string(system) + "," + workload + ",encoder,forward," + std::to_string(batch) +
              ",2,bf16-matmul,2.20.0,yes," +
              std::to_string(call_seconds(kOverhead, derate, batch) * 1e3) + "\n";
    }
  }
  return text;
}

class CalibrateFit : public testing::Test {
 protected:
  // Exit code; the texts land in `result` and `messages`.
  int run(const std::string& table, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "calibrate", "fit", "--device", "inferentia2", "--plan", plan,       "--split",
        split,       "-o",  output,     "--jobs",      "2",      "--starts", "2"};
    if (!table.empty()) {
      arguments.push_back("--table");
      arguments.push_back(folder.write("t.csv", table));
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::ostringstream text;
    Session session;
    session.predict = overhead_and_clock;
    session.messages = &text;
    testing::internal::CaptureStdout();
    const int code = run_application(arguments, session);
    result = testing::internal::GetCapturedStdout();
    messages = text.str();
    return code;
  }

  TemporaryFolder folder;
  std::string plan = folder.write("plan.yaml", kPlan);
  std::string split = folder.write("split.yaml", kSplit);
  std::string output = folder.file("factors");
  std::string result;
  std::string messages;
};

TEST_F(CalibrateFit, FindsTheFactorsOfBothDevicesInOneGo) {
  ASSERT_EQ(run(kHeader + rows("a") + rows("b")), kSuccess) << messages;
  const FactorsFile inf2 = load_factors(output + "/inferentia2.yaml");
  const FactorsFile trn1 = load_factors(output + "/trainium1.yaml");
  EXPECT_EQ(inf2.status, "fitted");
  EXPECT_NEAR(inf2.factors.call_overhead.value(), kOverhead, 0.03 * kOverhead);
  EXPECT_EQ(inf2.factors.call_overhead.value(), trn1.factors.call_overhead.value());
  EXPECT_NEAR(inf2.factors.clock_derate, kDerate, 0.02);
  EXPECT_EQ(trn1.factors.clock_derate, 1);
  EXPECT_THAT(inf2.fitted_on, HasSubstr("8 rows (8 configurations) of a on"));
  EXPECT_THAT(inf2.split, HasSubstr("held out b"));
  EXPECT_THAT(result, HasSubstr("held out"));
}

// Factors that the plan leaves alone are those that the program reads, whatever a run before wrote.
TEST_F(CalibrateFit, WhatAnEarlierRunLeftIsNoInput) {
  const std::string table = kHeader + rows("a") + rows("b");
  ASSERT_EQ(run(table), kSuccess) << messages;
  const std::string file = output + "/inferentia2.yaml";
  const std::string first = read_text_file(file);
  std::string left = first;
  const std::string factor = "prefetch_window_fraction: {value: 0.";
  ASSERT_NE(left.find(factor), std::string::npos);
  left.insert(left.find(factor) + factor.size(), "1");
  std::ofstream(file) << left;
  ASSERT_EQ(run(table), kSuccess) << messages;
  EXPECT_EQ(read_text_file(file), first);
}

// Rows of networks that are held out, whatever they say, do not move a factor.
TEST_F(CalibrateFit, HeldOutRowsDoNotTouchTheFit) {
  ASSERT_EQ(run(kHeader + rows("a") + rows("b")), kSuccess);
  const double before = load_factors(output + "/inferentia2.yaml").factors.clock_derate;
  const std::string wild = "inf2.xlarge,b,encoder,forward,4,2,bf16-matmul,2.20.0,yes,500\n";
  ASSERT_EQ(run(kHeader + rows("a") + wild + wild + wild), kSuccess);
  EXPECT_EQ(load_factors(output + "/inferentia2.yaml").factors.clock_derate, before);
}

TEST_F(CalibrateFit, RowsThatAreNotTrustedDoNotCount) {
  const std::string untrusted = "inf2.xlarge,a,encoder,forward,4,2,bf16-matmul,2.20.0,no,-5\n";
  const std::string elsewhere = "inf1.xlarge,a,encoder,forward,4,2,bf16-matmul,2.20.0,yes,-5\n";
  EXPECT_EQ(run(kHeader + rows("a") + untrusted + elsewhere), kSuccess) << messages;
}

TEST_F(CalibrateFit, NegativeTimesAreNamedWithTheirPlace) {
  EXPECT_EQ(run(kHeader + rows("a") + "inf2.xlarge,a,encoder,forward,4,2,bf16,2.20.0,yes,-5\n"),
            kUserMistake);
  EXPECT_THAT(messages, HasSubstr("t.csv:10: call_ms: '-5' is no measurement"));
}

TEST_F(CalibrateFit, TooFewRowsAndNoRows) {
  const std::string one = "inf2.xlarge,a,encoder,forward,4,2,bf16,2.20.0,yes,5\n";
  EXPECT_EQ(run(kHeader + one), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("1 configurations cannot identify 2 factors"));
  EXPECT_EQ(run(kHeader), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("none of 0 rows has call_ms"));
  EXPECT_EQ(run(kHeader + rows("b")), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("0 configurations cannot identify 2 factors; 0 rows are left"));
  EXPECT_THAT(messages, HasSubstr("8 of networks that are held out"));
}

TEST_F(CalibrateFit, SaysWhereTheDataComeFrom) {
  const ScopedVariable data("FORETELL_DATA", "");
  EXPECT_EQ(run(""), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("give --table FILE, or let FORETELL_DATA name the folder"));
}

TEST_F(CalibrateFit, UnknownDevicesAreRefused) {
  plan = folder.write("other.yaml",
                      "noise: 0.1\nstarts:\n  - devices: [trainium1]\n    factors:\n"
                      "      call_overhead: {prior: 1 us, width: 1 us, low: 0 us, high: "
                      "1 ms, why: w}\n");
  EXPECT_EQ(run(kHeader + rows("a")), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("unknown device 'inferentia2'"));
}

TEST_F(CalibrateFit, ARowThatCannotBePredictedIsNamed) {
  const std::string bad = "inf2.xlarge,a,encoder,forward,4,2,bf16-matmul,fail,yes,5\n";
  EXPECT_EQ(run(kHeader + rows("a") + bad), kUserMistake);
  EXPECT_THAT(messages, HasSubstr("fail"));
}

}  // namespace
}  // namespace foretell
