#include "model/mapping/gpu/map_graph.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/base/errors.hpp"
#include "model/mapping/gpu/attention_kernels.hpp"
#include "model/mapping/gpu/convolution.hpp"
#include "model/mapping/gpu/fuse.hpp"
#include "model/mapping/gpu/l2_residency.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "model/timing/gpu_collective_timing.hpp"

namespace foretell {
namespace {

constexpr int kMostCopies = 1'000'000;
constexpr Seconds kHop(1e-6);  // from a GPU to its neighbour, a flag and its data

Bytes sum_of(const std::vector<TensorAccess>& accesses) {
  Bytes sum;
  for (const TensorAccess& access : accesses) sum += access.bytes;
  return sum;
}

// Everything that a call touches, each access once.
Bytes footprint(const std::vector<FusedOp>& ops) {
  Bytes sum;
  for (const FusedOp& op : ops) sum += sum_of(op.reads) + sum_of(op.writes);
  return sum;
}

// A type of weights is computed in what it is stored in unless it is storage alone.
DType activation_compute(const PrecisionPolicy& precision) {
  const bool narrow = size_of(precision.matmul_compute) < Bytes(2);
  return narrow ? precision.vector : precision.matmul_compute;
}

GpuCollective collective_of(const std::string& kind) {
  if (kind == "AllReduce") return GpuCollective::kAllReduce;
  if (kind == "AllGather") return GpuCollective::kAllGather;
  FORETELL_CHECK(kind == "ReduceScatter", "a collective that graphs have");
  return GpuCollective::kReduceScatter;
}

// A collective without its launch.
struct LinkTime {
  std::string algorithm;
  Seconds latency;  // of its steps
  Seconds moving;   // of the bytes
};

class GraphMapper {
 public:
  explicit GraphMapper(const GpuMapping& mapping)
      : mapping_(mapping),
        graph_(mapping.graph),
        products_(mapping.system.device, mapping.factors, mapping.clock_share),
        fused_(fuse_for_gpu(mapping.graph)),
        between_calls_(footprint(fused_) * mapping.rotated_copies),
        pass_type_(product_type(activation_compute(mapping.precision),
                                activation_compute(mapping.precision))),
        attention_(mapping.system.device, mapping.factors,
                   products_.timing(pass_type_).factors().launch),
        l2_(mapping.system.device.l2.capacity * products_.timing(pass_type_).factors().l2_share,
            between_calls_) {}

  std::vector<MappedOp> run() {
    for (const FusedOp& fused : fused_) {
      MappedOp op;
      op.main = fused.main;
      for (const OpId id : fused.ops) op.flops += graph_.flops(id);
      map(fused, op);
      for (const TensorAccess& read : fused.reads) touch(read);
      for (const TensorAccess& write : fused.writes) touch(write);
      mapped_.push_back(std::move(op));
    }
    return std::move(mapped_);
  }

 private:
  void map(const FusedOp& fused, MappedOp& op) {
    switch (fused.kind) {
      case GpuOpKind::kLinear:
        return linear(fused, op);
      case GpuOpKind::kProduct:
        return product(fused, op);
      case GpuOpKind::kConvolution:
        return convolution(fused, op);
      case GpuOpKind::kAttention:
        return attention(fused, op);
      case GpuOpKind::kExperts:
        return experts(fused, op);
      case GpuOpKind::kPass:
        return pass(fused, op);
      case GpuOpKind::kCollective:
        return collective(fused, op);
    }
  }

  // A few rows of a table or a cache say nothing about the others.
  void touch(const TensorAccess& access) {
    const bool whole = access.bytes >= graph_.tensor(access.tensor).bytes() / 2;
    l2_.touch(whole ? access.tensor : kNoId, access.bytes);
  }

  // What comes from DRAM: reads that miss L2, and every result.
  Bytes dram_of(const FusedOp& fused) const {
    Bytes bytes = sum_of(fused.writes);
    for (const TensorAccess& read : fused.reads) {
      bytes += read.bytes * l2_.missing(read.tensor, read.bytes);
    }
    return bytes;
  }

  int copies_between(Bytes weights) const {
    const double copies = std::ceil(between_calls_ / weights);
    return static_cast<int>(std::clamp(copies, 1.0, static_cast<double>(kMostCopies)));
  }

  void linear(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    const Tensor& input = graph_.tensor(main.inputs[0]);
    Product product;
    product.k = input.shape.back();
    product.m = element_count(input.shape) / product.k;
    Bytes weight_bytes;
    for (const TensorId weight : fused.weights) {
      product.n += element_count(graph_.tensor(weight).shape) / product.k;
      weight_bytes += graph_.tensor(weight).bytes();
    }
    product.type =
        product_type(mapping_.precision.matmul_compute, graph_.tensor(fused.weights.front()).dtype);
    product.copies = copies_between(weight_bytes);
    product.dram = dram_of(fused);
    read_activation(main.inputs[0], product, op);
    products_.add(product, op);
  }

  // One that is wider than the product wants it is converted first.
  void read_activation(TensorId id, Product& product, MappedOp& op) {
    const Tensor& input = graph_.tensor(id);
    const TensorId data = data_of(graph_, id);
    const Bytes element(products_.type(product.type).activation_bytes);
    if (!(size_of(graph_.tensor(data).dtype) > element)) return;
    const Bytes narrow = static_cast<double>(element_count(input.shape)) * element;
    convert(data, input.bytes(), narrow, op);
    product.dram -= input.bytes() * l2_.missing(data, input.bytes());
  }

  void convolution(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    const ImplicitGemm gemm = implicit_gemm(graph_, main);
    if (gemm.is_depthwise()) return pass(fused, op);
    const Tensor& weight = graph_.tensor(fused.weights.front());
    Product product;
    product.batch = gemm.groups;
    product.m = gemm.m;
    product.n = gemm.n;
    product.k = gemm.k;
    product.type = product_type(mapping_.precision.matmul_compute, weight.dtype);
    product.copies = copies_between(weight.bytes());
    product.dram = dram_of(fused);
    read_activation(main.inputs[0], product, op);
    products_.add(product, op);
    op.kernel = "implicit " + op.kernel;
    op.program.kernels.back().name = op.kernel;
  }

  // The activation in the type of the product, written once for all that read it so.
  void convert(TensorId data, Bytes from, Bytes to, MappedOp& op) {
    if (!converted_.insert(data).second) return;
    GpuKernel kernel = pass_kernel(from * l2_.missing(data, from) + to, from + to);
    kernel.name = "quantise";
    add_pass(std::move(kernel), op);
  }

  GpuKernel pass_kernel(Bytes dram, Bytes all) {
    const GemmTiming& timing = products_.timing(pass_type_);
    GpuKernel kernel;
    kernel.launch = timing.factors().launch;
    kernel.memory_latency = timing.prologue();
    kernel.dram_bytes = dram;
    kernel.dram_rate = timing.dram_rate();
    kernel.l2_bytes = all;
    kernel.l2_rate = timing.l2_rate();
    return kernel;
  }

  void add_pass(GpuKernel kernel, MappedOp& op) {
    op.bounds["launch"] += kernel.launch + kernel.memory_latency;
    op.bounds["DRAM"] += kernel.dram_bytes / kernel.dram_rate;
    op.bounds["L2"] += kernel.l2_bytes / kernel.l2_rate;
    op.dram += kernel.dram_bytes;
    op.program.kernels.push_back(std::move(kernel));
  }

  void pass(const FusedOp& fused, MappedOp& op) {
    op.engine = "memory";
    GpuKernel kernel = pass_kernel(dram_of(fused), sum_of(fused.reads) + sum_of(fused.writes));
    kernel.name = graph_.op(fused.main).kind;
    add_pass(std::move(kernel), op);
  }

  void product(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    const Shape& a = graph_.tensor(main.inputs[0]).shape;
    const Shape& c = graph_.tensor(main.outputs.front()).shape;
    Product product;
    product.k = a.back();
    product.n = c.back();
    product.m = c[c.size() - 2];
    product.batch = element_count(c) / (product.m * product.n);
    product.type = pass_type_;
    product.dram = dram_of(fused);
    products_.add(product, op);
  }

  void attention(const FusedOp& fused, MappedOp& op) {
    const GemmType& products = products_.type(pass_type_);
    AttentionType type;
    type.rate = products.rate;
    type.query_bytes = products.activation_bytes;
    const DType cached = graph_.tensor(data_of(graph_, fused.attention.key)).dtype;
    type.key_bytes = std::min(type.query_bytes, size_of(cached).value());
    attention_.add(fused.attention, type, dram_of(fused), op);
  }

  // Every token goes to its experts; tokens spread evenly, so few tokens reach few experts.
  void experts(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    const Tensor& weights = graph_.tensor(fused.weights.front());
    const Shape& result = graph_.tensor(main.outputs.front()).shape;
    const double all = static_cast<double>(weights.shape[0]);
    const std::int64_t routed = element_count(result) / result.back();
    const auto rows = static_cast<double>(routed);
    const double active = std::round(all * (1 - std::pow(1 - 1 / all, rows)));
    Product product;
    product.batch = static_cast<std::int64_t>(std::max(1.0, active));
    product.k = weights.shape[1];
    product.n = weights.shape[2];
    product.m = static_cast<std::int64_t>(std::ceil(rows / static_cast<double>(product.batch)));
    product.type = product_type(mapping_.precision.matmul_compute, weights.dtype);
    const Bytes idle = weights.bytes() * (1 - static_cast<double>(product.batch) / all);
    product.copies = copies_between(weights.bytes());
    product.dram = dram_of(fused) - idle * l2_.missing(fused.weights.front(), weights.bytes());
    products_.add(product, op);
  }

  void collective(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    GpuCollectiveShape shape;
    shape.op = collective_of(main.kind);
    shape.ranks = static_cast<int>(std::get<std::int64_t>(main.attributes.at("ranks")));
    Bytes in;
    Bytes out;
    for (const TensorId input : main.inputs) in += graph_.tensor(input).bytes();
    for (const TensorId output : main.outputs) out += graph_.tensor(output).bytes();
    shape.bytes = std::max(in, out);
    const bool fitted = has_nvlink() && mapping_.factors.collectives();
    const LinkTime time = fitted ? fitted_link_time(shape) : published_link_time(shape);
    GpuKernel kernel;
    kernel.name = main.kind + " " + time.algorithm;
    kernel.launch = products_.timing(pass_type_).factors().launch;
    kernel.memory_latency = time.latency + time.moving;
    op.engine = "link";
    op.bounds["launch"] += kernel.launch + time.latency;
    op.bounds["link"] += time.moving;
    op.program.kernels.push_back(std::move(kernel));
  }

  // By published facts alone, a ring over the GPUs of the group: every step passes a share of the
  // data to the neighbour (Patarasuk and Yuan, 2009); a sum takes one round to reduce and one to
  // gather. Small sums over NVLink are faster when every GPU reads what all the others have, behind
  // a barrier.
  LinkTime published_link_time(const GpuCollectiveShape& shape) const {
    const bool sums = shape.op == GpuCollective::kAllReduce;
    const double ranks = shape.ranks;
    const double steps = (sums ? 2 : 1) * (ranks - 1);
    const LinkTime ring{"ring", steps * kHop, steps / ranks * shape.bytes / link_rate()};
    const LinkTime at_once{"one-shot", 2 * kHop, (ranks - 1) * shape.bytes / link_rate()};
    const bool is_faster = at_once.latency + at_once.moving < ring.latency + ring.moving;
    return sums && has_nvlink() && is_faster ? at_once : ring;
  }

  // What the fastest of the libraries' protocols takes, without the launch, which is that of a
  // kernel among others.
  LinkTime fitted_link_time(const GpuCollectiveShape& shape) const {
    const CollectiveFactors& factors = *mapping_.factors.collectives();
    const GpuDeviceSpec& device = mapping_.system.device;
    const auto without_launch = [&](const auto& protocol_time, const LinkFactors& links) {
      GpuCollectiveShape empty = shape;
      empty.bytes = Bytes(0);
      const GpuCollectiveTime whole = protocol_time(device, links, shape);
      const Seconds latency = protocol_time(device, links, empty).time - links.launch;
      return LinkTime{to_string(whole.protocol), latency, whole.time - links.launch - latency};
    };
    const LinkTime nccl = without_launch(nccl_time, factors.nccl);
    if (shape.op != GpuCollective::kAllReduce || shape.bytes >= kCustomLimit) return nccl;
    const LinkTime custom = without_launch(custom_time, factors.custom);
    return custom.latency + custom.moving < nccl.latency + nccl.moving ? custom : nccl;
  }

  bool has_nvlink() const { return mapping_.system.interconnect == "nvlink"; }

  BytesPerSecond link_rate() const {
    const GpuDeviceSpec& device = mapping_.system.device;
    return has_nvlink() ? device.nvlink.bandwidth : device.pcie.bandwidth;
  }

  const GpuMapping& mapping_;
  const Graph& graph_;
  ProductKernels products_;
  std::vector<FusedOp> fused_;
  Bytes between_calls_;
  std::string pass_type_;
  AttentionKernels attention_;
  L2Residency l2_;
  std::set<TensorId> converted_;
  std::vector<MappedOp> mapped_;
};

}  // namespace

std::vector<MappedOp> map_to_gpu(const GpuMapping& mapping) { return GraphMapper(mapping).run(); }

}  // namespace foretell
