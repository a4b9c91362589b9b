// Activations that do not fit SBUF, in mapped programs: which bytes leave, when they come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "model/mapping/neuron/map_graph.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;

Program map(const Graph& graph, Bytes capacity, bool operator_loops = false) {
  NeuronCoreSpec core = exemplar_inf2().device.core;
  core.sbuf.capacity = capacity;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = capacity * 0.3;
  scheduling.operator_loops = operator_loops;
  return map_to_neuron_core(graph, find_precision("bf16-matmul"), core_shape(core), scheduling);
}

const std::vector<Transfer>& ring(const Program& program, Ring which) {
  return program.ring(static_cast<std::size_t>(which));
}

std::map<std::string, std::uint64_t> bytes_by_operator(const Program& program, Ring which) {
  std::map<std::string, std::uint64_t> bytes;
  for (const Transfer& t : ring(program, which))
    bytes[program.operators[static_cast<std::size_t>(t.op)]] += t.bytes();
  return bytes;
}

std::uint64_t sum(const std::map<std::string, std::uint64_t>& bytes) {
  std::uint64_t total = 0;
  for (const auto& entry : bytes) total += entry.second;
  return total;
}

// 4096 tokens, 1024 features, 4096 in between: 32 MiB of BF16 between the two layers.
Graph two_layers() {
  GraphWriter g;
  const TensorId x = g.input("x", {4096, 1024});
  return g.finish(g.matmul("second", g.gelu("gelu", g.matmul("first", x, 4096)), 1024));
}

constexpr std::uint64_t kTile = std::uint64_t{128} * 4096 * 2;  // 128 tokens

TEST(Spill, NothingLeavesASbufThatIsLargeEnough) {
  const Program program = map(two_layers(), 64_MiB);
  EXPECT_TRUE(ring(program, Ring::kSpill).empty());
  EXPECT_TRUE(ring(program, Ring::kReload).empty());
}

TEST(Spill, TheTilesThatDoNotFitLeaveTheirProducerAndComeBackForTheirReader) {
  const Program program = map(two_layers(), 24_MiB);
  // 60 % of 24 MiB hold 14 of the 32 tiles of 1 MiB.
  const std::uint64_t expected = (32 - 14) * kTile;
  const std::map<std::string, std::uint64_t> out = {{"gelu", expected}};
  const std::map<std::string, std::uint64_t> back = {{"second", expected}};
  EXPECT_EQ(bytes_by_operator(program, Ring::kSpill), out);
  EXPECT_EQ(bytes_by_operator(program, Ring::kReload), back);
}

TEST(Spill, WhatHasOneReaderComesBackOnceAndNotBeforeItHasLeft) {
  const Program program = map(two_layers(), 4_MiB);
  const auto& out = ring(program, Ring::kSpill);
  const auto& back = ring(program, Ring::kReload);
  ASSERT_EQ(out.size(), back.size());
  ASSERT_GT(out.size(), 18U);
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(out[i].direction, TransferDirection::kStore);
    EXPECT_EQ(back[i].direction, TransferDirection::kLoad);
    EXPECT_EQ(back[i].bytes(), out[i].bytes());
    ASSERT_NE(out[i].signal, kNoSemaphore);
    bool waits = false;  // a ring is in order, so a wait of an earlier entry counts as well
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::uint32_t w = 0; w < back[j].wait_count; ++w) {
        const Wait& wait = program.waits[back[j].first_wait + w];
        waits = waits || (wait.semaphore == out[i].signal && wait.threshold > i);
      }
    }
    EXPECT_TRUE(waits) << i;
  }
}

TEST(Spill, EngineInstructionsStayTheSame) {
  const Program small = map(two_layers(), 24_MiB);
  const Program large = map(two_layers(), 64_MiB);
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    EXPECT_EQ(small.engine(e).size(), large.engine(e).size()) << e;
  }
}

TEST(Spill, PublishedEncodersOfFewTokensFit) {
  for (const char* name : {"bert-large-uncased", "distilbert-base-uncased", "gpt2"}) {
    const Program program = map(network(name, 4, 128), 24_MiB);
    EXPECT_TRUE(ring(program, Ring::kSpill).empty()) << name;
  }
}

TEST(Spill, ASmallerSbufMovesMoreBytesAndNeverReloadsWhatHasNotLeft) {
  const Graph graph = network("distilbert-base-uncased", 16, 128);
  std::uint64_t last = 0;
  for (const double mib : {32, 24, 16, 12, 8, 4, 2, 1}) {
    const Program program = map(graph, Bytes(mib * 1024 * 1024));
    validate(program, {});
    const std::uint64_t out = sum(bytes_by_operator(program, Ring::kSpill));
    const std::uint64_t back = sum(bytes_by_operator(program, Ring::kReload));
    EXPECT_GE(out, last) << mib;
    EXPECT_GE(back, out) << mib;  // what has several readers comes back for each
    EXPECT_LE(back, 3 * out) << mib;
    last = out;
  }
  EXPECT_GT(last, 0U);
}

TEST(Spill, LoopsOverAnOperandThatDoesNotFitPassAllOfItInTheTypeOfTheNetwork) {
  const Program program = map(two_layers(), 24_MiB, true);
  const std::map<std::string, std::uint64_t> out = bytes_by_operator(program, Ring::kSpill);
  EXPECT_EQ(out.at("gelu"), 32 * kTile);
  EXPECT_EQ(bytes_by_operator(program, Ring::kReload).at("second"), 32 * kTile);
  // The engines hold norms in FP32; in HBM they are BF16.
  const Graph graph = network("gpt2", 1, 1024);
  int norms = 0;
  for (const auto& [name, bytes] : bytes_by_operator(map(graph, 1_MiB, true), Ring::kSpill)) {
    if (name.find("norm") == std::string::npos) continue;
    EXPECT_EQ(bytes, 1024U * 768U * 2U) << name;
    ++norms;
  }
  EXPECT_GE(norms, 24);
  EXPECT_GT(sum(bytes_by_operator(map(graph, 1_MiB, true), Ring::kReload)),
            sum(bytes_by_operator(map(graph, 1_MiB), Ring::kReload)));
}

TEST(Spill, ThereAreNoLoopsWhereOperandsFit) {
  const Graph graph = network("gpt2", 4, 512);  // 12 MiB between the layers of the MLP
  const Program without = map(graph, 14_MiB);
  const Program with = map(graph, 14_MiB, true);
  EXPECT_FALSE(ring(without, Ring::kSpill).empty());
  EXPECT_EQ(bytes_by_operator(with, Ring::kSpill), bytes_by_operator(without, Ring::kSpill));
  EXPECT_EQ(bytes_by_operator(with, Ring::kReload), bytes_by_operator(without, Ring::kReload));
}

// 128 channels of 128 x 128 pixels: 8 MiB in FP32, of which 0.6 of the SBUF is free.
TEST(Spill, ImagesLieAsLaneEnginesWriteThemAndLeaveAsProductsReadThem) {
  Graph graph("images");
  TensorId x = graph.add_input("x", {1, 3, 128, 128}, DType::kFp32);
  for (const auto& [name, channels] : {std::pair("first", 3), std::pair("second", 128)}) {
    const TensorId w =
        graph.add_weight(std::string(name) + ".w", {128, channels, 1, 1}, DType::kFp32);
    x = graph.add_op(name, "Conv", {x, w});
  }
  graph.mark_output(x);
  apply_precision(find_precision("bf16-matmul"), &graph);
  EXPECT_TRUE(ring(map(graph, 14_MiB), Ring::kSpill).empty());
  // 6 MiB hold 96 of 128 tiles; 32 tiles of BF16 leave.
  const std::map<std::string, std::uint64_t> expected = {
      {"first", std::uint64_t{32} * 128 * 128 * 2}};
  EXPECT_EQ(bytes_by_operator(map(graph, 10_MiB), Ring::kSpill), expected);
}

// The other partitions hold copies of an image of few channels or nothing: half of the channels
// take as much of the SBUF, and half the bytes leave.
TEST(Spill, ImagesOfFewChannelsTakeAllPartitions) {
  const auto spilled = [](std::int64_t channels, Bytes capacity) {
    Graph graph("images");
    TensorId x = graph.add_input("x", {1, 3, 128, 128}, DType::kFp32);
    for (const auto& [name, in] :
         {std::pair<std::string, std::int64_t>("first", 3), {"second", channels}}) {
      const TensorId w = graph.add_weight(name + ".w", {channels, in, 1, 1}, DType::kFp32);
      x = graph.add_op(name, "Conv", {x, w});
    }
    graph.mark_output(x);
    apply_precision(find_precision("bf16-matmul"), &graph);
    return sum(bytes_by_operator(map(graph, capacity), Ring::kSpill));
  };
  EXPECT_GT(spilled(128, 10_MiB), 0U);
  for (const std::int64_t channels : {1, 32, 64, 96})
    EXPECT_EQ(spilled(channels, 10_MiB) * 128,
              spilled(128, 10_MiB) * static_cast<std::uint64_t>(channels));
  EXPECT_EQ(spilled(64, 14_MiB), 0U);
}

// An image of 128 x 128 pixels and its copy are 4 MiB in BF16: with 6 MiB for activations, the
// second comes back when products have read the first.
TEST(Spill, AnImageWithItsCopyComesBackWhenThereIsRoom) {
  Graph graph("images");
  TensorId x = graph.add_input("x", {3, 3, 128, 128}, DType::kFp32);
  TensorId w = graph.add_weight("first.w", {64, 3, 1, 1}, DType::kFp32);
  x = graph.add_op("first", "Conv", {x, w});
  w = graph.add_weight("second.w", {64, 64, 3, 3}, DType::kFp32);
  x = graph.add_op("second", "Conv", {x, w}, {{"pads", std::vector<std::int64_t>(4, 1)}});
  graph.mark_output(x);
  apply_precision(find_precision("bf16-matmul"), &graph);
  // Products of the second layer that what comes back waits for.
  const auto awaited = [&](Bytes capacity) {
    const Program program = map(graph, capacity);
    std::uint32_t of_first = 0;
    std::uint16_t semaphore = kNoSemaphore;
    for (const Instruction& i : program.engine(static_cast<std::size_t>(Engine::kTensor))) {
      if (i.signal == kNoSemaphore) continue;
      semaphore = i.signal;
      if (program.operators[static_cast<std::size_t>(i.op)] == "first") ++of_first;
    }
    std::uint32_t most = 0;
    for (const Transfer& t : ring(program, Ring::kReload)) {
      for (std::uint32_t at = 0; at < t.wait_count; ++at) {
        const Wait& wait = program.waits[t.first_wait + at];
        if (wait.semaphore == semaphore) most = std::max<std::uint32_t>(most, wait.threshold);
      }
    }
    return most > of_first ? most - of_first : 0;
  };
  EXPECT_EQ(awaited(40_MiB), 0U);
  EXPECT_GT(awaited(10_MiB), 0U);
}

TEST(Spill, ScoresOfOneHeadThatDoNotFitPassThroughHbm) {
  // 1024 keys are 4 KiB of scores per partition; a quarter of a partition of 8 KiB holds half.
  const Graph graph = network("gpt2", 1, 1024);
  const Program program = map(graph, 1_MiB);
  std::uint64_t scores = 0;
  for (const auto& [name, bytes] : bytes_by_operator(program, Ring::kSpill)) {
    if (name.find("mask") != std::string::npos) scores += bytes;
  }
  EXPECT_EQ(scores, 12U * 12U * 8U * 128U * 2048U);  // layers, heads, tiles, partitions, bytes
}

}  // namespace
}  // namespace foretell
