// Laws of networks on CPUs: what more hardware, more work and exact execution do to the time.
#include <gmock/gmock.h>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/cpu/map_graph.hpp"
#include "model/predict/calls/cpu_call.hpp"
#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"
#include "model/testing/loops_in_order.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {
namespace {

struct CpuSetting {
  std::string system = "c7i.2xlarge";
  std::vector<std::string> set;
  std::string dtype = "fp32";
  std::string workload = "bert-base-uncased";
  std::int64_t batch = 1;
  std::int64_t seq = 64;
  int threads = 4;
  bool exact = false;
  std::string factors = "none";
};

CpuCallResult cpu_call(const CpuSetting& setting) {
  const CpuSystemSpec system = CpuCatalog().load(setting.system, setting.set).spec;
  const PrecisionPolicy precision = precision_on_cpu(find_precision(setting.dtype), system.device);
  Binding binding;
  binding.batch = setting.batch;
  binding.seq_len = setting.seq;
  Graph graph = build_graph(WorkloadLibrary().load(setting.workload), binding);
  apply_precision(precision, &graph);
  const ChosenCpuFactors factors = choose_cpu_factors(system.device, setting.factors);
  CpuCall call{graph, precision, system, factors.factors};
  call.threads = setting.threads;
  call.exact = setting.exact;
  return run_cpu_call(call);
}

Seconds cpu_time(const CpuSetting& setting) { return cpu_call(setting).metrics.call; }

TEST(CpuCallLaws, MoreCoresAreNeverSlower) {
  CpuSetting setting{"c7a.8xlarge", {"device.fork_join=0 us"}};
  setting.threads = 1;
  Seconds before = cpu_time(setting);
  for (const int threads : {2, 3, 4, 8, 16, 32}) {
    setting.threads = threads;
    const Seconds now = cpu_time(setting);
    EXPECT_LE(now.value(), before.value() * (1 + 1e-9)) << threads;
    before = now;
  }
}

TEST(CpuCallLaws, NeverFasterThanTheRoofline) {
  for (const char* dtype : {"fp32", "bf16", "int8"}) {
    CpuSetting setting;
    setting.dtype = dtype;
    const CpuSystemSpec system = CpuCatalog().load(setting.system).spec;
    const Metrics metrics = cpu_call(setting).metrics;
    Flops products;
    for (const OperatorMetrics& op : metrics.operators) {
      if (op.op == "MatMul") products += op.flops;
    }
    // Attention is not multiplied in INT8; at its rate, the bound holds all the more.
    const Seconds compute = products / (core_rate(system.device, dtype) * 4.0);
    const Seconds memory = metrics.hbm_read / dram_bandwidth(system);
    EXPECT_GE(metrics.call * (1 + 1e-9), memory) << dtype;
    EXPECT_GE(metrics.call, compute) << dtype;
  }
}

TEST(CpuCallLaws, MoreWorkTakesLonger) {
  CpuSetting setting;
  const Seconds one = cpu_time(setting);
  setting.batch = 4;
  EXPECT_GT(cpu_time(setting), one);
  setting.batch = 1;
  setting.seq = 128;
  EXPECT_GT(cpu_time(setting), one);
}

TEST(CpuCallLaws, FasterPartsAreNeverSlower) {
  const Seconds before = cpu_time({});
  for (const char* better : {"device.dram.channel_bandwidth=80 GB/s", "device.clock.all_core=4 GHz",
                             "device.cache.l3=400 MiB", "device.cache.l3_bandwidth=64 B/cycle",
                             "device.flops_per_cycle.fp32=128", "device.fork_join=0.1 us"}) {
    CpuSetting setting;
    setting.set = {better};
    EXPECT_LE(cpu_time(setting), before) << better;
  }
}

TEST(CpuCallLaws, EqualLoopsExecutedOnceGiveTheSameTime) {
  CpuSetting setting;
  const Seconds once = cpu_time(setting);
  setting.exact = true;
  EXPECT_NEAR(cpu_time(setting) / once, 1, 1e-9);
}

TEST(CpuCallLaws, BytesOfOperatorsAreBytesOfTheCall) {
  const CpuCallResult result = cpu_call({});
  Bytes sum;
  for (const OperatorMetrics& op : result.metrics.operators) sum += op.bytes;
  EXPECT_NEAR(sum / result.metrics.hbm_read, 1, 1e-12);
  Seconds loops;
  for (const KernelRun& run : result.loops) loops += run.duration;
  EXPECT_NEAR(loops / result.metrics.call, 1, 1e-9);
}

TEST(CpuCallLaws, EveryFamilyOfNetworksIsMapped) {
  for (const char* workload :
       {"bert-base-uncased", "gpt2", "albert-base-v2", "distilbert-base-uncased"}) {
    CpuSetting setting;
    setting.workload = workload;
    setting.seq = 16;
    EXPECT_GT(cpu_time(setting), Seconds(0)) << workload;
  }
}

TEST(CpuPrecision, NamesTheNearestPolicyThatWorks) {
  const CpuDeviceSpec ice_lake = CpuCatalog().load("c6i.xlarge").spec.device;
  EXPECT_EQ(precision_on_cpu(find_precision("int8"), ice_lake).matmul_compute, DType::kInt8);
  EXPECT_EQ(precision_on_cpu(find_precision("int8"), ice_lake).vector, DType::kFp32);
  EXPECT_EQ(precision_on_cpu(find_precision("int8-weights"), ice_lake).matmul_compute,
            DType::kFp32);
  try {
    precision_on_cpu(find_precision("bf16"), ice_lake);
    FAIL() << "no unit multiplies bf16 there";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("nearest that works there is 'fp32'"));
  }
}

// A loop whose cores are all alike takes the closed form.
TEST(CpuRunLaws, SymmetricLoopsTakeTheClosedForm) {
  const CpuSystemSpec system = CpuCatalog().load("c7a.2xlarge").spec;
  Loop loop;
  loop.threads = 8;
  loop.stages_ahead = 2.8;
  loop.core_dram = BytesPerSecond(12e9);
  loop.dram = dram_bandwidth(system);
  loop.call = Seconds(1e-6);
  loop.fork_join = Seconds(3e-6);
  for (const double dram : {0.0, 1e4, 1e6}) {
    loop.chunks = {{64, Seconds(20e-6), Seconds(2e-6), Bytes(dram)}};
    const Seconds simulated = to_seconds(simulate(CpuMachine{system}, loops_in_order({loop})).end);
    EXPECT_NEAR(simulated / loop_time(loop), 1, 0.01) << dram;
  }
}

TEST(CpuRunLaws, ChunksAreDealtOutCompletely) {
  Loop loop;
  loop.threads = 3;
  loop.chunks = {{5, Seconds(1), Seconds(0), Bytes(0)}, {6, Seconds(2), Seconds(0), Bytes(0)}};
  std::int64_t all = 0;
  for (int thread = 0; thread < 3; ++thread) {
    for (const CpuChunkRun& run : part_of(loop, thread)) all += run.count;
  }
  EXPECT_EQ(all, 11);
  EXPECT_EQ(part_of(loop, 0).front().count, 4);
}

}  // namespace
}  // namespace foretell
