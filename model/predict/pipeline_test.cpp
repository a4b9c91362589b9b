#include "model/predict/pipeline.hpp"

#include <gtest/gtest.h>

#include "model/base/units.hpp"

namespace foretell {
namespace {

using namespace literals;

TEST(StageLayers, CoverEveryLayerOnceAndDifferByOneAtMost) {
  for (const std::int64_t layers : {2, 31, 80}) {
    for (int stages = 2; stages <= std::min<std::int64_t>(layers, 13); ++stages) {
      std::int64_t next = 0;
      for (int s = 0; s < stages; ++s) {
        const LayerRange range = stage_layers(layers, stages, s);
        EXPECT_EQ(range.first, next);
        const std::int64_t count = range.last - range.first + 1;
        EXPECT_GE(count, layers / stages);
        EXPECT_LE(count, (layers + stages - 1) / stages);
        next = range.last + 1;
      }
      EXPECT_EQ(next, layers);
    }
  }
}

TEST(StageLayers, OneStageIsTheWholeNetwork) {
  EXPECT_EQ(stage_layers(0, 1, 0).first, 0);
  EXPECT_EQ(stage_layers(0, 1, 0).last, LayerRange{}.last);
}

// Stages whose time is stated, without any mapping: 1 us per layer, 5 us more at either end.
struct Fake {
  std::int64_t layers = 0;
  int executed = 0;
  int handed_over = 0;

  PipelinePass run(const Pipeline& pipeline) {
    const auto graph_of = [&](const LayerRange& range) {
      layers = range.last - range.first + 1;
      if (range.first == 0) layers += 5;
      if (range.last + 1 == pipeline.layers) layers += 5;
      auto graph = std::make_shared<Graph>("stage");
      const TensorId x = graph->add_input("hidden_states", {1, 1, 48'000}, DType::kBf16);
      graph->mark_output(graph->add_op("relu", "Relu", {x}));  // 96 kB
      return graph;
    };
    const auto run = [&](const Graph&) {
      ++executed;
      Metrics metrics;
      metrics.device = Seconds(static_cast<double>(layers) * 1e-6);
      metrics.call = metrics.device;
      metrics.instructions = 10;
      OperatorMetrics op;
      op.start = 0.5_us;
      metrics.operators.push_back(op);
      return metrics;
    };
    const Handover handover = [&](Bytes bytes) {
      ++handed_over;
      return 2.0_us + bytes / 96.0_GBps;
    };
    return run_pipeline(pipeline, handover, graph_of, run);
  }
};

TEST(Pipeline, ATokenGoesThroughAllStagesAndLinks) {
  Fake fake;
  const PipelinePass pass = fake.run({20, 4, 1});
  // 20 layers, 10 for the ends, three handovers of 2 us and 1 us each.
  EXPECT_NEAR(pass.metrics.device.value(), 39e-6, 1e-12);
  EXPECT_NEAR(pass.slowest.value(), 13e-6, 1e-12);  // the first: 5 + 5 + 3
  EXPECT_NEAR(pass.metrics.call.value(), 39e-6, 1e-12);
}

TEST(Pipeline, EqualStagesAreExecutedOnce) {
  Fake fake;
  const PipelinePass pass = fake.run({20, 10, 1});
  EXPECT_EQ(fake.executed, 3);
  EXPECT_EQ(fake.handed_over, 1);  // the same bytes
  EXPECT_EQ(pass.metrics.instructions, 30U);
  EXPECT_EQ(pass.metrics.operators.size(), 10U);
  Fake uneven;
  uneven.run({23, 10, 1});  // 3, 3, 3, 2, 2, …
  EXPECT_EQ(uneven.executed, 4);
}

TEST(Pipeline, OperatorsOfALaterStageBeginAfterTheStagesBeforeIt) {
  Fake fake;
  const PipelinePass pass = fake.run({20, 4, 1});
  const auto& operators = pass.metrics.operators;
  ASSERT_EQ(operators.size(), 4U);
  EXPECT_NEAR(operators[1].start.value(), 13.5e-6, 1e-12);
  EXPECT_NEAR(operators[3].start.value(), 29.5e-6, 1e-12);
}

TEST(Pipeline, StagesOnOneDeviceHandOverInItsMemory) {
  Fake fake;
  EXPECT_NEAR(fake.run({20, 4, 2}).metrics.device.value(), 33e-6, 1e-12);  // one link
  EXPECT_NEAR(fake.run({20, 4, 4}).metrics.device.value(), 30e-6, 1e-12);  // none
}

}  // namespace
}  // namespace foretell
