// One primitive of oneDNN.
#include <algorithm>

#include "calib/measure/cpu/cpu_work.hpp"
#include "calib/measure/cpu/onednn.hpp"
#include "calib/measure/cpu/reference.hpp"

namespace foretell {
namespace {

using dnnl::memory;
using Type = memory::data_type;

// Results of products in INT8 are brought back to eight bits.
constexpr float kInt8Scale = 1.0F / 64;

class Primitive : public CpuWork {
 public:
  using Reference = std::function<std::vector<double>(const std::vector<std::vector<float>>&)>;

  void run() override {
    primitive_.execute(cpu_stream(), arguments_);
    cpu_stream().wait();
  }
  double error() override {
    run();
    std::vector<std::vector<float>> inputs;
    for (const memory& input : inputs_) inputs.push_back(values_of(input));
    return largest_error(values_of(result_), reference_(inputs),
                         result_.get_desc().data_type() == Type::s8 ? 1.01 : tolerance_);
  }
  std::string kernel() const override { return kernel_; }

  void input(int name, const memory& value) {
    inputs_.push_back(value);
    arguments_[name] = value;
  }
  void output(int name, const memory& value) {
    result_ = value;
    arguments_[name] = value;
  }
  // Memory that others are views of.
  void keep(const memory& value) { kept_ = value; }
  template <class Description>
  void take(const dnnl::primitive& primitive, const Description& description) {
    primitive_ = primitive;
    kernel_ = description.impl_info_str();
  }
  void check_with(Reference reference, const std::string& dtype) {
    reference_ = std::move(reference);
    tolerance_ = dtype == "fp32" ? 1e-4 : 3e-2;
  }

 private:
  dnnl::primitive primitive_;
  std::unordered_map<int, memory> arguments_;
  std::vector<memory> inputs_;
  memory result_;
  memory kept_;
  std::string kernel_;
  Reference reference_;
  double tolerance_ = 0;
};

dnnl::primitive_attr scaled_if_int8(const std::string& dtype) {
  dnnl::primitive_attr attributes;
  if (dtype == "int8") attributes.set_output_scales(0, {kInt8Scale});
  return attributes;
}

Type activation_type(const std::string& dtype) {
  return dtype == "int8" ? Type::u8 : onednn_type(dtype);
}

// A linear layer: with bias, then GELU or the sum with a residual; of INT8 operands, the result is
// wide.
void make_linear(const MeasureTask& task, Primitive& work) {
  const std::int64_t m = task.size("m"), n = task.size("n"), k = task.size("k");
  const bool adds = task.op == "gemm_add";
  const memory::desc source = plain({m, k}, activation_type(task.dtype));
  const Type wide = task.dtype == "int8" ? Type::f32 : onednn_type(task.dtype);
  const memory::desc result = plain({m, n}, wide);
  const memory::desc bias = plain({1, n}, Type::f32);
  dnnl::primitive_attr attributes = scaled_if_int8(task.dtype);
  dnnl::post_ops epilogue;
  if (adds) {
    epilogue.append_binary(dnnl::algorithm::binary_add, result);
  } else {
    epilogue.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
  }
  attributes.set_post_ops(epilogue);
  const dnnl::matmul::primitive_desc description(
      dnnl::matmul::desc(source, any_layout({k, n}, onednn_type(task.dtype)), bias, result),
      attributes, cpu_engine());
  work.take(dnnl::matmul(description), description);
  work.input(DNNL_ARG_SRC, filled(source, 1));
  work.input(DNNL_ARG_WEIGHTS, filled(description.weights_desc(), 2));
  work.input(DNNL_ARG_BIAS, filled(bias, 3));
  if (adds) {
    work.input(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, filled(result, 4));
  }
  work.output(DNNL_ARG_DST, memory(result, cpu_engine()));
  const double scale = task.dtype == "int8" ? static_cast<double>(kInt8Scale) : 1.0;
  work.check_with(
      [=](const auto& in) {
        // The library scales the bias along with the product.
        std::vector<double> values = reference_product(in[0], in[1], {1, m, n, k}, scale);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] += static_cast<double>(in[2][i % static_cast<std::size_t>(n)]) * scale;
        }
        return with_epilogue(values, adds ? in[3] : std::vector<float>());
      },
      task.dtype);
}

// Queries, keys and values of all heads lie side by side in the rows of one tensor, scores apart.
void make_attention(const MeasureTask& task, Primitive& work) {
  const std::int64_t b = task.size("b"), heads = task.size("heads"), seq = task.size("seq");
  const std::int64_t dim = task.size("head_dim"), hidden = heads * dim;
  const Type type = onednn_type(task.dtype);
  const memory::dims rows_first = {seq * 3 * hidden, dim, 3 * hidden, 1};
  const memory::dims columns_first = {seq * 3 * hidden, dim, 1, 3 * hidden};
  const memory::desc scores = plain({b, heads, seq, seq}, type);
  const memory qkv = filled(plain({b * seq, 3 * hidden}, type), 1);
  auto* begin = static_cast<char*>(qkv.get_data_handle());
  const std::int64_t bytes = type == Type::f32 ? 4 : 2;
  const bool first = task.op == "attention_scores";
  const memory::desc source = first ? memory::desc({b, heads, seq, dim}, type, rows_first) : scores;
  const memory::desc weights = first ? memory::desc({b, heads, dim, seq}, type, columns_first)
                                     : memory::desc({b, heads, seq, dim}, type, rows_first);
  const memory::desc result =
      first ? scores
            : memory::desc({b, heads, seq, dim}, type, memory::dims{seq * hidden, dim, hidden, 1});
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(source, weights, result),
                                                 cpu_engine());
  work.take(dnnl::matmul(description), description);
  work.keep(qkv);
  work.input(DNNL_ARG_SRC, first ? memory(source, cpu_engine(), begin) : filled(scores, 2));
  work.input(DNNL_ARG_WEIGHTS,
             memory(weights, cpu_engine(), begin + (first ? 1 : 2) * hidden * bytes));
  work.output(DNNL_ARG_DST, memory(result, cpu_engine()));
  const ProductShape shape{b * heads, seq, first ? seq : dim, first ? dim : seq};
  work.check_with([=](const auto& in) { return reference_product(in[0], in[1], shape, 1); },
                  task.dtype);
}

void make_product(const MeasureTask& task, Primitive& work) {
  const bool batched = task.op == "batched_gemm";
  const std::int64_t b = batched ? task.size("b") : 1;
  const std::int64_t m = task.size("m"), n = task.size("n"), k = task.size("k");
  const auto dims = [&](std::int64_t rows, std::int64_t columns) {
    return batched ? memory::dims{b, rows, columns} : memory::dims{rows, columns};
  };
  const Type type = onednn_type(task.dtype);
  const memory::desc source = plain(dims(m, k), activation_type(task.dtype));
  // Weights are laid out ahead as the library likes them; activations are not.
  const memory::desc weights = batched ? plain(dims(k, n), type) : any_layout(dims(k, n), type);
  const memory::desc result = plain(dims(m, n), type);
  const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(source, weights, result),
                                                 scaled_if_int8(task.dtype), cpu_engine());
  work.take(dnnl::matmul(description), description);
  work.input(DNNL_ARG_SRC, filled(source, 1));
  work.input(DNNL_ARG_WEIGHTS, filled(description.weights_desc(), 2));
  work.output(DNNL_ARG_DST, memory(result, cpu_engine()));
  const double scale = task.dtype == "int8" ? static_cast<double>(kInt8Scale) : 1.0;
  work.check_with(
      [=](const auto& in) {
        return reference_product(in[0], in[1], {b, m, n, k}, scale);
      },
      task.dtype);
}

void make_convolution(const MeasureTask& task, Primitive& work) {
  const std::int64_t b = task.size("b"), c = task.size("channels"), h = task.size("height");
  const std::int64_t w = task.size("width"), f = task.size("filters"), s = task.size("kernel");
  const std::int64_t stride = task.size("stride"), padding = task.size("padding");
  const std::int64_t oh = (h + 2 * padding - s) / stride + 1;
  const std::int64_t ow = (w + 2 * padding - s) / stride + 1;
  const bool adds = task.op == "conv_add";
  const Type type = onednn_type(task.dtype);
  const auto nhwc = memory::format_tag::nhwc;
  const memory::desc source({b, c, h, w}, activation_type(task.dtype), nhwc);
  const memory::desc weights = any_layout({f, c, s, s}, type);
  const memory::desc result({b, f, oh, ow}, type, nhwc);
  dnnl::primitive_attr attributes = scaled_if_int8(task.dtype);
  if (adds) {
    dnnl::post_ops epilogue;
    epilogue.append_sum(1);
    epilogue.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(epilogue);
  }
  const dnnl::convolution_forward::primitive_desc description(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference,
                                      dnnl::algorithm::convolution_direct, source, weights, result,
                                      {stride, stride}, {padding, padding}, {padding, padding}),
      attributes, cpu_engine());
  work.take(dnnl::convolution_forward(description), description);
  work.input(DNNL_ARG_SRC, filled(source, 1));
  work.input(DNNL_ARG_WEIGHTS, filled(description.weights_desc(), 2));
  const memory out = filled(result, 6);
  const std::vector<float> before = values_of(out);  // what the first call adds to
  work.output(DNNL_ARG_DST, out);
  const ConvolutionShape shape{b, c, h, w, f, s, stride, padding};
  const double scale = task.dtype == "int8" ? static_cast<double>(kInt8Scale) : 1.0;
  work.check_with(
      [=](const auto& in) {
        std::vector<double> values = reference_convolution(in[0], in[1], shape, scale);
        for (std::size_t i = 0; adds && i < values.size(); ++i) {
          values[i] = std::max(0.0, values[i] + static_cast<double>(before[i]));
        }
        return values;
      },
      task.dtype);
}

void make_row_wise(const MeasureTask& task, Primitive& work) {
  const std::int64_t rows = task.size("rows"), cols = task.size("cols");
  const Type type = onednn_type(task.dtype);
  const memory::desc values = plain({rows, cols}, type);
  const memory::desc source = task.op == "convert" ? plain({rows, cols}, Type::f32) : values;
  const memory::desc result = task.op == "reduce" ? plain({rows, 1}, type) : values;
  work.input(DNNL_ARG_SRC, filled(source, 3));
  work.output(DNNL_ARG_DST, memory(result, cpu_engine()));
  const std::string op = task.op;
  work.check_with([=](const auto& in) { return reference_rows(op, in, rows, cols); }, task.dtype);
  if (op == "softmax") {
    const dnnl::softmax_forward::primitive_desc description(
        dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, values, 1), cpu_engine());
    return work.take(dnnl::softmax_forward(description), description);
  }
  if (op == "layer_norm") {
    const dnnl::layer_normalization_forward::primitive_desc description(
        dnnl::layer_normalization_forward::desc(
            dnnl::prop_kind::forward_inference, values, 1e-5F,
            dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift),
        cpu_engine());
    work.input(DNNL_ARG_SCALE, filled(plain({cols}, Type::f32), 4));
    work.input(DNNL_ARG_SHIFT, filled(plain({cols}, Type::f32), 5));
    return work.take(dnnl::layer_normalization_forward(description), description);
  }
  if (op == "reduce") {
    const dnnl::reduction::primitive_desc description(
        dnnl::reduction::desc(dnnl::algorithm::reduction_sum, values, result, 0, 0), cpu_engine());
    return work.take(dnnl::reduction(description), description);
  }
  if (op == "add") {
    const dnnl::binary::primitive_desc description(
        dnnl::binary::desc(dnnl::algorithm::binary_add, values, values, values), cpu_engine());
    work.input(DNNL_ARG_SRC_1, filled(values, 4));
    return work.take(dnnl::binary(description), description);
  }
  if (op == "gelu") {
    const dnnl::eltwise_forward::primitive_desc description(
        dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference,
                                    dnnl::algorithm::eltwise_gelu_erf, values, 0, 0),
        cpu_engine());
    return work.take(dnnl::eltwise_forward(description), description);
  }
  const dnnl::reorder::primitive_desc description(cpu_engine(), source, cpu_engine(), result);
  work.take(dnnl::reorder(description), description);
}

}  // namespace

std::unique_ptr<CpuWork> prepare_primitive(const MeasureTask& task) {
  auto work = std::make_unique<Primitive>();
  try {
    if (task.op == "gemm" || task.op == "batched_gemm") {
      make_product(task, *work);
    } else if (task.op == "gemm_gelu" || task.op == "gemm_add") {
      make_linear(task, *work);
    } else if (task.op == "attention_scores" || task.op == "attention_context") {
      make_attention(task, *work);
    } else if (task.op == "conv" || task.op == "conv_add") {
      make_convolution(task, *work);
    } else {
      make_row_wise(task, *work);
    }
  } catch (const dnnl::error& failure) {
    throw Unavailable(std::string("oneDNN has no kernel for it here: ") + failure.what());
  }
  return work;
}

}  // namespace foretell
