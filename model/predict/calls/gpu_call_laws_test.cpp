// Laws of networks on GPUs: more of a resource is never slower, narrower types never are on large
// calls, the work that is counted is conserved.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"

namespace foretell {
namespace {

struct Setting {
  std::string gpu = "h100-sxm";
  std::string precision = "bf16";
  std::int64_t batch = 8;
  std::int64_t seq_len = 128;
  std::vector<std::string> set;
  std::string factors;
  int rotated_copies = 1;
  bool exact = false;
};

GpuCallResult call_of(const Setting& setting) {
  const GpuSystemSpec system = GpuCatalog().load(setting.gpu, setting.set).spec;
  const GpuFactors factors(system.device, setting.factors);
  const PrecisionPolicy precision =
      precision_on_gpu(find_precision(setting.precision), system.device);
  Graph graph = network("bert-base-uncased", setting.batch, setting.seq_len, setting.precision);
  apply_precision(precision, &graph);
  GpuCall call{{}, graph, precision, system, factors};
  call.rotated_copies = setting.rotated_copies;
  call.exact = setting.exact;
  return run_gpu_call(call);
}

double time_of(const Setting& setting) { return call_of(setting).metrics.call.value(); }

TEST(GpuCallLaws, MoreOfAResourceIsNeverSlower) {
  for (const char* gpu : {"h100-sxm", "a100-sxm", "t4"}) {
    Setting setting;
    setting.gpu = gpu;
    setting.precision = "fp16";
    const double before = time_of(setting);
    for (const char* more : {"device.hbm.bandwidth=20 TB/s", "device.matrix_rate.fp16=9000 TFLOP/s",
                             "device.l2.capacity=1 GiB", "device.clock.boost=9 GHz"}) {
      setting.set = {more};
      EXPECT_LE(time_of(setting), before) << gpu << " " << more;
    }
  }
}

TEST(GpuCallLaws, MoreSmsOfTheSameKindAreNeverSlower) {
  Setting setting;
  setting.batch = 64;
  const double before = time_of(setting);
  setting.set = {"device.sms=264", "device.matrix_rate.bf16=1978.8 TFLOP/s"};
  EXPECT_LT(time_of(setting), before);
}

TEST(GpuCallLaws, Fp32IsNeverFasterThanBf16) {
  for (const std::int64_t batch : {1, 16, 128}) {
    Setting narrow;
    narrow.batch = batch;
    Setting wide = narrow;
    wide.precision = "fp32";
    Setting middle = narrow;
    middle.precision = "tf32";
    EXPECT_LT(time_of(narrow), time_of(middle)) << batch;
    EXPECT_LT(time_of(middle), time_of(wide)) << batch;
  }
}

// Between those, activations fall out of L2 one kernel after the other.
TEST(GpuCallLaws, TwiceTheBatchDoesNotLowerTheThroughputOfALargeCall) {
  Setting setting;
  double before = 0;
  for (const std::int64_t batch : {8, 16, 32, 64}) {
    setting.batch = batch;
    const double throughput = static_cast<double>(batch) / time_of(setting);
    EXPECT_GT(throughput, before) << batch;
    before = throughput;
  }
  before = 0;
  for (const std::int64_t batch : {512, 1024, 2048}) {
    setting.batch = batch;
    const double throughput = static_cast<double>(batch) / time_of(setting);
    EXPECT_GT(throughput, 0.98 * before) << batch;  // the clock drops in longer kernels
    before = throughput;
  }
}

TEST(GpuCallLaws, FactsAloneAreFasterThanWhatKernelsReach) {
  Setting fitted;
  Setting facts;
  facts.factors = "none";
  EXPECT_LT(time_of(facts), time_of(fitted));
}

TEST(GpuCallLaws, NoCallBeatsTheRoofline) {
  for (const char* precision : {"bf16", "fp8", "fp32"}) {
    Setting setting;
    setting.precision = precision;
    setting.batch = 64;
    setting.factors = "none";
    const GpuCallResult result = call_of(setting);
    const GpuDeviceSpec device = GpuCatalog().load("h100-sxm").spec.device;
    double flops = 0;
    for (const OperatorMetrics& op : result.metrics.operators) {
      if (op.engine == "tensor") flops += op.flops.value();
    }
    const double best = flops / dense_rate(device, precision).value();
    EXPECT_GE(result.metrics.call.value(), best) << precision;
    EXPECT_GE(result.metrics.call.value(),
              result.metrics.hbm_read.value() / device.hbm.bandwidth.value())
        << precision;
  }
}

TEST(GpuCallLaws, OperationsAddUpToTheCallAndKeepTheArithmetic) {
  const GpuCallResult result = call_of({});
  double time = 0;
  double flops = 0;
  for (const OperatorMetrics& op : result.metrics.operators) {
    EXPECT_NEAR(op.start.value(), time, 1e-12);
    time += op.duration.value();
    flops += op.flops.value();
  }
  EXPECT_NEAR(time, result.metrics.call.value(), 1e-12);
  const Graph graph = network("bert-base-uncased", 8, 128, "bf16");
  EXPECT_NEAR(flops, graph.total_flops().value(), 1e-9 * flops);
  double kernels = 0;
  for (const KernelRun& kernel : result.kernels) kernels += kernel.duration.value();
  EXPECT_NEAR(kernels, time, 1e-12);
}

TEST(GpuCallLaws, WeightsOfALargeNetworkComeFromDramOnce) {
  const GpuCallResult result = call_of({});
  const Graph graph = network("bert-base-uncased", 8, 128, "bf16");
  double embeddings = 0;  // of which only a few rows are read
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kWeight && graph.op(tensor.consumers.front()).kind == "Gather")
      embeddings += tensor.bytes().value();
  }
  EXPECT_GE(result.metrics.hbm_read.value(), graph.weight_bytes().value() - embeddings);
}

TEST(GpuCallLaws, EqualKernelsOnceGiveWhatAllOfThemGive) {
  Setting exact;
  exact.exact = true;
  EXPECT_DOUBLE_EQ(time_of(exact), time_of({}));
}

TEST(GpuCallLaws, CollectivesSendWhatTheirRingsSay) {
  const std::int64_t ranks = 4;
  const std::int64_t rows = 4096;
  const GpuSystemSpec system = GpuCatalog().load("h100-sxm-x8").spec;
  const GpuFactors factors(system.device, "");
  const PrecisionPolicy precision = find_precision("bf16");
  const auto call = [&](const std::string& kind, std::map<std::string, Attribute> attributes,
                        std::int64_t in) {
    GraphWriter w;
    const TensorId x = w.input("x", {in, 8192});
    attributes["ranks"] = ranks;
    const Graph graph = w.finish(w.op(kind, kind, {x}, attributes), "bf16");
    return run_gpu_call({{}, graph, precision, system, factors});
  };
  const double n = 2.0 * rows * 8192;
  const double share = 3.0 / 4;
  const auto link_bytes = [](const GpuCallResult& result) {
    for (const ResourceMetrics& resource : result.metrics.resources) {
      if (resource.path == "gpu0.link") return resource.bytes.value();
    }
    return 0.0;
  };
  const std::int64_t axis = 0;
  EXPECT_NEAR(link_bytes(call("AllReduce", {}, rows)), 2 * share * n, 64);
  EXPECT_NEAR(link_bytes(call("AllToAll", {}, rows)), share * n, 64);
  EXPECT_NEAR(link_bytes(call("ReduceScatter", {{"axis", axis}}, rows)), share * n, 64);
  const GpuCallResult gathered = call("AllGather", {{"axis", axis}, {"size", rows}}, rows / ranks);
  EXPECT_NEAR(link_bytes(gathered), share * n, 64);
  EXPECT_EQ(gathered.metrics.operators.front().engine, "link");
  EXPECT_NEAR(gathered.kernels.front().link.value(), share * n, 64);
  EXPECT_GE(gathered.metrics.call.value(),
            share * n / system.device.nvlink.bandwidth.value() / 1.2);
}

TEST(GpuCallLaws, RotatedCopiesAreNeverFaster) {
  Setting warm;
  warm.set = {"device.l2.capacity=2 GiB"};
  Setting rotated = warm;
  rotated.rotated_copies = 16;
  EXPECT_LT(time_of(warm), time_of(rotated));
}

}  // namespace
}  // namespace foretell
