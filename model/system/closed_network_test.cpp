// The closed form of two servers with stages in flight against a simulation of the same network,
// stage by stage, in SystemC.
#include "model/timing/shared/closed_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <systemc>
#include <vector>

#include "model/components/shared/simulation_context.hpp"

namespace foretell {
namespace {

// Memory and pipes, and the buffers that circulate between them.
class StagesInFlight : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(StagesInFlight);
  // `load`, `compute`: mean times of a stage. There are `buffers` for the first `changes_at` of
  // `stages`, and one more for the others.
  StagesInFlight(const sc_core::sc_module_name& name, double load, double compute, int buffers,
                 int changes_at, int stages)
      : sc_module(name),
        load_(1 / load),
        compute_(1 / compute),
        changes_at_(changes_at),
        stages_(stages),
        loaded_(buffers + 1),
        free_(buffers + 1) {
    for (int i = 0; i < buffers; ++i) free_.write(0);
    SC_THREAD(load_stages);
    SC_THREAD(compute_stages);
  }
  double seconds() const { return end_.to_seconds(); }

 private:
  static sc_core::sc_time drawn(std::exponential_distribution<double>& of, std::mt19937_64& from) {
    return {of(from), sc_core::SC_US};
  }
  void load_stages() {
    for (int i = 0; i < stages_; ++i) {
      free_.read();
      wait(drawn(load_, loads_));
      loaded_.write(i);
    }
  }
  void compute_stages() {
    for (int i = 0; i < stages_; ++i) {
      loaded_.read();
      wait(drawn(compute_, computes_));
      free_.write(i);
      if (i == changes_at_) free_.write(i);
    }
    end_ = sc_core::sc_time_stamp();
  }

  std::exponential_distribution<double> load_;
  std::exponential_distribution<double> compute_;
  std::mt19937_64 loads_{1};
  std::mt19937_64 computes_{2};
  int changes_at_;
  int stages_;
  sc_core::sc_fifo<int> loaded_;
  sc_core::sc_fifo<int> free_;
  sc_core::sc_time end_;
};

constexpr int kStages = 200000;

// Mean time of a stage in microseconds, where one loads in `load` and computes in 1.
double simulated(double load, int buffers, double share_of_one_more = 0) {
  const int changes_at =
      share_of_one_more > 0 ? static_cast<int>(kStages * (1 - share_of_one_more)) : -1;
  const SimulationContext context;
  StagesInFlight network("network", load, 1, buffers, changes_at, kStages);
  sc_core::sc_start();
  return network.seconds() * 1e6 / kStages;
}

// Mean value analysis of Reiser and Lavenberg: with one stage more in flight, each waits for those
// that it finds, which are as many as with one less.
double mean_value_analysis(double load, double compute, int in_flight) {
  double waiting_for_memory = 0;
  double waiting_for_pipes = 0;
  double per_stage = 0;
  for (int n = 1; n <= in_flight; ++n) {
    const double in_memory = load * (1 + waiting_for_memory);
    const double in_pipes = compute * (1 + waiting_for_pipes);
    per_stage = (in_memory + in_pipes) / n;
    waiting_for_memory = in_memory / per_stage;
    waiting_for_pipes = in_pipes / per_stage;
  }
  return per_stage;
}

TEST(ClosedNetwork, IsExactMeanValueAnalysis) {
  for (const double load : {0.01, 0.3, 0.999, 1.0, 1.7, 40.0}) {
    for (const int in_flight : {1, 2, 3, 7, 40}) {
      const double expected = mean_value_analysis(load, 1, in_flight);
      EXPECT_NEAR(closed_network_time(load, 1, in_flight - 1) / expected, 1, 1e-9)
          << load << ", " << in_flight;
    }
  }
}

TEST(ClosedNetwork, IsTheSimulationOfItsStages) {
  for (const double load : {0.2, 0.7, 1.0, 1.4}) {
    for (const int in_flight : {1, 2, 3, 5}) {
      EXPECT_NEAR(simulated(load, in_flight) / closed_network_time(load, 1, in_flight - 1), 1, 0.01)
          << load << ", " << in_flight;
    }
  }
}

// Between whole numbers: the bounds that the header states.
TEST(ClosedNetwork, IsNearTheSimulationBetweenWholeNumbers) {
  for (const double load : {0.5, 1.0}) {
    for (const int in_flight : {1, 2, 4}) {
      const double bound = in_flight == 1 ? 0.05 : 0.013;
      const double mixed = simulated(load, in_flight, 0.5);
      const double formula = closed_network_time(load, 1, in_flight - 0.5);
      EXPECT_LT(formula, mixed * 1.01) << load << ", " << in_flight;
      EXPECT_GT(formula, mixed * (1 - bound - 0.01)) << load << ", " << in_flight;
    }
  }
}

TEST(ClosedNetwork, LiesBetweenTheLongerTimeAndTheSum) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(0, 1);
  for (int i = 0; i < 10000; ++i) {
    const double a = any(random);
    const double b = any(random);
    const double ahead = 20 * any(random);
    const double time = closed_network_time(a, b, ahead);
    EXPECT_GE(time, std::max(a, b));
    EXPECT_LE(time, (a + b) * (1 + 1e-12));
    EXPECT_LE(closed_network_time(a, b, ahead + 0.1), time * (1 + 1e-12));   // more are no slower
    EXPECT_GE(closed_network_time(1.01 * a, b, ahead), time * (1 - 1e-12));  // nor is less work
    EXPECT_DOUBLE_EQ(closed_network_time(b, a, ahead), time);
  }
  EXPECT_DOUBLE_EQ(closed_network_time(3, 4, 0), 7);
  EXPECT_DOUBLE_EQ(closed_network_time(3, 3, 2), 4);
  EXPECT_EQ(closed_network_time(0, 0, 2), 0);
  EXPECT_EQ(closed_network_time(0, 5, 2), 5);
}

}  // namespace
}  // namespace foretell
