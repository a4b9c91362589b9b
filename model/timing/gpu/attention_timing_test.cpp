#include "model/timing/gpu/attention_timing.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using namespace literals;

const GpuDeviceSpec& h100() {
  static const GpuDeviceSpec kDevice = GpuCatalog().load("h100-sxm").spec.device;
  return kDevice;
}

AttentionFactors plain_factors() {
  AttentionFactors factors;
  factors.launch = Seconds(5e-6);
  factors.dram_efficiency = 0.9;
  factors.stages_ahead = kAllAhead;
  factors.l2_share = 0.6;
  factors.l2_feed = BytesPerCycle(40);
  factors.prologue = Cycles(1000);
  factors.sm_feed = BytesPerCycle(40);
  factors.mma_efficiency = 0.8;
  factors.score = Cycles(2);
  factors.step = Cycles(300);
  factors.split = Cycles(2000);
  return factors;
}

AttentionShape prompt(std::int64_t batch, std::int64_t tokens) {
  AttentionShape shape;
  shape.batch = batch;
  shape.queries = shape.keys = tokens;
  shape.heads = 32;
  shape.key_heads = 8;
  return shape;
}

AttentionShape token(std::int64_t batch, std::int64_t keys) {
  AttentionShape shape = prompt(batch, 1);
  shape.phase = AttentionPhase::kGeneration;
  shape.keys = keys;
  return shape;
}

GridSequence program(const std::string& kernels, const AttentionFactors& factors,
                     const AttentionShape& shape, const AttentionType& type = {}) {
  return attention_program(h100(), attention_library("hopper", kernels), type, factors, shape);
}

double us(const std::string& kernels, const AttentionFactors& factors, const AttentionShape& shape,
          const AttentionType& type = {}) {
  return program_time(program(kernels, factors, shape, type), h100()).value() * 1e6;
}

std::int64_t thread_blocks(const Grid& kernel) {
  std::int64_t count = 0;
  for (const CtaRun& run : kernel.ctas) count += run.count;
  return count;
}

class Attention : public ::testing::TestWithParam<const char*> {};

TEST_P(Attention, MoreTokensOrSequencesNeverTakeLess) {
  const AttentionFactors factors = plain_factors();
  double before = 0;
  for (std::int64_t tokens = 1; tokens <= 16384; tokens += 1 + tokens / 3) {
    const double now = us(GetParam(), factors, prompt(2, tokens));
    EXPECT_GE(now, before * (1 - 1e-9)) << tokens;
    before = now;
  }
  before = 0;
  for (std::int64_t batch = 1; batch <= 512; batch += 1 + batch / 5) {
    const double now = us(GetParam(), factors, prompt(batch, 300));
    EXPECT_GE(now, before * (1 - 1e-9)) << batch;
    before = now;
  }
  before = 0;
  for (std::int64_t keys = 128; keys <= 65536; keys *= 2) {
    const double now = us(GetParam(), factors, token(256, keys));
    EXPECT_GE(now, before) << keys;
    before = now;
  }
}

TEST_P(Attention, AWindowWithoutACostOfItsEdgeIsNeverSlower) {
  const AttentionFactors factors = plain_factors();
  for (const std::int64_t tokens : {100, 500, 4000, 16000}) {
    for (const std::int64_t window : {128, 1024, 8192}) {
      AttentionShape full = prompt(2, tokens);
      AttentionShape cut = full;
      cut.window = window;
      EXPECT_LE(us(GetParam(), factors, cut), us(GetParam(), factors, full) * (1 + 1e-9))
          << tokens << ' ' << window;
    }
  }
}

TEST_P(Attention, WideDataAndAnEncoderTakeLonger) {
  AttentionFactors factors = plain_factors();
  AttentionShape encoder = prompt(4, 4096);
  encoder.phase = AttentionPhase::kEncoder;
  EXPECT_GT(us(GetParam(), factors, encoder), us(GetParam(), factors, prompt(4, 4096)));
  const AttentionType fp8_cache{"bf16", 2, 1};
  EXPECT_LT(us(GetParam(), factors, token(512, 8192), fp8_cache),
            0.7 * us(GetParam(), factors, token(512, 8192)));
}

INSTANTIATE_TEST_SUITE_P(Kernels, Attention,
                         ::testing::Values("trtllm", "vllm", "sglang", "vllm-triton-wide",
                                           "trtllm-one-head", "sglang-triton"));

// Equal thread blocks: the schedule is whole waves, in closed form.
TEST(AttentionTiming, UniformTilesAreWavesTimesABlock) {
  AttentionFactors factors = plain_factors();
  AttentionShape encoder = prompt(16, 1280);
  encoder.phase = AttentionPhase::kEncoder;
  const GridSequence made = program("trtllm", factors, encoder);
  ASSERT_EQ(made.kernels.size(), 1U);
  const Grid& kernel = made.kernels[0];
  ASSERT_EQ(kernel.ctas.size(), 1U);
  EXPECT_EQ(kernel.ctas[0].count, 16 * 32 * 10);
  const double clock = h100().clock.boost.value();
  const double rate = 0.8 * 989.4e12 / h100().sms;
  const double block = 1000 / clock +
                       20 * (4.0 * 128 * 64 * 128 / rate + 128.0 * 64 / 64 * 2 / clock) +
                       ((128 + 128) * 2 + 128 * 2) * 128 / (40 * clock);
  EXPECT_NEAR(kernel.ctas[0].duration.value(), block, 1e-12);
  const double waves = std::ceil(16 * 32 * 10 / static_cast<double>(h100().sms));
  EXPECT_NEAR(program_time(made, h100()).value(), 5e-6 + waves * block, 1e-9);
}

TEST(AttentionTiming, CausalTilesWalkWhatTheMaskLeaves) {
  const GridSequence made = program("trtllm", plain_factors(), prompt(1, 512));
  const Grid& kernel = made.kernels.back();
  ASSERT_EQ(kernel.ctas.size(), 4U);  // blocks of 128 queries, one run each
  const double step = (kernel.ctas[1].duration - kernel.ctas[0].duration).value() / 2;
  EXPECT_NEAR((kernel.ctas[3].duration - kernel.ctas[0].duration).value(), 6 * step, 1e-12);
  EXPECT_EQ(kernel.ctas[0].count, 32);
}

TEST(AttentionTiming, OneTokenIsMaskedWhereTheLibraryMasksIt) {
  AttentionFactors factors = plain_factors();
  const auto added = [&](const char* kernels) {
    factors.masked_score = Cycles(0);
    const double without = us(kernels, factors, prompt(64, 1));
    factors.masked_score = Cycles(10);
    return us(kernels, factors, prompt(64, 1)) - without;
  };
  EXPECT_GT(added("trtllm"), 1);
  EXPECT_EQ(added("vllm"), 0);
}

TEST(AttentionTiming, LongKernelsLoseClocksUnderThePowerLimitUntilItSettles) {
  AttentionFactors factors = plain_factors();
  const double settled = 1e6 * factors.common.power_drop_until.value();
  const auto time = [&](int batch, int length) {
    return us("trtllm", factors, prompt(batch, length));
  };
  const double small = time(1, 1024);
  const double large = time(2, 16384);
  const double longest = time(32, 32768);
  ASSERT_LT(small, 500);
  ASSERT_GT(large, 1000);
  ASSERT_LT(large, settled);
  ASSERT_GT(longest, 2 * settled);
  factors.power_drop = 0.1;
  EXPECT_EQ(time(1, 1024), small);
  EXPECT_NEAR(time(2, 16384), large * (1 + 0.1 * std::log10(large / 500)), large * 1e-9);
  EXPECT_NEAR(time(32, 32768), longest * (1 + 0.1 * std::log10(settled / 500)), longest * 1e-9);
}

TEST(AttentionTiming, EncodersHideTheShorterOfProductsAndSoftmax) {
  AttentionShape shape = prompt(8, 4096);
  shape.head_dim = 64;
  AttentionFactors factors = plain_factors();
  AttentionLibrary library = attention_library("hopper", "vllm");
  ASSERT_TRUE(library.encoder_overlaps);
  const auto time = [&](AttentionPhase phase, double score) {
    shape.phase = phase;
    factors.score = Cycles(score);
    return program_time(attention_program(h100(), library, {}, factors, shape), h100());
  };
  EXPECT_EQ(time(AttentionPhase::kEncoder, 1) / time(AttentionPhase::kEncoder, 2), 1);
  EXPECT_GT(time(AttentionPhase::kEncoder, 20) / time(AttentionPhase::kEncoder, 10), 1.9);
  EXPECT_GT(time(AttentionPhase::kContext, 2) / time(AttentionPhase::kContext, 1), 1.05);
  library.encoder_overlaps = false;
  EXPECT_GT(time(AttentionPhase::kEncoder, 2) / time(AttentionPhase::kEncoder, 1), 1.05);
}

TEST(AttentionTiming, TheOrderOfTilesDecidesTheTail) {
  AttentionShape shape = prompt(1, 4096);
  shape.heads = shape.key_heads = 8;
  const AttentionFactors factors = plain_factors();
  AttentionLibrary library = attention_library("hopper", "trtllm");
  const auto time = [&] {
    return program_time(attention_program(h100(), library, {}, factors, shape), h100());
  };
  const Seconds ascending = time();
  library.longest_first = true;
  EXPECT_LT(time() / ascending, 0.8);
}

TEST(AttentionTiming, PackedQueriesFillATile) {
  AttentionShape shape = prompt(1, 32);
  const AttentionFactors factors = plain_factors();
  EXPECT_EQ(thread_blocks(program("trtllm", factors, shape).kernels.back()), 32);
  EXPECT_EQ(thread_blocks(program("sglang", factors, shape).kernels.back()), 8);
}

TEST(AttentionTiming, LibrariesSplitLongSequencesByTheirRules) {
  const AttentionFactors factors = plain_factors();
  const auto blocks = [&](const char* kernels, const AttentionShape& shape) {
    return thread_blocks(program(kernels, factors, shape).kernels.back());
  };
  EXPECT_EQ(blocks("trtllm", token(1, 512)), 8 * 4);
  EXPECT_EQ(blocks("trtllm", token(1, 8192)), 8 * 23);     // sqrt(8 x 64) parts
  EXPECT_EQ(blocks("trtllm", token(256, 8192)), 256 * 8);  // 8 waves are full without
  EXPECT_EQ(blocks("vllm", token(1, 512)), 8);             // four blocks of keys: none
  EXPECT_EQ(blocks("vllm", token(1, 8192)), 8 * 13);       // 5 of 64 blocks of keys each
  EXPECT_EQ(blocks("vllm", token(16, 8192)), 16 * 8);      // the chip is nearly full
}

TEST(AttentionTiming, HeadsAndWindowsChooseTheKernels) {
  const AttentionType bf16;
  const AttentionType fp8_cache{"bf16", 2, 1};
  AttentionShape shape = token(1, 128);
  EXPECT_EQ(attention_kernels("hopper", "trtllm", bf16, shape), "trtllm");
  EXPECT_EQ(attention_kernels("hopper", "trtllm", fp8_cache, shape), "trtllm-fp8");
  shape.key_heads = 32;
  EXPECT_EQ(attention_kernels("hopper", "trtllm", bf16, shape), "trtllm-one-head");
  shape.head_dim = 512;
  EXPECT_EQ(attention_kernels("hopper", "vllm", bf16, shape), "vllm-triton-wide");
  shape.head_dim = 256;
  shape.window = 1024;
  EXPECT_EQ(attention_kernels("hopper", "sglang", bf16, shape), "sglang-triton");
}

TEST(AttentionTiming, ATypeThatTheChipLacksIsRefused) {
  const GpuDeviceSpec a100 = GpuCatalog().load("a100-sxm").spec.device;
  EXPECT_THROW(attention_program(a100, attention_library("ampere", "trtllm"), {"fp8", 1, 1},
                                 plain_factors(), prompt(1, 128)),
               UserError);
}

GpuDeviceSpec with_limits(const std::vector<std::string>& set) {
  return GpuCatalog().load("h100-sxm", set).spec.device;
}

double us_on(const GpuDeviceSpec& device, const std::string& kernels, const AttentionShape& shape) {
  const GridSequence program =
      attention_program(device, attention_library("hopper", kernels), {}, plain_factors(), shape);
  return program_time(program, device).value() * 1e6;
}

// The matrix pipe takes sixteen elements of a head at a time.
TEST(AttentionTiming, HeadsAreFilledUpForTheMatrixPipe) {
  const GpuDeviceSpec h100 = with_limits({});
  const auto us_of_width = [&](std::int64_t width) {
    AttentionShape shape = prompt(4, 4096);
    shape.head_dim = width;
    return us_on(h100, "trtllm", shape);
  };
  EXPECT_NEAR(us_of_width(72), us_of_width(80), 0.02 * us_of_width(80));
  EXPECT_LT(us_of_width(64), 0.9 * us_of_width(72));
}

TEST(AttentionTiming, LessRoomHalvesTheTile) {
  const auto blocks_with = [](const std::string& room) {
    const GpuDeviceSpec tight = with_limits({"device.sm.shared_memory_per_cta=" + room});
    return thread_blocks(attention_program(tight, attention_library("hopper", "trtllm"), {},
                                           plain_factors(), prompt(4, 4096))
                             .kernels.back());
  };
  const std::int64_t tiles = 4 * 32 * 4096 / 128;
  EXPECT_EQ(blocks_with("227KiB"), tiles);
  EXPECT_EQ(blocks_with("48KiB"), tiles);  // 128 queries and 64 keys of 256 bytes
  EXPECT_EQ(blocks_with("47KiB"), 2 * tiles);
  EXPECT_EQ(blocks_with("24KiB"), 4 * tiles);
  const double whole = us("trtllm", plain_factors(), prompt(4, 4096));
  EXPECT_GT(
      us_on(with_limits({"device.sm.shared_memory_per_cta=32KiB"}), "trtllm", prompt(4, 4096)),
      whole);
}

TEST(AttentionTiming, AKernelThatFitsNoSmNamesTheLimitAndWhatWorks) {
  const auto refusal = [](const std::string& set, const AttentionShape& shape) -> std::string {
    try {
      us_on(with_limits({set}), "trtllm", shape);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string small = "device.sm.shared_memory_per_cta=1KiB";
  EXPECT_THAT(refusal(small, prompt(1, 4096)),
              ::testing::HasSubstr("--set device.sm.shared_memory_per_cta=8KiB"));
  EXPECT_THAT(refusal(small, token(1, 4096)), ::testing::HasSubstr("heads of 128"));
  EXPECT_EQ(refusal("device.sm.shared_memory_per_cta=8KiB", prompt(1, 4096)), "accepted");
  EXPECT_EQ(refusal("device.sm.shared_memory_per_cta=8KiB", token(1, 4096)), "accepted");
  EXPECT_THAT(refusal("device.sm.registers=1024", token(1, 4096)),
              ::testing::HasSubstr("device.sm.registers="));
}

// FlashAttention-2's kernel for tokens multiplies 64 rows, and a matrix pipe half as fast takes
// longer for them.
TEST(AttentionTiming, AStepOfTokensMultipliesRowsThatNothingAsksFor) {
  const GpuDeviceSpec a100 = GpuCatalog().load("a100-sxm").spec.device;
  AttentionLibrary library = attention_library("ampere", "vllm");
  EXPECT_EQ(library.step_rows, 64);
  EXPECT_EQ(attention_library("hopper", "vllm").step_rows, 0);
  AttentionShape shape = token(8, 4096);
  const auto time = [&](const GpuDeviceSpec& on) {
    return program_time(attention_program(on, library, {}, plain_factors(), shape), on);
  };
  const Seconds before = time(a100);
  GpuDeviceSpec slow = a100;
  slow.matrix_rate.at("bf16") /= 2;
  EXPECT_GT(time(slow), before);
  library.step_rows = 0;
  EXPECT_LT(time(a100), before);
  EXPECT_EQ(time(slow), time(a100));
}

// What was measured ran, so tiles keep the size that the factors were fitted with.
TEST(AttentionTiming, TheTilesOfTheLibrariesFitTheChipsThatWereMeasured) {
  for (const char* id : {"a100-sxm", "h100-sxm", "h200-sxm", "b200-sxm"}) {
    const GpuDeviceSpec device = GpuCatalog().load(id).spec.device;
    GpuDeviceSpec roomy = device;
    roomy.sm.shared_memory_per_cta = roomy.sm.shared_memory = Bytes(1e9);
    roomy.sm.registers = 1 << 24;
    const std::int64_t widest = device.architecture == "ampere" ? 256 : 512;
    for (const char* kernels :
         {"trtllm", "trtllm-fp8", "trtllm-one-head", "vllm", "sglang-wide", "sglang-triton-wide"}) {
      const AttentionLibrary library = attention_library(device.architecture, kernels);
      for (std::int64_t width = 64; width <= widest; width *= 2) {
        for (AttentionShape shape : {prompt(2, 2000), token(64, 2000)}) {
          shape.head_dim = width;
          const auto time = [&](const GpuDeviceSpec& on) {
            return program_time(attention_program(on, library, {}, plain_factors(), shape), on);
          };
          EXPECT_EQ(time(device), time(roomy)) << id << ' ' << kernels << ' ' << width;
        }
      }
    }
  }
}

// Products alone, in steady state: as long as the share that mma.sync reaches says, and as long for
// every width up to the one that the kernel is compiled for.
TEST(Attention, ProductsFromRegistersTakeTheirShareOfTheRate) {
  AttentionFactors factors;
  factors.dram_efficiency = 1;
  factors.stages_ahead = kAllAhead;
  factors.l2_share = 1;
  factors.l2_feed = factors.sm_feed = BytesPerCycle(1e6);
  factors.mma_efficiency = 1;
  AttentionShape shape = prompt(1, 4096);
  shape.phase = AttentionPhase::kEncoder;
  const auto time = [&](bool from_registers, std::int64_t width) {
    AttentionLibrary library = attention_library("hopper", "trtllm");
    library.register_products = from_registers;
    shape.head_dim = width;
    return program_time(attention_program(h100(), library, {}, factors, shape), h100()).value();
  };
  EXPECT_NEAR(time(false, 128) / time(true, 128), 0.63, 1e-3);
  EXPECT_NEAR(time(false, 72), time(false, 128), 1e-3 * time(false, 128));
  EXPECT_NEAR(time(false, 64), 0.5 * time(false, 128), 1e-3 * time(false, 128));
}

}  // namespace
}  // namespace foretell
