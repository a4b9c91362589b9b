// Pieces that transformers which remove noise have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/diffusion/latent_builder.hpp"
#include "workloads/import/hf/diffusion/token_sharing.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {

// Vectors that the time makes for a block: shift, factor and gate, of attention and feed-forward.
constexpr std::int64_t kShifts = 6;

class DenoiserBuilder : public LatentBuilder {
 public:
  // UserError where the size of the images, or the number of frames, does not fit the network.
  DenoiserBuilder(const ModelConfig& config, const Binding& binding);

  std::int64_t batch() const { return batch_; }
  std::int64_t tokens() const { return frames_ * height_ * width_; }  // of an image or video
  // Those that this rank has, where several share them.
  std::int64_t own_tokens() const { return (tokens() + sharing_.ranks - 1) / sharing_.ranks; }
  std::int64_t height() const { return height_; }  // in tokens
  std::int64_t width() const { return width_; }

  // The latent image [batch, channels, height, width] by a convolution as wide as its stride:
  // [batch, tokens, hidden].
  TensorId patches_of_image();
  // Patches that come side by side, as pipelines pack them: [batch, tokens, hidden].
  TensorId packed_patches();
  // Of all tokens [batch, tokens, ..], those of this rank, and of these all again.
  TensorId own_share(const std::string& name, TensorId x);
  TensorId all_shares(const std::string& name, TensorId x);
  // Rows of a text of `length` that this rank has, where ranks divide texts, and these.
  std::int64_t text_rows(std::int64_t length) const;
  TensorId own_text(const std::string& name, TensorId x);
  // Attention among the tokens of all ranks; all of them have the first `replicated` rows.
  TensorId attended(const std::string& name, const SharedHeads& own);
  // Patches side by side again.
  TensorId unpatched(TensorId x);

  // Two linear layers over waves of the time, or of the strength of guidance: [batch, width].
  TensorId wave_condition(const std::string& name, std::int64_t width);
  // Vectors [batch, 1, hidden] of x [batch, count * hidden]; `count` learned ones are added when
  // `learned`. Operators are called after `name`.
  std::vector<TensorId> vectors(const std::string& name, TensorId x, std::int64_t count,
                                bool learned);
  // A norm with parameters of its own.
  TensorId norm(const std::string& name, TensorId x);
  // Stays in FP32, whatever the network runs in.
  TensorId keep_wide(TensorId id);
  // A norm without parameters of its own, times 1 + factor, plus shift.
  TensorId modulate(const std::string& name, TensorId x, TensorId shift, TensorId factor);
  TensorId scaled_and_shifted(const std::string& name, TensorId normed, TensorId shift,
                              TensorId factor);
  // x plus what a block adds, times the gate where there is one.
  TensorId residual(const std::string& name, TensorId x, TensorId added, TensorId gate);

  // x [batch, tokens, ..] -> [batch, heads, tokens, columns of a head] by a linear layer.
  TensorId project(const std::string& name, TensorId x, std::int64_t width, std::int64_t heads,
                   bool bias);
  // The same with the norm of queries and keys.
  TensorId project_normed(const std::string& name, TensorId x, std::int64_t width,
                          std::int64_t heads, bool bias);
  // Queries or keys of `tokens` tokens rotated by their places, where the network does so.
  TensorId rotated(const std::string& name, TensorId heads);
  // Linear, activation, linear.
  TensorId feed_forward(const std::string& name, TensorId x, std::int64_t inner,
                        Activation function);

 private:
  const ModelConfig& config_;
  TokenSharing sharing_;
  std::int64_t batch_;
  std::int64_t frames_ = 1;  // all in tokens
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  std::map<std::int64_t, TensorId> places_;  // by number of tokens
};

}  // namespace foretell
