// The factors of a CPU from measurements of it: which rows count, what is free and what is believed
// before, the fit, and what rows that were held out say of it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/measurements/measurement.hpp"
#include "hw/spec/cpu_factors.hpp"
#include "hw/spec/cpu_spec.hpp"
#include "model/timing/cpu_operator.hpp"

namespace foretell {

struct CpuRow {
  CpuOperator op;
  int threads = 1;
  bool held_out = false;
  double measured_us = 0;
  std::string text;  // of the shape, for people
};

// Which rows of the measurements a fit can use, and which not.
struct CpuRowTable {
  std::vector<CpuRow> rows;
  std::map<std::string, int> left_out;  // by reason
};

// A quarter of the families of shapes is held out, by a hash of their columns and depth; blocks of
// several operators always are. UserError: no row, a file of several machines, two measurements of
// one point that contradict each other, a point that was measured under load of others.
CpuRowTable cpu_rows_of(const std::vector<Measurement>& measurements);

struct CpuFitOptions {
  int starts = 3;
  int resamples = 200;  // of the bootstrap
  std::uint64_t seed = 1;
  std::function<void(double)> progress;
};

struct CpuFit {
  CpuFactors factors;
  FitResult result;
};

// What is free, with what is believed before: published facts and the order of magnitude.
std::vector<FreeFactor> cpu_free_factors(const CpuFactors& centre);

// UserError when the rows are too few for the factors.
CpuFit fit_cpu(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
               const CpuFitOptions& options);

// Predicted by `factors`, in microseconds.
double predicted_us(const CpuSystemSpec& system, const CpuFactors& factors, const CpuRow& row);

// "product", "row", "block": the classes that intervals are kept of.
std::string interval_class(const CpuRow& row);

}  // namespace foretell
