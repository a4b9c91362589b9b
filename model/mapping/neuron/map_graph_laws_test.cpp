// What every mapped network keeps of its graph: multiplications, weights, operators.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

Program map(const Graph& graph, const std::string& precision = "bf16-matmul") {
  const NeuronCoreSpec core = exemplar_inf2().device.core;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = core.sbuf.capacity * 0.4;
  return map_to_neuron_core(graph, find_precision(precision), core_shape(core), scheduling);
}

// By operator name: multiply-accumulates of the tensor engine, instructions and transfers, bytes
// loaded.
struct Work {
  double macs = 0;
  int entries = 0;
  double loaded = 0;
};

std::map<std::string, Work> work_of(const Program& program) {
  std::map<std::string, Work> work;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const std::vector<Instruction>& queue = program.engine(e);
    for (const Instruction& i : queue) {
      if (i.op < 0) continue;
      Work& w = work[program.operators[static_cast<std::size_t>(i.op)]];
      ++w.entries;
      if (i.opcode == Opcode::kMultiplyMoving) {
        w.macs += static_cast<double>(i.partitions) * i.aux * i.n;
      }
    }
  }
  for (std::size_t r = 0; r < program.ring_count(); ++r) {
    const std::string& name = program.streams[kEngineCount + r].name;
    for (const Transfer& t : program.ring(r)) {
      if (t.op < 0) continue;
      Work& w = work[program.operators[static_cast<std::size_t>(t.op)]];
      ++w.entries;
      if (t.direction == TransferDirection::kLoad && name == "weights") {
        w.loaded += static_cast<double>(t.bytes());
      }
    }
  }
  return work;
}

using Case = std::tuple<const char*, int, int>;  // network, batch, sequence length

class MappedNetwork : public ::testing::TestWithParam<Case> {
 protected:
  MappedNetwork()
      : graph_(network(std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam()))),
        program_(map(graph_)) {}

  Graph graph_;
  Program program_;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::get<0>(info.param);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name + "_batch" + std::to_string(std::get<1>(info.param)) + "_seq" +
         std::to_string(std::get<2>(info.param));
}

INSTANTIATE_TEST_SUITE_P(
    Networks, MappedNetwork,
    ::testing::Values(Case{"bert-base-uncased", 1, 128}, Case{"bert-base-uncased", 3, 128},
                      Case{"bert-large-uncased", 2, 384}, Case{"distilbert-base-uncased", 1, 100},
                      Case{"distilbert-base-uncased", 4, 40}, Case{"roberta-base", 8, 64},
                      Case{"gpt2", 1, 256}, Case{"gpt2", 1, 700}, Case{"albert-base-v2", 2, 128}),
    case_name);

TEST_P(MappedNetwork, KeepsTheLimitsOfTheInstructionSet) { validate(program_, {}); }

TEST_P(MappedNetwork, MultipliesAsOftenAsTheGraph) {
  const auto work = work_of(program_);
  for (OpId id = 0; id < static_cast<OpId>(graph_.ops().size()); ++id) {
    const Op& op = graph_.op(id);
    if (op.kind != "MatMul") continue;
    ASSERT_EQ(work.count(op.name), 1U) << op.name;
    EXPECT_DOUBLE_EQ(2 * work.at(op.name).macs, graph_.flops(id).value()) << op.name;
  }
}

TEST_P(MappedNetwork, LoadsEveryWeightOfAMatmulOnce) {
  const auto work = work_of(program_);
  std::map<TensorId, double> loaded;
  for (const Op& op : graph_.ops()) {
    if (op.kind != "MatMul") continue;
    const Tensor& weight = graph_.tensor(op.inputs[1]);
    if (weight.kind == TensorKind::kWeight) loaded[op.inputs[1]] += work.at(op.name).loaded;
  }
  for (const auto& [id, bytes] : loaded) {
    const Tensor& weight = graph_.tensor(id);
    EXPECT_DOUBLE_EQ(bytes, 2.0 * static_cast<double>(element_count(weight.shape))) << weight.name;
  }
}

TEST_P(MappedNetwork, ChargesEveryOperatorThatComputes) {
  const auto work = work_of(program_);
  for (const Kernel& kernel : fuse(graph_)) {
    for (const OpId id : kernel.ops) {
      // A bias or a scale rides on the activation or the eviction after it.
      const bool free = id == kernel.bias_op || id == kernel.scale_op;
      if (free) continue;
      EXPECT_EQ(work.count(graph_.op(id).name), 1U) << graph_.op(id).name;
    }
  }
}

TEST_P(MappedNetwork, ATransposeBelongsToTheOperatorThatReadsItsResult) {
  std::map<std::string, std::string> kind;
  for (const Op& op : graph_.ops()) kind[op.name] = op.kind;
  for (const Instruction& i : program_.engine(Engine::kTensor)) {
    if (i.opcode != Opcode::kTranspose) continue;
    const std::string& name = program_.operators[static_cast<std::size_t>(i.op)];
    EXPECT_NE(kind[name], "LayerNorm") << name;  // works on tokens, as they are
  }
}

TEST_P(MappedNetwork, OpensAndClosesEveryGroupOfABank) {
  std::map<int, bool> open;
  for (const Instruction& i : program_.engine(Engine::kTensor)) {
    if (i.psum_bank == kNoBank || i.opcode == Opcode::kLoadStationary) continue;
    const bool starts = (i.flags & kStartsGroup) != 0;
    EXPECT_EQ(open[i.psum_bank], !starts);
    open[i.psum_bank] = (i.flags & kEndsGroup) == 0;
  }
  for (const auto& [bank, is_open] : open) EXPECT_FALSE(is_open) << bank;
}

TEST_P(MappedNetwork, IsMappedTheSameTwice) {
  const Program again = map(graph_);
  EXPECT_EQ(again.entry_count(), program_.entry_count());
  EXPECT_EQ(again.transfers().size(), program_.transfers().size());
  EXPECT_EQ(again.waits.size(), program_.waits.size());
  for (std::size_t w = 0; w < program_.waits.size(); ++w) {
    EXPECT_EQ(again.waits[w].semaphore, program_.waits[w].semaphore);
    EXPECT_EQ(again.waits[w].threshold, program_.waits[w].threshold);
  }
}

TEST(MappedLinear, MultipliesAsOftenAsTheGraphForEveryShape) {
  for (const std::int64_t rows : {1, 63, 64, 65, 128, 129, 512, 513, 1000}) {
    for (const std::int64_t k : {1, 127, 128, 129, 300, 1024}) {
      for (const std::int64_t n : {1, 127, 128, 500, 512, 513, 1024}) {
        const Graph graph = linear_graph(rows, k, n);
        const Program program = map(graph);
        validate(program, {});
        const Work work = work_of(program).at("linear");
        EXPECT_DOUBLE_EQ(work.macs, static_cast<double>(rows * k * n))
            << rows << " x " << k << " x " << n;
        // Rows of a chunk are equally long, which rounds them up to whole elements.
        const double stored = 2.0 * static_cast<double>(k * n);
        const double chunks = static_cast<double>(program.ring(0).size());
        EXPECT_GE(work.loaded, stored) << rows << " x " << k << " x " << n;
        EXPECT_LT(work.loaded, stored + 2 * 128 * chunks) << rows << " x " << k << " x " << n;
      }
    }
  }
}

}  // namespace
}  // namespace foretell
