// Predictions of single operators on GPUs, many at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors_choice.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/gpu/operator_factors.hpp"
#include "model/mapping/gpu/convolution_kernels.hpp"
#include "model/predict/rows/row_programs.hpp"
#include "model/timing/gpu/operator_library.hpp"

namespace foretell {

// One call of an operator, as a table states it.
struct OperatorRow {
  std::string gpu;
  std::string framework;  // "": eager PyTorch, called by the host
  std::string dtype;
  const TableOperator* op = nullptr;
  GemmShape product;  // of products and convolutions
  SquareConvolution convolution;
  std::int64_t rows = 1;  // of passes
  std::int64_t columns = 1;
};

// "ci3 co64 k7 s224 st2 p3". UserError for what is not so, or has no output.
SquareConvolution parse_convolution(const std::string& text, std::int64_t images);

// "pytorch linear fp32": the table whose factors a row has.
std::string operator_table(const OperatorRow& row);

// The factors of a table, of which those of products or those of passes apply.
struct OperatorFactors {
  ProductFactors product;
  PassFactors pass;
};

// Those of the two that operators like `info` have.
void fields(FieldList& list, const TableOperator& info, OperatorFactors& factors);

// The kernels of one device and table.
class OperatorKernels {
 public:
  // UserError for a type that is not known, or that the device has no pipe for. The device outlives
  // it.
  OperatorKernels(const GpuDeviceSpec& device, const OperatorRow& like,
                  const OperatorFactors& factors);
  ~OperatorKernels();

  GridSequence program(const OperatorRow& row) const;
  // The closed form of stated().
  Seconds time(const OperatorRow& row, const OperatorKernels* less = nullptr) const;
  // What a table states of a row whose kernels take `kernels`. `less`: of the operator that the
  // row's time is stated without, where there is one.
  Seconds stated(const OperatorRow& row, Seconds kernels, const OperatorKernels* less) const;

 private:
  struct Products;

  Seconds with_host(Seconds kernels) const;

  const GpuDeviceSpec& device_;
  OperatorFactors factors_;
  double element_bytes_;
  int copies_;  // of the weights, in turn
  std::unique_ptr<Products> products_;
  std::unique_ptr<ConvolutionKernels> convolutions_;  // on the vector pipe
};

struct OperatorRowOptions {
  std::string launch;            // "graph": without the host; "stream": with it; "": as measured
  std::vector<std::string> set;  // overrides of every device
  RowFactors factors;
};

// The operator that the time of a row is stated without; it has one.
OperatorRow less_of(const OperatorRow& row);

class OperatorRowPredictor {
 public:
  explicit OperatorRowPredictor(OperatorRowOptions options);

  // One answer per row, in order: simulated, all rows of a device in one simulation. A row that
  // cannot be predicted has an error. At most one at a time in a process.
  std::vector<RowTime> predict(const std::vector<OperatorRow>& rows);

 private:
  struct Kernels {
    const GpuDeviceSpec& device;
    std::unique_ptr<OperatorKernels> kernels;
    const OperatorKernels* less;  // of what rows are stated without; null: nothing
    double low;
    double high;
    std::string note;  // whose factors these are, when of another chip or table
  };

  const Kernels& kernels_of(const OperatorRow& row);
  ChosenFactorSet choose(const GpuDeviceSpec& device, const OperatorRow& row) const;

  OperatorRowOptions options_;
  RowDevices devices_;
  KernelFactorsLibrary factors_;
  KernelFactorsLibrary products_;
  std::map<std::string, Kernels> kernels_;
};

}  // namespace foretell
