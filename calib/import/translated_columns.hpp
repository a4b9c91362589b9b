// Columns, operators and types as others write them, in the words of the tables of this project.
#pragma once

#include <string>
#include <vector>

#include "calib/import/read_measurements.hpp"

namespace foretell {

// "device" becomes "gpu", "Precision" "dtype", "time_ms" "latency_ms": columns whose name is
// plainly meant, where the header does not have the other one already. Says what was read as what:
// "device as gpu".
std::vector<std::string> translate_columns(CsvRow& header);

// A table of operators as predict, validate and calibrate fit read it: products of matrices on GPUs
// (op gemm) are a table of their own, of kind gemm; operators and types have their names
// ("batched_gemm" is bmm, "float16" fp16), convolutions their column; the device of rows that ran
// on threads of a CPU stands in `system`.
std::vector<MeasuredTable> divided_operators(MeasuredTable table);

// "float16" and "torch.float16" are fp16; what is not known stays as it is, in lower case.
std::string translated_dtype(const std::string& text);

}  // namespace foretell
