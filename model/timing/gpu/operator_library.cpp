#include "model/timing/gpu/operator_library.hpp"

#include <algorithm>
#include <map>

#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kWarp = 32;

TableOperator product(const char* name, const char* family, OperatorKind kind) {
  return {name, family, kind, PassLayout::kElements, {}, false, {}};
}

TableOperator pass(const char* name, const char* family, PassLayout layout,
                   std::vector<PassOperand> kernels) {
  return {name, family, OperatorKind::kPass, layout, std::move(kernels), false, {}};
}

std::map<std::string, TableOperator> make_operators() {
  std::map<std::string, TableOperator> all;
  const auto add = [&](const TableOperator& info, std::initializer_list<const char*> others) {
    all.emplace(info.name, info);
    for (const char* other : others) all.emplace(other, info);
  };
  add(product("linear", "linear", OperatorKind::kLinear),
      {"addmm", "attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj"});
  add(product("bmm", "bmm", OperatorKind::kBatched), {"matmul", "baddbmm"});
  add(product("conv", "conv", OperatorKind::kConvolution), {"conv2d"});
  const auto elements = [&](const char* name, double read) {
    add(pass(name, "element-wise", PassLayout::kElements, {{read, 1}}), {});
  };
  for (const char* name : {"add", "sub", "mul", "div", "pow", "max", "min"}) elements(name, 2);
  for (const char* name :
       {"silu", "sigmoid", "exp", "log", "sqrt", "rsqrt", "neg", "abs", "copy"}) {
    elements(name, 1);
  }
  // The host takes another way to these: a number beside the tensor, functions with checks.
  for (const char* name : {"addu", "subu", "mulu", "divu"}) {
    add(pass(name, "scalar", PassLayout::kElements, {{1, 1}}), {});
  }
  for (const char* name : {"powu", "relu", "gelu", "tanh"}) {
    add(pass(name, name, PassLayout::kElements, {{1, 1}}), {});
  }
  add(pass("softmax", "softmax", PassLayout::kSoftmax, {{1, 1}}), {"log_softmax"});
  add(pass("ln", "norm", PassLayout::kNorm, {{1, 1}}), {"layer_norm", "layernorm"});
  add(pass("rms_norm", "norm", PassLayout::kTokenNorm, {{1, 1}}),
      {"rmsnorm", "input_layernorm", "post_attention_layernorm"});
  // A row to one number; what is written hardly counts.
  add(pass("sum", "norm", PassLayout::kNorm, {{1, 0}}), {"mean", "reduce", "argmax"});
  for (const char* name : {"transpose", "permute", "cat", "cast"}) {
    elements(name, 1);
  }
  // x * sigmoid(x) * y in one kernel, and activations without a gate.
  add(pass("gated_act", "activation", PassLayout::kTokenNorm, {{2, 1}}),
      {"mlp_act", "silu_and_mul"});
  elements("plain_act", 1);
  // Residual, attention and feed-forward layer of blocks that have the two side by side.
  add(pass("add_three", "element-wise", PassLayout::kElements, {{2, 1}, {2, 1}}), {});
  add(pass("rope", "rope", PassLayout::kHeads, {{1, 1}}), {"attn_rope"});
  add(pass("emb", "gather", PassLayout::kElements, {{1, 1}}), {"embedding", "gather"});
  // From two bytes to one, and the largest element ahead of it.
  add(pass("scale_matrix", "quantise", PassLayout::kElements, {{2, 1}}), {"quantise", "quantize"});
  add(pass("compute_scale", "amax", PassLayout::kElements, {{2, 0}}), {"amax"});
  return all;
}

// Libraries that quantise a row in a thread block, by name. With scales of rows the same kernel
// first looks for the largest element, in a thread block that is no wider than the row; tables
// state the difference.
std::map<std::string, TableOperator> make_row_quantisers() {
  TableOperator given = pass("scale_matrix", "quantise", PassLayout::kRow, {{2, 1}});
  given.overwrites = true;
  TableOperator found = pass("compute_scale", "scale", PassLayout::kNarrowRow, {{2, 1, 2}});
  found.overwrites = true;
  found.less = given.name;
  std::map<std::string, TableOperator> all;
  for (const char* name : {"scale_matrix", "quantise", "quantize"}) all.emplace(name, given);
  for (const char* name : {"compute_scale", "amax"}) all.emplace(name, found);
  return all;
}

const std::map<std::string, TableOperator>& operators() {
  static const std::map<std::string, TableOperator> kOperators = make_operators();
  return kOperators;
}

}  // namespace

std::vector<std::string> table_operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, info] : operators()) names.push_back(name);
  return names;
}

const TableOperator& table_operator(const std::string& name, const std::string& framework) {
  static const std::map<std::string, TableOperator> kRowQuantisers = make_row_quantisers();
  const KernelLibrary* library = kernel_libraries().find(framework);
  if (library != nullptr && library->quantises_by_row) {
    const auto variant = kRowQuantisers.find(name);
    if (variant != kRowQuantisers.end()) return variant->second;
  }
  const auto found = operators().find(name);
  if (found == operators().end()) throw unknown_name("op", name, table_operator_names());
  return found->second;
}

PassShape pass_shape(const TableOperator& info, const PassOperand& kernel, std::int64_t rows,
                     std::int64_t columns, double element_bytes) {
  const PassShapes& shapes = kernel_shapes().passes;
  PassShape shape;
  shape.rows = rows;
  shape.columns = columns;
  shape.read_bytes = kernel.read * element_bytes;
  shape.write_bytes = kernel.written * element_bytes;
  shape.again_bytes = kernel.again * element_bytes;
  shape.overwrites = info.overwrites;
  shape.rows_per_block = 0;
  switch (info.layout) {
    case PassLayout::kElements:
      break;
    case PassLayout::kNorm:
      shape.rows_per_block = 1;
      break;
    case PassLayout::kTokenNorm:
      shape.rows_per_block = 1;
      shape.vector = 1;
      shape.threads =
          std::clamp<std::int64_t>((columns + kWarp - 1) / kWarp * kWarp, kWarp, shapes.warp_row);
      break;
    case PassLayout::kRow:
      shape.rows_per_block = 1;
      shape.threads = shapes.row_threads;
      shape.vector = shapes.row_vector;
      break;
    case PassLayout::kNarrowRow:
      shape.rows_per_block = 1;
      shape.threads = std::clamp<std::int64_t>(columns, shapes.least_threads, shapes.row_threads);
      shape.vector = shapes.row_vector;
      break;
    case PassLayout::kHeads:
      shape.rows_per_block = 1;
      shape.vector = 2;
      shape.threads = std::clamp<std::int64_t>((columns / 2 + kWarp - 1) / kWarp * kWarp, kWarp,
                                               shapes.head_threads);
      break;
    case PassLayout::kSoftmax:
      if (columns <= shapes.warp_row) {
        const std::int64_t warps = shape.threads / kWarp;
        shape.rows_per_block = static_cast<double>(columns <= shapes.two_rows ? 2 * warps : warps);
        shape.vector = 1;
      } else {
        shape.rows_per_block = 1;
        shape.threads = std::int64_t{4} * shapes.two_rows;
        shape.vector = 1;
      }
      break;
  }
  return shape;
}

GemmShape implicit_product(const SquareConvolution& shape) {
  const std::int64_t side = (shape.size + 2 * shape.padding - shape.kernel) / shape.stride + 1;
  GemmShape product;
  product.m = shape.images * side * side;
  product.n = shape.channels_out;
  product.k = shape.channels_in * shape.kernel * shape.kernel;
  return product;
}

}  // namespace foretell
