#include "model/timing/gpu/state_space_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {
namespace {

constexpr double kScanElementBytes = 2;
constexpr double kStateBytes = 4;
constexpr double kUpdates = 64;  // unit of LayerKernelFactors::score in updates

Grid convolution(const LayerCall& call, const StateSpaceShape& shape, bool update) {
  const StateShapes& blocks_of = kernel_shapes().states;
  const auto batch = static_cast<double>(shape.batch);
  const double tokens = batch * static_cast<double>(shape.seq_len);
  const auto channels =
      static_cast<double>(shape.channels - (call.facts().convolves_values ? 0 : shape.values));
  const double state = batch * channels * static_cast<double>(shape.width - 1) * kScanElementBytes;
  const double bytes = tokens * channels * 2 * kScanElementBytes + (update ? 2 * state : state);
  const LayerKernelFacts& facts = call.facts();
  const bool walks = !update && facts.walk_tokens > 0;
  const auto length = static_cast<double>(shape.seq_len);
  const double blocks = batch *
                        std::ceil(channels / (walks ? facts.walk_channels : blocks_of.channels)) *
                        (update || walks ? 1 : std::ceil(length / blocks_of.tokens));
  const double chunks = walks ? std::ceil(length / facts.walk_tokens) : 0;
  Grid kernel = call.pass(update ? "update of a convolution" : "convolution", bytes, tokens);
  add_ctas(
      kernel, static_cast<std::int64_t>(blocks),
      Seconds(call.seconds(call.factors().prologue) + chunks * call.seconds(call.factors().step)));
  kernel.stages_ahead = call.factors().stages_ahead;
  return kernel;
}

Grid state_update(const LayerCall& call, const StateSpaceShape& shape) {
  const StateShapes& blocks_of = kernel_shapes().states;
  const auto batch = static_cast<double>(shape.batch);
  const double values = static_cast<double>(shape.heads) * static_cast<double>(shape.head_dim);
  const double state = batch * values * static_cast<double>(shape.state_dim);
  const double bytes = 2 * state * kStateBytes;
  const double blocks = batch * std::ceil(values / blocks_of.values);
  Grid kernel;
  kernel.name = "update of states";
  const double each = call.seconds(call.factors().prologue) +
                      blocks_of.values * static_cast<double>(shape.state_dim) / kUpdates *
                          call.seconds(call.factors().score);
  add_ctas(kernel, static_cast<std::int64_t>(blocks), Seconds(each));
  call.set_memory(kernel, call.missing_since_call(bytes) * bytes);
  return kernel;
}

// States that sequences begin with, and those that they leave.
double states_of_sequences(const StateSpaceShape& shape) {
  return 2 * static_cast<double>(shape.batch * shape.heads * shape.head_dim * shape.state_dim) *
         kStateBytes;
}

// Thread blocks that do all of a chunk, one after another.
Grid scan_in_one(const LayerCall& call, const StateSpaceShape& shape, double chunks,
                 double chunk_flops) {
  const auto batch = static_cast<double>(shape.batch);
  const double tokens = batch * static_cast<double>(shape.seq_len);
  const double tiles = std::ceil(static_cast<double>(shape.head_dim) / call.facts().head_tile);
  const double step = std::max(call.seconds(call.factors().step), chunk_flops / call.sm_rate());
  Grid kernel;
  kernel.name = "scan";
  add_ctas(kernel, static_cast<std::int64_t>(batch * static_cast<double>(shape.heads) * tiles),
           Seconds(call.seconds(call.factors().prologue) + chunks * step));
  const auto moved = static_cast<double>(shape.channels + shape.values);
  call.set_memory(kernel, tokens * moved * kScanElementBytes + states_of_sequences(shape));
  kernel.stages_ahead = call.factors().stages_ahead;
  return kernel;
}

void add_scan(const LayerCall& call, const StateSpaceShape& shape, GridSequence& program) {
  const auto batch = static_cast<double>(shape.batch);
  const auto heads = static_cast<double>(shape.heads);
  const auto width = static_cast<double>(shape.head_dim);
  const auto depth = static_cast<double>(shape.state_dim);
  const auto chunk = static_cast<double>(shape.chunk);
  const double chunks = std::ceil(static_cast<double>(shape.seq_len) / chunk);
  const double tokens = batch * static_cast<double>(shape.seq_len);
  const double inside = 2 * chunk * (2 * chunk * depth + 2 * chunk * width + 2 * depth * width);
  if (call.facts().scans_in_one) {
    program.kernels.push_back(scan_in_one(call, shape, chunks, inside));
    return;
  }
  program.kernels.push_back(call.pass(
      "inside chunks", tokens * heads * (3 * depth + 3 * width) * kScanElementBytes, tokens));
  // Each row of the triangle inside a chunk asks those before it.
  const double rows = std::min(static_cast<double>(shape.seq_len), chunk);
  Grid& parallel = program.kernels.back();
  add_ctas(parallel, static_cast<std::int64_t>(batch * heads * chunks),
           Seconds(call.seconds(call.factors().prologue) +
                   rows * call.seconds(call.factors().score) + inside / call.sm_rate()));
  parallel.stages_ahead = call.factors().stages_ahead;
  Grid chain;
  chain.name = "from chunk to chunk";
  add_ctas(chain,
           static_cast<std::int64_t>(batch * heads * std::ceil(width / call.facts().head_tile)),
           Seconds(chunks * call.seconds(call.factors().step)));
  const double states = batch * heads * chunks * depth * width * kScanElementBytes;
  call.set_memory(chain, call.missing(states) * states + states_of_sequences(shape));
  program.kernels.push_back(chain);
}

}  // namespace

GridSequence state_space_kernels(const LayerCall& call, const StateSpaceShape& shape) {
  GridSequence program;
  switch (shape.part) {
    case StateSpacePart::kConvolution:
      program.kernels.push_back(convolution(call, shape, false));
      break;
    case StateSpacePart::kConvolutionUpdate:
      program.kernels.push_back(convolution(call, shape, true));
      break;
    case StateSpacePart::kStateUpdate:
      program.kernels.push_back(state_update(call, shape));
      break;
    case StateSpacePart::kScan:
      add_scan(call, shape, program);
      break;
  }
  program.kernels.front().launch =
      call.factors().launch + call.factors().group * static_cast<double>(shape.batch);
  return program;
}

}  // namespace foretell
