#include "model/mapping/cpu/map_graph.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/shared/cache_residency.hpp"
#include "model/mapping/shared/convolution.hpp"
#include "model/mapping/shared/data_of.hpp"
#include "model/mapping/shared/fused_walk.hpp"
#include "model/mapping/shared/operation_counts.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/operators/networks.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

bool is_polynomial(std::string_view kind) {
  static const std::set<std::string_view> kKinds = {"Gelu", "Tanh", "Silu", "Sigmoid",
                                                    "Exp",  "Erf",  "Rope"};
  return kKinds.count(kind) > 0;
}

CpuRowOp row_op(std::string_view kind) {
  if (kind == "Softmax") return CpuRowOp::kSoftmax;
  if (kind == "LayerNorm" || kind == "RmsNorm") return CpuRowOp::kNorm;
  if (kind == "ReduceSum" || kind == "ReduceMean" || kind == "ReduceMax" || kind == "TopK" ||
      kind == "Route") {
    return CpuRowOp::kReduce;
  }
  return is_polynomial(kind) ? CpuRowOp::kGelu : CpuRowOp::kAdd;
}

bool moves_only(std::string_view kind) {
  return kind == "Gather" || kind == "Concat" || kind == "Transpose" || kind == "UpdateCache" ||
         kind == "Update";
}

void add_traffic(CpuTraffic& sum, const CpuTraffic& more) {
  sum.l2 += more.l2;
  sum.l3 += more.l3;
  sum.dram += more.dram;
}

// Products and convolutions are large kernels of a library, of which each shape has its own.
bool is_library_call(const Loop& loop) {
  return loop.op_class.rfind("product", 0) == 0 || loop.op_class.rfind("convolution", 0) == 0;
}

class CpuMapper final : public FusedWalk<MappedCpuOp> {
 public:
  explicit CpuMapper(const CpuMapping& mapping)
      : FusedWalk(mapping.graph),
        mapping_(mapping),
        timing_(mapping.timing),
        l2_(timing_.factors().common, timing_.l2_capacity(), footprint()),
        l3_(timing_.factors().common, timing_.l3_capacity(), footprint()) {}

 private:
  void count(const FusedOp& fused, MappedCpuOp& op) override {
    if (op.loops.empty()) return;
    for (Loop& loop : op.loops) {
      if (is_library_call(loop)) loop.call += timing_.cold_call(footprint());
    }
    for (const TensorAccess& write : fused.writes) {
      std::optional<Loop> faults = timing_.fresh_pages(write.bytes);
      if (faults) op.loops.insert(op.loops.begin(), *faults);
    }
    op.loops.back().work = operation_counts(graph_, fused, mapping_.precision);
  }

  // Copies share the memory: a sum is a pass over what all of them have.
  void collective(const FusedOp& fused, MappedCpuOp& op) override {
    op.engine = "memory";
    Loop loop = timing_.copy(reads_without(fused, {}));
    loop.name = graph_.op(fused.main).kind;
    add(std::move(loop), op);
  }

  void keep(TensorId whole, Bytes bytes) override {
    l2_.touch(whole, bytes);
    l3_.touch(whole, bytes);
  }

  CpuTraffic found(const TensorAccess& access) const {
    const double beyond_l2 = l2_.missing(access.tensor, access.bytes);
    const double beyond_l3 = std::min(beyond_l2, l3_.missing(access.tensor, access.bytes));
    return {access.bytes * (1 - beyond_l2), access.bytes * (beyond_l2 - beyond_l3),
            access.bytes * beyond_l3};
  }

  // Results are new lines of a buffer that was used last one call ago.
  CpuTraffic written(const TensorAccess& access) const {
    return timing_.found(access.bytes, footprint());
  }

  CpuTraffic reads_without(const FusedOp& fused, const std::vector<TensorId>& others) const {
    CpuTraffic sum;
    for (const TensorAccess& read : fused.reads) {
      if (std::count(others.begin(), others.end(), read.tensor) == 0) add_traffic(sum, found(read));
    }
    for (const TensorAccess& write : fused.writes) add_traffic(sum, written(write));
    return sum;
  }

  CpuTraffic weights_of(const FusedOp& fused) const {
    CpuTraffic sum;
    for (const TensorAccess& read : fused.reads) {
      if (std::count(fused.weights.begin(), fused.weights.end(), read.tensor) > 0) {
        add_traffic(sum, found(read));
      }
    }
    return sum;
  }

  // Where weights are found after they were laid out: what was written last is read.
  CpuTraffic lay_out(const CpuTraffic& weights, std::int64_t window, MappedCpuOp& op) const {
    std::vector<Loop> loops = timing_.weight_layouts(weights, window);
    if (loops.empty()) return weights;
    for (Loop& loop : loops) add(std::move(loop), op);
    return timing_.found(weights.all(), 2 * weights.all());
  }

  bool has_plain_weights() const { return timing_.system().weight_layouts > 0; }

  std::string product_dtype() const {
    return std::string(to_string(mapping_.precision.matmul_compute));
  }

  // A product that is not quantised where others are runs in the type of the activations.
  bool is_quantised(TensorId id) const {
    const Tensor& weight = graph_.tensor(id);
    return weight.kind != TensorKind::kWeight ||
           size_of(weight.dtype) <= size_of(mapping_.precision.matmul_compute);
  }

  std::string dtype_with(TensorId weight) const {
    return is_quantised(weight) ? product_dtype() : activation_dtype();
  }

  // A type of weights alone is no type to multiply activations in.
  std::string activation_dtype() const {
    const PrecisionPolicy& precision = mapping_.precision;
    const bool narrow = size_of(precision.matmul_compute) < Bytes(2);
    return std::string(to_string(narrow ? precision.vector : precision.matmul_compute));
  }

  bool narrow_values() const { return size_of(mapping_.precision.vector) < Bytes(4); }

  static void add(Loop loop, MappedCpuOp& op) { op.loops.push_back(std::move(loop)); }

  double vectors_of(const Op& op) const {
    return static_cast<double>(element_count(graph_.tensor(op.outputs.front()).shape)) /
           static_cast<double>(timing_.lanes());
  }

  // Polynomials and sums that follow on the results, and the way from eight bits to wide values.
  void add_epilogue(const FusedOp& fused, CpuProduct& product) const {
    for (const OpId id : fused.ops) {
      const Op& op = graph_.op(id);
      if (is_polynomial(op.kind)) product.gelu += vectors_of(op);
      if (op.kind == "Add") product.residual += vectors_of(op);
    }
    const bool eight_bits = product.dtype == "int8" && !narrow_values();
    if (eight_bits) product.widen = vectors_of(graph_.op(fused.main));
  }

  void linear(const FusedOp& fused, MappedCpuOp& op) override {
    const Op& main = graph_.op(fused.main);
    CpuProduct product;
    set_dimensions(linear_dimensions(graph_, fused), product);
    product.dtype = dtype_with(main.inputs[1]);
    product.weights = weights_of(fused);
    product.others = reads_without(fused, fused.weights);
    add_epilogue(fused, product);
    narrow_activation(main, op);
    if (has_plain_weights() && product.m == 1) return add(timing_.vector_product(product), op);
    product.packed_weights = !has_plain_weights();
    add(timing_.product(product), op);
  }

  void narrow_activation(const Op& product, MappedCpuOp& op) {
    if (!is_quantised(product.inputs[1])) return;
    const TensorId id = product.inputs[0];
    const TensorId data = data_of(graph_, id);
    if (size_of(graph_.tensor(data).dtype) > size_of(mapping_.precision.matmul_compute)) {
      quantise(data, graph_.tensor(id), op);
    }
  }

  // The pixels under the filter are gathered while they are packed.
  void convolution(const FusedOp& fused, MappedCpuOp& op) override {
    const Op& main = graph_.op(fused.main);
    const ImplicitGemm gemm = implicit_gemm(graph_, main);
    if (gemm.is_depthwise()) return pass(fused, op);
    const Shape& weight = graph_.tensor(main.inputs[1]).shape;
    if (main.kind == "Conv" && gemm.groups == 1 && weight.size() == 4 && weight[2] == weight[3]) {
      return square_convolution(fused, op);
    }
    CpuProduct product;
    product.batch = gemm.groups;
    product.m = gemm.m;
    product.n = gemm.n;
    product.k = gemm.k;
    product.dtype = dtype_with(main.inputs[1]);
    product.weights = weights_of(fused);
    product.others = reads_without(fused, fused.weights);
    add_epilogue(fused, product);
    narrow_activation(main, op);
    product.weights = lay_out(product.weights, element_count(weight) / weight[0] / weight[1], op);
    add(timing_.product(product), op);
  }

  void square_convolution(const FusedOp& fused, MappedCpuOp& op) {
    const Op& main = graph_.op(fused.main);
    const Shape& weight = graph_.tensor(main.inputs[1]).shape;
    const Shape& result = graph_.tensor(main.outputs.front()).shape;
    CpuConvolution convolution;
    convolution.batch = result[0];
    convolution.channels = weight[1];
    convolution.filters = weight[0];
    convolution.kernel = weight[2];
    convolution.out_height = result[2];
    convolution.out_width = result[3];
    convolution.dtype = dtype_with(main.inputs[1]);
    convolution.weights = weights_of(fused);
    convolution.others = reads_without(fused, fused.weights);
    CpuProduct epilogue;
    epilogue.dtype = convolution.dtype;
    add_epilogue(fused, epilogue);
    convolution.gelu = epilogue.gelu;
    convolution.residual = epilogue.residual;
    convolution.widen = epilogue.widen;
    narrow_activation(main, op);
    convolution.weights = lay_out(convolution.weights, convolution.kernel * convolution.kernel, op);
    add(timing_.convolution(convolution), op);
  }

  // The activation in the type of the product, written once for all that read it so.
  void quantise(TensorId data, const Tensor& input, MappedCpuOp& op) {
    if (!converted_.insert(data).second) return;
    CpuRows rows;
    rows.rows = 1;
    rows.cols = element_count(input.shape);
    rows.op = CpuRowOp::kConvert;
    rows.dtype = product_dtype();
    rows.traffic = found({data, input.bytes()});
    Loop loop = timing_.rows(rows);
    loop.name = "quantise";
    add(std::move(loop), op);
  }

  void product(const FusedOp& fused, MappedCpuOp& op) override {
    CpuProduct product;
    set_dimensions(product_dimensions(graph_, graph_.op(fused.main)), product);
    product.dtype = activation_dtype();
    product.others = reads_without(fused, {});
    product.packed_weights = false;
    add(timing_.product(product), op);
  }

  void attention(const FusedOp& fused, MappedCpuOp& op) override {
    const AttentionDimensions& shape = fused.attention;
    const Bytes value = size_of(mapping_.precision.vector);
    const auto scores = static_cast<double>(shape.batch * shape.heads * shape.queries * shape.keys);
    const CpuTraffic once = timing_.found(scores * value, 2 * scores * value);
    const CpuTraffic outer = reads_without(fused, {});
    const CpuTraffic half = {outer.l2 / 2, outer.l3 / 2, outer.dram / 2};
    CpuProduct product;
    product.batch = shape.batch * shape.heads;
    product.m = shape.queries;
    product.n = shape.keys;
    product.k = shape.head_dim;
    product.packed_weights = false;
    product.dtype = activation_dtype();
    product.others = half;
    add_traffic(product.others, once);
    // Heads are parts of the rows of all of them.
    product.strided =
        2 * static_cast<double>(shape.batch * shape.heads * shape.queries * shape.head_dim) /
        static_cast<double>(timing_.lanes());
    Loop loop = timing_.product(product);
    loop.name = "scores";
    add(std::move(loop), op);
    CpuRows rows;
    rows.op = CpuRowOp::kSoftmax;
    rows.rows = product.batch * product.m;
    rows.cols = shape.keys;
    rows.narrow = narrow_values();
    rows.traffic = once;
    add_traffic(rows.traffic, once);
    add(timing_.rows(rows), op);
    product.n = shape.value_dim > 0 ? shape.value_dim : shape.head_dim;
    product.k = shape.keys;
    loop = timing_.product(product);
    loop.name = "context";
    add(std::move(loop), op);
  }

  // Every token goes to its experts; few tokens reach few experts.
  void experts(const FusedOp& fused, MappedCpuOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Tensor& weights = graph_.tensor(fused.weights.front());
    const Shape& result = graph_.tensor(main.outputs.front()).shape;
    const auto all = static_cast<double>(weights.shape[0]);
    const std::int64_t rows = element_count(result) / result.back();
    const auto routed = static_cast<double>(rows);
    const auto active = static_cast<double>(
        rows_per_expert({}, {rows, 1, weights.shape[0], weights.shape[0]}).size());
    CpuProduct product;
    product.batch = static_cast<std::int64_t>(active);
    product.k = weights.shape[1];
    product.n = weights.shape[2];
    product.m = static_cast<std::int64_t>(std::ceil(routed / active));
    product.dtype = product_dtype();
    const CpuTraffic traffic = weights_of(fused);
    const double share = active / all;
    product.weights = {traffic.l2 * share, traffic.l3 * share, traffic.dram * share};
    product.others = reads_without(fused, fused.weights);
    add_epilogue(fused, product);
    add(timing_.product(product), op);
  }

  // Two products per expert that gets rows; all have as many as the mean.
  void expert_layer(const FusedOp& fused, MappedCpuOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Shape& choice = graph_.tensor(main.inputs[2]).shape;
    const Shape& first = graph_.tensor(main.inputs[3]).shape;
    const Shape& second = graph_.tensor(main.inputs[4]).shape;
    const std::vector<std::int64_t> rows =
        rows_per_expert(parse_routing(text_of(main, "routing", "")),
                        {element_count(choice) / choice.back(), choice.back(),
                         integer_of(main, "experts"), first[0]},
                        {kernel_shapes().routing.draws, kernel_shapes().routing.largest_share});
    std::int64_t routed = 0;
    for (const std::int64_t count : rows) routed += count;
    const CpuTraffic traffic = weights_of(fused);
    const double active = static_cast<double>(rows.size()) / static_cast<double>(first[0]);
    const double all = static_cast<double>(first[2] + second[1]);
    CpuProduct product;
    product.batch = static_cast<std::int64_t>(rows.size());
    product.m = (routed + product.batch - 1) / product.batch;
    product.dtype = dtype_with(main.inputs[3]);
    const auto add_product = [&](const char* name, std::int64_t n, std::int64_t k, double share) {
      product.n = n;
      product.k = k;
      product.weights = {traffic.l2 * share, traffic.l3 * share, traffic.dram * share};
      Loop loop = timing_.product(product);
      loop.name = name;
      add(std::move(loop), op);
    };
    product.gelu = static_cast<double>(routed * second[1]) / static_cast<double>(timing_.lanes());
    product.others = reads_without(fused, fused.weights);
    add_product("first products", first[2], first[1], active * static_cast<double>(first[2]) / all);
    product.gelu = 0;
    product.others = CpuTraffic();
    add_product("second products", second[2], second[1],
                active * static_cast<double>(second[1]) / all);
  }

  // One token: the state is read and written once. Prompts: products of chunks.
  void scan(const FusedOp& fused, MappedCpuOp& op) override {
    const Op& main = graph_.op(fused.main);
    const Shape& key = graph_.tensor(main.inputs[1]).shape;
    const Shape& value = graph_.tensor(main.inputs[2]).shape;
    const std::int64_t chunk = std::min(integer_of(main, "chunk"), value[1]);
    const double macs = scan_macs_per_token(text_of(main, "function"), key[3], value[3], chunk);
    if (chunk <= 1) {
      CpuRows rows;
      rows.op = CpuRowOp::kAdd;
      rows.rows = value[0] * value[2] * key[3];
      rows.cols = value[3];
      rows.traffic = reads_without(fused, {});
      Loop loop = timing_.rows(rows);
      loop.name = main.kind;
      return add(std::move(loop), op);
    }
    CpuProduct product;
    product.batch = value[0] * value[2] * ((value[1] + chunk - 1) / chunk);
    product.m = chunk;
    product.n = value[3];
    product.k = std::max<std::int64_t>(1, std::llround(macs / static_cast<double>(value[3])));
    product.dtype = activation_dtype();
    product.packed_weights = false;
    product.others = reads_without(fused, {});
    add(timing_.product(product), op);
  }

  void indexer(const FusedOp& fused, MappedCpuOp& op) override {
    CpuProduct product;
    set_dimensions(indexer_dimensions(graph_, graph_.op(fused.main)), product);
    product.dtype = activation_dtype();
    product.packed_weights = false;
    product.others = reads_without(fused, {});
    add(timing_.product(product), op);
  }

  void pass(const FusedOp& fused, MappedCpuOp& op) override {
    const CpuTraffic traffic = reads_without(fused, {});
    const std::string& first = graph_.op(fused.main).kind;
    if (moves_only(first)) {
      op.engine = "memory";
      Loop loop = timing_.copy(traffic);
      loop.name = first;
      return add(std::move(loop), op);
    }
    // The work of all operators of the chain happens on values that are loaded once.
    const OpId heaviest = *std::max_element(
        fused.ops.begin(), fused.ops.end(),
        [this](OpId a, OpId b) { return row_op(graph_.op(a).kind) < row_op(graph_.op(b).kind); });
    const Shape& shape = graph_.tensor(graph_.op(heaviest).inputs.front()).shape;
    CpuRows rows;
    rows.op = row_op(graph_.op(heaviest).kind);
    rows.cols = shape.empty() ? 1 : shape.back();
    rows.rows = element_count(shape) / rows.cols;
    rows.narrow = narrow_values();
    rows.traffic = traffic;
    Loop loop = timing_.rows(rows);
    loop.name = graph_.op(heaviest).kind;
    add(std::move(loop), op);
  }

  const CpuMapping& mapping_;
  const CpuTiming& timing_;
  CacheResidency l2_;
  CacheResidency l3_;
  std::set<TensorId> converted_;
};

}  // namespace

std::vector<MappedCpuOp> map_to_cpu(const CpuMapping& mapping) { return CpuMapper(mapping).walk(); }

}  // namespace foretell
