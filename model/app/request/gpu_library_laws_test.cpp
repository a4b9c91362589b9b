// What a library of kernels says of itself moves networks on GPUs as it should.
#include <gtest/gtest.h>

#include <set>

#include "hw/spec/gpu/kernel_library.hpp"
#include "model/app/request/gpu_laws_test_requests.hpp"
#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Which libraries there are, and whose kernels run by default, are data.
TEST(GpuLibraryLaws, ALibraryRunsItsOwnKernels) {
  Request request = llama_on_h100();
  request.output_len = 8;
  std::set<double> calls;
  for (const KernelLibrary& library : kernel_libraries().all()) {
    if (!library.runs_networks) continue;
    request.library = library.id;
    const RunRecord record = predict(request);
    EXPECT_EQ(record.context.scenario.library, library.id);
    calls.insert(record.summary.call_s);
  }
  EXPECT_GE(calls.size(), 3U);
  request.library = kernel_libraries().choice().networks;
  const double usual = gpu_call_of(request);
  request.library.clear();
  EXPECT_EQ(gpu_call_of(request), usual);
}

// Kernels that read the cache once per query head read it four times where four share a head of
// keys.
TEST(GpuLibraryLaws, ReleasesWithKernelsOfOneHeadAreSlowerWhereHeadsShareKeys) {
  const KernelLibrary& library = kernel_libraries().of_networks("");
  ASSERT_FALSE(library.one_head.empty());
  Request request = llama_on_h100();
  request.input_len = 8000;
  request.output_len = 8;
  request.batch = 16;
  request.library_release = library.first_release;
  const double before = *predict(request).summary.tpot_s;
  request.library_release = library.one_head_until;
  EXPECT_EQ(*predict(request).summary.tpot_s, before);  // small groups came later here
  request.library_release = library.one_head_small.until;
  const double since = *predict(request).summary.tpot_s;
  EXPECT_GT(before, since);
  request.library_release.clear();
  EXPECT_EQ(*predict(request).summary.tpot_s, since);
}

// … but for those of one architecture with few heads to a key.
TEST(GpuLibraryLaws, SmallGroupsOfOneArchitectureCameLater) {
  const KernelLibrary& library = kernel_libraries().of_networks("");
  ASSERT_GT(library.one_head_small.below, 0);
  Request request = llama_on_h100();
  request.dtype = "bf16";
  request.input_len = 8000;
  request.output_len = 8;
  request.batch = 16;
  const auto at = [&request](const char* system, const std::string& release) {
    request.system = system;
    request.library_release = release;
    return *predict(request).summary.tpot_s;
  };
  const std::string since = library.one_head_until;
  EXPECT_EQ(at("a100-sxm-x8", since), at("a100-sxm-x8", ""));
  EXPECT_GT(at("h100-sxm-x8", since), at("h100-sxm-x8", ""));
  request.workload = "Llama-3.1-70B";  // groups of 8
  request.tp = 4;
  EXPECT_EQ(at("h100-sxm-x8", since), at("h100-sxm-x8", ""));
}

// Between two releases layers that see keys in chunks have kernels of one head, but for one
// architecture; networks without such layers, and prompts, are what they were.
TEST(GpuLibraryLaws, ChunkedKeysHaveKernelsOfOneHeadBetweenTwoReleases) {
  const KernelLibrary& library = kernel_libraries().of_networks("");
  const ChunkedKeys& chunks = library.one_head_chunks;
  ASSERT_FALSE(chunks.since.empty());
  Request request = llama_on_h100();
  request.workload = "Llama-4-Scout";
  request.dtype = "fp8";
  request.tp = 4;
  request.input_len = 4000;
  request.output_len = 8;
  request.batch = 16;
  const auto at = [&request](const char* system, const std::string& release) {
    request.system = system;
    request.library_release = release;
    return predict(request).summary;
  };
  const RunSummary newest = at("h100-sxm-x8", "");
  const RunSummary between = at("h100-sxm-x8", chunks.since);
  EXPECT_GT(*between.tpot_s, *newest.tpot_s);
  EXPECT_EQ(*between.ttft_s, *newest.ttft_s);
  EXPECT_EQ(*at("h100-sxm-x8", chunks.until).tpot_s, *newest.tpot_s);
  EXPECT_EQ(*at("h100-sxm-x8", "0.20").tpot_s, *newest.tpot_s);
  EXPECT_EQ(*at("b200-sxm-x8", chunks.since).tpot_s, *at("b200-sxm-x8", "").tpot_s);
  request.workload = "Llama-3.1-70B";
  EXPECT_EQ(*at("h100-sxm-x8", chunks.since).tpot_s, *at("h100-sxm-x8", "").tpot_s);
}

// A query waits for its answer: the host's part is the same whatever the batch, and of the call
// alone.
TEST(GpuLibraryLaws, AQueryByQueryLibraryAddsItsHostToEveryForwardPass) {
  const KernelLibrary& library = kernel_libraries().of_networks("tensorrt-queries");
  ASSERT_GT(library.per_call, Seconds(0));
  Request request = bert_on_h100();
  for (const int batch : {1, 8}) {
    request.batch = batch;
    request.library.clear();
    const double kernels = gpu_call_of(request);
    request.library = "tensorrt-queries";
    EXPECT_NEAR(gpu_call_of(request), kernels + library.per_call.value(), 1e-9) << batch;
  }
  Request generation = llama_on_h100();
  const double before = *predict(generation).summary.tpot_s;
  generation.library = "tensorrt-queries";
  EXPECT_NEAR(*predict(generation).summary.tpot_s, before, 1e-9);
}

// The host of a call is as old as its board, like that of a launch.
TEST(GpuLibraryLaws, TheHostOfACallIsSlowerBesideOlderBoards) {
  const double newest = kernel_libraries().of_networks("triton-tensorrt").per_call.value();
  Request request = bert_on_h100();
  request.dtype = "fp16";
  const auto added = [&request](const char* system) {
    request.system = system;
    request.library = "tensorrt-parser";
    const double engine = gpu_call_of(request);
    request.library = "triton-tensorrt";
    return gpu_call_of(request) - engine;
  };
  EXPECT_NEAR(added("a100-sxm"), newest, 1e-9);
  const double slowness = kernel_libraries().choice().host_slowness.at("turing");
  ASSERT_GT(slowness, 1);
  EXPECT_NEAR(added("t4"), slowness * newest, 1e-9);
}

// Up to a release prompts take a time for every layer, however long they are and on however many
// GPUs; tokens do not.
TEST(GpuLibraryLaws, PromptsOfOlderReleasesTakeATimeForEveryLayer) {
  const KernelLibrary& library = kernel_libraries().of_networks("");
  ASSERT_GT(library.per_prompt_layer, Seconds(0));
  Request request = llama_on_h100();
  request.output_len = 2;
  const double layers = 32;
  for (const int input : {128, 2048}) {
    request.input_len = input;
    request.library_release = library.per_prompt_layer_until;
    const RunSummary since = predict(request).summary;
    request.library_release = "0.9";
    const RunSummary before = predict(request).summary;
    EXPECT_NEAR(*before.ttft_s - *since.ttft_s, layers * library.per_prompt_layer.value(), 1e-9);
    EXPECT_DOUBLE_EQ(*before.tpot_s, *since.tpot_s);
  }
}

Request bert_in_an_engine(const char* system, const char* dtype) {
  Request request = bert_on_h100();
  request.system = system;
  request.dtype = dtype;
  request.batch = 8;
  request.seq_len = 384;
  request.library = "tensorrt-plugins";
  return request;
}

// The plugin's one kernel is of Turing and later: on V100 scores go through memory.
TEST(GpuLibraryLaws, AnAttentionWithoutAKernelOnTheBoardIsProductsAndASoftmax) {
  const auto against_one_kernel = [](const char* system) {
    Request request = bert_in_an_engine(system, "fp16");
    const double engine = gpu_call_of(request);
    request.library = "trtllm";
    return engine / gpu_call_of(request);
  };
  EXPECT_GT(against_one_kernel("v100-sxm-16gb"), 1.05);
  EXPECT_DOUBLE_EQ(against_one_kernel("t4"), 1);
  EXPECT_DOUBLE_EQ(against_one_kernel("a100-sxm"), 1);
}

// V100 multiplies 8 bits on its vector pipe, at half the rate that its matrix pipe has for 16.
TEST(GpuLibraryLaws, AnEngineThatMayRunBothTypesTakesTheFaster) {
  const auto call = [](const char* system, const char* dtype) {
    return gpu_call_of(bert_in_an_engine(system, dtype));
  };
  EXPECT_DOUBLE_EQ(call("v100-sxm-16gb", "int8"), call("v100-sxm-16gb", "fp16"));
  EXPECT_LT(call("t4", "int8"), 0.8 * call("t4", "fp16"));
  Request request = bert_in_an_engine("v100-sxm-16gb", "int8");
  const std::string all = testing::PrintToString(predict(request).context.notes);
  EXPECT_NE(all.find("int8: products run in fp16"), std::string::npos) << all;
  request.library.clear();
  EXPECT_GT(gpu_call_of(request), 1.2 * call("v100-sxm-16gb", "fp16"));
}

// Sums over rows end passes of a compiler, so that a norm and a softmax move more bytes than those
// written by hand; the host of neither is waited for.
TEST(GpuLibraryLaws, ACompilerThatEndsAPassAtASumMovesMoreBytes) {
  Request request = bert_in_an_engine("a100-sxm", "fp16");
  request.batch = 64;
  request.library = "lightseq";
  const double by_hand = gpu_call_of(request);
  request.library = "tensorflow-xla";
  EXPECT_GT(gpu_call_of(request), 1.05 * by_hand);
}

// A loop over sequences, in every step and after the prompt.
TEST(GpuLibraryLaws, ALibraryThatChoosesTokensOneByOneTakesATimeForEachSequence) {
  const KernelLibrary& library = kernel_libraries().of_networks("megatron-lm");
  ASSERT_GT(library.per_sample, Seconds(0));
  Request request = llama_on_h100();
  request.output_len = 4;
  for (const int batch : {1, 8}) {
    request.batch = batch;
    request.library = "pytorch-1";
    const RunRecord without = predict(request);
    request.library = "megatron-lm";
    const RunRecord with = predict(request);
    EXPECT_EQ(with.context.assumed_values, without.context.assumed_values + 1);
    const RunSummary& before = without.summary;
    const RunSummary& summary = with.summary;
    const double chooses = batch * library.per_sample.value();
    EXPECT_NEAR(*summary.tpot_s - *before.tpot_s, chooses, 1e-9) << batch;
    EXPECT_NEAR(*summary.ttft_s - *before.ttft_s, chooses, 1e-9) << batch;
    EXPECT_NEAR(summary.call_s - before.call_s, 4 * chooses, 1e-9) << batch;
  }
}

// Products see the tokens that are left, attention whole sequences: half of the padding costs no
// time, the other half some.
TEST(GpuLibraryLaws, PaddingThatIsLeftOutComesBackForAttention) {
  Request request = bert_in_an_engine("a100-sxm", "fp16");
  request.library = "fastertransformer";
  request.batch = 32;
  request.seq_len = 1024;
  request.set = {"workload.context=1024"};
  const double padded = gpu_call_of(request);
  request.set.emplace_back("workload.padding=0.5");
  const double packed = gpu_call_of(request);
  request.set.pop_back();
  request.seq_len = 512;
  const double half_as_long = gpu_call_of(request);
  EXPECT_LT(packed, 0.9 * padded);
  EXPECT_GT(packed, 1.3 * half_as_long);
  request.set.emplace_back("workload.padding=0");
  EXPECT_DOUBLE_EQ(gpu_call_of(request), half_as_long);
  request.set.back() = "workload.padding=0.5";
  request.library.clear();
  request.system = "inf2.xlarge";
  EXPECT_THROW(predict(request), UserError);
}

// Weights in MXFP4 meet narrowed activations where the library narrows them and the chip has a
// pipe.
TEST(GpuLibraryLaws, NarrowedActivationsTakeTheirOwnKernels) {
  Request request = llama_on_h100();
  request.workload = "gpt-oss-20b";
  request.dtype = "";
  request.tp = 1;
  request.output_len = 2;
  const auto call = [&](const char* system, const char* library) {
    request.system = system;
    request.library = library;
    return gpu_call_of(request);
  };
  for (const char* library : {"trtllm", "sglang"})
    EXPECT_LT(call("b200-sxm", library), call("h100-sxm", library)) << library;
}

TEST(GpuLibraryLaws, TheCacheIsOfTheTypeThatTheFileStates) {
  Request request = llama_on_h100();
  request.system = "h200-sxm-x8";
  request.workload = "DeepSeek-R1-0528-NVFP4";
  request.dtype = "";
  request.tp = 8;
  request.output_len = 2;
  const auto cache = [&](const char* type) {
    request.kv_dtype = type;
    return predict(request).summary.memory->kv_cache_bytes;
  };
  EXPECT_EQ(cache(""), cache("fp8"));
  EXPECT_EQ(2 * cache(""), cache("bf16"));
}

}  // namespace
}  // namespace foretell
