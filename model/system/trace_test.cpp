#include "model/system/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/program/program_builder.hpp"
#include "model/system/testing/trace_check.hpp"
#include "model/system/trace_events.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using Json = nlohmann::json;

// A load, a matmul with weights after it, and an activation on its result; the names need escapes.
Program small_program() {
  ProgramBuilder builder("small \"program\"");
  builder.begin_operator("a \"quoted\"\\\nname");
  Transfer transfer;
  transfer.descriptors = 128;
  transfer.descriptor_bytes = 4096;
  const Deps loaded = builder.emit(Ring::kWeights, transfer, {});
  Instruction stationary;
  stationary.opcode = Opcode::kLoadStationary;
  stationary.type = ElementType::kBf16;
  stationary.n = 128;
  Instruction multiply = stationary;
  multiply.opcode = Opcode::kMultiplyMoving;
  multiply.n = 512;
  Deps multiplied;
  for (int i = 0; i < 4; ++i) {
    builder.emit(Engine::kTensor, stationary, loaded);
    multiplied = builder.emit(Engine::kTensor, multiply, loaded);
  }
  Instruction activate;
  activate.opcode = Opcode::kActivate;
  activate.n = 512;
  builder.emit(Engine::kScalar, activate, multiplied);
  return std::move(builder).finish();
}

struct Traced {
  Program program = small_program();
  Execution execution;
  TraceDetails details;
  std::string text;
  Json events;
};

Traced traced(int cores = 1) {
  Traced result;
  RunSettings settings;
  settings.active_cores = cores;
  result.execution = simulate(exemplar_inf2(), {}, settings, result.program);
  std::ostringstream out;
  write_trace(out, {{"", result.program, result.execution, result.details}});
  result.text = out.str();
  result.events = Json::parse(result.text).at("traceEvents");
  return result;
}

std::vector<Json> of_phase(const Json& events, const std::string& phase) {
  std::vector<Json> found;
  for (const Json& event : events) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

TEST(Trace, EveryInstructionAndTransferOfEveryCoreIsOneCompleteEvent) {
  for (const int cores : {1, 2}) {
    const Traced trace = traced(cores);
    std::map<std::string, int> categories;
    for (const Json& event : of_phase(trace.events, "X")) ++categories[event.at("cat")];
    EXPECT_EQ(categories["instruction"], 9 * cores);
    EXPECT_EQ(categories["transfer"], 1 * cores);
    EXPECT_EQ(categories["host"], 1);
  }
}

TEST(Trace, TimesAreThoseOfTheExecution) {
  const Traced trace = traced();
  for (const Json& event : of_phase(trace.events, "X")) {
    if (event.at("name") != "activate") continue;
    const EntryTimes& entry =
        trace.execution.cores[0].entries[static_cast<std::size_t>(Engine::kScalar)][0];
    EXPECT_NEAR(event.at("ts").get<double>(), to_seconds(entry.begin).value() * 1e6, 1e-6);
    EXPECT_NEAR(event.at("dur").get<double>(), 572 / 1.4e9 * 1e6, 2e-6);
    EXPECT_EQ(event.at("args").at("n"), 512);
    return;
  }
  FAIL() << "the activation is missing";
}

TEST(Trace, NamesAreEscaped) {
  const Traced trace = traced();
  EXPECT_EQ(Json::parse(trace.text).at("otherData").at("program"), "small \"program\"");
  for (const Json& event : of_phase(trace.events, "X")) {
    if (event.at("cat") == "host") continue;
    EXPECT_EQ(event.at("args").at("operator"), "a \"quoted\"\\\nname");
  }
}

TEST(Trace, BytesThatAreNoUtf8DoNotBreakTheFile) {
  Traced trace = traced();
  trace.program.operators[0] = "broken \xff";
  std::ostringstream out;
  write_trace(out, {{"", trace.program, trace.execution, trace.details}});
  EXPECT_NO_THROW(Json::parse(out.str()));
}

TEST(Trace, EveryThreadHasANameAndNoTwoEventsOfAThreadOverlap) {
  const Traced trace = traced();
  std::map<std::pair<int, int>, std::string> names;
  for (const Json& event : of_phase(trace.events, "M")) {
    if (event.at("name") != "thread_name") continue;
    names[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
  }
  std::map<std::pair<int, int>, double> end_of;
  std::set<std::string> used;
  for (const Json& event : of_phase(trace.events, "X")) {
    const std::pair<int, int> thread = {event.at("pid"), event.at("tid")};
    ASSERT_TRUE(names.count(thread)) << event;
    used.insert(names[thread]);
    EXPECT_GE(event.at("ts").get<double>(), end_of[thread] - 1e-9) << event;
    end_of[thread] = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  EXPECT_THAT(used, testing::ElementsAre("dma weights", "host", "scalar", "tensor"));
}

// Weights are loaded while a matmul runs: the tensor queue needs two threads.
TEST(Trace, OverlappingInstructionsOfAQueueAreOnDifferentThreads) {
  const Traced trace = traced();
  int tensor_threads = 0;
  for (const Json& event : of_phase(trace.events, "M")) {
    if (event.at("name") == "thread_name" && event.at("args").at("name") == "tensor")
      ++tensor_threads;
  }
  EXPECT_EQ(tensor_threads, 2);
}

TEST(Trace, ArrowsLeadFromTheCauseToTheEntryThatWaited) {
  const Traced trace = traced();
  const auto starts = of_phase(trace.events, "s");
  const auto ends = of_phase(trace.events, "f");
  ASSERT_EQ(starts.size(), ends.size());
  ASSERT_GE(starts.size(),
            2U);  // the load and the first weights, the last matmul and the activation
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i].at("id"), ends[i].at("id"));
    EXPECT_LT(starts[i].at("ts").get<double>(), ends[i].at("ts").get<double>());
    EXPECT_NE(starts[i].at("tid"), ends[i].at("tid"));
  }
}

TEST(Trace, TheMemoryCounterIntegratesToTheBytesAndEndsAtZero) {
  const Traced trace = traced();
  double bytes = 0;
  double last_time = 0;
  double last_rate = 0;
  for (const Json& event : of_phase(trace.events, "C")) {
    if (event.at("name") != "HBM GB/s") continue;
    const double time = event.at("ts");
    bytes += last_rate * 1e9 * (time - last_time) * 1e-6;
    last_time = time;
    last_rate = event.at("args").at("read");
  }
  EXPECT_NEAR(bytes, 128 * 4096, 128 * 4096 * 1e-4);
  EXPECT_EQ(last_rate, 0);
}

TEST(Trace, WhatIsLoadedStaysInSbufUntilItsOperatorEnds) {
  const Traced trace = traced();
  std::vector<Json> counters;
  for (const Json& event : of_phase(trace.events, "C")) {
    if (event.at("name") == "SBUF MiB") counters.push_back(event);
  }
  ASSERT_EQ(counters.size(), 2U);  // one load
  EXPECT_EQ(counters[0].at("args").at("loaded"), 0.5);
  EXPECT_EQ(counters[1].at("args").at("loaded"), 0);
  const EntryTimes& last =
      trace.execution.cores[0].entries[static_cast<std::size_t>(Engine::kScalar)][0];
  EXPECT_NEAR(counters[1].at("ts").get<double>(), to_seconds(last.end).value() * 1e6, 1e-6);
}

std::vector<Json> counters_of(const Json& events, const std::string& name) {
  std::vector<Json> found;
  for (const Json& event : of_phase(events, "C")) {
    if (event.at("name") == name) found.push_back(event);
  }
  return found;
}

TEST(Trace, PowerHoldsTheJoulesOfItsSpansAndWhatIdleDevicesDraw) {
  Traced trace = traced();
  const Ticks end = trace.execution.end;
  trace.details.power.idle = Watts(60);
  trace.details.power.spans = {
      {0, end / 3, Joules(1e-3)}, {end / 4, end, Joules(2e-3)}, {end, end, Joules(5e-4)}};
  std::ostringstream out;
  write_trace(out, {{"", trace.program, trace.execution, trace.details}});
  const auto counters = counters_of(Json::parse(out.str()).at("traceEvents"), "board W");
  ASSERT_GT(counters.size(), 2U);
  double joules = 0;
  for (std::size_t i = 0; i + 1 < counters.size(); ++i) {
    const double microseconds =
        counters[i + 1].at("ts").get<double>() - counters[i].at("ts").get<double>();
    joules += counters[i].at("args").at("drawn").get<double>() * microseconds * 1e-6;
  }
  EXPECT_NEAR(joules, 3.5e-3 + 60 * to_seconds(end).value(), 2e-8);  // counters have milliwatts
  EXPECT_EQ(counters.back().at("args").at("drawn"), 0);
  // Without power nothing is said.
  EXPECT_TRUE(counters_of(traced().events, "board W").empty());
}

// An activation that is made by the matmuls and read by the activation after them.
TEST(Trace, ActivationsAreInSbufWhileTheirKernelsRun) {
  Traced trace = traced();
  Occupant occupant;
  occupant.bytes = 3 << 20;
  occupant.until[static_cast<std::size_t>(Engine::kTensor)] = 8;
  occupant.until[static_cast<std::size_t>(Engine::kScalar)] = 1;
  trace.details.occupancy.activations = {occupant};
  std::ostringstream out;
  write_trace(out, {{"", trace.program, trace.execution, trace.details}});
  const auto counters = counters_of(Json::parse(out.str()).at("traceEvents"), "SBUF MiB");
  double most = 0;
  for (const Json& counter : counters)
    most = std::max(most, counter.at("args").at("activations").get<double>());
  EXPECT_EQ(most, 3);
  EXPECT_EQ(counters.back().at("args").at("activations"), 0);
  EXPECT_EQ(counters.back().at("args").at("loaded"), 0);
}

// Known to be used by the first matmul alone, a weight leaves when that has ended.
TEST(Trace, WeightsLeaveSbufWithTheirLastUse) {
  Traced trace = traced();
  QueueLengths until{};
  until[static_cast<std::size_t>(Engine::kTensor)] = 2;
  trace.details.occupancy.weights_until = {until};
  std::ostringstream out;
  write_trace(out, {{"", trace.program, trace.execution, trace.details}});
  const auto counters = counters_of(Json::parse(out.str()).at("traceEvents"), "SBUF MiB");
  ASSERT_EQ(counters.size(), 2U);
  const EntryTimes& use =
      trace.execution.cores[0].entries[static_cast<std::size_t>(Engine::kTensor)][1];
  EXPECT_NEAR(counters[1].at("ts").get<double>(), to_seconds(use.end).value() * 1e6, 1e-6);
}

// Two calls: the second begins where the first ends, in processes of its own.
TEST(Trace, CallsFollowEachOther) {
  const Traced trace = traced();
  std::ostringstream out;
  write_trace(out, {{"prefill", trace.program, trace.execution, trace.details},
                    {"decode step", trace.program, trace.execution, trace.details}});
  const Json events = Json::parse(out.str()).at("traceEvents");
  std::set<std::string> processes;
  for (const Json& event : of_phase(events, "M")) {
    if (event.at("name") == "process_name") processes.insert(event.at("args").at("name"));
  }
  EXPECT_THAT(processes, testing::ElementsAre("decode step: chip", "decode step: core 0",
                                              "prefill: chip", "prefill: core 0"));
  const double length = to_seconds(trace.execution.end).value() * 1e6;
  std::map<int, double> first;
  std::set<int> arrows;
  for (const Json& event : of_phase(events, "X")) {
    const auto [entry, is_new] = first.try_emplace(event.at("pid"), event.at("ts"));
    if (!is_new) entry->second = std::min(entry->second, event.at("ts").get<double>());
  }
  EXPECT_NEAR(first.at(3) - first.at(1), length, 1e-5);
  for (const Json& event : of_phase(events, "s"))
    EXPECT_TRUE(arrows.insert(event.at("id").get<int>()).second);
}

// What a link carries, summed over time, is what the collectives sent over it.
TEST(Trace, EveryLinkHasACounterThatIntegratesToItsBytes) {
  ProgramBuilder builder("reduced");
  builder.begin_operator("all_reduce");
  Collective collective;
  collective.bytes = 1 << 20;
  builder.emit(collective, builder.emit(collective, {}));
  const Program program = std::move(builder).finish();
  const NeuronSystemSpec system = exemplar_inf2_ring();
  const NeuronFactors factors;
  CollectiveCosts costs(system, factors, 24);
  RunSettings settings;
  settings.tensor_parallel = 24;
  settings.costs = &costs;
  const Execution execution = simulate(system, factors, settings, program);
  TraceDetails details;
  details.links[collective] = costs.of(collective).links;
  std::ostringstream out;
  write_trace(out, {{"", program, execution, details}});
  const Json events = Json::parse(out.str()).at("traceEvents");
  std::size_t used = 0;
  for (const LinkTraffic& link : execution.links) {
    if (link.bytes == 0) continue;
    ++used;
    double bytes = 0;
    double last_time = 0;
    double last_rate = 0;
    const std::string name =
        "link " + std::to_string(link.from) + " to " + std::to_string(link.to) + " GB/s";
    for (const Json& event : counters_of(events, name)) {
      bytes += last_rate * 1e3 * (event.at("ts").get<double>() - last_time);
      last_time = event.at("ts");
      last_rate = event.at("args").at("carried");
    }
    EXPECT_NEAR(bytes, static_cast<double>(link.bytes), 2e-3 * static_cast<double>(link.bytes));
  }
  EXPECT_GT(used, 0U);
}

TEST(Trace, FollowsTheFormat) {
  for (const int cores : {1, 2}) {
    const TraceCheck check(traced(cores).text);
    EXPECT_THAT(check.faults(), testing::IsEmpty());
    EXPECT_GT(check.arrows(), 0U);
  }
}

// 3 bytes/ps for 10 ps where 2 can pass: 10 bytes follow in the 10 ps of 1 byte/ps after them.
TEST(Trace, WhatTheMemoryCannotGiveFollows) {
  CounterChanges<2> demanded;
  add_rate(demanded, 0, 0, 10, 30.0);
  add_rate(demanded, 0, 10, 30, 20.0);
  const CounterChanges<2> given = served(demanded, 2);
  const CounterChanges<2> expected = {{0, {2, 0}}, {20, {-1, 0}}, {30, {-1, 0}}};
  EXPECT_EQ(given, expected);
  EXPECT_EQ(served(demanded, 3), demanded);
}

// For two series: all bytes pass, in proportion, and never more than there is.
TEST(Trace, WhatPassesIsWhatWasAskedFor) {
  CounterChanges<2> demanded;
  add_rate(demanded, 0, 0, 100, 300.0);
  add_rate(demanded, 1, 50, 90, 400.0);
  add_rate(demanded, 1, 200, 210, 70.0);
  std::array<double, 2> bytes{};
  std::array<double, 2> rate{};
  Picoseconds last = 0;
  for (const auto& [time, change] : served(demanded, 4)) {
    for (std::size_t i = 0; i < 2; ++i) {
      bytes[i] += rate[i] * static_cast<double>(time - last);
      rate[i] += change[i];
      EXPECT_GE(rate[i], -1e-9);
    }
    EXPECT_LE(rate[0] + rate[1], 4 + 1e-9);
    last = time;
  }
  EXPECT_NEAR(bytes[0], 300, 1e-6);
  EXPECT_NEAR(bytes[1], 470, 1e-6);
  EXPECT_NEAR(rate[0] + rate[1], 0, 1e-9);
}

TEST(Trace, TheSameRunGivesTheSameBytes) { EXPECT_EQ(traced().text, traced().text); }

TEST(Trace, AFullDiskIsReported) {
  const Traced trace = traced();
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const std::vector<TracedCall> calls = {{"", trace.program, trace.execution, trace.details}};
  EXPECT_THROW(write_trace(out, calls), UserError);
}

}  // namespace
}  // namespace foretell
