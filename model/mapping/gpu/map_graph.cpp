#include "model/mapping/gpu/map_graph.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/mapping/gpu/attention_kernels.hpp"
#include "model/mapping/gpu/collective_kernels.hpp"
#include "model/mapping/gpu/convolution_kernels.hpp"
#include "model/mapping/gpu/layer_kernels.hpp"
#include "model/mapping/gpu/network_kernels.hpp"
#include "model/mapping/gpu/pass_kernels.hpp"
#include "model/mapping/gpu/pass_operation.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "model/mapping/gpu/second_stream.hpp"
#include "model/mapping/shared/cache_residency.hpp"
#include "model/mapping/shared/convolution.hpp"
#include "model/mapping/shared/data_of.hpp"
#include "model/mapping/shared/fused_walk.hpp"
#include "model/mapping/shared/operation_counts.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

constexpr int kMaxCopies = 1'000'000;

// A type of weights is computed in what it is stored in unless it is storage alone.
DType activation_compute(const PrecisionPolicy& precision) {
  const bool narrow = size_of(precision.matmul_compute) < Bytes(2);
  return narrow ? precision.vector : precision.matmul_compute;
}

GpuCollective collective_of(const std::string& kind) {
  if (kind == "AllReduce") return GpuCollective::kAllReduce;
  if (kind == "AllGather") return GpuCollective::kAllGather;
  if (kind == "AllToAll" || kind == "ExpertExchange") return GpuCollective::kAllToAll;
  if (kind == "SendReceive") return GpuCollective::kSend;
  FORETELL_CHECK(kind == "ReduceScatter", "a collective that graphs have");
  return GpuCollective::kReduceScatter;
}

// Of filters [out, in, frames, rows, columns].
bool spans_frames(const Shape& filters) { return filters.size() == 5 && filters[2] > 1; }

class GpuMapper final : public FusedWalk<MappedOp> {
 public:
  explicit GpuMapper(const GpuMapping& mapping)
      : FusedWalk(mapping.graph, mapping.fusion),
        mapping_(mapping),
        products_(mapping.system.device, mapping.factors, mapping.clock_share),
        between_calls_(footprint() * mapping.rotated_copies),
        pass_type_(product_type(activation_compute(mapping.precision),
                                activation_compute(mapping.precision))),
        attention_(mapping.system.device, mapping.factors,
                   products_.timing(pass_type_).factors().launch, mapping.heads_share_keys,
                   mapping.chunks_share_keys),
        passes_(mapping.system.device, mapping.factors, products_.timing(pass_type_)),
        collectives_(mapping.system, mapping.factors,
                     products_.timing(pass_type_).factors().launch),
        layers_(mapping.system, mapping.factors, between_calls_),
        l2_(mapping.factors.common(),
            mapping.system.device.l2.capacity * products_.timing(pass_type_).factors().l2_share,
            between_calls_) {
    find_narrowed();
  }

  std::vector<MappedOp> mapped() {
    std::vector<MappedOp> ops = walk();
    place_beside(graph_, fused_, mapping_.fusion, ops);
    return ops;
  }

 private:
  void count(const FusedOp& fused, MappedOp& op) override {
    if (op.program.kernels.empty() || op.is_counted) return;
    op.program.kernels.back().work += operation_counts(graph_, fused, mapping_.precision);
  }

  void keep(TensorId whole, Bytes bytes) override { l2_.touch(whole, bytes); }

  // The left operand of a product with weights, in the type of the product.
  struct LeftOperand {
    TensorId data = kNoId;
    double element = 0;  // bytes
  };

  std::optional<LeftOperand> left_operand(const FusedOp& fused) {
    if (fused.kind != FusedKind::kLinear && fused.kind != FusedKind::kConvolution) return {};
    const std::string type = type_with(graph_.tensor(fused.weights.front()));
    if (type == kScaledByBlock) return {};  // quantises what it reads itself
    const TensorId data = data_of(graph_, graph_.op(fused.main).inputs[0]);
    return LeftOperand{data, products_.type(type).activation_bytes};
  }

  // With narrow types the scales of activations are known before: the kernel that makes an
  // activation writes it so, and in its own type only where another operator reads that.
  void find_narrowed() {
    std::map<TensorId, int> readers;
    std::set<TensorId> made;
    for (const FusedOp& fused : fused_) {
      for (const TensorAccess& read : fused.reads) ++readers[read.tensor];
      const std::optional<LeftOperand> left = left_operand(fused);
      const double share = left ? left->element / element_of(left->data) : 1;
      if (share < 1 && made.count(left->data) > 0) {
        Narrowed& narrowed = narrowed_[left->data];
        narrowed.share = share;
        ++narrowed.readers;
      }
      for (const TensorAccess& write : fused.writes) made.insert(write.tensor);
    }
    for (auto& [data, narrowed] : narrowed_) narrowed.alone = readers[data] == narrowed.readers;
  }

  double element_of(TensorId data) const { return size_of(graph_.tensor(data).dtype).value(); }

  Bytes written(const FusedOp& fused) const {
    Bytes bytes;
    for (const TensorAccess& write : fused.writes) {
      const auto narrowed = narrowed_.find(write.tensor);
      if (narrowed == narrowed_.end()) {
        bytes += write.bytes;
      } else {
        bytes += write.bytes * (narrowed->second.share + (narrowed->second.alone ? 0 : 1));
      }
    }
    return bytes;
  }

  // The bytes of an element of the results on average: those that only products in 8 bits read are
  // as narrow.
  double output_bytes(const FusedOp& fused) const {
    double elements = 0;
    for (const TensorAccess& write : fused.writes)
      elements += write.bytes / Bytes(element_of(write.tensor));
    return elements > 0 ? written(fused).value() / elements : 0;
  }

  // What comes from DRAM: reads that miss L2, and every result.
  Bytes dram_of(const FusedOp& fused) const {
    Bytes bytes = written(fused);
    for (const TensorAccess& read : fused.reads) {
      bytes += read.bytes * l2_.missing(read.tensor, read.bytes);
    }
    return bytes;
  }

  int copies_between(Bytes weights) const {
    const double copies = std::ceil(between_calls_ / weights);
    return static_cast<int>(std::clamp(copies, 1.0, static_cast<double>(kMaxCopies)));
  }

  // A product that is not quantised where others are runs in the type of the activations.
  std::string type_with(const Tensor& weight) const {
    if (const auto own = own_operands(mapping_.precision, weight))
      return product_type(*own, weight.dtype);
    const DType compute = mapping_.precision.matmul_compute;
    const bool quantised = weight.dtype == mapping_.precision.weight_storage;
    if (!quantised && size_of(weight.dtype) > size_of(compute)) return pass_type_;
    return product_type(compute, weight.dtype);
  }

  void linear(const FusedOp& fused, MappedOp& op) override {
    Product product;
    set_dimensions(linear_dimensions(graph_, fused), product);
    Bytes weight_bytes;
    for (const TensorId weight : fused.weights) weight_bytes += graph_.tensor(weight).bytes();
    product.type = type_with(graph_.tensor(fused.weights.front()));
    product.copies = copies_between(weight_bytes);
    product.dram = dram_of(fused);
    product.output_bytes = output_bytes(fused);
    read_activation(graph_.op(fused.main).inputs[0], product, op);
    products_.add(product, op);
  }

  // One that is wider than the product wants it is converted first, unless it was written so.
  void read_activation(TensorId id, Product& product, MappedOp& op) {
    if (product.type == kScaledByBlock) return;
    const Tensor& input = graph_.tensor(id);
    const TensorId data = data_of(graph_, id);
    const Bytes element(products_.type(product.type).activation_bytes);
    if (!(size_of(graph_.tensor(data).dtype) > element)) return;
    const Bytes missed = input.bytes() * l2_.missing(data, input.bytes());
    const auto narrowed = narrowed_.find(data);
    if (narrowed != narrowed_.end()) {
      product.dram -= missed * (1 - narrowed->second.share);
      return;
    }
    convert(data, input, element.value(), op);
    product.dram -= missed;
  }

  void convolution(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const ImplicitGemm gemm = implicit_gemm(graph_, main);
    if (gemm.is_depthwise()) return pass(fused, op);
    const Tensor& weight = graph_.tensor(fused.weights.front());
    Product product;
    product.batch = gemm.groups;
    product.m = gemm.m;
    product.n = gemm.n;
    product.k = gemm.k;
    product.type = type_with(weight);
    const bool is_forward = main.kind == "Conv";
    if (is_forward && mapping_.factors.on_vector_pipe(product.type)) {
      return vector_convolution(fused, op);
    }
    product.is_convolution = is_forward;  // gradients of weights are deep and divided
    product.over_frames = is_forward && spans_frames(weight.shape);
    product.copies = copies_between(weight.bytes());
    product.dram = dram_of(fused);
    product.output_bytes = output_bytes(fused);
    read_activation(main.inputs[0], product, op);
    products_.add(product, op);
    op.kernel = "implicit " + op.kernel;
    op.program.kernels.back().name = op.kernel;
  }

  // What other operators of the fused one read and write counts with the output.
  void vector_convolution(const FusedOp& fused, MappedOp& op) {
    const Op& main = graph_.op(fused.main);
    if (convolutions_ == nullptr) {
      const auto chosen = mapping_.factors.product({GpuFactors::eager_table("conv")});
      ProductFactors factors;
      factors.gemm = products_.timing("fp32").factors();
      factors.winograd = factors.transform = 1;
      convolutions_ = std::make_unique<ConvolutionKernels>(
          mapping_.system.device, chosen ? chosen->factors : factors,
          chosen ? chosen->interval80 : mapping_.factors.gemm_interval80("fp32"));
    }
    const TensorId input = data_of(graph_, main.inputs[0]);
    ConvolutionTraffic traffic;
    for (const TensorAccess& read : fused.reads) {
      const Bytes missed = read.bytes * l2_.missing(read.tensor, read.bytes);
      const bool is_weight = read.tensor == fused.weights.front();
      (is_weight              ? traffic.weights
       : read.tensor == input ? traffic.input
                              : traffic.output) += missed;
    }
    traffic.output += bytes_of(fused.writes);
    convolutions_->add(convolution_shape(graph_, main), traffic, op);
  }

  // The activation in the type of the product, written once for all that read it so.
  void convert(TensorId data, const Tensor& input, double element, MappedOp& op) {
    if (!converted_.insert(data).second) return;
    op.converted = data;
    const std::int64_t elements = element_count(input.shape);
    const Bytes from = input.bytes();
    const Bytes to(element * static_cast<double>(elements));
    PassWork work = cast(elements, from, to, l2_.missing(data, from));
    work.name = "quantise";
    if (element <= 1) work.operation = "quantise";
    work.element_bytes = size_of(graph_.tensor(data).dtype).value();
    passes_.add(work, op);
  }

  // Elements from one type into another.
  static PassWork cast(std::int64_t elements, Bytes from, Bytes to, double missing) {
    PassWork work;
    work.name = work.operation = "Cast";
    work.rows = elements;
    work.element_bytes = std::max(from, to).value() / static_cast<double>(elements);
    work.moved = from + to;
    work.dram = from * missing + to;
    return work;
  }

  void pass(const FusedOp& fused, MappedOp& op) override {
    op.engine = "memory";
    const Op& heaviest = graph_.op(heaviest_of(fused));
    const Tensor& operand =
        graph_.tensor(heaviest.inputs.empty() ? heaviest.outputs.front() : heaviest.inputs.front());
    PassWork work;
    work.name = graph_.op(fused.main).kind;
    const bool is_chain = mapping_.fusion.passes.count(heaviest.kind) > 0;  // of passes
    const bool of_norm = is_chain && is_norm(heaviest);
    const bool adds_up = !of_norm || !fused.is_again;  // one pass of a norm does
    work.operation = of_norm ? "norm pass" : pass_operation(heaviest, operand);
    if (!adds_up) work.operation = "element-wise";
    work.element_bytes = size_of(operand.dtype).value();
    for (const TensorAccess& access : fused.writes) {
      const double elements = access.bytes / size_of(graph_.tensor(access.tensor).dtype);
      work.rows = std::max(work.rows, static_cast<std::int64_t>(elements));
    }
    const std::int64_t width = pass_row(heaviest, operand.shape);
    if (adds_up && width > 1 && work.rows % width == 0) {
      work.columns = width;
      work.rows /= width;
    }
    work.moved = bytes_of(fused.reads) + written(fused);
    work.dram = dram_of(fused);
    if (mapping_.fusion.groups) return passes_.add(work, op);
    pass_between_casts(graph_.op(fused.main), work, op);
  }

  // Launched operator by operator, what a network keeps in FP32 costs passes of its own: a norm
  // reads a copy in FP32, and a narrow result of wide operands is a wide one that is narrowed.
  void pass_between_casts(const Op& main, PassWork work, MappedOp& op) {
    const Tensor& result = graph_.tensor(main.outputs.front());
    const double to = size_of(result.dtype).value();
    double from = 0;
    bool from_kept = false;
    TensorId source = kNoId;
    for (const TensorId id : main.inputs) {
      const Tensor& input = graph_.tensor(data_of(graph_, id));
      if (input.kind != TensorKind::kActivation || size_of(input.dtype).value() <= from) continue;
      from = size_of(input.dtype).value();
      from_kept = input.is_kept;
      source = data_of(graph_, id);
    }
    const auto elements = static_cast<double>(work.rows * work.columns);
    const bool widens = result.is_kept && from > 0 && from < to && is_norm(main);
    const bool narrows = from_kept && from > to;
    if (!widens && !narrows) return passes_.add(work, op);
    const double missing = l2_.missing(source, graph_.tensor(source).bytes());
    const Bytes copy(elements * std::abs(from - to));
    const PassWork between =
        cast(work.rows * work.columns, Bytes(elements * from), Bytes(elements * to), missing);
    work.moved += copy;
    work.dram += copy * (widens ? missing : 1);
    work.element_bytes = std::max(from, to);
    passes_.add(widens ? between : work, op);
    passes_.add(widens ? work : between, op);
  }

  // The operator of a chain whose kernel the others are fused into.
  OpId heaviest_of(const FusedOp& fused) const {
    const auto weight = [this](OpId id) {
      const std::string& kind = graph_.op(id).kind;
      return kind == "Softmax" ? 2 : static_cast<int>(ends_with(kind, "Norm"));
    };
    return *std::max_element(fused.ops.begin(), fused.ops.end(),
                             [&](OpId a, OpId b) { return weight(a) < weight(b); });
  }

  void product(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Tensor& right = graph_.tensor(main.inputs[1]);
    Product product;
    set_dimensions(product_dimensions(graph_, main), product);
    if (right.kind == TensorKind::kWeight) {  // of a head, for all sequences
      product.batch = right.shape[0];
      product.m =
          element_count(graph_.tensor(main.outputs.front()).shape) / (product.batch * product.n);
      product.copies = copies_between(right.bytes());
    }
    const bool of_head = right.kind == TensorKind::kWeight && is_wide(right.dtype);
    if (of_head && layers_.add_latent_product(product.m, product.batch, product.n, product.k, op)) {
      return;
    }
    const Tensor& left = graph_.tensor(data_of(graph_, main.inputs[0]));
    const bool own = left.is_kept && left.kind == TensorKind::kActivation;
    product.type = own ? product_type(left.dtype, left.dtype) : pass_type_;
    product.dram = dram_of(fused);
    products_.add(product, op);
  }

  static bool is_wide(DType type) { return !(size_of(type) < Bytes(2)); }

  void attention(const FusedOp& fused, MappedOp& op) override {
    const GemmType& products = products_.type(pass_type_);
    AttentionType type;
    type.rate = products.rate;
    type.query_bytes = products.activation_bytes;
    const Tensor& key = graph_.tensor(data_of(graph_, fused.attention.key));
    if (key.dtype == DType::kInt8 && key.kind == TensorKind::kActivation) {
      type.rate = "int8";  // with scales of its own, as narrow_activations() stored it
      type.query_bytes = 1;
    }
    type.key_bytes = std::min(type.query_bytes, size_of(key.dtype).value());
    if (layers_.add_latent(fused.attention, type.key_bytes, op)) return;
    AttentionDimensions dimensions = fused.attention;
    dimensions.narrow_cache = size_of(mapping_.precision.kv_cache) < Bytes(2);
    lower_latent_attention(attention_, dimensions, type, dram_of(fused), op);
  }

  void expert_layer(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Tensor& first = graph_.tensor(main.inputs[3]);
    const Tensor& second = graph_.tensor(main.inputs[4]);
    ExpertLayer layer;
    layer.shape = expert_shape(graph_, main);
    layer.type = type_with(first);
    layer.activation_bytes = size_of(graph_.tensor(main.inputs[0]).dtype).value();
    layer.weights = first.bytes() + second.bytes();
    layer.missing = l2_.missing(main.inputs[3], first.bytes());
    layer.copies = copies_between(layer.weights);
    const DType policy = mapping_.precision.matmul_compute;
    // Weights that stay wide are computed in their type; scales of blocks make none wider.
    const DType own = first.dtype == DType::kFp8Block ? DType::kFp8 : first.dtype;
    const DType compute = own_operands(mapping_.precision, first)
                              .value_or(size_of(own) > size_of(policy) ? own : policy);
    if (layers_.add_experts(layer.shape, compute, first.dtype, op)) return;
    lower_experts(products_, passes_, layer, op);
  }

  void scan(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    StateSpace work = state_space_shape(graph_, main);
    work.type = pass_type_;
    work.element_bytes = size_of(graph_.tensor(main.inputs[2]).dtype).value();
    work.moved = bytes_of(fused.reads) + written(fused);
    work.dram = dram_of(fused);
    if (!layers_.add_scan(work, op)) lower_state_space(products_, passes_, work, op);
  }

  void indexer(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const bool asks = integer_of(main, "narrow", 0) != 0;
    const bool has_pipe = mapping_.system.device.matrix_rate.count("fp8") > 0;
    const IndexerKernels kernels = indexer_kernels(mapping_.factors, mapping_.system.device, graph_,
                                                   main, asks && has_pipe ? "fp8" : pass_type_);
    lower_indexer(products_, passes_, graph_, main, kernels, dram_of(fused), op);
  }

  // Every token goes to its experts, which it chooses with equal chances: few tokens reach few
  // experts, and some get more than others.
  void experts(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Tensor& weights = graph_.tensor(fused.weights.front());
    const Shape& result = graph_.tensor(main.outputs.front()).shape;
    const double all = static_cast<double>(weights.shape[0]);
    const std::int64_t routed = element_count(result) / result.back();
    Product product;
    product.rows = rows_per_expert({}, {routed, 1, weights.shape[0], weights.shape[0]});
    product.batch = static_cast<std::int64_t>(product.rows.size());
    product.k = weights.shape[1];
    product.n = weights.shape[2];
    product.m = (routed + product.batch - 1) / product.batch;
    product.type = type_with(weights);
    const Bytes idle = weights.bytes() * (1 - static_cast<double>(product.batch) / all);
    product.copies = copies_between(weights.bytes());
    product.dram = dram_of(fused) - idle * l2_.missing(fused.weights.front(), weights.bytes());
    products_.add(product, op);
  }

  void collective(const FusedOp& fused, MappedOp& op) override {
    const Op& main = graph_.op(fused.main);
    const bool linked = mapping_.system.interconnect == "nvlink";
    if (main.kind == "ExpertExchange" && linked &&
        layers_.add_exchange(exchange_of(graph_, main), op)) {
      return;
    }
    GpuCollectiveShape shape;
    shape.op = collective_of(main.kind);
    shape.ranks = static_cast<int>(integer_of(main, "ranks"));
    shape.stride = static_cast<int>(integer_of(main, "stride", 1));
    Bytes in;
    Bytes out;
    for (const TensorId input : main.inputs) in += graph_.tensor(input).bytes();
    for (const TensorId output : main.outputs) out += graph_.tensor(output).bytes();
    shape.bytes = std::max(in, out);
    if (main.kind == "ExpertExchange") shape.bytes = exchanged_bytes(main, std::min(in, out));
    collectives_.add(main.kind, shape, op);
  }

  const GpuMapping& mapping_;
  ProductKernels products_;
  Bytes between_calls_;
  std::string pass_type_;
  std::unique_ptr<ConvolutionKernels> convolutions_;  // on the vector pipe
  AttentionKernels attention_;
  PassKernels passes_;
  CollectiveKernels collectives_;
  LayerKernels layers_;
  CacheResidency l2_;
  struct Narrowed {
    double share = 1;    // of the bytes of its own type
    int readers = 0;     // products that read it narrow
    bool alone = false;  // no other operator reads it
  };
  std::map<TensorId, Narrowed> narrowed_;
  std::set<TensorId> converted_;
};

}  // namespace

std::vector<MappedOp> map_to_gpu(const GpuMapping& mapping) { return GpuMapper(mapping).mapped(); }

}  // namespace foretell
