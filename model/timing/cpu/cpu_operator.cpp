#include "model/timing/cpu/cpu_operator.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kHidden = 768;  // of an encoder layer of BERT-base
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kFeedForward = 4 * kHidden;

double value_bytes(const std::string& dtype) {
  if (dtype == "int8") return 1;
  return dtype == "fp32" ? 4 : 2;
}

class Operators {
 public:
  Operators(const CpuTiming& timing, const CpuOperator& op)
      : timing_(timing), op_(op), dtype_(op.dtype), each_(value_bytes(op.dtype)) {}

  std::vector<Loop> run() {
    if (op_.op == "gemm") {
      product({1, size("m"), size("n"), size("k")});
    } else if (op_.op == "gemm_gelu" || op_.op == "gemm_add") {
      linear(size("m"), size("n"), size("k"), op_.op == "gemm_add", op_.op == "gemm_gelu");
    } else if (op_.op == "attention_scores") {
      scores(size("b"), size("heads"), size("seq"), size("head_dim"));
    } else if (op_.op == "attention_context") {
      context(size("b"), size("heads"), size("seq"), size("head_dim"));
    } else if (op_.op == "batched_gemm") {
      product({size("b"), size("m"), size("n"), size("k")});
    } else if (op_.op == "conv" || op_.op == "conv_add") {
      convolution(size("b"), size("channels"), size("height"), size("filters"), size("kernel"),
                  size("stride"), size("padding"), op_.op == "conv_add");
    } else if (op_.op == "fork_join") {
      loops_.push_back(timing_.fork());
    } else if (op_.op == "bert_layer") {
      encoder_layer(size("b"), size("seq"));
    } else if (op_.op == "resnet_block") {
      bottleneck(size("b"), size("channels"), size("filters"), size("height"));
    } else if (op_.op.rfind("stream_", 0) == 0) {
      stream();
    } else {
      row_wise(size("rows"), size("cols"));
    }
    return std::move(loops_);
  }

 private:
  std::int64_t size(const char* name) const {
    const auto found = op_.sizes.find(name);
    if (found == op_.sizes.end() || found->second < 0) {
      throw UserError(op_.op + ": the size " + name + " is missing");
    }
    return found->second;
  }

  // Bytes of operands that are read, or results that are written, of an operator that touches
  // `footprint` in all.
  CpuTraffic found(double bytes, double footprint) const {
    if (op_.cold) return {Bytes(0), Bytes(0), Bytes(bytes)};
    return timing_.found(Bytes(bytes), Bytes(std::max(footprint, block_footprint_)));
  }

  // b products of m x k by k x n, with what follows on the results.
  struct Product {
    std::int64_t b, m, n, k;
    bool adds = false;
    bool gelu = false;
    bool widens = false;
    double strided = 0;  // values in rows that lie apart
  };

  void product(const Product& p) {
    const auto count = [](std::int64_t x, std::int64_t y, std::int64_t z) {
      return static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z);
    };
    const double results = count(p.b, p.m, p.n);
    const double result = (p.widens ? 4 : each_) * results;
    const double source = each_ * count(p.b, p.m, p.k) + (p.adds ? result : 0);
    const double weights = each_ * count(p.b, p.k, p.n);
    const double all = source + weights + result;
    const auto lanes = static_cast<double>(timing_.lanes());
    CpuProduct shape;
    shape.batch = p.b;
    shape.m = p.m;
    shape.n = p.n;
    shape.k = p.k;
    shape.dtype = dtype_;
    shape.packed_weights = p.b == 1;
    shape.weights = found(weights, all);
    shape.others = found(source, all) + found(result, all);
    if (p.gelu) shape.gelu = results / lanes;
    if (p.adds) shape.residual = results / lanes;
    if (p.widens) shape.widen = results / lanes;
    shape.strided = p.strided / lanes;
    loops_.push_back(timing_.product(shape));
    if (op_.cold) loops_.back().call += timing_.factors().cold_call;
  }

  // INT8 operands have a wide result.
  void linear(std::int64_t m, std::int64_t n, std::int64_t k, bool adds, bool gelu) {
    Product p{1, m, n, k};
    p.adds = adds;
    p.gelu = gelu;
    p.widens = dtype_ == "int8";
    product(p);
  }

  // Queries and keys, or values and results, are parts of rows of all heads.
  void scores(std::int64_t b, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
    Product p{b * heads, seq, seq, dim};
    p.strided = 2 * static_cast<double>(b * heads * seq * dim);
    product(p);
  }
  void context(std::int64_t b, std::int64_t heads, std::int64_t seq, std::int64_t dim) {
    Product p{b * heads, seq, dim, seq};
    p.strided = 2 * static_cast<double>(b * heads * seq * dim);
    product(p);
  }

  void convolution(std::int64_t b, std::int64_t channels, std::int64_t side, std::int64_t filters,
                   std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                   bool adds = false) {
    const std::int64_t out = (side + 2 * padding - kernel) / stride + 1;
    CpuConvolution shape;
    shape.batch = b;
    shape.channels = channels;
    shape.filters = filters;
    shape.kernel = kernel;
    shape.out_height = shape.out_width = out;
    shape.dtype = dtype_;
    const double source = each_ * static_cast<double>(b * channels * side * side);
    const double weights = each_ * static_cast<double>(filters * channels * kernel * kernel);
    const double result = each_ * static_cast<double>(b * filters * out * out);
    const double all = source + weights + result;
    shape.weights = found(weights, all);
    shape.others = found(source + (adds ? result : 0), all) + found(result, all);
    if (adds) shape.residual = result / each_ / static_cast<double>(timing_.lanes());
    loops_.push_back(timing_.convolution(shape));
  }

  void row_wise(std::int64_t rows, std::int64_t cols) { row_wise(op_.op, dtype_, rows, cols); }

  void row_wise(const std::string& op, const std::string& dtype, std::int64_t rows,
                std::int64_t cols) {
    static const std::map<std::string, CpuRowOp> kOps = {
        {"softmax", CpuRowOp::kSoftmax}, {"layer_norm", CpuRowOp::kNorm},
        {"reduce", CpuRowOp::kReduce},   {"add", CpuRowOp::kAdd},
        {"gelu", CpuRowOp::kGelu},       {"copy", CpuRowOp::kCopy},
        {"convert", CpuRowOp::kConvert}};
    const auto known = kOps.find(op);
    if (known == kOps.end()) {
      std::vector<std::string> names = {"gemm", "batched_gemm", "conv"};
      for (const auto& entry : kOps) names.push_back(entry.first);
      throw unknown_name("operator", op, names);
    }
    const auto values = static_cast<double>(rows) * static_cast<double>(cols);
    const double each = value_bytes(dtype);
    const double read = op == "convert" ? 4 * values : each * values * (op == "add" ? 2 : 1);
    const double result = op == "reduce" ? each * static_cast<double>(rows) : each * values;
    CpuRows shape;
    shape.op = known->second;
    shape.rows = rows;
    shape.cols = cols;
    shape.dtype = dtype;
    shape.narrow = each < 4 && op != "copy" && op != "convert";
    shape.traffic = found(read, read + result) + found(result, read + result);
    loops_.push_back(timing_.rows(shape));
  }

  void stream() {
    const auto bytes = static_cast<double>(size("bytes"));
    Loop loop = timing_.copy(found(bytes, bytes));
    loop.call = Seconds(0);  // a loop of our own is no primitive
    loops_.push_back(std::move(loop));
  }

  // What a layer touches from one call to the next decides where its weights are found.
  void encoder_layer(std::int64_t b, std::int64_t seq) {
    const std::int64_t tokens = b * seq;
    const bool int8 = dtype_ == "int8";
    const std::string wide = int8 ? "fp32" : dtype_;
    const double wide_bytes = value_bytes(wide);
    const auto t = static_cast<double>(tokens);
    block_footprint_ = each_ * static_cast<double>(12 * kHidden * kHidden) +
                       wide_bytes * t * static_cast<double>(14 * kHidden) +
                       2 * wide_bytes * static_cast<double>(b * kHeads * seq * seq);
    const auto layer = [&](std::int64_t n, std::int64_t k, bool adds, bool gelu) {
      if (int8) row_wise("convert", "int8", tokens, k);
      linear(tokens, n, k, adds, gelu);
    };
    layer(3 * kHidden, kHidden, false, false);
    dtype_ = wide;
    each_ = wide_bytes;
    scores(b, kHeads, seq, kHidden / kHeads);
    row_wise("softmax", wide, b * kHeads * seq, seq);
    context(b, kHeads, seq, kHidden / kHeads);
    dtype_ = op_.dtype;
    each_ = value_bytes(dtype_);
    layer(kHidden, kHidden, true, false);
    row_wise("layer_norm", wide, tokens, kHidden);
    layer(kFeedForward, kHidden, false, true);
    layer(kHidden, kFeedForward, true, false);
    row_wise("layer_norm", wide, tokens, kHidden);
  }

  void bottleneck(std::int64_t b, std::int64_t channels, std::int64_t filters, std::int64_t side) {
    const auto pixels = static_cast<double>(b * side * side);
    block_footprint_ =
        each_ * (static_cast<double>(2 * channels * filters + 9 * filters * filters) +
                 pixels * static_cast<double>(2 * channels + 2 * filters));
    convolution(b, channels, side, filters, 1, 1, 0);
    convolution(b, filters, side, filters, 3, 1, 1);
    convolution(b, filters, side, channels, 1, 1, 0, true);
  }

  const CpuTiming& timing_;
  const CpuOperator& op_;
  std::string dtype_;
  double each_;
  double block_footprint_ = 0;
  std::vector<Loop> loops_;
};

}  // namespace

std::vector<Loop> loops_of(const CpuTiming& timing, const CpuOperator& op) {
  return Operators(timing, op).run();
}

Seconds operator_time(const CpuTiming& timing, const CpuOperator& op) {
  Seconds sum;
  for (const Loop& loop : loops_of(timing, op)) sum += loop_time(loop);
  return sum;
}

std::string operator_class(const CpuOperator& op) {
  if (op.cold) return "product, cold";
  if (op.op.rfind("gemm", 0) == 0 || op.op == "batched_gemm" || op.op.rfind("attention", 0) == 0) {
    return "product " + op.dtype;
  }
  if (op.op == "conv" || op.op == "conv_add") return "convolution " + op.dtype;
  if (op.op == "bert_layer" || op.op == "resnet_block") return "block";
  if (op.op == "fork_join") return "fork and join";
  if (op.op.rfind("stream_", 0) == 0) return "stream";
  if (op.op == "softmax" || op.op == "layer_norm" || op.op == "reduce") return op.op;
  return "element-wise";
}

}  // namespace foretell
