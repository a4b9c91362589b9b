// What a user can get wrong about networks on GPUs: every message says what to type instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/app/request/prediction.hpp"
#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Request request_on(const std::string& system, const std::string& dtype) {
  Request request;
  request.system = system;
  request.workload = "bert-base-uncased";
  request.dtype = dtype;
  return request;
}

std::string message(const Request& request) {
  return message_of<UserError>([&] { predict(request); });
}

TEST(GpuBadInput, ATypeThatTheChipLacksNamesTheNearestThatWorks) {
  EXPECT_THAT(message(request_on("t4", "bf16")),
              AllOf(HasSubstr("NVIDIA T4"), HasSubstr("bf16"), HasSubstr("'fp16'")));
  EXPECT_THAT(message(request_on("a100-sxm", "fp8")),
              AllOf(HasSubstr("A100"), HasSubstr("fp8"), HasSubstr("'int8'")));
  EXPECT_THAT(message(request_on("v100-sxm-16gb", "tf32")), HasSubstr("'fp32'"));
  EXPECT_THAT(message(request_on("v100-sxm-16gb", "bf16-matmul")), HasSubstr("'fp16'"));
}

TEST(GpuBadInput, WhatIsNamedAsNearestWorks) {
  EXPECT_GT(predict(request_on("t4", "fp16")).summary.call_s, 0);
  EXPECT_GT(predict(request_on("t4", "int8-weights")).summary.call_s, 0);
  EXPECT_GT(predict(request_on("a100-sxm", "int8")).summary.call_s, 0);
  EXPECT_GT(predict(request_on("v100-sxm-16gb", "fp32")).summary.call_s, 0);
}

TEST(GpuBadInput, AKernelThatFitsNoSmNamesTheLimitAndWhatWorks) {
  Request request = request_on("h100-sxm", "bf16");
  request.set = {"device.sm.shared_memory_per_cta=1KiB"};
  EXPECT_THAT(message(request), AllOf(HasSubstr("16x64"), HasSubstr("shared memory"),
                                      HasSubstr("device.sm.shared_memory_per_cta=20KiB")));
  request.set = {"device.sm.registers=2048"};
  EXPECT_THAT(message(request), HasSubstr("--set device.sm.registers=6144"));
  request.set = {"device.sm.shared_memory_per_cta=64KiB", "device.sm.registers=49152"};
  EXPECT_GT(predict(request).summary.call_s, 0);
}

TEST(GpuBadInput, WithoutATypeAChipWithoutBf16TakesFp16AndSaysSo) {
  const RunRecord record = predict(request_on("t4", ""));
  EXPECT_EQ(record.context.dtype, "fp16");
  EXPECT_THAT(record.context.notes, testing::Contains(HasSubstr("data type not stated: fp16")));
}

// Splits that the groups of experts do not divide are not proposed, and are no error of their own.
TEST(GpuBadInput, AModelOfExpertsThatDoesNotFitSaysWhichSplitsHoldIt) {
  Request request = request_on("h100-sxm-x32", "fp8");
  request.workload = "DeepSeek-R1";
  request.seq_len = 0;
  request.input_len = 1024;
  request.output_len = 128;
  request.batch = 64;
  request.tp = request.ep = 8;
  EXPECT_THAT(message(request), HasSubstr("--tp 16 or 32 holds it here"));
}

TEST(GpuBadInput, AModelThatDoesNotFitSaysTheSmallestSystemThatHoldsIt) {
  Request request = request_on("h100-sxm", "bf16");
  request.workload = "llama-3-70b";
  request.input_len = 1024;
  request.output_len = 128;
  EXPECT_THAT(message(request), AllOf(HasSubstr("weights 13"), HasSubstr("more than its 79.6 GiB"),
                                      HasSubstr("--on h200-sxm")));
  request.system = "h200-sxm";
  EXPECT_GT(predict(request).summary.call_s, 0);
  request.batch = 100'000;
  EXPECT_THAT(message(request), HasSubstr("lower --batch"));
}

TEST(GpuBadInput, MoreGpusThanTheSystemHas) {
  Request request = request_on("h100-sxm", "bf16");
  request.workload = "llama-3-8b";
  request.input_len = 128;
  request.output_len = 16;
  request.tp = 2;
  EXPECT_THAT(message(request), AllOf(HasSubstr("2 GPUs"), HasSubstr("h100-sxm has 1")));
  request.tp = 0;
  request.cores = 4;
  EXPECT_THAT(message(request), HasSubstr("has 1 GPUs, not 4"));
  request.system = "h100-sxm-x8";
  request.cores = 0;
  request.tp = 4;
  request.cp = 3;
  EXPECT_THAT(message(request), HasSubstr("needs 12 GPUs, but h100-sxm-x8 has 8; lower --dp or "
                                          "--tp or --cp, or name"));
}

TEST(GpuBadInput, HeadsAreSharedEvenly) {
  Request request = request_on("h200-sxm-x8", "bf16");
  request.workload = "llama-3-8b";
  request.input_len = 128;
  request.output_len = 2;
  request.dp = 1;
  request.tp = 3;
  EXPECT_THAT(message(request), AllOf(HasSubstr("3 GPUs cannot share its 32 attention heads and 8"),
                                      HasSubstr("--tp can be 1, 2, 4, 8")));
  request.workload = "Qwen2.5-7B";  // 28 heads on 4 of keys: seven GPUs would need parts of one
  request.tp = 7;
  EXPECT_THAT(message(request), HasSubstr("--tp can be 1, 2, 4"));
}

TEST(GpuBadInput, Fp4NamesTheNearestTypeWhereThereIsNoPipeForIt) {
  EXPECT_THAT(message(request_on("h100-sxm", "nvfp4")), HasSubstr("no pipe for nvfp4"));
  EXPECT_THAT(message(request_on("h100-sxm", "nvfp4")), HasSubstr("'fp8'"));
  EXPECT_THAT(message(request_on("a100-sxm", "nvfp4")), HasSubstr("'int8'"));
  EXPECT_THAT(message(request_on("v100-sxm-16gb", "nvfp4")), HasSubstr("'int8'"));
  EXPECT_THAT(message(request_on("b200-sxm", "fp4")), HasSubstr("type 'nvfp4'"));
  EXPECT_THAT(message(request_on("inf2.xlarge", "nvfp4")), HasSubstr("nvfp4"));
}

TEST(GpuBadInput, StagesHaveToFitTheGpusAndTheLayers) {
  Request request = request_on("h100-sxm-x8", "bf16");
  request.workload = "llama-3-8b";
  request.input_len = 128;
  request.output_len = 16;
  request.tp = 4;
  request.pp = 4;
  EXPECT_THAT(message(request), AllOf(HasSubstr("needs 16 GPUs"), HasSubstr("--pp")));
  request.tp = 1;
  request.set = {"workload.layers=2"};
  EXPECT_THAT(message(request), HasSubstr("its 2 layers make no 4 pipeline stages"));
  request.pp = 2;
  request.trace_file = "timeline.json";
  EXPECT_THAT(message(request), HasSubstr("--trace"));
}

TEST(GpuBadInput, OptionsOfOtherMachinesAreRefused) {
  Request request = request_on("h100-sxm", "bf16");
  request.sdk = "2.21.0";
  EXPECT_THAT(message(request),
              AllOf(HasSubstr("--sdk is the SDK of NeuronCores"), HasSubstr("--library-release")));
  request = request_on("inf2.xlarge", "bf16");
  request.launch = "stream";
  EXPECT_THAT(message(request), HasSubstr("--launch"));
  request = request_on("h100-sxm", "bf16");
  request.l2 = "cold";
  EXPECT_THAT(message(request), AllOf(HasSubstr("'cold'"), HasSubstr("rotate:N")));
}

TEST(GpuBadInput, LibrariesAndReleasesThatThereAreNot) {
  Request request = request_on("h100-sxm", "bf16");
  request.library = "vlm";
  EXPECT_THAT(message(request), AllOf(HasSubstr("--library"), HasSubstr("nearest is 'vllm'")));
  request.library = "nccl";  // has kernels, but runs no networks
  EXPECT_THAT(message(request), AllOf(HasSubstr("'nccl'"), HasSubstr("sglang")));
  request.library = "";
  request.library_release = "2.21.0";
  EXPECT_THAT(message(request),
              AllOf(HasSubstr("--library-release '2.21.0'"), HasSubstr("has releases 0.5 to 1.3")));
  request.library_release = "newest";
  EXPECT_THAT(message(request), HasSubstr("leave it out for the newest"));
  request.library = "vllm";
  request.library_release = "0.10";
  EXPECT_THAT(message(request), AllOf(HasSubstr("of vLLM no difference"), HasSubstr("leave it")));
  request = request_on("inf2.xlarge", "bf16");
  request.library = "vllm";
  EXPECT_THAT(message(request), HasSubstr("--library is about GPUs"));
  request = request_on("c7i.2xlarge", "bf16");
  request.library_release = "1.0";
  EXPECT_THAT(message(request), HasSubstr("--library-release is about GPUs"));
}

TEST(GpuBadInput, FactorsThatAreNoFolderAndOverridesThatMatchNothing) {
  Request request = request_on("h100-sxm", "bf16");
  request.factors = "nowhere";
  EXPECT_THAT(message(request), AllOf(HasSubstr("'nowhere'"), HasSubstr("'none'")));
  request.factors = "";
  request.set = {"device.hbm.bandwith=1 TB/s"};
  EXPECT_THAT(message(request), HasSubstr("bandwidth"));
  request.set = {"factors.lunch=1 us"};
  EXPECT_THAT(message(request), HasSubstr("factors.launch"));
}

TEST(GpuBadInput, ASystemOfNoFamilyNamesTheNearest) {
  EXPECT_THAT(message(request_on("h100-sx", "bf16")), HasSubstr("h100-sxm"));
  EXPECT_THAT(message(request_on("inf2.xlarg", "bf16")), HasSubstr("inf2.xlarge"));
}

Request tokens_on(const std::string& workload) {
  Request request = request_on("h200-sxm-x8", "fp8");
  request.workload = workload;
  request.input_len = 1024;
  request.output_len = 16;
  return request;
}

TEST(GpuBadInput, RedundantExpertsHaveToFitTheGroups) {
  Request request = tokens_on("llama-3-8b");
  request.redundant_experts = 8;
  EXPECT_THAT(message(request), HasSubstr("has no experts; leave --redundant-experts out"));
  request.ep = 8;
  EXPECT_THAT(message(request), HasSubstr("leave --ep and --redundant-experts out"));
  request.ep = 0;
  request.workload = "Qwen3-30B-A3B";
  request.tp = 4;
  EXPECT_THAT(message(request), HasSubstr("give --ep above 1"));
  request.ep = 4;
  request.redundant_experts = 6;
  EXPECT_THAT(message(request),
              AllOf(HasSubstr("128 experts and 6 redundant ones do not divide among 4 groups"),
                    HasSubstr("can be 4 or 8")));
  request.redundant_experts = 388;
  EXPECT_THAT(message(request), HasSubstr("more than 384"));
  request.redundant_experts = 8;
  const double with = predict(request).summary.memory->weights_bytes;
  request.redundant_experts = 0;
  EXPECT_GT(with, predict(request).summary.memory->weights_bytes) << "copies take memory";
}

TEST(GpuBadInput, ContextParallelIsForPromptsOfDecoders) {
  Request request = request_on("h200-sxm-x8", "bf16");
  request.cp = 2;
  EXPECT_THAT(message(request), HasSubstr("--cp divides the prompts of decoders"));
  request = tokens_on("llama-3-8b");
  request.cp = 16;
  EXPECT_THAT(message(request), AllOf(HasSubstr("16 GPUs"), HasSubstr("h200-sxm-x8 has 8")));
  request = tokens_on("DeepSeek-R1");
  request.cp = request.attention_dp = 2;
  request.batch = 2;
  EXPECT_THAT(message(request), HasSubstr("leave one of them out"));
  request = request_on("h200-sxm-x8", "bf16");
  request.workload = "hunyuan-video";
  request.ring = 2;
  EXPECT_THAT(message(request), HasSubstr("give --cp, too"));
  request.system = "trn1.2xlarge";
  EXPECT_THAT(message(request), HasSubstr("--ring is modelled on GPUs alone"));
  request.system = "h200-sxm-x8";
  request.cp = 8;
  request.dp = 2;
  EXPECT_THAT(message(request), HasSubstr("--dp 2 and --cp 8 need 16 GPUs, but h200-sxm-x8 has 8"));
  request.dp = 0;
  request.cp = 4;
  request.workload = "stable-diffusion-xl";
  EXPECT_THAT(message(request), HasSubstr("none of its networks has tokens that --cp divides"));
  request.workload = "stable-diffusion-3.5-medium-transformer";
  request.ring = 0;
  request.phase = "train-step";
  EXPECT_THAT(message(request), HasSubstr("--cp is not modelled in training; leave it out"));
  request.phase.clear();
  request.workload = "hunyuan-video-transformer";
  request.cp = 5;
  request.ring = 1;
  EXPECT_THAT(message(request), HasSubstr("24 heads are not divided evenly"));
  request = tokens_on("llama-3-8b");
  request.system = "inf2.xlarge";
  request.cp = 2;
  request.dtype = "bf16";
  EXPECT_THAT(message(request), HasSubstr("modelled on GPUs alone"));
}

TEST(GpuBadInput, ARoutingNeedsExperts) {
  Request request = tokens_on("llama-3-8b");
  request.experts = "balanced";
  EXPECT_THAT(message(request), HasSubstr("has no experts; leave --experts out"));
  request.workload = "Qwen3-30B-A3B";
  request.experts = "power-law:x";
  EXPECT_THAT(message(request),
              AllOf(HasSubstr("'x'"), HasSubstr("write for example power-law:1.2")));
}

}  // namespace
}  // namespace foretell
