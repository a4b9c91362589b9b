// Shape rules and flop counts of the operator families, one source file per family. Only
// operators.cpp (the table) and the families themselves include this.
#pragma once

#include <vector>

#include "workloads/ir/operators.hpp"

namespace foretell::operators {

// matmul.cpp
std::vector<Shape> matmul_shapes(const OpView& op);
double matmul_flops(const OpView& op);

// elementwise.cpp
std::vector<Shape> elementwise_shapes(const OpView& op);
double elementwise_flops(const OpView& op);
std::vector<Shape> causal_mask_shapes(const OpView& op);

// activation.cpp
std::vector<Shape> unary_shapes(const OpView& op);
double one_flop(const OpView& op);
double gelu_flops(const OpView& op);
double silu_flops(const OpView& op);

// softmax.cpp
std::vector<Shape> softmax_shapes(const OpView& op);
double softmax_flops(const OpView& op);

// norm.cpp
std::vector<Shape> layer_norm_shapes(const OpView& op);
double layer_norm_flops(const OpView& op);
std::vector<Shape> rms_norm_shapes(const OpView& op);
double rms_norm_flops(const OpView& op);
std::vector<Shape> channel_norm_shapes(const OpView& op);
double batch_norm_flops(const OpView& op);

// convolution.cpp
std::vector<Shape> conv_shapes(const OpView& op);
double conv_flops(const OpView& op);
std::vector<Shape> conv_transpose_shapes(const OpView& op);
double conv_transpose_flops(const OpView& op);

// pooling.cpp
std::vector<Shape> pool_shapes(const OpView& op);
double pool_flops(const OpView& op);
std::vector<Shape> global_pool_shapes(const OpView& op);
std::vector<Shape> resize_shapes(const OpView& op);
double resize_flops(const OpView& op);
std::vector<Shape> pad_shapes(const OpView& op);

// layout.cpp
std::vector<Shape> reshape_shapes(const OpView& op);
std::vector<Shape> transpose_shapes(const OpView& op);
std::vector<Shape> split_shapes(const OpView& op);
std::vector<Shape> slice_shapes(const OpView& op);
std::vector<Shape> concat_shapes(const OpView& op);
double no_flops(const OpView& op);

// general.cpp
std::vector<Shape> general_elementwise_shapes(const OpView& op);
double general_elementwise_flops(const OpView& op);
std::vector<Shape> general_reduce_shapes(const OpView& op);
double general_reduce_flops(const OpView& op);
std::vector<Shape> along_axis_shapes(const OpView& op);
double along_axis_flops(const OpView& op);
std::vector<Shape> move_shapes(const OpView& op);
double move_flops(const OpView& op);

// gather.cpp
std::vector<Shape> gather_shapes(const OpView& op);

// reduce.cpp
std::vector<Shape> reduce_shapes(const OpView& op);
double reduce_flops(const OpView& op);

// position.cpp
std::vector<Shape> rope_shapes(const OpView& op);
double rope_flops(const OpView& op);
double alibi_flops(const OpView& op);

// cache.cpp
std::vector<Shape> update_cache_shapes(const OpView& op);

// collective.cpp
std::vector<Shape> reduce_scatter_shapes(const OpView& op);
std::vector<Shape> all_gather_shapes(const OpView& op);
std::vector<Shape> send_receive_shapes(const OpView& op);

// mixture.cpp
std::vector<Shape> top_k_shapes(const OpView& op);
double top_k_flops(const OpView& op);
std::vector<Shape> expert_matmul_shapes(const OpView& op);
double expert_matmul_flops(const OpView& op);
std::vector<Shape> expert_sum_shapes(const OpView& op);
double expert_sum_flops(const OpView& op);

// training.cpp
std::vector<Shape> gradient_shapes(const OpView& op);
double gradient_flops(const OpView& op);
std::vector<Shape> conv_weight_gradient_shapes(const OpView& op);
double conv_weight_gradient_flops(const OpView& op);
std::vector<Shape> update_shapes(const OpView& op);
double update_flops(const OpView& op);
std::vector<Shape> all_reduce_shapes(const OpView& op);

}  // namespace foretell::operators
