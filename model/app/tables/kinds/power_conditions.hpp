// Under which conditions board power of kernels was measured: calib/fit/gpu_energy_rows.yaml says
// which programs and libraries it is known of.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/app/tables/kinds/power_rows.hpp"

namespace foretell {

// A meter that shows the mean of the last `window`, read evenly during a test of `test` or this
// many runs, if they take longer, after others that warm up.
struct PowerMeter {
  Seconds window;
  Seconds test;
  double least_runs = 0;
  double warm_runs = 0;
};
// The share of what a kernel adds to an idle board that the readings show on average.
double shown_of_cold_test(const PowerMeter& meter, Seconds kernel);

enum class PowerCondition {
  kRandom,     // operands of random values, steady
  kOther,      // operands that may be constant
  kUnsteady,   // prompts that read far below shorter ones of the same kernel
  kZeros,      // weights of zeros
  kUnwritten,  // keys and values that the measuring program never wrote
  kUnknown,    // operands that are not stated
};

const char* to_string(PowerCondition condition);

// The key of an interval: "experts, weights of zeros".
std::string power_interval_key(const std::string& kernel_class, PowerCondition condition);

class PowerConditions {
 public:
  PowerConditions();  // UserError with file:line for what is wrong in the file

  PowerCondition of(const PowerRow& row, const std::string& library,
                    const std::string& kernel) const;
  bool is_random(const std::string& library) const;
  double shortest_stream_us() const { return shortest_stream_us_; }
  // The share of what a kernel adds to the idle board that the meter shows.
  double shown_share(const PowerRow& row, const std::string& library) const;
  double stream_share() const { return stream_share_; }  // of the bandwidth of the memory

 private:
  std::vector<std::string> random_operands_;
  std::map<std::string, double> zero_weights_;  // by kernel: of more experts than that
  double longest_steady_ = 0;                   // tokens of a prompt
  double shortest_stream_us_ = 0;
  double stream_share_ = 0;
  std::vector<std::string> unsteady_libraries_;
  std::vector<std::string> unwritten_libraries_;
  std::map<std::string, std::vector<std::string>> unknown_operands_;  // kernels by library
  // Tests that begin on an idle board: products with as many rows.
  struct ColdTests {
    std::string library;
    std::vector<std::string> kernels;
    double rows = 0;
  };
  PowerMeter meter_;
  std::vector<ColdTests> cold_tests_;
};

}  // namespace foretell
