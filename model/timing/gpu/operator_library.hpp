// What is known of single operators without a measurement: what they read and write, and how the
// kernels of frameworks divide the work. Public knowledge, kept as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/timing/gpu/gemm_timing.hpp"
#include "model/timing/gpu/pass_timing.hpp"

namespace foretell {

enum class OperatorKind {
  kLinear,       // m, n, k
  kBatched,      // b products m, n, k
  kConvolution,  // images, channels, kernel
  kPass          // rows, cols
};

// How the kernel of a pass divides the work.
enum class PassLayout { kElements, kSoftmax, kNorm, kTokenNorm, kRow, kNarrowRow, kHeads };

struct PassOperand {
  double read = 1;  // elements of the operator's type, per element of the result
  double written = 1;
  double again = 0;  // read a second time by the same thread block
};

struct TableOperator {
  std::string name;
  std::string family;  // operators that share factors: "linear", "element-wise", "softmax", …
  OperatorKind kind = OperatorKind::kPass;
  PassLayout layout = PassLayout::kElements;
  std::vector<PassOperand> kernels;  // of passes, one after another
  bool overwrites = false;           // measured in a graph on the same results again and again
  // Tables state by how much its kernel takes longer than that of this operator; "": all its time.
  std::string less;
};

// By any of its names, as the kernels of `framework` do it. UserError with the nearest name.
const TableOperator& table_operator(const std::string& name, const std::string& framework = "");
std::vector<std::string> table_operator_names();

// One kernel of a pass over rows x columns elements of `element_bytes`.
PassShape pass_shape(const TableOperator& info, const PassOperand& kernel, std::int64_t rows,
                     std::int64_t columns, double element_bytes);

// A convolution of square images.
struct SquareConvolution {
  std::int64_t images = 1;
  std::int64_t channels_in = 1;
  std::int64_t channels_out = 1;
  std::int64_t kernel = 1;
  std::int64_t size = 1;  // of the image
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

// The product that it is, with the image unrolled on the fly.
GemmShape implicit_product(const SquareConvolution& shape);

}  // namespace foretell
