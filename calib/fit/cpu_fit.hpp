// The factors of a CPU from measurements of it: which rows count, what is free and what is believed
// before, the fit, and what rows that were held out say of it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calib/fit/fit.hpp"
#include "calib/fitted/cpu/cpu_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/measurements/measurement.hpp"
#include "hw/spec/cpu/cpu_spec.hpp"
#include "model/timing/cpu/cpu_operator.hpp"

namespace foretell {

struct CpuRow {
  CpuOperator op;
  int threads = 1;
  std::uint64_t family = 0;  // the same for shapes that are held out together
  bool held_out = false;
  double measured_us = 0;  // the shortest of its rounds
  std::string text;        // of the shape, for people
  std::size_t line = 0;    // of the file, of that round
};

// Which rows of the measurements a fit can use, and which not.
struct CpuRowTable {
  std::vector<CpuRow> rows;
  std::map<std::string, int> left_out;  // by reason
  int disagreeing = 0;                  // points with a round that took a quarter longer
  Hertz clock;                          // median of the points; 0: not recorded
};

// A quarter of the families of shapes is held out, by a hash of their columns and depth; blocks of
// several operators always are. Of the rounds of a point the shortest counts: what disturbs a
// machine makes it slower, never faster. UserError: no row, a file of several machines, two
// measurements of one point and round that contradict each other, most points measured under load
// of others, a size of zero.
CpuRowTable cpu_rows_of(const std::vector<Measurement>& measurements);

// UserError for products and convolutions that took less than a third of what the machine needs at
// its peak: another unit of time, or another machine.
void check_possible(const CpuSystemSpec& system, const std::vector<CpuRow>& rows);

struct CpuFitOptions {
  int starts = 3;
  int resamples = 200;  // of the bootstrap
  std::uint64_t seed = 1;
  std::function<void(double)> progress;
};

struct CpuFit {
  CpuFactors factors;
  FitResult result;
  std::string prior;  // where the beliefs come from
};

// What the factors of a CPU are believed to be before it is measured: those of its nearest
// neighbour, or orders of magnitude when nothing else was measured.
struct CpuPrior {
  CpuFactors factors;
  std::string from;
};
CpuPrior cpu_prior(const CpuSystemSpec& system, const std::string& device,
                   const std::filesystem::path& folder = factors_folder());

// UserError when the rows are too few for the factors.
CpuFit fit_cpu(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
               const CpuFitOptions& options, const CpuPrior& prior);

// Predicted by `factors`, in microseconds.
double predicted_us(const CpuSystemSpec& system, const CpuFactors& factors, const CpuRow& row);

// What rows that are fitted to would have been predicted as without their family: the families are
// dealt into a few parts, and each part is predicted by a fit to the others. 0 for rows held out.
std::vector<double> cross_predicted_us(const CpuSystemSpec& system, const std::vector<CpuRow>& rows,
                                       const CpuFitOptions& options, const CpuPrior& prior);

}  // namespace foretell
