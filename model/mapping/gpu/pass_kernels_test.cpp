// Passes of networks: whose factors they take, and what they cost.
#include "model/mapping/gpu/pass_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "model/timing/gpu/gemm_library.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

PassWork work_of(const std::string& operation, double element_bytes, std::int64_t rows) {
  PassWork work;
  work.name = operation;
  work.operation = operation;
  work.rows = rows;
  work.columns = 4096;
  work.element_bytes = element_bytes;
  work.moved = Bytes(2 * element_bytes * static_cast<double>(rows) * 4096);
  work.dram = work.moved;
  return work;
}

class Passes {
 public:
  Passes(const std::string& gpu, const std::string& which, const std::string& library = "")
      : device_(GpuCatalog().load(gpu).spec.device),
        factors_(device_, which, {}, library),
        library_(gemm_library(device_.architecture, "trtllm", "fp16")),
        timing_(device_, gemm_type("fp16"), library_, factors_.gemm("fp16")),
        kernels_(device_, factors_, timing_) {}

  MappedOp map(const PassWork& work) {
    MappedOp op;
    kernels_.add(work, op);
    return op;
  }
  double time(const PassWork& work) {
    double time = 0;
    const UnitTimes busy = map(work).busy();
    for (std::size_t u = 0; u < kWorkUnitCount; ++u) {
      time += busy[static_cast<WorkUnit>(u)].value();
    }
    return time;
  }

 private:
  GpuDeviceSpec device_;
  GpuFactors factors_;
  GemmLibrary library_;
  GemmTiming timing_;
  PassKernels kernels_;
};

TEST(PassKernels, FactorsAreThoseOfTheOperatorAndTheWidth) {
  Passes v100("v100-pcie-32gb", "");
  EXPECT_EQ(v100.map(work_of("LayerNorm", 4, 512)).note, "");
  EXPECT_EQ(v100.map(work_of("Softmax", 4, 512)).note, "");
  EXPECT_THAT(v100.map(work_of("LayerNorm", 2, 512)).note,
              HasSubstr("vidur norm fp16 on a100-sxm"));
  Passes h100("h100-sxm", "");
  EXPECT_EQ(h100.map(work_of("quantise", 2, 512)).note, "");
  EXPECT_THAT(h100.map(work_of("Gelu", 4, 512)).note,
              HasSubstr("pytorch element-wise fp32 on a100-pcie-40gb"));
}

TEST(PassKernels, PyTorchGivesEveryRowOfANormAThreadBlock) {
  PassWork short_rows = work_of("LayerNorm", 2, 131072);
  short_rows.columns = 64;
  short_rows.moved = short_rows.dram = Bytes(4.0 * 131072 * 64);
  Passes trtllm("h100-sxm", "");
  Passes pytorch("h100-sxm", "", "pytorch");
  EXPECT_GT(pytorch.time(short_rows), 5 * trtllm.time(short_rows));
  EXPECT_THAT(pytorch.map(short_rows).note, HasSubstr("pytorch norm fp32"));
}

// An element of a mask for every score: three accesses for two, of a softmax alone.
TEST(PassKernels, ASoftmaxThatReadsAMaskMovesHalfAsMuchAgain) {
  Passes plain("a100-sxm", "", "deepspeed");
  Passes masked("a100-sxm", "", "fastertransformer");
  const auto bytes = [](Passes& passes, const char* operation) {
    return passes.map(work_of(operation, 2, 65536)).program.kernels.front().l2_bytes.value();
  };
  EXPECT_NEAR(bytes(masked, "Softmax") / bytes(plain, "Softmax"), 1.5, 0.01);
  EXPECT_EQ(bytes(masked, "Gelu"), bytes(plain, "Gelu"));
}

// A thread block for every row: short rows leave most of an SM idle.
TEST(PassKernels, ASoftmaxWithARowToAThreadBlockTakesTheirNumber) {
  Passes by_row("a100-sxm", "", "fastertransformer");
  const Seconds row = *kernel_libraries().of_networks("fastertransformer").softmax_row;
  PassWork work = work_of("Softmax", 2, 1 << 20);
  work.columns = 64;
  work.moved = work.dram = Bytes(0);
  const Grid kernel = by_row.map(work).program.kernels.front();
  std::int64_t blocks = 0;
  for (const CtaRun& run : kernel.ctas) {
    blocks += run.count;
    EXPECT_NEAR(run.duration.value(), row.value(), 1e-12);
  }
  EXPECT_EQ(blocks, work.rows);
  work.columns = 1024;  // 512 threads, of which an SM has places for four blocks
  EXPECT_EQ(by_row.map(work).program.kernels.front().ctas_per_sm, 4);
}

TEST(PassKernels, ANormTakesLongerThanACopyAndMoreRowsMoreTime) {
  Passes a100("a100-sxm", "");
  EXPECT_GT(a100.time(work_of("RmsNorm", 2, 8192)), a100.time(work_of("Add", 2, 8192)));
  for (const char* operation : {"RmsNorm", "Add", "Softmax", "Gather"}) {
    double before = 0;
    for (std::int64_t rows = 64; rows <= 65536; rows *= 4) {
      const double now = a100.time(work_of(operation, 2, rows));
      EXPECT_GE(now, before) << operation << ' ' << rows;
      before = now;
    }
  }
}

TEST(PassKernels, FactsAloneLeaveTheBytes) {
  Passes facts("h100-sxm", "none");
  const PassWork work = work_of("Gelu", 2, 8192);
  const MappedOp op = facts.map(work);
  EXPECT_NEAR(op.busy()[WorkUnit::kDram].value(), work.dram.value() / 3350e9, 1e-12);
  EXPECT_TRUE(op.program.kernels.front().ctas.empty());
}

}  // namespace
}  // namespace foretell
