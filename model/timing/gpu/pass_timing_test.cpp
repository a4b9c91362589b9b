#include "model/timing/gpu/pass_timing.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "model/base/errors.hpp"
#include "model/testing/gpu_exemplar.hpp"
#include "model/timing/gpu/attention_timing.hpp"
#include "model/timing/gpu/operator_library.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

PassFactors exemplar_factors() {
  PassFactors factors;
  factors.launch = Seconds(1e-6);
  factors.dram_efficiency = 0.8;
  factors.l2_share = 0.5;
  factors.l2_feed = BytesPerCycle(64);
  factors.block = Cycles(1000);
  factors.step = Cycles(100);
  factors.stages_ahead = kAllAhead;
  return factors;
}

Seconds time_of(const GpuDeviceSpec& gpu, const PassFactors& factors, const char* op,
                std::int64_t rows, std::int64_t columns) {
  const TableOperator& info = table_operator(op);
  GridSequence program;
  for (const PassOperand& kernel : info.kernels) {
    program.kernels.push_back(
        pass_kernel(gpu, factors, pass_shape(info, kernel, rows, columns, 4)));
  }
  return program_time(program, gpu);
}

TEST(PassTiming, ALargePassIsItsBytesThroughDram) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const double bytes = 3.0 * 4 * 8192 * 8192;  // two operands and a result
  EXPECT_NEAR(time_of(gpu, exemplar_factors(), "add", 8192, 8192).value(), 1e-6 + bytes / 0.8e12,
              0.01 * bytes / 0.8e12);
}

TEST(PassTiming, ASmallPassIsItsLaunchAndOneThreadBlock) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  EXPECT_NEAR(time_of(gpu, exemplar_factors(), "relu", 1, 1).value(), 2e-6, 1e-11);
}

TEST(PassTiming, OperandsThatFitL2AreNotReadAgainButResultsAreWritten) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const TableOperator& add = table_operator("add");
  const Grid small =
      pass_kernel(gpu, exemplar_factors(), pass_shape(add, add.kernels[0], 100, 1000, 4));
  EXPECT_EQ(small.dram_bytes, Bytes(4e5));
  const Grid large =
      pass_kernel(gpu, exemplar_factors(), pass_shape(add, add.kernels[0], 10000, 1000, 4));
  EXPECT_EQ(large.dram_bytes, Bytes(12e7));
}

TEST(PassTiming, MoreRowsOrColumnsAreNeverFaster) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  for (const char* op : {"add", "gelu", "softmax", "ln", "rms_norm", "gated_act"}) {
    for (const std::int64_t columns : {31, 128, 129, 1000, 1024, 1500, 5000}) {
      Seconds before;
      for (const std::int64_t rows : {1, 10, 100, 1000, 20000}) {
        const Seconds time = time_of(gpu, exemplar_factors(), op, rows, columns);
        EXPECT_GE(time, before) << op << ' ' << rows << 'x' << columns;
        // Beyond 1024 columns softmax is another kernel, with more threads for a row.
        const bool other_kernel =
            std::string(op) == "softmax" && columns <= 1024 && 2 * columns > 1024;
        if (!other_kernel) {
          EXPECT_GE(time_of(gpu, exemplar_factors(), op, rows, 2 * columns) * 1.0001, time)
              << op << ' ' << rows << 'x' << columns;
        }
        before = time;
      }
    }
  }
}

// A thread block of 256 threads for each row, 8 on an SM.
TEST(PassTiming, KernelsThatTakeARowPerThreadBlockCostByTheRow) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const TableOperator& info = table_operator("scale_matrix", "vllm");
  const auto time = [&](std::int64_t rows, std::int64_t columns) {
    const PassShape shape = pass_shape(info, info.kernels[0], rows, columns, 1);
    EXPECT_EQ(shape.rows_per_block, 1);
    GridSequence program;
    program.kernels.push_back(pass_kernel(gpu, exemplar_factors(), shape));
    return program_time(program, gpu).value();
  };
  const double at_a_time = gpu.sms * static_cast<double>(gpu.sm.max_threads / 256);
  const double waves = std::ceil(40000 / at_a_time);
  EXPECT_NEAR(time(40000, 32), 1e-6 + waves * 1e-6, 0.02 * waves * 1e-6);
  EXPECT_NEAR(time(40000, 64) / time(40000, 32), 1, 0.02);
}

TEST(PassTiming, RowsThatAreReadTwiceMissL2WhereThoseOfAWaveDoNotFit) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const TableOperator& info = table_operator("compute_scale", "vllm");
  EXPECT_EQ(info.less, "scale_matrix");
  const auto bytes = [&](std::int64_t columns) {
    const PassShape shape = pass_shape(info, info.kernels[0], 100000, columns, 1);
    return pass_kernel(gpu, exemplar_factors(), shape).dram_bytes.value() / (1e5 * 3) /
           static_cast<double>(columns);
  };
  EXPECT_NEAR(bytes(256), 1, 1e-9);
  EXPECT_NEAR(bytes(1 << 20), 5.0 / 3, 1e-9);
}

TEST(PassTiming, ResultsThatTheNextCallOverwritesStayInL2) {
  const GpuDeviceSpec gpu = exemplar_gpu();
  const TableOperator& info = table_operator("scale_matrix", "vllm");
  PassShape shape = pass_shape(info, info.kernels[0], 100, 1000, 1);
  EXPECT_EQ(pass_kernel(gpu, exemplar_factors(), shape).dram_bytes, Bytes(0));
  shape.overwrites = false;
  EXPECT_EQ(pass_kernel(gpu, exemplar_factors(), shape).dram_bytes, Bytes(1e5));
}

TEST(PassTiming, AFasterDramNeverHurts) {
  GpuDeviceSpec gpu = exemplar_gpu();
  const Seconds slow = time_of(gpu, exemplar_factors(), "ln", 50000, 1024);
  gpu.hbm.bandwidth = gpu.hbm.bandwidth * 2;
  const Seconds fast = time_of(gpu, exemplar_factors(), "ln", 50000, 1024);
  EXPECT_LT(fast, slow);
  EXPECT_GE(fast, slow * 0.5);
}

TEST(HostFactors, TheSlowerOfHostAndGpuCounts) {
  HostFactors host;
  host.call = 2;
  host.before = 0.25;
  const Seconds floor(10e-6);
  EXPECT_EQ(with_host(host, floor, Seconds(1e-6)), Seconds(20e-6));
  EXPECT_EQ(with_host(host, floor, Seconds(100e-6)), Seconds(105e-6));
  EXPECT_EQ(with_host({}, floor, Seconds(1e-6)), Seconds(1e-6));
}

TEST(OperatorLibrary, AnUnknownOperatorNamesTheNearest) {
  try {
    table_operator("softmx");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("softmax"));
  }
}

TEST(OperatorLibrary, EveryNameIsKnownAndHasAFamily) {
  for (const std::string& name : table_operator_names()) {
    const TableOperator& info = table_operator(name);
    EXPECT_FALSE(info.family.empty()) << name;
    EXPECT_EQ(info.kernels.empty(), info.kind != OperatorKind::kPass) << name;
  }
}

TEST(OperatorLibrary, AConvolutionIsTheProductOfItsUnrolledImage) {
  SquareConvolution shape;
  shape.images = 2;
  shape.channels_in = 3;
  shape.channels_out = 64;
  shape.kernel = 7;
  shape.size = 224;
  shape.stride = 2;
  shape.padding = 3;
  const GemmShape product = implicit_product(shape);
  EXPECT_EQ(product.m, 2 * 112 * 112);
  EXPECT_EQ(product.n, 64);
  EXPECT_EQ(product.k, 3 * 7 * 7);
}

}  // namespace
}  // namespace foretell
