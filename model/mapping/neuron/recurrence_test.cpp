// Recurrences, short convolutions, compression and indexers, counted instruction by instruction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/mapping/neuron/map_graph.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

Program mapped(const Graph& graph) {
  const NeuronCoreSpec core = exemplar_inf2().device.core;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = core.sbuf.capacity * 0.4;
  return map_to_neuron_core(graph, find_precision("bf16-matmul"), core_shape(core), scheduling, {});
}

struct ScanShape {
  std::string function;
  std::int64_t batch, tokens, key_heads, heads, key_dim, value_dim, chunk;
};

// A Scan whose operands are inputs, [batch * tokens, columns] as the projections before it leave
// them.
Graph scan_of(const ScanShape& s) {
  Graph graph("scan");
  const auto operand = [&](const char* name, std::int64_t heads, std::int64_t dim) {
    const TensorId rows = graph.add_input(name, {s.batch, s.tokens, heads * dim}, DType::kFp32);
    return graph.add_op(std::string(name) + ".heads", "Reshape", {rows},
                        {{"shape", Shape{s.batch, s.tokens, heads, dim}}});
  };
  const TensorId query = operand("query", s.key_heads, s.key_dim);
  const TensorId key = operand("key", s.key_heads, s.key_dim);
  const TensorId value = operand("value", s.heads, s.value_dim);
  const TensorId gate = graph.add_input("gate", {s.batch, s.tokens, s.heads}, DType::kFp32);
  const TensorId state =
      graph.add_state("state", {s.batch, s.heads, s.key_dim, s.value_dim}, DType::kFp32);
  graph.keep(state);
  graph.mark_output(graph.add_op("scan", "Scan", {query, key, value, gate, state},
                                 {{"function", s.function}, {"chunk", s.chunk}}));
  return graph;
}

std::size_t count(const Program& program, Opcode opcode) {
  std::size_t found = 0;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const auto& queue = program.engine(e);
    found += static_cast<std::size_t>(std::count_if(
        queue.begin(), queue.end(), [opcode](const Instruction& i) { return i.opcode == opcode; }));
  }
  return found;
}

// Multiply-accumulates of the tensor engine.
double products_of(const Program& program) {
  double macs = 0;
  for (const Instruction& i : program.engine(Engine::kTensor)) {
    if (i.opcode == Opcode::kMultiplyMoving)
      macs += static_cast<double>(i.partitions) * i.n * i.aux;
  }
  return macs;
}

double bytes_on(const Program& program, Ring ring) {
  double bytes = 0;
  for (const Transfer& t : program.ring(static_cast<std::size_t>(ring)))
    bytes += static_cast<double>(t.bytes());
  return bytes;
}

const std::vector<ScanShape>& steps() {
  static const std::vector<ScanShape> kSteps = {{"mamba2", 1, 1, 1, 24, 128, 64, 256},
                                                {"mamba2", 8, 1, 1, 24, 256, 64, 256},
                                                {"gated_delta", 1, 1, 16, 32, 128, 128, 64},
                                                {"mamba1", 4, 1, 1, 4096, 16, 1, 256},
                                                {"rwkv7", 2, 1, 16, 16, 64, 64, 64}};
  return kSteps;
}

// One token reads every state and writes every state, once.
TEST(NeuronScan, ATokenMovesTheStateInAndOutAgain) {
  for (const ScanShape& s : steps()) {
    const Program program = mapped(scan_of(s));
    const double state = 4.0 * static_cast<double>(s.batch * s.heads * s.key_dim * s.value_dim);
    EXPECT_NEAR(bytes_on(program, Ring::kWeights) / state, 1, 1e-9) << s.function;
    const double result = 4.0 * static_cast<double>(s.batch * s.heads * s.value_dim);
    EXPECT_NEAR(bytes_on(program, Ring::kOutputs) / (state + result), 1, 1e-9) << s.function;
  }
}

// The outer product and the read-out, of the delta rule also the answer to the key.
TEST(NeuronScan, ATokenMultipliesTheStateAsOftenAsItsRuleSays) {
  const auto macs = [](const std::string& function) {
    return products_of(mapped(scan_of({function, 1, 1, 8, 8, 128, 128, 64})));
  };
  const double state = 8.0 * 128 * 128;
  const double turned = macs("mamba2") - 2 * state;
  EXPECT_EQ(turned, 0);
  EXPECT_EQ(macs("gated_delta"), 3 * state);
}

// What the operator table counts for a chunk is on the tensor engine, and more: scores above the
// diagonal, and the powers of the triangular system.
TEST(NeuronScan, ProductsOfAPromptAreThoseOfItsChunks) {
  const std::int64_t tokens = 512;
  const std::int64_t chunk = 128;
  const double macs = products_of(mapped(scan_of({"mamba2", 1, tokens, 4, 4, 128, 64, chunk})));
  const double scores = 4.0 * tokens * chunk * 128;
  const double inside = 4.0 * tokens * chunk * 64;
  const double state = 4.0 * tokens * 128 * 64;
  // The first chunk finds no state.
  EXPECT_EQ(macs, scores + inside + state + state * (tokens - chunk) / tokens);
}

TEST(NeuronScan, HeadsThatShareKeysShareTheirScores) {
  const auto macs = [](std::int64_t key_heads) {
    return products_of(mapped(scan_of({"mamba2", 1, 256, key_heads, 8, 128, 64, 128})));
  };
  EXPECT_EQ(macs(8) - macs(1), 7.0 * 256 * 128 * 128);
}

TEST(NeuronScan, ATriangularSystemIsSolvedByDoubling) {
  const auto macs = [](std::int64_t chunk) {
    return products_of(mapped(scan_of({"gated_delta", 1, chunk, 1, 1, 128, 128, chunk})));
  };
  const auto without = [](double c) {  // scores twice, values twice, the new state
    return 2 * c * c * 128 + 2 * c * c * 128 + c * 128 * 128;
  };
  EXPECT_EQ(macs(64) - without(64), 5.0 * 3 * 64 * 64 * 64) << "powers 2, 4 … 32";
  EXPECT_EQ(macs(32) - without(32), 4.0 * 3 * 32 * 32 * 32);
}

// Of 2,048 tokens and 16 states four scans of 512 for each state of 128 channels.
TEST(NeuronScan, ChannelsAreScannedByTheVectorEngine) {
  const Program program = mapped(scan_of({"mamba1", 1, 2048, 1, 256, 16, 1, 256}));
  EXPECT_EQ(count(program, Opcode::kTensorTensorScan), 2U * 16U * 4U);
}

TEST(NeuronShortConv, TapsOfAPromptAndAStateOfATokenAreWhatTheyAre) {
  const auto conv = [](std::int64_t tokens) {
    Graph graph("conv");
    const TensorId x = graph.add_input("x", {2, tokens, 512}, DType::kFp32);
    const TensorId weight = graph.add_weight("weight", {512, 4}, DType::kFp32);
    const TensorId state = graph.add_state("state", {2, 512, 3}, DType::kBf16);
    graph.keep(state);
    graph.mark_output(graph.add_op("conv", "ShortConv", {x, weight, state},
                                   {{"activation", std::string("silu")}}));
    return mapped(graph);
  };
  EXPECT_EQ(count(conv(128), Opcode::kScalarTensorTensor), 4U * 4U) << "blocks times taps";
  EXPECT_EQ(bytes_on(conv(1), Ring::kWeights), 2 * 512 * 3 * 2);
}

// Every head scores every key; the best of them are found for 128 queries at a time.
TEST(NeuronIndexer, ScoresAreProductsAndTheChoiceIsOnGpSimd) {
  const auto indexer = [](std::int64_t queries) {
    Graph graph("indexer");
    const TensorId q = graph.add_input("q", {1, queries, 16, 128}, DType::kFp32);
    const TensorId k = graph.add_input("k", {1, 1024, 128}, DType::kFp32);
    graph.mark_output(graph.add_op(
        "indexer", "Indexer", {q, k},
        {{"top_k", std::int64_t{256}}, {"block", std::int64_t{1}}, {"narrow", std::int64_t{0}}}));
    return mapped(graph);
  };
  const Program one = indexer(1);
  EXPECT_EQ(products_of(one), 1024.0 * 16 * 128);
  EXPECT_EQ(count(one, Opcode::kTopK), 1U);
  const Program many = indexer(1024);
  EXPECT_EQ(count(many, Opcode::kTopK), 1024U / 128U);
  // For eight tiles of queries the first four see one half of the keys in whole banks.
  EXPECT_LT(products_of(many), 1024.0 * 1024 * 16 * 128);
  EXPECT_GT(products_of(many), 0.5 * 1024 * 1024 * 16 * 128);
}

TEST(NeuronCompress, EveryFewTokensBecomeOne) {
  Graph graph("compress");
  const TensorId values = graph.add_input("values", {1, 256, 512}, DType::kFp32);
  const TensorId scores = graph.add_input("scores", {1, 256, 512}, DType::kFp32);
  const TensorId entries = graph.add_op("compress", "Compress", {values, scores},
                                        {{"ratio", std::int64_t{4}}, {"dim", std::int64_t{512}}});
  graph.mark_output(entries);
  const Program program = mapped(graph);
  EXPECT_EQ(graph.tensor(entries).shape, (Shape{1, 64, 512}));
  EXPECT_EQ(count(program, Opcode::kReciprocal), 1U);
  EXPECT_EQ(bytes_on(program, Ring::kOutputs), 64 * 512 * 4);
}

}  // namespace
}  // namespace foretell
