#include "workloads/import/hf/diffusion/latent_builder.hpp"

namespace foretell {

TensorId LatentBuilder::conv(const std::string& name, TensorId x, std::int64_t channels,
                             std::int64_t kernel, std::int64_t stride) {
  return op(name, "Conv",
            {x, weight(name + ".weight", {channels, shape(x)[1], kernel, kernel}),
             weight(name + ".bias", {channels})},
            {{"strides", Shape{stride, stride}}, {"pads", Shape(4, kernel / 2)}});
}

TensorId LatentBuilder::group_norm(const std::string& name, TensorId x) {
  const Shape channels{shape(x)[1]};
  return op(name, "GroupNorm",
            {x, weight(name + ".weight", channels), weight(name + ".bias", channels)},
            {{"groups", groups_}});
}

TensorId LatentBuilder::resnet(const std::string& name, TensorId x, TensorId time,
                               std::int64_t channels) {
  TensorId y = op(name + ".activation1", "Silu", {group_norm(name + ".norm1", x)});
  y = conv(name + ".conv1", y, channels, 3);
  if (time != kNoId) {
    const TensorId offset =
        linear(name + ".time", op(name + ".time.activation", "Silu", {time}), channels);
    const Shape per_channel{shape(offset)[0], channels, 1, 1};
    y = op(name + ".add_time", "Add",
           {y, op(name + ".time.reshape", "Reshape", {offset}, {{"shape", per_channel}})});
  }
  y = op(name + ".activation2", "Silu", {group_norm(name + ".norm2", y)});
  y = conv(name + ".conv2", y, channels, 3);
  const TensorId past = shape(x)[1] == channels ? x : conv(name + ".shortcut", x, channels, 1);
  return op(name + ".residual", "Add", {y, past});
}

TensorId LatentBuilder::upsample(const std::string& name, TensorId x) {
  const Shape in = shape(x);
  const TensorId large =
      op(name + ".resize", "Resize", {x},
         {{"sizes", Shape{2 * in[2], 2 * in[3]}}, {"mode", std::string("nearest")}});
  return conv(name, large, in[1], 3);
}

TensorId LatentBuilder::condition(const std::string& name, TensorId x, std::int64_t width) {
  const TensorId wide = op(name + ".activation", "Silu", {linear(name + ".0", x, width)});
  return linear(name + ".1", wide, width);
}

}  // namespace foretell
