// Blocks of several primitives, as networks run them: a layer of an encoder like BERT-base and a
// bottleneck of a ResNet-50. They are never fitted to, only compared with.
#include <utility>

#include "calib/measure/cpu/cpu_work.hpp"
#include "calib/measure/cpu/onednn.hpp"

namespace foretell {
namespace {

using dnnl::memory;
using Type = memory::data_type;
using Arguments = std::unordered_map<int, memory>;

constexpr std::int64_t kHidden = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHeadDim = kHidden / kHeads;
constexpr std::int64_t kFeedForward = 4 * kHidden;

std::int64_t size_of(const memory& tensor, std::size_t axis) {
  return tensor.get_desc().dims().at(axis);
}

class Chain : public CpuWork {
 public:
  void run() override {
    for (const auto& [primitive, arguments] : steps_) primitive.execute(cpu_stream(), arguments);
    cpu_stream().wait();
  }

 protected:
  void add(dnnl::primitive primitive, Arguments arguments) {
    steps_.emplace_back(std::move(primitive), std::move(arguments));
  }

 private:
  std::vector<std::pair<dnnl::primitive, Arguments>> steps_;
};

class EncoderLayer : public Chain {
 public:
  EncoderLayer(const std::string& dtype, std::int64_t batch, std::int64_t seq)
      : batch_(batch), seq_(seq), int8_(dtype == "int8") {
    // In INT8 networks attention and norms stay in FP32.
    type_ = int8_ ? Type::f32 : onednn_type(dtype);
    const std::int64_t tokens = batch * seq;
    const memory input = filled(plain({tokens, kHidden}, type_), 1);
    const memory qkv = linear(input, 3 * kHidden, {}, false);
    const memory context = attention(qkv);
    const memory attended = norm(linear(context, kHidden, input, false));
    const memory inner = linear(attended, kFeedForward, {}, true);
    norm(linear(inner, kHidden, attended, false));
  }

 private:
  memory make(const memory::desc& desc) const { return memory(desc, cpu_engine()); }

  // With bias; `residual` is added when it is there, GELU follows when wanted.
  memory linear(memory source, std::int64_t columns, const memory& residual, bool gelu) {
    const std::int64_t rows = size_of(source, 0);
    const std::int64_t depth = size_of(source, 1);
    if (int8_) source = quantised(source);
    dnnl::primitive_attr attributes;
    dnnl::post_ops epilogue;
    Arguments arguments;
    if (gelu) epilogue.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
    if (residual) {
      epilogue.append_binary(dnnl::algorithm::binary_add, residual.get_desc());
      arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] = residual;
    }
    attributes.set_post_ops(epilogue);
    if (int8_) attributes.set_output_scales(0, {0.01F});
    const memory::desc weights = any_layout({depth, columns}, int8_ ? Type::s8 : type_);
    const memory::desc bias = plain({1, columns}, Type::f32);
    const memory::desc result = plain({rows, columns}, type_);
    const dnnl::matmul::primitive_desc description(
        dnnl::matmul::desc(source.get_desc(), weights, bias, result), attributes, cpu_engine());
    const memory out = make(result);
    arguments[DNNL_ARG_SRC] = source;
    arguments[DNNL_ARG_WEIGHTS] = filled(description.weights_desc(), 2);
    arguments[DNNL_ARG_BIAS] = filled(bias, 3);
    arguments[DNNL_ARG_DST] = out;
    add(dnnl::matmul(description), arguments);
    return out;
  }

  memory quantised(const memory& source) {
    const memory narrow = make(plain(source.get_desc().dims(), Type::u8));
    const dnnl::reorder::primitive_desc description(cpu_engine(), source.get_desc(), cpu_engine(),
                                                    narrow.get_desc());
    add(dnnl::reorder(description), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, narrow}});
    return narrow;
  }

  // A part of the common result of queries, keys and values, seen as [batch, heads, rows, columns].
  memory view(const memory& qkv, std::int64_t part, bool transposed) const {
    const memory::dims rows_first = {seq_ * 3 * kHidden, kHeadDim, 3 * kHidden, 1};
    const memory::dims columns_first = {seq_ * 3 * kHidden, kHeadDim, 1, 3 * kHidden};
    const memory::desc desc(transposed ? memory::dims{batch_, kHeads, kHeadDim, seq_}
                                       : memory::dims{batch_, kHeads, seq_, kHeadDim},
                            type_, transposed ? columns_first : rows_first);
    auto* begin = static_cast<char*>(qkv.get_data_handle());
    const std::int64_t bytes = type_ == Type::f32 ? 4 : 2;
    return memory(desc, cpu_engine(), begin + part * kHidden * bytes);
  }

  // The scale of the scores is part of the query's weights, as runtimes fold it: where a release
  // has no vector code for a product with a scale, it would take longer than all the rest of the
  // layer.
  memory attention(const memory& qkv) {
    const memory scores = make(plain({batch_, kHeads, seq_, seq_}, type_));
    const memory query = view(qkv, 0, false);
    const memory key = view(qkv, 1, true);
    const memory value = view(qkv, 2, false);
    const dnnl::matmul::primitive_desc first(
        dnnl::matmul::desc(query.get_desc(), key.get_desc(), scores.get_desc()), cpu_engine());
    add(dnnl::matmul(first),
        {{DNNL_ARG_SRC, query}, {DNNL_ARG_WEIGHTS, key}, {DNNL_ARG_DST, scores}});
    const dnnl::softmax_forward::primitive_desc softmax(
        dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, scores.get_desc(), 3),
        cpu_engine());
    add(dnnl::softmax_forward(softmax), {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
    const memory context = make(plain({batch_ * seq_, kHidden}, type_));
    const memory::desc by_head({batch_, kHeads, seq_, kHeadDim}, type_,
                               memory::dims{seq_ * kHidden, kHeadDim, kHidden, 1});
    const memory context_by_head(by_head, cpu_engine(), context.get_data_handle());
    const dnnl::matmul::primitive_desc second(
        dnnl::matmul::desc(scores.get_desc(), value.get_desc(), by_head), cpu_engine());
    add(dnnl::matmul(second),
        {{DNNL_ARG_SRC, scores}, {DNNL_ARG_WEIGHTS, value}, {DNNL_ARG_DST, context_by_head}});
    qkv_ = qkv;
    context_ = context;
    return context;
  }

  memory norm(const memory& source) {
    const dnnl::layer_normalization_forward::primitive_desc description(
        dnnl::layer_normalization_forward::desc(
            dnnl::prop_kind::forward_inference, source.get_desc(), 1e-5F,
            dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift),
        cpu_engine());
    const memory out = make(source.get_desc());
    add(dnnl::layer_normalization_forward(description),
        {{DNNL_ARG_SRC, source},
         {DNNL_ARG_SCALE, filled(plain({kHidden}, Type::f32), 4)},
         {DNNL_ARG_SHIFT, filled(plain({kHidden}, Type::f32), 5)},
         {DNNL_ARG_DST, out}});
    return out;
  }

  std::int64_t batch_;
  std::int64_t seq_;
  bool int8_;
  Type type_ = Type::f32;
  memory qkv_, context_;  // own what views point to
};

class Bottleneck : public Chain {
 public:
  explicit Bottleneck(const MeasureTask& task)
      : batch_(task.size("b")), side_(task.size("height")), dtype_(task.dtype) {
    const std::int64_t channels = task.size("channels");
    const std::int64_t filters = task.size("filters");
    const memory input = filled(desc_of(channels), 1);
    const memory reduced = convolution(input, filters, 1, false);
    const memory inner = convolution(reduced, filters, 3, false);
    convolution(inner, channels, 1, true);
  }

 private:
  Type activation() const { return dtype_ == "int8" ? Type::u8 : onednn_type(dtype_); }

  memory::desc desc_of(std::int64_t channels) const {
    return {{batch_, channels, side_, side_}, activation(), memory::format_tag::nhwc};
  }

  // With bias and ReLU; `adds`: to what is in the result already, the residual.
  memory convolution(const memory& source, std::int64_t filters, std::int64_t kernel, bool adds) {
    const std::int64_t channels = size_of(source, 1);
    const std::int64_t padding = kernel / 2;
    const memory::desc weights =
        any_layout({filters, channels, kernel, kernel}, onednn_type(dtype_));
    const memory::desc bias = plain({filters}, Type::f32);
    dnnl::primitive_attr attributes;
    dnnl::post_ops epilogue;
    if (adds) epilogue.append_sum(1);
    epilogue.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
    attributes.set_post_ops(epilogue);
    if (dtype_ == "int8") attributes.set_output_scales(0, {0.01F});
    const dnnl::convolution_forward::primitive_desc description(
        dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference,
                                        dnnl::algorithm::convolution_direct, source.get_desc(),
                                        weights, bias, desc_of(filters), {1, 1}, {padding, padding},
                                        {padding, padding}),
        attributes, cpu_engine());
    const memory out = filled(desc_of(filters), 6);
    add(dnnl::convolution_forward(description),
        {{DNNL_ARG_SRC, source},
         {DNNL_ARG_WEIGHTS, filled(description.weights_desc(), 2)},
         {DNNL_ARG_BIAS, filled(bias, 3)},
         {DNNL_ARG_DST, out}});
    return out;
  }

  std::int64_t batch_;
  std::int64_t side_;
  std::string dtype_;
};

}  // namespace

std::unique_ptr<CpuWork> prepare_block(const MeasureTask& task) {
  try {
    if (task.op == "resnet_block") return std::make_unique<Bottleneck>(task);
    return std::make_unique<EncoderLayer>(task.dtype, task.size("b"), task.size("seq"));
  } catch (const dnnl::error& failure) {
    throw Unavailable(std::string("oneDNN has no kernel for it here: ") + failure.what());
  }
}

}  // namespace foretell
