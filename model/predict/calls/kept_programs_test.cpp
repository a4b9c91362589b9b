#include "model/predict/calls/kept_programs.hpp"

#include <gtest/gtest.h>

#include "model/system/simulate.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using namespace literals;

constexpr std::size_t kMebibyte = 1U << 20U;

class KeptProgramsTest : public testing::Test {
 protected:
  std::shared_ptr<const KeptProgram> get(const Graph& graph) {
    return programs_.get(graph, find_precision(precision_), core_shape(core_), scheduling_,
                         stand_ins_, limits_);
  }

  KeptPrograms programs_{64 * kMebibyte};
  NeuronCoreSpec core_ = exemplar_inf2().device.core;
  SchedulingParameters scheduling_{8_MiB, false};
  std::string precision_ = "bf16-matmul";
  LayerStandIns stand_ins_;
  ProgramLimits limits_ = limits_of(exemplar_inf2().device);
};

TEST_F(KeptProgramsTest, EqualArgumentsGetTheSameProgram) {
  const auto first = get(linear_graph(128, 256, 256));
  EXPECT_EQ(get(linear_graph(128, 256, 256)), first);
  EXPECT_EQ(programs_.size(), 1U);
}

TEST_F(KeptProgramsTest, RatesAreNotAskedFor) {
  const auto first = get(linear_graph(128, 256, 256));
  core_.tensor.clock *= 2;
  core_.dma.engine_rate *= 3;
  core_.scalar.access_overhead = 1_cycles;
  EXPECT_EQ(get(linear_graph(128, 256, 256)), first);
}

TEST_F(KeptProgramsTest, IsValidatedWithTheLimitsThatAreAskedFor) {
  const Graph graph = linear_graph(128, 256, 256);
  const auto first = get(graph);
  EXPECT_EQ(first->flops.at(0), graph.flops(0));
  limits_.hbm_bytes /= 2;
  EXPECT_EQ(get(graph), first);
  limits_.hbm_bytes = 1;
  EXPECT_THROW(get(graph), EntryError);
}

TEST_F(KeptProgramsTest, EverythingElseMakesAnother) {
  const Graph graph = linear_graph(128, 256, 256);
  std::set<std::shared_ptr<const KeptProgram>> all = {get(graph)};
  const auto is_new = [&](const Graph& asked) { return all.insert(get(asked)).second; };
  EXPECT_TRUE(is_new(linear_graph(128, 256, 512)));
  core_.tensor.max_moving /= 2;
  EXPECT_TRUE(is_new(graph));
  core_.vector.min_interval = 32_cycles;
  EXPECT_TRUE(is_new(graph));
  core_.sbuf.capacity = 12_MiB;
  EXPECT_TRUE(is_new(graph));
  core_.psum.banks = 4;
  EXPECT_TRUE(is_new(graph));
  core_.instruction.max_elements = 1024;
  EXPECT_TRUE(is_new(graph));
  core_.scheduling.softmax_share = 0.1;
  EXPECT_TRUE(is_new(graph));
  scheduling_.prefetch_window = 4_MiB;
  EXPECT_TRUE(is_new(graph));
  scheduling_.operator_loops = true;
  EXPECT_TRUE(is_new(graph));
  precision_ = "fp8";
  EXPECT_TRUE(is_new(graph));
  stand_ins_ = {{7, 3}};
  EXPECT_TRUE(is_new(graph));
  Graph other_type = graph;
  other_type.set_dtype(0, DType::kFp16);
  EXPECT_TRUE(is_new(other_type));
}

TEST_F(KeptProgramsTest, ForgetsWhatWasNotAskedForLongest) {
  const auto one_size = [this](std::int64_t rows) {
    get(linear_graph(rows, 1024, 1024));
    return programs_.bytes();
  };
  const std::size_t bytes = one_size(128);
  programs_ = KeptPrograms(2 * bytes + bytes / 2);
  const auto first = get(linear_graph(128, 1024, 1024));
  one_size(127);
  EXPECT_EQ(get(linear_graph(128, 1024, 1024)), first);
  one_size(126);
  EXPECT_EQ(programs_.size(), 2U);
  EXPECT_EQ(get(linear_graph(128, 1024, 1024)), first);
  EXPECT_LE(programs_.bytes(), 2 * bytes + bytes / 2);
}

}  // namespace
}  // namespace foretell
