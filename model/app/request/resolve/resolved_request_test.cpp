#include "model/app/request/resolve/resolved_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/app/request/family/device_family.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/record/make_record.hpp"
#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Request bert() {
  Request request;
  request.system = "INF2.xlarge";
  request.workload = "BERT-large-uncased";
  request.dtype = "bf16-matmul";
  request.batch = 8;
  return request;
}

std::string error_of(const Request& request) {
  return message_of<UserError>([&] { resolve(request); });
}

// That of a call which took as `metrics` say.
RunRecord record_of(const Request& request, const Metrics& metrics) {
  const auto device = neuron_family().resolve(request);
  return make_record(device->workload(), device->facts(), metrics);
}

TEST(Resolve, FillsInWhatIsNotStatedAndSaysSo) {
  const ResolvedRequest resolved = resolve(bert());
  EXPECT_EQ(resolved.request.system, "inf2.xlarge");
  EXPECT_EQ(resolved.request.seq_len, 128);
  EXPECT_EQ(resolved.request.dp, 2);
  EXPECT_EQ(resolved.request.cores, 2);
  EXPECT_EQ(resolved.serving.dp, 2);
  EXPECT_THAT(resolved.notes, Contains(HasSubstr("128 tokens taken")));
}

TEST(Resolve, WithoutADataTypeItIsBf16AndSaysSo) {
  Request request = bert();
  request.dtype.clear();
  const ResolvedRequest resolved = resolve(request);
  EXPECT_EQ(resolved.request.dtype, "bf16");
  EXPECT_THAT(resolved.notes, Contains(HasSubstr("bf16 taken")));
}

TEST(Resolve, WhatIsStatedStays) {
  Request request = bert();
  request.seq_len = 64;
  request.dp = 1;
  const ResolvedRequest resolved = resolve(request);
  EXPECT_EQ(resolved.request.seq_len, 64);
  EXPECT_EQ(resolved.request.dp, 1);
  EXPECT_EQ(resolved.request.cores, 1);
  EXPECT_THAT(resolved.notes, IsEmpty());
}

TEST(Resolve, ProductsAreOfTypesThatTheTensorEngineHas) {
  Request request = bert();
  request.dtype = "int8-datasheet";
  EXPECT_EQ(error_of(request), "(no error)");
  request.system = "trn2.48xlarge";
  EXPECT_EQ(error_of(request),
            "dtype: AWS Trainium2 does not multiply in int8, as 'int8-datasheet' asks; it has "
            "bf16, fp16, fp32, fp8, tf32");
}

TEST(Resolve, CoresLimitTheCopies) {
  Request request = bert();
  request.cores = 1;
  EXPECT_EQ(resolve(request).serving.dp, 1);
  request.cores = 3;
  EXPECT_THAT(error_of(request), HasSubstr("inf2.xlarge has 2 cores, not 3"));
  request.cores = 0;
  request.dp = 3;
  EXPECT_THAT(error_of(request),
              HasSubstr("3 copies of 1 core need 3 cores, but inf2.xlarge has 2"));
  request.system = "inf2.48xlarge";
  EXPECT_EQ(resolve(request).serving.dp, 3);
}

TEST(Resolve, AGroupHasASizeThatTheVendorAllowsOnTheSystem) {
  Request request = bert();
  request.system = "inf2.48xlarge";
  request.workload = "gpt2";
  request.batch = 1;
  request.input_len = 128;
  request.output_len = 16;
  request.tp = 4;
  EXPECT_EQ(resolve(request).request.tp, 4);
  request.tp = 5;
  EXPECT_EQ(error_of(request),
            "tensor parallel degree 5 is not possible on inf2.48xlarge; possible are 1, 2, 4, 8, "
            "12, 24");
  request.system = "inf2.xlarge";
  request.tp = 4;
  EXPECT_THAT(error_of(request), HasSubstr("possible are 1, 2"));
}

TEST(Resolve, ADeviceThatDiffersMustBeOfTheOneCopy) {
  Request request;
  request.system = "inf2.48xlarge";
  request.workload = "gpt2";
  request.input_len = 128;
  request.output_len = 16;
  request.set = {"device[3].hbm.bandwidth=400 GB/s"};
  request.tp = 24;
  const ResolvedRequest resolved = resolve(request);
  EXPECT_DOUBLE_EQ(resolved.system.spec.device_at(3).hbm.bandwidth.value(), 4e11);
  EXPECT_GT(resolved.system.spec.device_at(2).hbm.bandwidth.value(), 4e11);
  request.tp = 2;
  request.dp = 1;
  EXPECT_THAT(error_of(request),
              HasSubstr("device[3]: 2 cores of inf2.48xlarge are on device 0; name one of these"));
  request.dp = 2;
  EXPECT_THAT(error_of(request), HasSubstr("--dp 1"));
}

TEST(Predict, CopiesThatAreNotStatedAreAsManyAsTheMemoryHolds) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = "Llama-2-13b";
  request.dtype = "bf16";
  request.input_len = 128;
  request.output_len = 8;
  const RunRecord record = predict(request);
  EXPECT_EQ(record.context.scenario.dp, 1);
  EXPECT_THAT(record.context.notes.front(), HasSubstr("copies not stated: 1 taken"));
  EXPECT_THAT(record.context.unstated, Contains(record.context.notes.front()));
  request.dp = 1;
  EXPECT_EQ(predict(request).summary.call_s, record.summary.call_s);
  request.dp = 2;
  EXPECT_THAT([&] { predict(request); },
              testing::ThrowsMessage<UserError>(HasSubstr("1 of 2 copies fit: --dp 1")));
}

TEST(NeuronFamily, OnlyGroupsOfCoresAreHelpedByTheirLinks) {
  const auto helps = [](const Request& request, const std::string& path) {
    const std::vector<ImprovedPart> parts = neuron_family().improved_parts(request);
    return std::any_of(parts.begin(), parts.end(),
                       [&path](const ImprovedPart& part) { return part.path == path; });
  };
  Request request = bert();
  EXPECT_FALSE(helps(request, "link.hop_latency"));
  EXPECT_TRUE(helps(request, "core.tensor.clock"));
  request.tp = 8;
  EXPECT_TRUE(helps(request, "link.hop_latency"));
  EXPECT_TRUE(helps(request, "device.collective.rate"));
}

Request exported(const std::string& file) {
  Request request;
  request.system = "inf2.xlarge";
  request.workload = FORETELL_SOURCE_DIR "/workloads/import/onnx/exported/" + file;
  return request;
}

TEST(Resolve, ABatchThatAFileFixesCannotBeChanged) {
  Request request = exported("resnet50.onnx");
  EXPECT_EQ(resolve(request).request.batch, 1);
  request.batch = 8;
  EXPECT_THAT(error_of(request), HasSubstr("its file fixes the size of every input"));
  request.batch = 1;
  request.seq_len = 8;
  EXPECT_THAT(error_of(request), HasSubstr("leave --seq out"));
}

TEST(Resolve, SizesOfAFileAreTakenByNameOrByOptionAndAgree) {
  Request request = exported("bert.onnx");
  request.dimensions = {{"batch", 3}, {"sequence", 128}};
  EXPECT_EQ(resolve(request).request.batch, 3);
  request.batch = 8;
  EXPECT_THAT(error_of(request), HasSubstr("--batch 8 and --dim batch=3 are about one dimension"));
  request.dimensions = {{"sequence", 128}};
  request.seq_len = 64;
  EXPECT_THAT(error_of(request), HasSubstr("--seq 64 and --dim sequence=128"));
  request.dimensions = {{"sequenze", 128}};
  EXPECT_THAT(
      message_of<UserError>([&] { build_resolved_graph(resolve(request)); }),
      HasSubstr("--dim sequenze: no dimension that the file leaves open has this name; they "
                "are: batch, sequence"));
}

TEST(Resolve, UnknownNamesNameTheNearest) {
  Request request = bert();
  request.system = "inf2.xlrge";
  EXPECT_THAT(error_of(request), HasSubstr("nearest is 'inf2.xlarge'"));
  request = bert();
  request.workload = "bert-large-uncase";
  EXPECT_THAT(error_of(request), HasSubstr("nearest is 'bert-large-uncased'"));
  request = bert();
  request.dtype = "bf16-matmull";
  EXPECT_THAT(error_of(request), HasSubstr("nearest is 'bf16-matmul'"));
}

TEST(Resolve, GraphHasTheSizesAndTypesOfTheRequest) {
  const Graph graph = build_resolved_graph(resolve(bert()));
  const Tensor& input = graph.tensor(0);
  EXPECT_EQ(input.shape, (Shape{8, 128}));
}

TEST(MakeRecord, AppliesServingCostAndInterval) {
  Request request = bert();
  request.in_flight = 4;
  Metrics metrics;
  metrics.call = Seconds(10e-3);
  metrics.device = Seconds(10e-3);
  metrics.bottleneck = "tensor";
  const RunRecord record = record_of(request, metrics);
  EXPECT_NEAR(record.summary.latency_s, 20e-3, 1e-12);
  EXPECT_NEAR(record.summary.throughput, 2 * 8 / 10e-3, 1e-9);
  EXPECT_NEAR(*record.summary.cost_usd_per_million, 0.76 / 3600 / 1600 * 1e6, 1e-9);
  const Interval& interval = record.summary.interval80.at("latency_s");
  EXPECT_LT(interval.low, record.summary.latency_s);
  EXPECT_GT(interval.high, record.summary.latency_s);
  EXPECT_EQ(record.context.workload, "bert-large-uncased");
}

TEST(MakeRecord, CostsAreThoseOfEveryPurchaseOption) {
  const Request request = bert();
  const ResolvedRequest resolved = resolve(request);
  Metrics metrics;
  metrics.call = Seconds(10e-3);
  metrics.device = Seconds(10e-3);
  const RunSummary summary = record_of(request, metrics).summary;
  const Prices& prices = resolved.system.spec.price_usd_per_hour;
  ASSERT_EQ(prices.size(), 3U);
  for (const auto& [option, usd] : prices) {
    EXPECT_NEAR(summary.costs_usd_per_million.at(option), usd / 3600 / 1600 * 1e6, 1e-9) << option;
  }
  EXPECT_EQ(summary.cost_usd_per_million, summary.costs_usd_per_million.at("on_demand"));
}

TEST(MakeRecord, GenerationCountsTokensAndKeepsEveryCompiledLength) {
  Request request = bert();
  request.workload = "gpt2";
  request.batch = 2;
  request.dp = 1;
  request.input_len = 100;
  request.output_len = 50;
  Metrics metrics;
  metrics.call = Seconds(2);
  metrics.device = Seconds(2);
  metrics.memory = {Bytes(8), Bytes(4), Bytes(2), Bytes(1), Bytes(16), Bytes(0)};
  GenerationMetrics generation;
  generation.ttft = Seconds(0.5);
  generation.tpot = Seconds(0.03);
  generation.total = Seconds(2);
  generation.steps = {{128, 49, Seconds(0.03)}};
  metrics.generation = generation;
  const RunRecord record = record_of(request, metrics);
  EXPECT_NEAR(record.summary.throughput, 2 * 50 / 2.0, 1e-12);
  EXPECT_EQ(record.summary.throughput_unit, "tokens/s");
  EXPECT_EQ(record.summary.memory_used_bytes, 31);
  EXPECT_EQ(record.summary.memory->kv_cache_bytes, 4);
  ASSERT_EQ(record.generation.size(), 1U);
  EXPECT_EQ(record.generation[0].tokens, 49);
  for (const char* field : {"ttft_s", "tpot_s", "latency_s", "throughput"}) {
    const Interval& interval = record.summary.interval80.at(field);
    EXPECT_LT(interval.low, interval.high) << field;
  }
}

TEST(MakeRecord, ARequestWithoutAPredictionKeepsItsNames) {
  Request request = bert();
  request.tp = 8;
  const RunRecord record = unpredicted(request, "inf2.xlarge");
  EXPECT_EQ(record.context.system, "inf2.xlarge");
  EXPECT_EQ(record.context.workload, "bert-large-uncased");
  EXPECT_EQ(record.context.scenario.tp, 8);
  EXPECT_EQ(record.context.scenario.dp, 0);
}

TEST(Intervals, FittedFactorsHaveANarrowOneAndFactsAloneTheDefault) {
  Metrics metrics;
  metrics.call = Seconds(10e-3);
  metrics.device = Seconds(10e-3);
  metrics.bottleneck = "tensor";
  Request request = bert();
  const Interval fitted = record_of(request, metrics).summary.interval80.at("call_s");
  request.factors = "none";
  const RunRecord facts = record_of(request, metrics);
  EXPECT_LT(facts.summary.interval80.at("call_s").low, fitted.low);
  EXPECT_GT(facts.summary.interval80.at("call_s").high, fitted.high);
  EXPECT_THAT(facts.context.notes,
              testing::Contains(
                  HasSubstr("encoder networks with matmuls in bf16 on published facts alone")));
}

TEST(IntervalTable, DecodersWithExpertsCountByThemselves) {
  ModelConfig model;
  model.family = Family::kDecoder;
  EXPECT_EQ(interval_family(model), "decoder");
  model.experts = 8;
  EXPECT_EQ(interval_family(model), "decoder with experts");
  EXPECT_FALSE(
      default_intervals().choose("inferentia2", interval_family(model), "bf16").note.empty());
}

// Images are patches, of 16 pixels a side where a network has none, and stages have blocks.
TEST(Intervals, ImagesOfOtherSizesAndDeeperNetworksAreFarther) {
  Request request;
  request.batch = 2;
  request.tp = 1;
  ModelConfig model;
  model.family = Family::kVision;
  model.layers = 1;
  model.vision.image_size = 224;
  model.vision.depths = {3, 4, 6, 3};
  EXPECT_EQ(interval_place(request, model, IntervalQuantity::kCall), (Place{2 * 196, 16, 1}));
  request.image_size = 448;
  EXPECT_EQ(interval_place(request, model, IntervalQuantity::kCall), (Place{2 * 784, 16, 1}));
  request.image_width = 224;
  EXPECT_EQ(interval_place(request, model, IntervalQuantity::kCall), (Place{2 * 392, 16, 1}));
  model.vision.patch = 32;
  model.vision.depths.clear();
  model.layers = 12;
  EXPECT_EQ(interval_place(request, model, IntervalQuantity::kCall), (Place{2 * 98, 12, 1}));
  request.image_size = 8;  // less than a patch
  request.image_width = 0;
  EXPECT_EQ(interval_place(request, model, IntervalQuantity::kCall), (Place{2, 12, 1}));
}

TEST(IntervalTable, NetworksOfImagesCountByWhatMostOfThemIs) {
  ModelConfig model;
  model.family = Family::kVision;
  EXPECT_EQ(interval_family(model), "vision transformer");
  model.vision.depths = {2, 2};
  EXPECT_EQ(interval_family(model), "convolutional network");
  model.vision.window = 7;  // Swin
  EXPECT_EQ(interval_family(model), "vision transformer");
  model.diffusion.in_channels = 4;
  EXPECT_EQ(interval_family(model), "image generator");
}

TEST(Intervals, PrefillAndDecodeStepHaveTheirOwn) {
  const IntervalTable table = IntervalTable::parse(
      "default: {low: 0.5, high: 2, why: wide}\n"
      "intervals:\n"
      "  - {device: d, family: decoder, matmul: bf16, low: 0.9, high: 1.1, why: w}\n"
      "  - {device: d, family: decoder, matmul: bf16, quantity: tpot, low: 0.8, high: 1.2, why: "
      "w}\n",
      "i.yaml");
  EXPECT_EQ(table.choose("d", "decoder", "bf16").ratio.low, 0.9);
  EXPECT_EQ(table.choose("d", "decoder", "bf16", IntervalQuantity::kTpot).ratio.low, 0.8);
  EXPECT_THAT(
      table.choose("d", "decoder", "bf16", IntervalQuantity::kTtft).note,
      HasSubstr("no measured interval for the ttft of decoder networks with matmuls in bf16 on d"));
}

TEST(Intervals, TheMatchingEntryElseTheDefaultWhichIsSaid) {
  const IntervalTable table = IntervalTable::parse(
      "default: {low: 0.5, high: 2, why: wide}\n"
      "intervals:\n"
      "  - {device: inferentia2, family: encoder, matmul: bf16, low: 0.9, high: 1.1, why: "
      "measured}\n",
      "i.yaml");
  EXPECT_EQ(table.choose("inferentia2", "encoder", "bf16").ratio.low, 0.9);
  EXPECT_EQ(table.choose("inferentia2", "encoder", "bf16").note, "");
  const IntervalChoice fallback = table.choose("trainium1", "encoder", "bf16");
  EXPECT_EQ(fallback.ratio.high, 2);
  EXPECT_THAT(
      fallback.note,
      HasSubstr("no measured interval for encoder networks with matmuls in bf16 on trainium1"));
  EXPECT_EQ(table.choose("inferentia2", "encoder", "fp32").ratio.high, 2);
}

TEST(Intervals, OlderReleasesOfTheCompilerAreWider) {
  const IntervalTable table = IntervalTable::parse(
      "default: {low: 0.5, high: 2, why: wide}\n"
      "intervals:\n"
      "  - {device: d, family: encoder, matmul: bf16, low: 0.9, high: 1.1, per_release: 0.5, "
      "newest: "
      "\"2.20\", why: w}\n",
      "i.yaml");
  const auto high = [&](const std::string& sdk) {
    return table.choose("d", "encoder", "bf16", IntervalQuantity::kCall, {}, sdk).ratio.high;
  };
  EXPECT_DOUBLE_EQ(high(""), 1.1);
  EXPECT_DOUBLE_EQ(high("2.25"), 1.1);
  EXPECT_DOUBLE_EQ(high("2.19.1"), std::pow(1.1, 1.5));
  EXPECT_DOUBLE_EQ(high("2.18"), std::pow(1.1, 2.25));
  const auto parse_newest = [] {
    IntervalTable::parse(
        "default: {low: 0.5, high: 2, why: wide}\n"
        "intervals:\n"
        "  - {device: d, family: f, matmul: m, low: 0.9, high: 1.1, per_release: 0, newest: new, "
        "why: w}\n",
        "i.yaml");
  };
  EXPECT_THAT(message_of<UserError>(parse_newest), HasSubstr("i.yaml:3: newest: 'new' is no SDK"));
}

TEST(Intervals, BadFilesSayWhere) {
  const auto error = [](const std::string& text) {
    return message_of<UserError>([&] { IntervalTable::parse(text, "i.yaml"); });
  };
  EXPECT_THAT(error("default: {low: 1.2, high: 2, why: x}\n"),
              HasSubstr("i.yaml:1: low: '1.2' is outside"));
  EXPECT_THAT(error("default: {low: 0.5, high: 0.9, why: x}\n"),
              HasSubstr("high: '0.9' is outside"));
  EXPECT_THAT(error("default: {low: 0.5, high: 2}\n"), HasSubstr("why"));
  EXPECT_THAT(
      error("default: {low: 0.5, high: 2, why: x}\nintervals:\n"
            "  - {device: d, family: f, matmul: bf16, quantity: p99, low: 0.5, high: 2, why: x}\n"),
      HasSubstr("i.yaml:3: quantity: 'p99' has to be call, ttft or tpot"));
  EXPECT_THAT(error("defaults: {}\n"), HasSubstr("defaults"));
}

}  // namespace
}  // namespace foretell
