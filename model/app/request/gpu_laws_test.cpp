// Networks on GPUs from a request to its record, on the real model.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/gpu_laws_test_requests.hpp"
#include "model/app/request/prediction.hpp"
#include "model/testing/temporary_folder.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(GpuLaws, ARecordSaysWhatItRestsOn) {
  const RunRecord record = predict(bert_on_h100());
  EXPECT_EQ(record.context.system, "h100-sxm");
  EXPECT_THAT(record.context.factors, HasSubstr("gpu@"));
  EXPECT_FALSE(record.summary.cost_usd_per_million);
  EXPECT_TRUE(record.summary.costs_usd_per_million.empty());
  EXPECT_EQ(record.context.scenario.dp, 1);
  EXPECT_LT(record.summary.memory_used_bytes, record.summary.memory_capacity_bytes);
  EXPECT_THAT(record.context.notes,
              Contains(HasSubstr("factors of vidur gather fp16 on a100-sxm")));
}

TEST(GpuLaws, OperatorsSayWavesAndOccupancy) {
  const RunRecord record = predict(bert_on_h100());
  int products = 0;
  for (const OperatorRecord& op : record.operators) {
    EXPECT_FALSE(op.critical.empty()) << op.name;
    if (op.kernel.empty()) continue;
    ++products;
    EXPECT_GT(op.waves, 0) << op.name;
    EXPECT_GT(op.occupancy, 0) << op.name;
    EXPECT_LE(op.occupancy, 1) << op.name;
  }
  EXPECT_GE(products, 24 * 4);
}

TEST(GpuLaws, BertLargeIsAFewMillisecondsOnAnA100) {
  Request request = bert_on_h100();
  request.system = "a100-sxm";
  EXPECT_GT(gpu_call_of(request), 2.2e-3);  // its products at the full dense rate
  EXPECT_LT(gpu_call_of(request), 8e-3);
}

double with(Request request, const std::vector<std::string>& set) {
  request.set = set;
  return gpu_call_of(request);
}

TEST(GpuLaws, MoreMultiprocessorsAreNeverSlower) {
  Request request = bert_on_h100();
  const double file = gpu_call_of(request);
  EXPECT_LT(with(request, {"device.sms=264"}), file);
  EXPECT_GT(with(request, {"device.sms=66"}), file);
  EXPECT_LT(with(request, {"device.sms=133"}), 1.01 * file);  // but for the last wave
  EXPECT_LT(with(request, {"device.clock.boost=3.66 GHz"}), 0.9 * file);
}

TEST(GpuLaws, TwiceTheMultiprocessorsDoTwiceTheProductsOfALargeBatch) {
  Request request = bert_on_h100();
  request.batch = 256;
  const std::vector<std::string> more = {"device.sms=264", "device.hbm.bandwidth=6700 GB/s"};
  EXPECT_NEAR(gpu_call_of(request) / with(request, more), 2, 0.25);
  // The rate of the chip as it is, spread over twice the multiprocessors.
  std::vector<std::string> stated = more;
  stated.emplace_back("device.matrix_rate.bf16=989.4 TFLOP/s");
  EXPECT_GT(with(request, stated), 1.3 * with(request, more));
}

TEST(GpuLaws, TheHostOfALibraryBoundsSmallCalls) {
  Request request = bert_on_h100();
  request.batch = 1;
  request.library = "torchscript";
  const RunRecord hosted = predict(request);
  EXPECT_EQ(hosted.context.scenario.launch, "stream");
  const auto kernels = static_cast<double>(hosted.operators.size());
  const auto launch = [](const char* library) {
    return kernel_libraries().of_networks(library).per_launch->value();
  };
  const double script = launch("torchscript");
  EXPECT_GE(hosted.summary.call_s, kernels * script);
  EXPECT_NEAR(with(request, {fmt::format("device.stream_floor={} s", 2 * script)}),
              2 * hosted.summary.call_s, 0.1 * hosted.summary.call_s);
  request.library = "pytorch-1";  // the same kernels
  EXPECT_NEAR(gpu_call_of(request), launch("pytorch-1") / script * hosted.summary.call_s,
              0.05 * hosted.summary.call_s);
}

// A convolution and a batch norm take as many times longer on the host as their library says.
TEST(GpuLaws, HostsTakeLongerForConvolutions) {
  Request request;
  request.system = "a100-sxm";
  request.workload = "resnet50";
  request.image_size = 224;
  request.batch = 1;
  request.dtype = "fp16";
  for (const char* id : {"pytorch-1", "tensorflow"}) {
    request.library = id;
    const KernelLibrary& library = kernel_libraries().of_networks(id);
    ASSERT_GT(library.longer_launch.count("Conv"), 0U) << id;
    const RunRecord record = predict(request);
    double launches = 0;
    for (const OperatorRecord& op : record.operators) {
      const auto longer = library.longer_launch.find(op.op);
      launches += longer == library.longer_launch.end() ? 1 : longer->second;
    }
    EXPECT_NEAR(record.summary.call_s, launches * library.per_launch->value(),
                0.1 * record.summary.call_s)
        << id;
  }
}

// Processors are as old as the boards that they come with.
TEST(GpuLaws, HostsBesideOlderBoardsTakeLonger) {
  Request request = bert_on_h100();
  request.batch = 1;
  request.dtype = "fp16";
  request.library = "torchscript";
  const double ampere = gpu_call_of(request);
  request.system = "v100-sxm-16gb";
  EXPECT_NEAR(gpu_call_of(request), 1.5 * ampere, 0.1 * ampere);
  const double launch = kernel_libraries().of_networks("torchscript").per_launch->value();
  EXPECT_NEAR(with(request, {fmt::format("device.stream_floor={} s", launch)}), ampere,
              0.1 * ampere);
  request.system = "t4";
  EXPECT_NEAR(gpu_call_of(request), 2 * ampere, 0.15 * ampere);
}

// PyTorch states shares of the dense rate for Hopper and for chips with tensor memory.
TEST(GpuLaws, AttentionReachesNoMoreThanTheShareThatItsLibraryStates) {
  Request request;
  request.workload = "stable-diffusion-3.5-medium";
  request.dtype = "bf16";
  request.image_size = 1024;
  request.steps = 1;
  request.library = "pytorch";
  const auto attention_rate = [&](const char* system) {
    request.system = system;
    double best = 0;
    for (const OperatorRecord& op : predict(request).operators) {
      if (op.kernel == "attention" && op.name.rfind("transformer", 0) == 0)  // heads of 64
        best = std::max(best, op.flops / op.duration_s);
    }
    return best;
  };
  const auto& shares = kernel_libraries().of_networks(request.library).attention_share;
  const double b200 = attention_rate("b200-sxm") / 2250e12;
  EXPECT_LE(b200, share_of_width(shares.at("blackwell"), 64));
  EXPECT_GT(b200, 0.08);
  const double h100 = attention_rate("h100-sxm") / 989.4e12;
  EXPECT_LE(h100, share_of_width(shares.at("hopper"), 64));
  EXPECT_GT(h100, 0.2);
}

TEST(GpuLaws, LibrariesThatGroupLessHaveMoreKernels) {
  Request request = bert_on_h100();
  const auto kernels = [&request](const char* library) {
    request.library = library;
    return predict(request).operators.size();
  };
  EXPECT_LT(kernels("trtllm"), kernels("fastertransformer"));
  EXPECT_LT(kernels("fastertransformer"), kernels("torchscript"));
  EXPECT_LT(kernels("trtllm"), kernels("tensorrt-parser"));
}

TEST(GpuLaws, BoardsWithLessPowerThanTheMeasuredOneDoNotHoldABurst) {
  Request request = bert_on_h100();
  EXPECT_EQ(predict(request).context.scenario.clock, "");
  request.system = "t4";
  request.dtype = "fp16";
  const RunRecord held = predict(request);
  EXPECT_LT(held.summary.energy->clock, 0.9);
  // The clock follows from its watts, until it has as many for an operation as the other board.
  double call = held.summary.call_s;
  for (const char* watts : {"85 W", "100 W", "400 W"}) {
    request.set = {std::string("device.power_watts=") + watts};
    const double faster = predict(request).summary.call_s;
    EXPECT_LT(faster, call) << watts;
    call = faster;
  }
  request.set = {"device.power_watts=500 W"};
  EXPECT_DOUBLE_EQ(predict(request).summary.call_s, call);
}

// Kernels of a board that was measured are as they were measured: no limit of its own slows them.
TEST(GpuLaws, AMeasuredBoardHoldsItsClock) {
  Request request = bert_on_h100();
  request.batch = 64;
  const double file = gpu_call_of(request);
  const double drawn = *predict(request).summary.watts;
  request.set = {"device.power_watts=1000 W"};
  EXPECT_DOUBLE_EQ(gpu_call_of(request), file);
  EXPECT_DOUBLE_EQ(*predict(request).summary.watts, drawn);
}

// Fewer watts are no gift: the clock falls, as with --power-limit.
TEST(GpuLaws, AMeasuredBoardWithALowerLimitIsSlower) {
  Request request = bert_on_h100();
  request.batch = 64;
  const double file = gpu_call_of(request);
  request.power_limit = "400W";
  const RunRecord limited = predict(request);
  request.power_limit = "";
  request.set = {"device.power_watts=400"};
  const RunRecord lower = predict(request);
  EXPECT_GT(lower.summary.call_s, 1.05 * file);
  EXPECT_DOUBLE_EQ(lower.summary.call_s, limited.summary.call_s);
  EXPECT_DOUBLE_EQ(*lower.summary.watts, *limited.summary.watts);
}

TEST(GpuLaws, FactsThatFactorsStandForMoveTheResult) {
  Request request = bert_on_h100();
  request.batch = 1;
  const double file = gpu_call_of(request);
  EXPECT_LT(with(request, {"device.launch_floor=0 us"}), 0.9 * file);
  EXPECT_GT(with(request, {"device.launch_floor=50 us"}), 4 * file);
  request.batch = 64;
  const double large = gpu_call_of(request);
  EXPECT_GT(with(request, {"device.reachable_rate=0.3"}), 1.5 * large);
  request.clock = "sustained";
  EXPECT_GT(with(request, {"device.power_watts=100"}), 1.2 * large);
}

TEST(GpuLaws, AnOverrideThatCountsForNothingIsNoted) {
  Request request = bert_on_h100();
  const auto notes = [&request] { return predict(request).context.notes; };
  request.set = {"device.power_watts=900"};
  EXPECT_THAT(notes(), Contains(HasSubstr("device.power_watts counts")));
  request.set = {"device.clock.base=1 GHz", "device.hbm.latency=1 us", "device.power_watts=900",
                 "device.stream_floor=9 us", "device.sustained_rate=0.5"};
  EXPECT_THAT(notes(), testing::Not(Contains(HasSubstr("device.power_watts counts"))));
  for (const char* path : {"device.clock.base bounds", "device.hbm.latency bounds",
                           "device.stream_floor counts", "device.sustained_rate counts"}) {
    EXPECT_THAT(notes(), Contains(HasSubstr(path)));
  }
  request.clock = "sustained";
  request.launch = "stream";
  EXPECT_THAT(notes(), testing::Not(Contains(HasSubstr(" counts with "))));
}

TEST(GpuLaws, HardwareThatWasChangedHasAWiderInterval) {
  Request request = bert_on_h100();
  const RunRecord file = predict(request);
  request.set = {"device.l2.capacity=60 MiB"};
  const RunRecord changed = predict(request);
  const auto ratio = [](const RunRecord& record) {
    return record.summary.interval80.at("call_s").high / record.summary.call_s;
  };
  EXPECT_DOUBLE_EQ(ratio(changed), ratio(file) * ratio(file));
  EXPECT_THAT(changed.context.notes, Contains(HasSubstr("has not been measured")));
}

TEST(GpuLaws, OperatorsOfAGenerationAddUpToTheCall) {
  const RunRecord record = predict(llama_on_h100());
  double sum = 0;
  for (const OperatorRecord& op : record.operators) sum += op.duration_s;
  EXPECT_NEAR(sum, record.summary.call_s, 0.01 * record.summary.call_s);
  Request request = llama_on_h100();
  request.output_len = 2;
  EXPECT_EQ(predict(request).summary.bottleneck, "tensor pipe");
}

TEST(GpuLaws, AnH200IsNeverSlowerThanAnH100) {
  for (const std::int64_t batch : {1, 32}) {
    Request request = bert_on_h100();
    request.batch = batch;
    const double h100 = gpu_call_of(request);
    request.system = "h200-sxm";
    EXPECT_LT(gpu_call_of(request), 1.1 * h100) << batch;  // each has factors of its own
  }
}

TEST(GpuLaws, AStreamASustainedClockAndAColdCacheAreNeverFaster) {
  const double before = gpu_call_of(bert_on_h100());
  Request request = bert_on_h100();
  request.launch = "stream";
  EXPECT_GT(gpu_call_of(request), before);
  request = bert_on_h100();
  request.clock = "sustained";
  EXPECT_GT(gpu_call_of(request), before);
  request = bert_on_h100();
  request.l2 = "rotate:8";
  EXPECT_GE(gpu_call_of(request), before);
}

TEST(GpuLaws, ManySmallKernelsInAStreamWaitForTheHost) {
  Request request = bert_on_h100();
  request.workload = "bert-base-uncased";
  request.batch = 1;
  request.seq_len = 16;
  request.launch = "stream";
  const RunRecord record = predict(request);
  EXPECT_GE(record.summary.call_s, 5e-6 * static_cast<double>(record.operators.size()));
}

TEST(GpuLaws, AFactorCanBeSet) {
  Request request = bert_on_h100();
  const double before = gpu_call_of(request);
  request.set = {"factors.launch=0.1 us"};
  EXPECT_LT(gpu_call_of(request), before);
  request.set = {"factors.mma_efficiency=0.3"};
  EXPECT_GT(gpu_call_of(request), before);
}

TEST(GpuLaws, PrefillAndStepsAddUpToTheCall) {
  const RunRecord record = predict(llama_on_h100());
  double tokens = 0;
  double seconds = *record.summary.ttft_s;
  for (const GenerationRecord& step : record.generation) {
    tokens += static_cast<double>(step.tokens);
    seconds += static_cast<double>(step.tokens) * step.step_s;
  }
  EXPECT_EQ(tokens, 299);  // the first token comes from the prefill
  EXPECT_NEAR(seconds / record.summary.call_s, 1, 1e-12);
  EXPECT_EQ(record.context.scenario.dp, 4);
}

TEST(GpuLaws, InterpolatedStepsAreCloseToExecutedOnes) {
  Request request = llama_on_h100();
  request.output_len = 150;
  const RunRecord interpolated = predict(request);
  request.exact = true;
  const RunRecord executed = predict(request);
  EXPECT_EQ(executed.generation.size(), 149U);
  EXPECT_LT(interpolated.generation.size(), 8U);
  EXPECT_NEAR(interpolated.summary.call_s / executed.summary.call_s, 1, 1e-3);
}

TEST(GpuLaws, MoreGpusMakeATokenFasterButNeverByTheirNumber) {
  Request request = llama_on_h100();
  double before = 0;
  for (const int ranks : {1, 2, 4, 8}) {
    request.tp = ranks;
    const RunSummary summary = predict(request).summary;
    if (before > 0) {
      EXPECT_LT(*summary.tpot_s, before) << ranks;
      EXPECT_GT(*summary.tpot_s, before / 2) << ranks;
    }
    before = *summary.tpot_s;
  }
}

TEST(GpuLaws, ATokenReadsTheWeightsAtLeastOnce) {
  Request request = llama_on_h100();
  request.tp = 1;
  const RunSummary summary = predict(request).summary;
  const double weights = summary.memory->weights_bytes - 2.0 * 128256 * 4096;  // rows of a table
  EXPECT_GT(*summary.tpot_s, weights / 3.35e12);
}

TEST(GpuLaws, EveryDataTypeRunsOnAChipThatHasThemAll) {
  for (const PrecisionPolicy& policy : precision_policies()) {
    Request request = bert_on_h100();
    request.system = "b200-sxm";
    request.dtype = policy.name;
    EXPECT_GT(gpu_call_of(request), 0) << policy.name;
  }
}

TEST(GpuLaws, NarrowWeightsMakeATokenFaster) {
  Request request = llama_on_h100();
  request.tp = 1;
  const double bf16 = *predict(request).summary.tpot_s;
  for (const char* narrow : {"fp8", "int8", "int8-weights", "fp8-weights"}) {
    request.dtype = narrow;
    EXPECT_LT(*predict(request).summary.tpot_s, bf16) << narrow;
  }
}

TEST(GpuLaws, ATimelineHasEveryKernelInOrder) {
  const TemporaryFolder folder;
  Request request = bert_on_h100();
  request.trace_file = folder.file("trace.json");
  const RunRecord record = predict(request);
  std::ifstream file(request.trace_file);
  const nlohmann::json trace = nlohmann::json::parse(file);
  double end = 0;
  std::size_t kernels = 0;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    ++kernels;
    EXPECT_GE(event.at("ts").get<double>(), end - 1e-5);
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  EXPECT_GE(kernels, record.operators.size());
  EXPECT_NEAR(end, record.summary.call_s * 1e6, 1e-3);
}

TEST(GpuLaws, CostIsThePriceOfTheInstanceOverItsThroughput) {
  Request request = bert_on_h100();
  request.system = "h100-sxm-x8";
  const RunRecord node = predict(request);
  EXPECT_FALSE(node.summary.cost_usd_per_million.has_value());
  request.system = "p5.48xlarge";
  const RunRecord instance = predict(request);
  EXPECT_EQ(instance.summary.call_s, node.summary.call_s);
  EXPECT_NEAR(*instance.summary.cost_usd_per_million,
              55.04 / 3600 / instance.summary.throughput * 1e6, 1e-9);
}

Request staged(int stages) {
  Request request = llama_on_h100();
  request.system = "h100-sxm-x8";
  request.dp = 1;
  request.pp = stages;
  return request;
}

TEST(GpuLaws, StagesOneAfterTheOtherTakeAsLongAsOneGpuAndTheWayBetweenThem) {
  const RunRecord whole = predict(staged(1));
  const RunRecord cut = predict(staged(4));
  EXPECT_GT(*cut.summary.tpot_s, *whole.summary.tpot_s);
  EXPECT_LT(*cut.summary.tpot_s, 1.1 * *whole.summary.tpot_s);
  EXPECT_LT(cut.summary.memory_used_bytes, 0.4 * whole.summary.memory_used_bytes);
  EXPECT_THAT(cut.context.notes, testing::Contains(testing::HasSubstr("in-flight")));
}

TEST(GpuLaws, RequestsInFlightKeepTheStagesBusyButNoFasterThanTheirNumber) {
  Request request = staged(4);
  const double alone = predict(request).summary.throughput;
  request.in_flight = 4;
  const double four = predict(request).summary.throughput;
  EXPECT_GT(four, 3 * alone);
  EXPECT_LE(four, 4 * alone * (1 + 1e-9));
}

TEST(GpuLaws, AWindowSavesTimeInLongContextsAndNothingInShortOnes) {
  Request request = llama_on_h100();
  request.set = {"workload.context=40000", "workload.layers=2"};
  request.input_len = 30000;
  request.output_len = 4;
  const RunSummary full = predict(request).summary;
  request.set.emplace_back("workload.window=1024");
  const RunSummary cut = predict(request).summary;
  EXPECT_LT(*cut.ttft_s, 0.8 * *full.ttft_s);
  EXPECT_LT(*cut.tpot_s, *full.tpot_s);
  request.input_len = 512;
  const double within = predict(request).summary.call_s;
  request.set.pop_back();
  EXPECT_EQ(predict(request).summary.call_s, within);
}

TEST(GpuLaws, OneRankOfContextIsNone) {
  Request request = llama_on_h100();
  const std::string without = to_json(predict(request));
  request.cp = 1;
  EXPECT_EQ(to_json(predict(request)), without);
}

TEST(GpuLaws, RanksOfContextDivideTheCacheAndCountAsGpus) {
  Request request = llama_on_h100();
  request.workload = "Llama-3.1-8B";
  request.input_len = 32'768;
  request.output_len = 8;
  request.dp = 1;
  const RunRecord one = predict(request);
  request.cp = 4;
  const RunRecord four = predict(request);
  EXPECT_LT(four.summary.ttft_s, one.summary.ttft_s);
  EXPECT_NEAR(four.summary.memory->kv_cache_bytes * 4, one.summary.memory->kv_cache_bytes,
              0.001 * one.summary.memory->kv_cache_bytes);
  EXPECT_EQ(four.summary.memory->weights_bytes, one.summary.memory->weights_bytes);
}

}  // namespace
}  // namespace foretell
