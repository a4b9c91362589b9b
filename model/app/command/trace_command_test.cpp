// Timelines of whole networks, as `--trace` writes them, by the rules of their format and held
// against the peaks of the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/app/request/prediction.hpp"
#include "model/system/testing/trace_check.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

struct Traced {
  RunRecord record;
  TraceCheck trace;
};

Traced traced(Request request) {
  const TemporaryFolder folder;
  request.trace_file = folder.file("trace.json");
  RunRecord record = predict(request);
  std::ostringstream text;
  text << std::ifstream(request.trace_file).rdbuf();
  return {std::move(record), TraceCheck(text.str())};
}

Request encoder(const std::string& system) {
  Request request;
  request.system = system;
  request.workload = "distilbert-base-uncased";
  request.batch = 1;
  request.seq_len = 128;
  return request;
}

Request gpt2(const std::string& system) {
  Request request;
  request.system = system;
  request.workload = "gpt2";
  request.batch = 1;
  request.input_len = 64;
  request.output_len = 16;
  return request;
}

// For the device memory, GB/s.
double memory_peak(const RunRecord& record) {
  double most = 0;
  for (const PeakRecord& peak : record.machine->bandwidths) most = std::max(most, peak.per_s);
  return most * 1e-9;
}

constexpr double kRounding = 1.001;

TEST(TraceCommand, AForwardPassIsWellFormedOnEveryKindOfDevice) {
  for (const char* system : {"inf2.xlarge", "h100-sxm", "c7i.2xlarge"}) {
    const Traced run = traced(encoder(system));
    EXPECT_THAT(run.trace.faults(), IsEmpty()) << system;
    EXPECT_GT(run.trace.arrows(), run.record.operators.size()) << system;
  }
}

TEST(TraceCommand, AGenerationShowsItsPrefillAndADecodeStep) {
  for (const char* system : {"h100-sxm", "c7i.2xlarge"}) {
    const Traced run = traced(gpt2(system));
    EXPECT_THAT(run.trace.faults(), IsEmpty()) << system;
    std::size_t steps = 0;
    for (const std::string& name : run.trace.processes())
      if (name.find("decode step: ") == 0) ++steps;
    EXPECT_GT(steps, 0U) << system;
    EXPECT_LT(steps, run.trace.processes().size()) << system;
  }
}

TEST(TraceCommand, NoMemoryIsFasterThanItsPeak) {
  const Traced neuron = traced(encoder("inf2.xlarge"));
  EXPECT_GT(neuron.trace.highest("HBM GB/s"), 50);
  EXPECT_LE(neuron.trace.highest("HBM GB/s"), 820 * kRounding);
  EXPECT_LE(neuron.trace.highest("SBUF MiB"), 24);
  for (const char* system : {"h100-sxm", "g4dn.xlarge", "c7i.2xlarge"}) {
    for (const Request& request : {encoder(system), gpt2(system)}) {
      const Traced run = traced(request);
      EXPECT_GT(run.trace.highest("DRAM GB/s"), 1) << system;
      EXPECT_LE(run.trace.highest("DRAM GB/s"), memory_peak(run.record) * kRounding) << system;
    }
  }
}

// What a counter says over time is what the record says in sum.
TEST(TraceCommand, TheMemoryCounterIntegratesToTheBytesOfTheRecord) {
  for (const char* system : {"h100-sxm", "c7i.2xlarge"}) {
    const Traced run = traced(encoder(system));
    double bytes = 0;
    for (const OperatorRecord& op : run.record.operators) bytes += op.bytes;
    EXPECT_NEAR(run.trace.integral("DRAM GB/s"), bytes, 2e-3 * bytes) << system;
  }
}

TEST(TraceCommand, GpusThatWorkTogetherShowTheirLinks) {
  Request request = gpt2("h100-sxm-x8");
  request.tp = 2;
  request.dp = 1;
  const Traced run = traced(request);
  EXPECT_THAT(run.trace.faults(), IsEmpty());
  EXPECT_THAT(run.trace.threads(), IsSupersetOf({"launch", "link", "tensor"}));
  EXPECT_GT(run.trace.highest("links GB/s"), 0);
  EXPECT_LE(run.trace.highest("links GB/s"), 450);  // NVLink 4, one direction
}

}  // namespace
}  // namespace foretell
